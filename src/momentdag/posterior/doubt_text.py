"""Doubt about the model in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from momentdag.posterior.doubt import (
    AGAINST,
    DOUBTFUL,
    UNSURE,
    ModelDoubt,
    disagreement,
    misfit,
)

if TYPE_CHECKING:
    from momentdag.posterior.container import Posterior

__all__ = ["describe_doubt", "describe_searches", "doubt_record"]

_MOST_NAMED = 3


def describe_doubt(posterior: Posterior) -> str:
    """Return in a sentence or two where the model is in doubt, or nothing without worlds.

    Examples
    --------
    >>> import numpy as np
    >>> from momentdag.posterior import Posterior, Provenance
    >>> graphs, doubt = np.zeros((1, 2, 2)), ModelDoubt(np.zeros((3, 2, 2)), [1.0, 3.2])
    >>> print(describe_doubt(Posterior("ab", graphs, graphs, Provenance("", {}), doubt=doubt)))
    Wherever the model is sure, it stays so when rows are reweighted. The rows of b (misfit 3.2) \
contradict each other more than the model allows: doubt the directions of edges into it.
    """
    if posterior.doubt is None:
        return ""
    unsure = disagreement(posterior)
    unsure = unsure[unsure["grade"] == UNSURE]
    sentences = ["Wherever the model is sure, it stays so when rows are reweighted."]
    if len(unsure):
        named = "; ".join(
            f"{row.cause} -> {row.effect} ({row.moment}) {_share(row.probability)}, under the "
            f"model {_share(row.plain)}"
            for row in unsure.head(_MOST_NAMED).itertuples()
        )
        one = len(unsure) == 1
        more = f"; and {len(unsure) - _MOST_NAMED} more" if len(unsure) > _MOST_NAMED else ""
        sentences = [
            f"{len(unsure)} edge{' is' if one else 's are'} sure under the model, not sure of the "
            f"model: {named}{more}. Use the first number."
        ]
    table = misfit(posterior)
    table = table[table["misfit"] >= DOUBTFUL]
    if len(table):
        named = ", ".join(
            f"{row.variable} (misfit {row.misfit:.1f})"
            for row in table.head(_MOST_NAMED).itertuples()
        )
        more = f" and {len(table) - _MOST_NAMED} more" if len(table) > _MOST_NAMED else ""
        worst = float(table["misfit"].max()) >= AGAINST
        advice = (
            "do not rely on directions of edges into them without knowledge of your own"
            if worst
            else "doubt the directions of edges into them"
        )
        if len(table) == 1:
            advice = advice.replace("them", "it")
        sentences.append(
            f"The rows of {named}{more} contradict each other more than the model allows: {advice}."
        )
    return " ".join(sentences)


def doubt_record(posterior: Posterior) -> dict[str, Any] | None:
    """Return the doubt about the model as plain values; None without worlds.

    Examples
    --------
    >>> import numpy as np
    >>> from momentdag.posterior import Posterior, Provenance
    >>> graphs, doubt = np.zeros((1, 2, 2)), ModelDoubt(np.zeros((3, 2, 2)), [1.0, 3.2])
    >>> doubt_record(Posterior("ab", graphs, graphs, Provenance("", {}), doubt=doubt))["misfit"]
    {'a': 1.0, 'b': 3.2}
    """
    doubt = posterior.doubt
    if doubt is None:
        return None
    return {
        "edges": disagreement(posterior).to_dict("records"),
        "misfit": doubt.misfit_by_name(posterior.names),
        "world_searches": {
            "n_searched": doubt.n_searched,
            "n_outside": doubt.n_outside,
            "recent_outside": doubt.recent_outside,
        },
    }


def describe_searches(doubt: ModelDoubt, wider: str) -> str:
    """Return whether searches in worlds still found parents, or nothing without any.

    ``wider`` is how one asks for a wider search.

    Examples
    --------
    >>> import numpy as np
    >>> doubt = ModelDoubt(np.zeros((3, 1, 1)), [1.0], 3, 2, 0.0)
    >>> describe_searches(doubt, "n_starts=8")
    'Of 3 worlds searched for parents 2 added some, the last ones none.'
    """
    if doubt.n_searched == 0:
        return ""
    counted = f"Of {doubt.n_searched} worlds searched for parents {doubt.n_outside} added some"
    if doubt.recent_outside == 0:
        last = ", the last ones none" if doubt.n_outside else ""
        return f"{counted}{last}."
    return (
        f"{counted}, the last ones too: parents that other worlds prefer may be missing, and open "
        f"edges may move by some hundredths. A wider search finds more ({wider})."
    )


def _share(p: float) -> str:
    """Return a probability; 0 and 1 only when exact."""
    if 0 < p < 0.005:
        return "< 0.01"
    return "> 0.99" if 0.995 <= p < 1 else f"{p:.2f}"
