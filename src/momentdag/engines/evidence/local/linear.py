"""The linear family: the closed-form evidence of a linear Gaussian variable given its parents.

The score is the BGe score (Geiger and Heckerman 2002) in the form of Kuipers, Moffa and Heckerman
(2014): a normal-Wishart prior on the joint Gaussian with prior sample sizes α_μ = 1 and
α_w = d + 2, and a prior scatter t·I. It gives Markov-equivalent graphs the same evidence.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from momentdag.engines.evidence.local.protocol import Parents, ScoreCounts
from momentdag.engines.evidence.support.bitmasks import members

__all__ = ["LinearFit", "LinearScorer"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_ALPHA_MU = 1.0


class LinearFit(NamedTuple):
    """The evidence of one variable given its parents."""

    log_evidence: float


class LinearScorer:
    """BGe scores of every variable of one standardised table.

    Parameters
    ----------
    values : float array, shape (n, d)
        Standardised columns.
    """

    def __init__(self, values: FloatArray) -> None:
        n, d = values.shape
        self.n_samples: int = n
        self._d: int = d
        self._alpha_w = d + _ALPHA_MU + 1
        prior_scatter = _ALPHA_MU * (self._alpha_w - d - 1) / (_ALPHA_MU + 1)
        centred = values - values.mean(axis=0)
        shrunk_mean = n * _ALPHA_MU / (n + _ALPHA_MU) * np.outer(*[values.mean(axis=0)] * 2)
        self._log_prior_scatter = float(np.log(prior_scatter))
        self._scatter = prior_scatter * np.eye(d) + centred.T @ centred + shrunk_mean
        self.counts = ScoreCounts()

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self._d

    @property
    def fit_bytes(self) -> int:
        """Rough memory of one fit."""
        return 64

    def fit(self, variable: int, parents: Parents) -> LinearFit:
        """Score one variable; variance parents are outside this family.

        Raises
        ------
        ValueError
            If there are variance parents.
        """
        if parents.variance:
            raise ValueError("The linear family has no variance parents.")
        self.counts.add()
        n, d, alpha_w = self.n_samples, self._d, self._alpha_w
        inner = members(parents.mean)
        p = len(inner)
        family = [*inner, variable]
        log_det = self._log_det(inner)
        log_det_family = self._log_det(family)
        degrees = alpha_w - d + p + 1
        value = (
            0.5 * np.log(_ALPHA_MU / (n + _ALPHA_MU))
            - 0.5 * n * np.log(np.pi)
            + gammaln((n + degrees) / 2)
            - gammaln(degrees / 2)
            + 0.5 * (alpha_w - d + 2 * p + 1) * self._log_prior_scatter
            + 0.5 * (n + degrees - 1) * log_det
            - 0.5 * (n + degrees) * log_det_family
        )
        return LinearFit(float(value))

    def _log_det(self, index: list[int]) -> float:
        return float(np.linalg.slogdet(self._scatter[np.ix_(index, index)])[1]) if index else 0.0

    def screen(
        self,
        variable: int,
        fit: LinearFit,
        parents: Parents,
        mean_additions: list[int],
        variance_additions: list[int],
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Return the exact gain of each addition to the mean parents."""
        gains = {
            i: self.fit(variable, Parents(parents.mean | 1 << i, 0)).log_evidence - fit.log_evidence
            for i in mean_additions
        }
        return gains, {}
