"""Figures of answers show the numbers of the answers."""

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag.errors import OptionError

FAST = md.effects.MonteCarlo(n_draws=10, n_rows=16)


def trace(figure, name):
    return next(t for t in figure.data if t.name == name)


def test_a_curve_is_that_of_the_mechanism(star):
    data = pd.DataFrame({"x": [0.0, 1.0], "y": [1.0, 2.0]})
    figure = md.effects.plot_curve(star, "x", "y", n_points=5, data=data, monte_carlo=FAST)
    mean = trace(figure, "mean of y")
    np.testing.assert_allclose(mean.y, 1 + 2 * np.asarray(mean.x))
    assert list(trace(figure, "rows").x) == [0.0, 1.0]
    sd = trace(md.effects.plot_curve(star, "z", "y", n_points=5, monte_carlo=FAST), "sd of y")
    assert sd.y[0] < sd.y[-1]


def test_levers_stand_by_how_much_they_move_the_sd(star):
    figure = md.effects.plot_levers(star, "y", n_points=5, monte_carlo=FAST)
    assert figure.layout.xaxis.title.text == "z"
    assert figure.layout.xaxis2.title.text == "x"
    alone = md.effects.plot_levers(star, "y", n_levers=1, n_points=5, monte_carlo=FAST)
    assert len([t for t in alone.data if t.name == "mean of y"]) == 1
    with pytest.raises(OptionError, match="Nothing causes 'x'"):
        md.effects.plot_levers(star, "x")


def test_contours_are_over_both_settings(star):
    figure = md.effects.plot_contours(
        star, "y", "x", "z", n_points=4, limits=(None, 5.0), mark={"x": 0, "z": 1}, monte_carlo=FAST
    )
    mean, sd, risk = (t for t in figure.data if t.type == "contour")
    np.testing.assert_allclose(mean.z, np.tile(1 + 2 * np.asarray(mean.x), (4, 1)))
    np.testing.assert_allclose(sd.z, np.tile(np.exp(0.5 * np.asarray(sd.y)), (4, 1)).T)
    assert np.all(np.diff(risk.z, axis=1) >= 0)
    star_marks = [t for t in figure.data if t.type == "scatter"]
    assert [(t.x[0], t.y[0]) for t in star_marks] == [(0, 1)] * 3
    for arguments in ({"x": "x", "y": "x"}, {"x": "y", "y": "z"}):
        with pytest.raises(OptionError, match="different variables"):
            md.effects.plot_contours(star, "y", **arguments)
    with pytest.raises(OptionError, match="Expected mark with"):
        md.effects.plot_contours(star, "y", "x", "z", n_points=2, mark={"x": 1}, monte_carlo=FAST)


def test_figures_of_kinds(mixed_fit):
    shares = md.effects.plot_curve(mixed_fit, "machine", "outcome", monte_carlo=FAST)
    assert {t.name for t in shares.data} == {"keep", "rework", "scrap"}
    assert list(shares.data[0].x) == ["M1", "M2", "M3"]
    cells = md.effects.plot_contours(
        mixed_fit, "thickness", "rating", "machine", n_points=3, monte_carlo=FAST
    )
    assert list(cells.data[0].y) == ["M1", "M2", "M3"]
    counts = md.effects.plot_curve(mixed_fit, "defects", "passed", n_points=4, monte_carlo=FAST)
    assert len(counts.data[0].x) == 4


def test_every_answer_has_a_figure_and_html(star):
    answers = [
        md.effects.intervene(star, {"x": [0.0, 1.0, 2.0]}, ["y"], monte_carlo=FAST),
        md.effects.intervene(star, {"x": [0.0, 1.0], "z": 0.0}, ["y"], monte_carlo=FAST),
        md.effects.intervene(star, {}, ["y"], limits={"y": (0, 2)}, monte_carlo=FAST),
        md.effects.contrast(star, {"z": -1.0}, {}, ["y"], monte_carlo=FAST),
        md.effects.decompose_variance(star, "y", monte_carlo=FAST),
        md.effects.levers(star, "y", monte_carlo=FAST),
        star.posterior_.map_graph(),
    ]
    for answer in answers:
        assert answer.plot().data
        assert "<table" in answer._repr_html_()
    ratio = answers[3].to_frame()["sd_ratio"].iloc[0]
    assert answers[3].plot().data[1].x[0] == pytest.approx(ratio)
    shares = {t.name: dict(zip(t.customdata, t.x, strict=True)) for t in answers[4].plot().data}
    assert shares["through the mean"]["x"] == pytest.approx(
        100 * answers[4].by_part().set_index("part").loc["mean", "share"]
    )


def test_the_model_draws_its_graphs_and_shows_itself(star, tmp_path):
    assert len(star.plot().data) > 2
    with pytest.raises(OptionError, match="min_probability"):
        star.plot(min_probability=0)
    heat = star.posterior_.plot_edges()
    assert heat.data[0].z[0][2] == 1.0
    assert "<table" in star.posterior_._repr_html_()
    page = star._repr_mimebundle_()["text/html"]
    assert "MomentDAG, fitted" in page
    assert "sk-" in md.MomentDAG()._repr_html_()


@pytest.mark.slow
def test_the_report_is_written_from_the_model(fitted, tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.uniform(-2, 2, (60, 3)), columns=["x", "z", "y"])
    path = fitted.to_report(data, tmp_path / "report.html", title="From the model")
    assert "From the model" in path.read_text("utf-8")
