"""What a fit found, in a few lines."""

from __future__ import annotations

from typing import Any

from momentdag.cli.console import print_records
from momentdag.posterior import Posterior

__all__ = ["edge_records", "print_edges"]

_SHOWN = 0.1  # least probability of an edge in the table


def edge_records(posterior: Posterior, least: float = _SHOWN) -> list[dict[str, Any]]:
    """Return cause, effect and the probabilities of both moments of each edge, likely first."""
    mean, variance, either = (
        posterior.edge_probabilities(moment).to_numpy() for moment in ("mean", "variance", "either")
    )
    found = [
        (-either[i, j], i, j)
        for i in range(len(either))
        for j in range(len(either))
        if either[i, j] >= least
    ]
    names = posterior.names
    return [
        {
            "cause": names[i],
            "effect": names[j],
            "mean": float(mean[i, j]),
            "variance": float(variance[i, j]),
        }
        for _, i, j in sorted(found)
    ]


def print_edges(records: list[dict[str, Any]]) -> None:
    """Print edges as a table in plain words."""
    words = {"mean": "moves the mean", "variance": "moves the variance"}
    shown = []
    for record in records:
        line = {words.get(key, key): value for key, value in record.items()}
        for word in words.values():
            line[word] = f"{line[word]:.2f}" if line[word] >= 0.005 else "-"
        shown.append(line)
    print_records(shown, ["cause", "effect", *words.values()] if not shown else None)
