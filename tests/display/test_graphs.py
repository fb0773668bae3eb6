import numpy as np

from momentdag.display.graphs import FigureEdge, draw_graphs


def ends_of(figure):
    return [
        ((round(t.x[0]), t.y[0]), (round(t.x[-1]), t.y[-1]))
        for t in figure.data
        if t.marker.symbol == "arrow"
    ]


def test_every_edge_is_an_arrow_from_cause_to_effect():
    edges = [
        FigureEdge("a", "b", "mean", 0.9),
        FigureEdge("a", "b", "variance", 0.4, is_certain=False),
        FigureEdge("b", "c", "mean"),
        FigureEdge("a", "c", "variance"),
    ]
    figure = draw_graphs(["a", "b", "c"], edges, "both")
    arrows = ends_of(figure)
    assert len(arrows) == 4
    assert all(start[0] < end[0] for start, end in arrows)
    hovers = [t.text[0] for t in figure.data if t.text is not None and len(t.text) == 1]
    assert "a → b: moves the variance, probability 0.40" in hovers
    assert "b → c: moves the mean" in hovers


def test_mean_and_variance_edges_of_one_pair_part():
    edges = [FigureEdge("a", "b", "mean"), FigureEdge("a", "b", "variance")]
    figure = draw_graphs(["a", "b"], edges, "both")
    lines = [np.array(t.y) for t in figure.data if t.marker.symbol == "arrow"]
    assert np.abs(lines[0] - lines[1]).max() > 0.2


def test_names_are_text_and_variables_without_edges_are_drawn():
    figure = draw_graphs(["<b>x</b>", "y"], [], "none")
    assert {a.text for a in figure.layout.annotations} == {"&lt;b&gt;x&lt;/b&gt;", "y"}
