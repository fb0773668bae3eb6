"""The result of a fit, in a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import momentdag as md
from momentdag.cli.console import as_flags, print_line, print_records

if TYPE_CHECKING:
    from momentdag.runs import RunInfo

__all__ = ["draws_check", "edge_records", "log_scale_note", "print_edges"]

_LEAST_LISTED = 0.1  # smallest probability of an edge in the table
_MOMENTS = {"mean": "moves the mean", "variance": "moves the variance"}


def edge_records(posterior: md.Posterior, least: float = _LEAST_LISTED) -> list[dict[str, Any]]:
    """Return each likely edge with the probabilities of its moments, the most probable first."""
    mean, variance, either = (
        posterior.edge_probabilities(moment).to_numpy() for moment in ("mean", "variance", "either")
    )
    names = posterior.names
    edges = [
        (-either[i, j], i, j)
        for i in range(len(names))
        for j in range(len(names))
        if either[i, j] >= least
    ]
    return [
        {
            "cause": names[i],
            "effect": names[j],
            "mean": float(mean[i, j]),
            "variance": float(variance[i, j]),
        }
        for _, i, j in sorted(edges)
    ]


def print_edges(records: Sequence[dict[str, Any]]) -> None:
    """Print edges as a table, followed by a sentence that explains the numbers."""
    columns = list(records[0]) if records else ["cause", "effect", *_MOMENTS]
    rows = [
        {
            _MOMENTS.get(name, name): _probability(value) if name in _MOMENTS else value
            for name, value in record.items()
        }
        for record in records
    ]
    print_records(rows, [_MOMENTS.get(name, name) for name in columns])
    print_line("A probability is the share of draws that contain the edge.")


def draws_check(posterior: md.Posterior) -> str:
    """Say whether the draws can be trusted, and which options to change if not."""
    return f"Check of the draws: {posterior.diagnostics().message(as_flags)}"


def log_scale_note(info: RunInfo) -> str:
    """Return a reminder of the columns that are logarithms, or nothing."""
    columns = ", ".join(info.data.log_columns)
    return f"Natural logarithms, as fitted: {columns}." if columns else ""


def _probability(value: float) -> str:
    return f"{value:.2f}" if value >= 0.005 else "-"
