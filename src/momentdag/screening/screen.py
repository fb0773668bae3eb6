"""Before a fit: tell whether the spread of any column depends on the others.

Directions matter. Against the arrow even noise of constant size looks heteroscedastic: if
Y = X² + noise, the spread of X given Y changes with Y. And a model that knows no variance causes
turns arrows round: if Z sets the spread of Y, a mean edge Y -> Z explains why Z is large where Y is
far out. So a quick search, with variance edges allowed, first says what is an effect of what, and
the residual of each variable is tested against the columns that are no effects of it. If noise has
constant size, these residuals have constant spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from statsmodels.stats.multitest import multipletests

from momentdag.data import Dataset
from momentdag.engines.evidence.engine import EvidenceEngine
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.protocol import silent
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph, reachability
from momentdag.knowledge import Knowledge
from momentdag.screening.spread import combine, explains, normal_scores, spread_tests, white_terms

__all__ = ["Screening", "check_level", "heteroscedasticity", "holm"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# A search only, on some rows: no kicks and no chains to speak of, since one good pair is all that
# is wanted. Functions and tests see all rows.
_QUICK = EvidenceOptions(
    n_starts=1, n_kicks=0, n_chains=1, thinning=1, method="chain", max_rows=1000
)


@dataclass(frozen=True, eq=False)
class Screening:
    """What the screen found.

    Parameters
    ----------
    table : DataFrame
        Index variable. Columns n_predictors; the p-values breusch_pagan, white and forest_white;
        p_value, their Cauchy combination; p_adjusted, by Holm over the variables; heteroscedastic;
        moves_with, the predictor that the spread depends on most clearly. NaN where there is
        nothing to test against.
    graph : MomentGraph
        The pair that the quick search found; it says what was tested against what.
    level : float
        Chance of any false alarm that is accepted.
    n_samples : int
    """

    table: pd.DataFrame
    graph: MomentGraph
    level: float
    n_samples: int

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables whose spread depends on others."""
        return tuple(self.table.index[self.table["heteroscedastic"]])

    @property
    def is_heteroscedastic(self) -> bool:
        """Whether there is any such variable."""
        return bool(self.table["heteroscedastic"].any())

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.table.copy()

    def describe(self) -> str:
        """Return the finding in plain sentences."""
        lines = [
            f"Heteroscedasticity screen of {self.n_samples} rows and {len(self.table)} columns "
            f"(chance of any false alarm: {self.level:.0%})."
        ]
        lines += [f"- {name}: {_reading(row)}" for name, row in self.table.iterrows()]
        if self.is_heteroscedastic:
            lines.append(
                "Noise of constant size does not explain these columns: a variance graph is worth "
                "learning. Which column is to blame for which is for the fit to say; directions "
                "here come from a quick search."
            )
        else:
            lines.append(
                "Noise of constant size explains these columns: expect an empty variance graph. "
                "engine_options={'family': 'gp_homoscedastic'} fits the mean graph alone."
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()


def heteroscedasticity(
    X: object,
    *,
    knowledge: Knowledge | None = None,
    level: float = 0.05,
    n_jobs: int = 1,
    random_state: int = 0,
) -> Screening:
    """Test for each column whether its spread depends on other columns.

    The residual of a column given its mean causes, by a quick search for the best pair of graphs,
    is squared and put to three tests: Breusch-Pagan, White, and White with a random forest as
    regression, all on normal scores of the columns that are no effects of it in that pair.

    Parameters
    ----------
    X : table, shape (n_samples, n_variables)
        A pandas or polars frame, an array, or a `Dataset`.
    knowledge : Knowledge, optional
        Restricts the search, and with it what a column is tested against.
    level : float
        Chance of any false alarm, over all columns.
    n_jobs : int
        Processes for the search.
    random_state : int
        Seed; the same number gives the same answer.

    Returns
    -------
    Screening

    Raises
    ------
    DataError, KnowledgeError, OptionError
        If the table, the knowledge or an option cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> dose, stress = rng.normal(size=(2, 300))
    >>> response = dose + np.exp(stress) * rng.normal(size=300)
    >>> screen = heteroscedasticity(np.column_stack([dose, stress, response]))
    >>> screen.variables
    ('x3',)
    >>> screen.table.loc["x3", "moves_with"]
    'x2'
    """
    check_level(level)
    dataset = Dataset.from_table(X, min_variables=2)
    stated = Knowledge() if knowledge is None else knowledge
    model_rng, test_rng = np.random.default_rng(random_state).spawn(2)
    fit = EvidenceEngine(_QUICK).fit(dataset, stated, 1, n_jobs, model_rng, silent)
    assert fit.model is not None  # the family has mechanisms
    mechanisms = fit.model.mean_functions(fit.best)
    allowed = _no_effects(fit.best, stated)
    rows = {}
    for j, (name, rng) in enumerate(
        zip(dataset.names, test_rng.spawn(dataset.n_variables), strict=True)
    ):
        mean, _ = mechanisms[name].moments(dataset.values)
        residual = (dataset.values[:, j] - mean) / dataset.scale[j]
        rows[name] = _row(rng, residual, dataset, np.flatnonzero(allowed[:, j]))
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("variable")
    table.insert(5, "p_adjusted", holm(table["p_value"].to_numpy()))
    table.insert(6, "heteroscedastic", table["p_adjusted"] < level)
    return Screening(table, fit.best, level, dataset.n_samples)


def check_level(level: float) -> None:
    """Refuse a level outside (0, 1)."""
    if not 0 < level < 1:
        raise OptionError(f"Expected level between 0 and 1; got {level!r}.")


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust p-values by Holm's method; NaN stay and do not count.

    Examples
    --------
    >>> holm([0.01, float("nan"), 0.04]).tolist()
    [0.02, nan, 0.04]
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    known = ~np.isnan(p)
    if known.any():
        adjusted[known] = multipletests(p[known], method="holm")[1]
    return adjusted


def _no_effects(graph: MomentGraph, knowledge: Knowledge) -> npt.NDArray[np.bool_]:
    """Return [i, j]: i is no effect of j, neither in the graph nor by what is known."""
    later = reachability(graph.union_graph) | knowledge.compile(graph.names).precedes
    return ~later.T & ~np.eye(graph.n_variables, dtype=bool)


def _row(
    rng: np.random.Generator,
    residual: FloatArray,
    dataset: Dataset,
    predictors: npt.NDArray[np.intp],
) -> dict[str, Any]:
    if len(predictors) == 0:
        tests = dict.fromkeys(("breusch_pagan", "white", "forest_white", "p_value"), np.nan)
        return {"n_predictors": 0, **tests, "moves_with": ""}
    X = dataset.values[:, predictors]
    tests_found = spread_tests(rng, residual, X)
    scores = normal_scores(X)
    alone = [explains(white_terms(scores[:, [k]]), residual**2) for k in range(len(predictors))]
    return {
        "n_predictors": len(predictors),
        **tests_found._asdict(),
        "p_value": combine(tests_found),
        "moves_with": dataset.names[predictors[int(np.argmin(alone))]],
    }


def _reading(row: pd.Series[Any]) -> str:
    if row["n_predictors"] == 0:
        return "a cause of all others by the quick search; nothing to test it against."
    p = row["p_adjusted"]
    said = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    if row["heteroscedastic"]:
        most = row["moves_with"]
        return f"its spread changes with other columns ({said}), most clearly with {most}."
    return f"no sign that its spread changes ({said})."
