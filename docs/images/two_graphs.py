"""Draw the picture at the top of the README: two graphs over the same variables."""

from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx

POSITIONS = {
    "dose": (0, 1),
    "age": (1, 1),
    "stress": (2, 1),
    "uptake": (0.15, 0.1),
    "response": (1.5, 0),
}
MEAN = [("dose", "uptake"), ("age", "uptake"), ("uptake", "response"), ("dose", "response")]
VARIANCE = [("stress", "response"), ("age", "response"), ("stress", "uptake")]

figure, axes = plt.subplots(figsize=(6.4, 3.2))
graph = nx.DiGraph(MEAN + VARIANCE)
style = {"ax": axes, "node_size": 2100, "arrowsize": 18, "width": 2.2}
nx.draw_networkx_nodes(
    graph, POSITIONS, ax=axes, node_size=2100, node_color="white", edgecolors="#444"
)
nx.draw_networkx_labels(graph, POSITIONS, ax=axes, font_size=10)
nx.draw_networkx_edges(graph, POSITIONS, edgelist=MEAN, edge_color="#c0392b", **style)
nx.draw_networkx_edges(
    graph,
    POSITIONS,
    edgelist=VARIANCE,
    edge_color="#2471a3",
    style="dashed",
    connectionstyle="arc3,rad=0.12",
    **style,
)
axes.plot([], [], color="#c0392b", lw=2.2, label="moves the mean")
axes.plot([], [], color="#2471a3", lw=2.2, ls="--", label="moves the variance")
axes.legend(loc="upper left", bbox_to_anchor=(0, -0.02), frameon=False)
axes.set_axis_off()
axes.margins(0.15)
figure.savefig(Path(__file__).with_name("two-graphs.png"), dpi=150, bbox_inches="tight")
