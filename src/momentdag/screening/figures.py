"""Pictures of a criticism, one figure for each variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from matplotlib.figure import Figure

from momentdag.posterior.queries import Moment

if TYPE_CHECKING:
    from momentdag.screening.criticism import Criticism

__all__ = ["draw"]

_N_COLUMNS = 3
_N_BINS = 20


def draw(criticism: Criticism, name: str) -> Figure:
    """Draw QQ, PIT, scale-location, and the residual of ``name`` against every other column.

    Titles of the latter say whether the column is a mean or variance parent.
    """
    held = criticism.residuals
    others = [other for other in held.dataset.names if other != name]
    n_rows = 1 + -(-len(others) // _N_COLUMNS)
    figure = Figure(figsize=(3.4 * _N_COLUMNS, 2.8 * n_rows), layout="constrained")
    axes: Any = figure.subplots(n_rows, _N_COLUMNS, squeeze=False)
    figure.suptitle(f"Residuals of {name}")
    quantiles = criticism.quantiles(name)
    ends = [quantiles["normal"].min(), quantiles["normal"].max()]
    axes[0, 0].plot(ends, ends, color="0.6")
    axes[0, 0].plot(quantiles["normal"], quantiles["residual"], ".", markersize=3)
    axes[0, 0].set(title="normal QQ", xlabel="normal quantile", ylabel="residual")
    axes[0, 1].hist(held.pit[name], bins=_N_BINS, range=(0, 1), density=True)
    axes[0, 1].axhline(1.0, color="0.6")
    axes[0, 1].set(title="fitted noise (flat if right)", xlabel="PIT")
    location = criticism.scale_location(name)
    axes[0, 2].plot(location["fitted"], location["root_size"], ".", markersize=3)
    axes[0, 2].set(title="scale-location", xlabel="fitted mean", ylabel="√|residual|")
    for axis, other in zip(axes[1:].flat, others, strict=False):
        column = held.dataset.values[:, held.dataset.index(other)]
        axis.plot(column, held.standardised[name], ".", markersize=3)
        axis.axhline(0.0, color="0.6")
        axis.set(title=_role(criticism, other, name), xlabel=other, ylabel="residual")
    for axis in axes[1:].flat[len(others) :]:
        axis.set_axis_off()
    return figure


def _role(criticism: Criticism, other: str, name: str) -> str:
    graph = criticism.residuals.graph
    moments: tuple[Moment, ...] = get_args(Moment)
    roles = [moment for moment in moments if graph.has_edge(other, name, moment)]
    if roles:
        return f"{' and '.join(roles)} parent"
    return "effect" if graph.has_path(name, other) else "non-parent"
