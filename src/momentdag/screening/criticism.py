"""After a fit: whether the residuals look as the model predicts, and if not, what to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from momentdag.display import text
from momentdag.display.printable import Described
from momentdag.effects.intervals import check_level
from momentdag.graph import MomentGraph
from momentdag.screening import checks, criticism_text
from momentdag.screening.leave_one_out import MAX_SHAPE, LogScores
from momentdag.screening.residuals import Residuals, compute_residuals, log_scores
from momentdag.screening.screen import holm

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from momentdag.estimator import MomentDAG

__all__ = ["Criticism", "criticise"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_FAMILIES = 4  # of tests that share the level: Gaussianity, noise, dependence, noise pairs


@dataclass(frozen=True, eq=False, repr=False)
class Criticism(Described):
    """A fit compared with a table.

    Parameters
    ----------
    variables : DataFrame
        Index variable. Columns skewness, asymmetry (of the quantiles) and excess_kurtosis of the
        standardised residual; p_gaussian (is it normal; NaN for discrete variables, which have no
        such noise), p_noise (does it follow the fitted noise or distribution); log_score, mean
        over the rows; n_influential, rows so influential on the fit of this variable that their
        leave-one-out score is unreliable.
    dependence : DataFrame
        One row for each variable, other column that is not its effect, and moment: does the
        residual (moment "mean") or its size ("variance") still depend on it. Columns variable,
        other, moment, role ("parent" or "non-parent" in that graph), probability of the edge,
        p_value. The other "(fitted mean)" is the scale-location check. Binary variables and
        categories have rows of moment "mean" only.
    noise_pairs : DataFrame
        Rank correlations of residuals and of their sizes for each pair of variables; without
        unmeasured causes the noises are independent. Columns first, second, correlation,
        size_correlation, p_value.
    residuals : Residuals
        Residuals, probability transforms and conditional moments.
    scores : mapping from name to LogScores
        Log score of each row and its Pareto shape.
    engine, noise : str
        The engine of the fit, and its noise family.
    level : float

    Notes
    -----
    P-values in all tables are adjusted: Holm over each table's column, and the four families of
    tests share the level, so the chance of ``p < level`` anywhere by accident is at most the level.
    Residuals on the rows of the fit are slightly too small, which makes the tests lenient.
    Residuals of discrete variables are randomised quantile residuals (Dunn and Smyth 1996): normal
    if the model is right.
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
        mean and scale functions are re-weighted; graph pair, kernels and noise shape are kept.
        Functions that are point estimates cannot be re-weighted; then it is the score of the fit
        on its own rows.
        """
        return float(self.variables["log_score"].sum())

    @property
    def non_gaussian(self) -> tuple[str, ...]:
        """The variables whose residuals are not normal."""
        return tuple(self.variables.index[self.variables["p_gaussian"] < self.level])

    @property
    def is_quiet(self) -> bool:
        """Whether there are no findings."""
        return not criticism_text.findings(self)

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table of variables."""
        return self.variables.copy()

    def quantiles(self, name: str) -> pd.DataFrame:
        """Return columns normal and residual: the points of a normal QQ plot."""
        residual = np.sort(self.residuals.standardised[name].to_numpy())
        probability = (np.arange(len(residual)) + 0.5) / len(residual)
        return pd.DataFrame({"normal": ndtri(probability), "residual": residual})

    def scale_location(self, name: str) -> pd.DataFrame:
        """Return columns fitted and root_size (square root of the residual's size)."""
        size = self.residuals.standardised[name].abs()
        return pd.DataFrame({"fitted": self.residuals.mean[name], "root_size": np.sqrt(size)})

    def figure(self, name: str) -> Figure:
        """Draw QQ, PIT, scale-location, and the residual against every other column (Plotly)."""
        from momentdag.screening.figures import draw

        return draw(self, name)

    def describe(self) -> str:
        """Return the findings and what to try, in plain sentences."""
        return criticism_text.describe(self)

    def _headline(self) -> str:
        rows = text.count(self.residuals.dataset.n_samples, "row")
        found = text.count(len(criticism_text.findings(self)), "finding")
        return f"{rows}: {found}, log score {text.number(self.log_score)} per row"


def criticise(
    estimator: MomentDAG,
    X: object,
    *,
    graph: MomentGraph | None = None,
    level: float = 0.05,
    n_draws: int = 200,
    random_state: int = 0,
) -> Criticism:
    """Compare a fit with a table: shape and remaining dependence of residuals, log scores.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted, by either engine.
    X : table, shape (n_samples, n_variables)
        The rows of the fit, or new ones.
    graph : MomentGraph, optional
        The pair whose mechanisms are criticised; the most probable one by default.
    level : float
        Chance of any false alarm.
    n_draws : int
        Draws of the functions for the log scores.
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
    With a fitted ``estimator``, the variables whose residuals are not normal::

        md.screening.criticise(estimator, data).non_gaussian
    """
    check_level(level)
    residuals = compute_residuals(estimator, X, graph)
    rng = np.random.default_rng(random_state)
    assert estimator.scm_ is not None  # `compute_residuals` has checked it
    scores = log_scores(rng, estimator.scm_, residuals, n_draws)
    variables = checks.shapes(residuals)
    variables["log_score"] = [float(scores[name].score.mean()) for name in variables.index]
    variables["n_influential"] = [
        int((scores[name].shape > MAX_SHAPE).sum()) for name in variables.index
    ]
    dependence = checks.dependence(residuals, estimator.posterior_)
    pairs = checks.noise_pairs(residuals.standardised)
    for table, column in (
        (variables, "p_gaussian"),
        (variables, "p_noise"),
        (dependence, "p_value"),
        (pairs, "p_value"),
    ):
        table[column] = np.minimum(_FAMILIES * holm(table[column]), 1.0)
    provenance = estimator.posterior_.provenance
    noise = str(provenance.options.get("noise", "gaussian"))
    return Criticism(
        variables, dependence, pairs, residuals, scores, provenance.engine, noise, level
    )
