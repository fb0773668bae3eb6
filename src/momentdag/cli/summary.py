"""The result of a fit, in a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import momentdag as md
from momentdag.cli.console import as_flags, print_line, print_records
from momentdag.errors import OptionError

if TYPE_CHECKING:
    from momentdag.effects.trust import Trust

__all__ = [
    "doubt_line",
    "draws_check",
    "edge_records",
    "log_scale_note",
    "print_edges",
    "print_targets",
    "refuse_untrusted",
    "world_line",
]

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


def print_targets(posterior: md.Posterior) -> None:
    """Print what each regime changed as a table, followed by a sentence."""
    drawn = posterior.target_draws
    assert drawn is not None  # the caller has looked
    table = posterior.targets()
    likely = table[table[["mean", "variance"]].max(axis=1) >= _LEAST_LISTED]
    words = {"mean": "changes the mean", "variance": "changes the variance"}
    rows = [
        {
            words.get(str(name), str(name)): _probability(value) if name in words else value
            for name, value in row.items()
        }
        for row in likely.to_dict("records")
    ]
    print_records(rows, ["regime", "variable", *words.values()])
    print_line(
        f"Regimes of {drawn.column}, each compared with {drawn.reference}: the probability that it "
        "changes a variable given its causes."
    )


def draws_check(posterior: md.Posterior) -> str:
    """Say whether the draws can be trusted, and which options to change if not."""
    return f"Check of the draws: {posterior.diagnostics().message(as_flags)}"


def doubt_line(posterior: md.Posterior) -> str:
    """Say where the model is in doubt, or nothing if nothing was compared."""
    from momentdag.posterior.doubt_text import describe_doubt

    said = describe_doubt(posterior)
    return f"Check of the certainty: {said}" if said else ""


def world_line(estimator: md.MomentDAG) -> str:
    """Say whether the model reproduces the data, or nothing if it has no mechanisms."""
    from momentdag.effects.world import describe_world

    if estimator.scm_ is None:
        return ""
    return f"Check of the model: {describe_world(estimator.world_check())}"


def refuse_untrusted(trust: Trust | None, force: bool) -> None:
    """Refuse an answer that rests on columns the model does not reproduce.

    Raises
    ------
    OptionError
        If the answer is not to be used and ``--force`` is not given.
    """
    if trust is not None and trust.failed and not force:
        raise OptionError(f"{trust.message()} --force shows the numbers all the same.")


def log_scale_note(estimator: md.MomentDAG) -> str:
    """Return a reminder of the columns that are logarithms, or nothing."""
    columns = ", ".join(estimator.result_.observed.log_columns)
    if not columns:
        return ""
    return f"Fitted as logarithms, shown in the units of the file: {columns}."


def _probability(value: float) -> str:
    return f"{value:.2f}" if value >= 0.005 else "-"
