"""Doubt about the model: what it says alone, beside what worlds of reweighted rows say.

An edge can be sure under the model and not sure of the model: given the rows as they are its
probability is nearly 0 or 1, but worlds of reweighted rows, which take into account how the rows
contradict each other, leave it open. The second number is the one to act on; the first says that
more rows will not settle the matter, while a better model might.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import GraphError, OptionError
from momentdag.posterior.queries import EdgeChoice
from momentdag.readonly import ReadOnlyArrays

if TYPE_CHECKING:
    from momentdag.posterior.container import Posterior

__all__ = [
    "AGAINST",
    "DOUBTFUL",
    "SURE",
    "UNSURE",
    "Certainty",
    "Fit",
    "ModelDoubt",
    "disagreement",
    "grade_certainty",
    "grade_misfit",
    "is_unsure",
    "misfit",
    "plain_edge_probabilities",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Certainty: TypeAlias = Literal[
    "sure",
    "sure under the model, not sure of the model",
    "sure, though open under the model",
    "open",
]
Fit: TypeAlias = Literal["as the model says", "doubtful", "against the model", "not measured"]

UNSURE: Certainty = "sure under the model, not sure of the model"
SURE = (0.05, 0.95)
"""Probabilities outside are sure."""
LEAST_DIFFERENCE = 0.1
"""Smaller differences are no disagreement: worlds themselves leave an error of some hundredths."""
DOUBTFUL = 2.0
"""Misfit index that hardly any variable reaches whose model is right."""
AGAINST = 4.0
"""Where tau = 2, each row stands for four in a world: beyond it, worlds are too sure as well."""


@dataclass(frozen=True, eq=False)
class ModelDoubt(ReadOnlyArrays):
    """What comes with draws of worlds: the plain posterior, and how far rows contradict the model.

    Parameters
    ----------
    plain : float array, shape (3, d, d)
        Probability of every mean edge, variance edge and edge of either graph given the rows as
        they are; row is the cause.
    misfit : float array, shape (d,)
        Misfit index of each variable; NaN where it was not measured.
    n_searched, n_outside : int
        Worlds that were searched for parents, and those among them that added some to the pools.
    recent_outside : float
        The same as a share of the last ones.

    Raises
    ------
    GraphError
        If shapes disagree, or a number is out of its range.

    Examples
    --------
    >>> doubt = ModelDoubt(np.full((3, 2, 2), 0.5), np.array([1.0, np.nan]))
    >>> doubt.n_variables
    2
    """

    plain: FloatArray
    misfit: FloatArray
    n_searched: int = 0
    n_outside: int = 0
    recent_outside: float = 0.0

    def __post_init__(self) -> None:
        plain, misfit = (np.array(each, dtype=np.float64) for each in (self.plain, self.misfit))
        d = len(misfit) if misfit.ndim == 1 else 0
        if d == 0 or plain.shape != (3, d, d):
            raise GraphError(
                "Expected plain of shape (3, d, d) and misfit of shape (d,); got "
                f"{plain.shape} and {misfit.shape}."
            )
        # Sums of many shares may exceed 1 by rounding.
        if not ((plain >= 0) & (plain <= 1 + 1e-9)).all():
            raise GraphError("Expected plain probabilities from 0 to 1.")
        if (misfit < 0).any() or np.isinf(misfit).any():
            raise GraphError("Expected misfit indices to be finite and at least 0, or NaN.")
        if not 0 <= self.n_outside <= self.n_searched or not 0 <= self.recent_outside <= 1:
            raise GraphError(
                "Expected 0 <= n_outside <= n_searched and a share recent_outside; got "
                f"{self.n_outside}, {self.n_searched} and {self.recent_outside}."
            )
        self.__setstate__({**self.__dict__, "plain": np.minimum(plain, 1.0), "misfit": misfit})

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.misfit)

    def reordered(self, columns: npt.NDArray[np.intp]) -> ModelDoubt:
        """Return the same with variable ``columns[k]`` in place k."""
        plain = self.plain[:, columns][:, :, columns]
        return replace(self, plain=plain, misfit=self.misfit[columns])

    def misfit_by_name(self, names: Sequence[str]) -> dict[str, float | None]:
        """Return the misfit index of each variable, None where it was not measured.

        Examples
        --------
        >>> ModelDoubt(np.zeros((3, 2, 2)), np.array([1.5, np.nan])).misfit_by_name("ab")
        {'a': 1.5, 'b': None}
        """
        values = [None if np.isnan(value) else float(value) for value in self.misfit]
        return dict(zip(names, values, strict=True))

    @classmethod
    def average(cls, parts: Sequence[ModelDoubt], weights: Sequence[int]) -> ModelDoubt:
        """Return the doubt about several completions of a table, as one.

        Examples
        --------
        >>> parts = [ModelDoubt(np.full((3, 1, 1), p), np.array([1.0])) for p in (0.0, 1.0)]
        >>> float(ModelDoubt.average(parts, [1, 3]).plain[0, 0, 0])
        0.75
        """
        share = np.asarray(weights, dtype=np.float64) / sum(weights)
        indices = np.stack([part.misfit for part in parts])
        known = ~np.isnan(indices)
        total = share @ known
        sums = share @ np.where(known, indices, 0.0)
        return cls(
            np.tensordot(share, np.stack([part.plain for part in parts]), 1),
            np.where(total > 0, sums / np.where(total > 0, total, 1.0), np.nan),
            sum(part.n_searched for part in parts),
            sum(part.n_outside for part in parts),
            float(share @ [part.recent_outside for part in parts]),
        )


def plain_edge_probabilities(posterior: Posterior, moment: EdgeChoice = "either") -> pd.DataFrame:
    """Return the probability of every edge given the rows as they are (index cause).

    Raises
    ------
    OptionError
        If the draws do not come from worlds of reweighted rows.
    GraphError
        If ``moment`` is none of the choices.

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> graphs = [[[0, 1], [0, 0]], [[0, 0], [0, 0]]]
    >>> doubt = ModelDoubt([[[0, 1], [0, 0]], [[0, 0], [0, 0]], [[0, 1], [0, 0]]], [1.0, 3.2])
    >>> posterior = Posterior("ab", graphs, graphs, Provenance("by hand"), doubt=doubt)
    >>> float(plain_edge_probabilities(posterior, "mean_only").loc["a", "b"])
    1.0
    """
    mean, variance, either = _doubt_of(posterior).plain
    if moment not in get_args(EdgeChoice):
        raise GraphError(f"Expected a moment among {get_args(EdgeChoice)}; got {moment!r}.")
    # Both: |A| + |B| - |A or B|; rounding must not make a probability negative.
    chosen = {
        "mean": mean,
        "variance": variance,
        "either": either,
        "both": mean + variance - either,
        "mean_only": either - variance,
        "variance_only": either - mean,
    }[moment]
    return pd.DataFrame(
        np.clip(chosen, 0.0, 1.0),
        index=pd.Index(posterior.names, name="cause"),
        columns=pd.Index(posterior.names, name="effect"),
    )


def disagreement(posterior: Posterior, least: float = 0.05) -> pd.DataFrame:
    """Return edges whose probability differs from the plain one, the largest difference first.

    Parameters
    ----------
    posterior : Posterior
    least : float
        Smaller differences are left out; 0 for every edge.

    Returns
    -------
    DataFrame
        Columns cause, effect, moment, probability, plain and grade: "sure" (both numbers are below
        .05, or both above .95), "sure under the model, not sure of the model" (only the plain one,
        and they differ by .1), "sure, though open under the model", or "open".

    Raises
    ------
    OptionError
        If the draws do not come from worlds of reweighted rows, or ``least`` is not in 0 to 1.

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> graphs = [[[0, 1], [0, 0]], [[0, 0], [0, 0]]]
    >>> doubt = ModelDoubt([[[0, 1], [0, 0]], [[0, 0], [0, 0]], [[0, 1], [0, 0]]], [1.0, 3.2])
    >>> posterior = Posterior("ab", graphs, graphs, Provenance("by hand"), doubt=doubt)
    >>> disagreement(posterior)[["moment", "probability", "plain"]].values.tolist()
    [['mean', 0.5, 1.0], ['variance', 0.5, 0.0]]
    """
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1:
        raise OptionError(f"Expected least from 0 to 1; got {least!r}.")
    doubt = _doubt_of(posterior)
    names = np.array(posterior.names, dtype=object)
    parts = []
    for k, graphs in enumerate((posterior.mean_graphs, posterior.variance_graphs)):
        probability, plain = graphs.mean(axis=0), doubt.plain[k]
        wanted = (np.abs(probability - plain) >= least) & ~np.eye(len(names), dtype=bool)
        causes, effects = np.nonzero(wanted)
        parts.append(
            pd.DataFrame(
                {
                    "cause": names[causes],
                    "effect": names[effects],
                    "moment": ("mean", "variance")[k],
                    "probability": probability[wanted],
                    "plain": plain[wanted],
                    "grade": grade_certainty(probability[wanted], plain[wanted]),
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    apart = (
        (table["plain"] - table["probability"]).abs().sort_values(ascending=False, kind="stable")
    )
    return table.loc[apart.index].reset_index(drop=True)


def grade_certainty(probability: FloatArray, plain: FloatArray) -> list[Certainty]:
    """Return how sure each edge is, of the model and under it.

    Examples
    --------
    >>> grade_certainty(np.array([0.6, 0.99, 0.5]), np.array([0.99, 0.99, 0.7]))
    ['sure under the model, not sure of the model', 'sure', 'open']
    """
    low, high = SURE
    sides = [(p > high).astype(int) - (p < low) for p in (probability, plain)]
    differ = np.abs(probability - plain) >= LEAST_DIFFERENCE
    choices: tuple[Certainty, ...] = get_args(Certainty)
    grades = np.select(
        [
            (sides[1] != 0) & (sides[0] != sides[1]) & differ,
            (sides[0] != 0) & (sides[1] == 0) & differ,
            sides[0] != 0,
        ],
        [1, 2, 0],
        3,
    )
    return [choices[k] for k in grades]


def is_unsure(probability: float, plain: float | None) -> bool:
    """Return whether an edge is sure under the model, not sure of the model.

    Examples
    --------
    >>> is_unsure(0.6, 0.99), is_unsure(0.6, 0.7), is_unsure(0.6, None)
    (True, False, False)
    """
    if plain is None:
        return False
    return grade_certainty(np.array([probability]), np.array([plain])) == [UNSURE]


def misfit(posterior: Posterior) -> pd.DataFrame:
    """Return how far the rows of each variable speak against the model's form.

    Let D be the log evidence that the best pair of graphs gains over a pair in which an edge into
    the variable is turned round, and V the variance of the sum of the rows' differences. If the
    model is right and the two explanations are near, V is twice D, as both are twice the
    Kullback-Leibler divergence (White 1982; Vuong 1989). The index is

        (Σ V + 20) / (2 Σ D + 20)

    over the edges into the variable: 1 is as the model says, and as if there were nothing to
    compare. Above it, rows contradict each other more than the model allows, and D is no measure
    of how sure an edge is.

    Returns
    -------
    DataFrame
        Columns variable, misfit and grade: "as the model says" (below 2), "doubtful", "against the
        model" (4 or more) or "not measured"; the largest first.

    Raises
    ------
    OptionError
        If the draws do not come from worlds of reweighted rows.

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> graphs, doubt = np.zeros((1, 2, 2)), ModelDoubt(np.zeros((3, 2, 2)), [1.0, 3.2])
    >>> misfit(Posterior("ab", graphs, graphs, Provenance("by hand"), doubt=doubt))
      variable  misfit              grade
    0        b     3.2           doubtful
    1        a     1.0  as the model says
    """
    index = _doubt_of(posterior).misfit
    table = pd.DataFrame(
        {
            "variable": list(posterior.names),
            "misfit": index,
            "grade": [grade_misfit(value) for value in index],
        }
    )
    return table.sort_values("misfit", ascending=False, kind="stable", ignore_index=True)


def grade_misfit(index: float) -> Fit:
    """Return a misfit index in words.

    Examples
    --------
    >>> grade_misfit(1.1), grade_misfit(float("nan"))
    ('as the model says', 'not measured')
    """
    if np.isnan(index):
        return "not measured"
    if index < DOUBTFUL:
        return "as the model says"
    return "doubtful" if index < AGAINST else "against the model"


def _doubt_of(posterior: Posterior) -> ModelDoubt:
    if posterior.doubt is None:
        raise OptionError(
            "This posterior has no worlds of reweighted rows to hold the plain one against: it "
            "comes from another engine, from posterior='plain' or family='linear', or from a "
            "version that did not keep it.",
            fit_with={"engine_options": {"posterior": "worlds"}},
        )
    return posterior.doubt
