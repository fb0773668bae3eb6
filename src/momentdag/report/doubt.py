"""Where the model is sure and the rows are not, as the page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.posterior import Posterior
from momentdag.posterior.doubt import DOUBTFUL, UNSURE, Fit, grade_misfit, is_unsure
from momentdag.posterior.doubt_text import describe_doubt

__all__ = ["DoubtContent", "Misfit", "PlainEdges", "gather_doubt", "misfit_of"]

_MOST_EDGES = 20
_SHOWN_APART = 0.05
"""Difference from which both numbers are shown."""
_ADVICE: Mapping[Fit, str] = {
    "as the model says": "",
    "doubtful": (
        "Worlds of reweighted rows allow for it. The section on criticism may tell what the model "
        "misses."
    ),
    "against the model": (
        "Do not rely on directions of edges into it without knowledge of your own: state an order, "
        "or fit the column on another scale."
    ),
    "not measured": "",
}

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Misfit:
    """How far the rows of one variable speak against the model: index, grade and what to do."""

    variable: str
    index: float
    grade: Fit
    advice: str


@dataclass(frozen=True)
class DoubtContent:
    """Doubt about the model.

    Parameters
    ----------
    message : str
    is_doubtful : bool
        Whether any edge is sure under the model only, or any variable has a large misfit.
    n_unsure : int
        Edges that are sure under the model, not sure of the model.
    edges : list of dict
        The first of them: cause, effect, moment, probability, plain.
    misfit : list of Misfit
        Of every variable, the largest first.
    """

    message: str
    is_doubtful: bool
    n_unsure: int
    edges: list[dict[str, Any]]
    misfit: list[Misfit]


def gather_doubt(posterior: Posterior) -> DoubtContent | None:
    """Return what the page says about doubt; None without worlds."""
    if posterior.doubt is None:
        return None
    table = posterior.disagreement()
    unsure = table[table["grade"] == UNSURE]
    misfits = [misfit_of(posterior, row.variable) for row in posterior.misfit().itertuples()]
    found = [each for each in misfits if each is not None]
    return DoubtContent(
        describe_doubt(posterior),
        len(unsure) > 0 or any(each.index >= DOUBTFUL for each in found),
        len(unsure),
        unsure.drop(columns="grade").head(_MOST_EDGES).to_dict("records"),
        found,
    )


def misfit_of(posterior: Posterior, variable: str) -> Misfit | None:
    """Return the misfit of one variable; None if it was not measured."""
    if posterior.doubt is None:
        return None
    index = float(posterior.doubt.misfit[posterior.index(variable)])
    if np.isnan(index):
        return None
    grade = grade_misfit(index)
    return Misfit(variable, index, grade, _ADVICE[grade])


class PlainEdges:
    """The plain probability of edges, looked up one by one.

    Parameters
    ----------
    posterior : Posterior
    """

    def __init__(self, posterior: Posterior) -> None:
        self._names = {name: k for k, name in enumerate(posterior.names)}
        self._doubt = posterior.doubt

    def beside(self, cause: str, effect: str, moment: str, probability: float) -> dict[str, Any]:
        """Return ``plain``, None where it is next to the probability, and ``unsure``.

        Examples
        --------
        >>> from momentdag.posterior import ModelDoubt, Provenance
        >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
        >>> doubt = ModelDoubt([edge, none, edge], [1.0, 3.2])
        >>> pair = Posterior("ab", [edge, none], [none, none], Provenance("test"), doubt=doubt)
        >>> PlainEdges(pair).beside("a", "b", "mean", 0.5)
        {'plain': 1.0, 'unsure': True}
        """
        if self._doubt is None:
            return {"plain": None, "unsure": False}
        kind = ("mean", "variance").index(moment)
        plain = float(self._doubt.plain[kind, self._names[cause], self._names[effect]])
        shown = abs(plain - probability) >= _SHOWN_APART
        return {"plain": plain if shown else None, "unsure": is_unsure(probability, plain)}
