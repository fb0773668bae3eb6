"""After a fit: do its residuals look as the model says, and if not, what to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from momentdag.graph import MomentGraph
from momentdag.screening import checks, words
from momentdag.screening.leave_one_out import MAX_SHAPE, LogScores
from momentdag.screening.residuals import Residuals, log_scores, residuals
from momentdag.screening.screen import check_level, holm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from momentdag.estimator import MomentDAG

__all__ = ["Criticism", "criticise"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_FAMILIES = 4  # Gaussianity, noise, dependence, noise pairs: they share the level


@dataclass(frozen=True, eq=False)
class Criticism:
    """A fit held against a table.

    Parameters
    ----------
    variables : DataFrame
        Index variable. Columns skewness, asymmetry (of the quantiles) and excess_kurtosis of the
        standardised residual; p_gaussian (is it normal), p_noise (does it follow the fitted
        noise); log_score, mean over the rows; n_influential, rows that the fit of this variable
        leans on so much that their score is rough.
    dependence : DataFrame
        One row for each variable, other column that is no effect of it, and moment: does the
        residual (moment "mean") or its size ("variance") still depend on it. Columns variable,
        other, moment, role ("parent" or "non-parent" in that graph), probability of the edge,
        p_value. The other "(fitted mean)" is the scale-location check.
    noise_pairs : DataFrame
        Rank correlations of residuals and of their sizes for each two variables: the noises are
        independent if nothing is left out. Columns first, second, correlation, size_correlation,
        p_value.
    residuals : Residuals
        The residuals, probability transforms and conditional moments themselves.
    scores : mapping from name to LogScores
        Log score of each row and its Pareto shape.
    engine, noise : str
        The engine of the fit, and its noise family.
    level : float

    Notes
    -----
    P-values in all tables are adjusted: Holm over each table's column, and the four families of
    tests share the level, so that ``p < level`` anywhere is a false alarm with at most that
    chance. Residuals of the rows of the fit are a little too tame, which makes the tests lenient.
    """

    variables: pd.DataFrame
    dependence: pd.DataFrame
    noise_pairs: pd.DataFrame
    residuals: Residuals
    scores: dict[str, LogScores]
    engine: str
    noise: str
    level: float

    @property
    def log_score(self) -> float:
        """Log score per row, summed over the variables, in the data's units.

        On the rows of the fit it is a leave-one-out score by Pareto-smoothed importance sampling:
        mean and scale functions are re-weighted, the graph pair, kernels and noise shape are not
        learned anew. For point-estimate functions nothing can be re-weighted, and it is the score
        of the fit on its own rows.
        """
        return float(self.variables["log_score"].sum())

    @property
    def non_gaussian(self) -> tuple[str, ...]:
        """The variables whose residuals are not normal."""
        return tuple(self.variables.index[self.variables["p_gaussian"] < self.level])

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was found."""
        return not words.findings(self)

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table of variables."""
        return self.variables.copy()

    def quantiles(self, name: str) -> pd.DataFrame:
        """Return columns normal and residual: the points of a normal QQ plot."""
        found = np.sort(self.residuals.standardised[name].to_numpy())
        return pd.DataFrame(
            {"normal": ndtri((np.arange(len(found)) + 0.5) / len(found)), "residual": found}
        )

    def scale_location(self, name: str) -> pd.DataFrame:
        """Return columns fitted and root_size (square root of the residual's size)."""
        held = self.residuals
        return pd.DataFrame(
            {"fitted": held.mean[name], "root_size": np.sqrt(held.standardised[name].abs())}
        )

    def figure(self, name: str) -> Figure:
        """Draw QQ, PIT, scale-location, and the residual against every other column."""
        from momentdag.screening.figures import draw

        return draw(self, name)

    def describe(self) -> str:
        """Return what was found and what to try, in plain sentences."""
        return words.describe(self)

    def __str__(self) -> str:
        return self.describe()


def criticise(
    estimator: MomentDAG,
    X: object,
    *,
    graph: MomentGraph | None = None,
    level: float = 0.05,
    n_draws: int = 200,
    random_state: int = 0,
) -> Criticism:
    """Hold a fit against a table: residuals, their shape, what they still depend on, log scores.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted, by either engine.
    X : table, shape (n_samples, n_variables)
        The rows of the fit, or new ones.
    graph : MomentGraph, optional
        The pair whose mechanisms are looked at; the most probable one by default.
    level : float
        Chance of any false alarm.
    n_draws : int
        Draws of the functions behind the log scores.
    random_state : int
        Seed of those draws.

    Returns
    -------
    Criticism

    Raises
    ------
    NotFittedError, DataError, GraphError, OptionError
        If the estimator, the table, the graph or an option cannot be used.

    Examples
    --------
    >>> import momentdag as md, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.uniform(-2, 2, 300)
    >>> X = np.column_stack([cause, np.sin(2 * cause) + 0.3 * rng.standard_t(3, 300)])
    >>> options = {"noise": "gaussian", "n_starts": 1}
    >>> fit = md.MomentDAG(n_draws=500, random_state=0, engine_options=options).fit(X)
    >>> criticism = criticise(fit, X)
    >>> "x2" in criticism.non_gaussian
    True
    """
    check_level(level)
    held = residuals(estimator, X, graph)
    rng = np.random.default_rng(random_state)
    assert estimator.scm_ is not None  # `residuals` has made sure
    scores = log_scores(rng, estimator.scm_, held, n_draws)
    variables = checks.shapes(held.standardised, held.pit)
    variables["log_score"] = [float(scores[name].score.mean()) for name in variables.index]
    variables["n_influential"] = [
        int((scores[name].shape > MAX_SHAPE).sum()) for name in variables.index
    ]
    dependence = checks.dependence(held, estimator.posterior_)
    pairs = checks.noise_pairs(held.standardised)
    for table, column in (
        (variables, "p_gaussian"),
        (variables, "p_noise"),
        (dependence, "p_value"),
        (pairs, "p_value"),
    ):
        table[column] = np.minimum(_FAMILIES * holm(table[column]), 1.0)
    provenance = estimator.posterior_.provenance
    noise = str(provenance.options.get("noise", "gaussian"))
    return Criticism(variables, dependence, pairs, held, scores, provenance.engine, noise, level)
