"""Test whether the spread of any column depends on the others.

Directions matter. Against the causal direction even noise of constant size looks heteroscedastic:
if Y = X² + noise, the spread of X given Y changes with Y. And a model without variance causes
reverses edges: if Z sets the spread of Y, a mean edge Y -> Z explains why Z is large where Y is
extreme. So a pair of graphs, from a fit or from a quick search that allows variance edges, first
tells which columns are effects of which; the residual of each variable is then tested against the
columns that are not its effects. If noise has constant size, these residuals have constant spread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from momentdag.display import text
from momentdag.display.printable import Described
from momentdag.effects.intervals import check_level
from momentdag.engines.evidence.engine import EvidenceEngine
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.protocol import AnyMechanism, FitRequest, FittedModel, as_discrete
from momentdag.errors import OptionError, Spelling, as_python
from momentdag.graph import MomentGraph, reachability
from momentdag.knowledge import CompiledKnowledge, Knowledge
from momentdag.knowledge.tables import compile_for_table
from momentdag.screening.predictors import predictor_columns
from momentdag.screening.residuals import fitted_mechanisms, spread_transform
from momentdag.screening.spread import combine, explains, spread_tests, white_terms
from momentdag.screening.tables import complete_rows, read_table_of
from momentdag.table import Dataset
from momentdag.table.kinds import Kind

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Screening", "heteroscedasticity", "holm"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_COLUMNS = ["n_predictors", "breusch_pagan", "white", "forest_white", "p_value", "moves_with"]

# One good pair is enough, so the search has no kicks, hardly any chain, and uses a part of the
# rows. Residuals and tests use all rows.
_QUICK = EvidenceOptions(
    n_starts=1, n_kicks=0, n_chains=1, thinning=1, method="chain", max_rows=1000
)


@dataclass(frozen=True, eq=False, repr=False)
class Screening(Described):
    """The result of a screen.

    Parameters
    ----------
    table : DataFrame
        Index variable. Columns n_predictors; the p-values breusch_pagan, white and forest_white;
        p_value, their Cauchy combination; p_adjusted, by Holm over the variables; heteroscedastic;
        moves_with, the predictor that the spread depends on most clearly. NaN where there is
        nothing to test against.
    graph : MomentGraph
        The pair that decided which columns were tested against which.
    level : float
        Accepted chance of any false alarm.
    n_samples : int
    from_fit : bool
        Whether the pair is that of a fitted estimator, not of a quick search.
    left_out : mapping from name to Kind
        Columns without a spread of their own, which are not in the table: binary columns and
        categories, whose probabilities set their variance, and ``roots``.
    roots : tuple of str
        Columns that are never an effect, such as times.

    Examples
    --------
    >>> row = {"n_predictors": 1, "p_adjusted": 0.0002, "heteroscedastic": True, "moves_with": "x"}
    >>> table = pd.DataFrame([row], index=pd.Index(["y"], name="variable"))
    >>> screen = Screening(table, MomentGraph.from_edges("xy", variance=[("x", "y")]), 0.05, 300)
    >>> screen.variables
    ('y',)
    >>> print(screen.describe().splitlines()[1])
    - y: its spread changes with other columns (p < 0.001), most clearly with x.
    >>> screen
    Screening(300 rows, 1 column; spread changes with other columns: y)
    """

    table: pd.DataFrame
    graph: MomentGraph
    level: float
    n_samples: int
    from_fit: bool = False
    left_out: Mapping[str, Kind] = field(default_factory=dict)
    roots: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables whose spread depends on others."""
        return tuple(self.table.index[self.table["heteroscedastic"].astype(bool)])

    @property
    def is_heteroscedastic(self) -> bool:
        """Whether there is any such variable."""
        return bool(self.table["heteroscedastic"].any())

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.table.copy()

    def describe(self, spell: Spelling = as_python) -> str:
        """Return the result in plain sentences; ``spell`` writes the options they name."""
        lines = [
            f"Heteroscedasticity screen of {self.n_samples} rows and {len(self.table)} columns "
            f"(chance of any false alarm: {self.level:.0%})."
            f"{_left_out(self.left_out, self.roots)}"
        ]
        if self.table.empty:
            return "\n".join([*lines, "There is no column to test."])
        lines += [f"- {name}: {_verdict(row)}" for name, row in self.table.iterrows()]
        if self.is_heteroscedastic:
            source = "are those of the fit" if self.from_fit else "come from a quick search"
            lines.append(
                "Noise of constant size does not explain these columns: a variance graph is worth "
                f"learning. The directions used here {source}."
            )
        else:
            mean_graph_alone = spell({"engine_options": {"family": "gp_homoscedastic"}})
            lines.append(
                "Noise of constant size explains these columns: expect an empty variance graph. "
                f"{mean_graph_alone} fits the mean graph alone."
            )
        return "\n".join(lines)

    def _headline(self) -> str:
        names = ", ".join(str(name) for name in self.variables)
        size = f"{text.count(self.n_samples, 'row')}, {text.count(len(self.table), 'column')}"
        return f"{size}; spread changes with other columns: {names or 'none'}"


def heteroscedasticity(
    X: object,
    *,
    model: MomentDAG | None = None,
    graph: MomentGraph | None = None,
    knowledge: Knowledge | None = None,
    level: float = 0.05,
    n_jobs: int = 1,
    random_state: int = 0,
) -> Screening:
    """Test for each column whether its spread depends on other columns.

    Binary columns, categories, and times and other roots are left out: they have no spread of
    their own. As predictors they take part. Of counts and ordered columns the spread beyond what
    their mean sets is tested, on randomised quantile residuals.

    The residual of each column given its mean causes is squared and put to three tests:
    Breusch-Pagan, White, and White with a random forest as regression, all on normal scores of the
    columns that are not effects of it.

    Parameters
    ----------
    X : table, shape (n_samples, n_variables)
        A pandas or polars frame, an array, or a `Dataset`.
    model : MomentDAG, optional
        A fitted estimator, whose graphs and mean functions are used. By default a quick search
        finds a good pair of graphs.
    graph : MomentGraph, optional
        With ``model``: the pair to use instead of its most probable one.
    knowledge : Knowledge, optional
        Restricts the search and what a column is tested against; by default that of ``model``.
    level : float
        Chance of any false alarm, over all columns.
    n_jobs : int
        Processes for the search.
    random_state : int
        Seed.

    Returns
    -------
    Screening

    Raises
    ------
    NotFittedError, DataError, KnowledgeError, GraphError, OptionError
        If the model, the table, the knowledge, the graph or an option cannot be used.

    Examples
    --------
    Before a fit, and with a fitted ``estimator``::

        print(md.screening.heteroscedasticity(data))
        print(md.screening.heteroscedasticity(data, model=estimator))
    """
    check_level(level)
    dataset = complete_rows(read_table_of(model, X))
    search_rng, test_rng = np.random.default_rng(random_state).spawn(2)
    if graph is not None and model is None:
        raise OptionError("graph needs a fitted model: pass model=estimator as well.")
    if model is not None:
        pair, mechanisms = fitted_mechanisms(model, dataset, graph)
        fitted = model.scm_
        compiled = model.knowledge_ if knowledge is None else _compile(knowledge, dataset)
    else:
        compiled = _compile(Knowledge() if knowledge is None else knowledge, dataset)
        request = FitRequest(dataset, compiled, 1, search_rng, n_jobs=n_jobs)
        fit = EvidenceEngine(_QUICK).fit(request)
        assert fit.model is not None  # the family has mechanisms
        pair, fitted = fit.best_graph, fit.model
        mechanisms = fitted.mean_functions(pair)
    assert fitted is not None  # `fitted_mechanisms` has checked it
    if any(mechanism.is_discrete for mechanism in mechanisms.values()):
        mechanisms = _without_spread(fitted, pair, mechanisms)
    predictors = _non_effects(pair, compiled)
    left_out = {
        name: kind
        for name, kind in zip(dataset.names, dataset.kinds, strict=True)
        if kind in ("binary", "category") or name in dataset.roots
    }
    rows = {}
    for j, (name, rng) in enumerate(
        zip(dataset.names, test_rng.spawn(dataset.n_variables), strict=True)
    ):
        if name in left_out:
            continue
        rng, noise_rng = rng.spawn(2) if mechanisms[name].is_discrete else (rng, rng)
        residual = _residual(noise_rng, mechanisms[name], dataset, j)
        rows[name] = _row(rng, residual, dataset, np.flatnonzero(predictors[:, j]))
    table = pd.DataFrame.from_dict(rows, orient="index", columns=_COLUMNS).rename_axis("variable")
    table.insert(5, "p_adjusted", holm(table["p_value"].to_numpy()))
    table.insert(6, "heteroscedastic", table["p_adjusted"] < level)
    return Screening(
        table, pair, level, dataset.n_samples, model is not None, left_out, dataset.roots
    )


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust p-values by Holm's method; NaN stays NaN and does not count.

    Examples
    --------
    >>> holm([0.01, float("nan"), 0.04]).tolist()
    [0.02, nan, 0.04]
    """
    adjusted = np.array(p_values, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(adjusted))
    order = known[np.argsort(adjusted[known])]
    # p_(k) (n - k + 1), monotone and at most 1 (Holm 1979).
    steps = adjusted[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def _compile(knowledge: Knowledge, dataset: Dataset) -> CompiledKnowledge:
    return compile_for_table(knowledge, dataset.names, dataset.roots, {})


def _non_effects(graph: MomentGraph, knowledge: CompiledKnowledge) -> npt.NDArray[np.bool_]:
    """Return [i, j]: i is not an effect of j, neither in the graph nor by knowledge."""
    later = reachability(graph.union_graph) | knowledge.precedes
    return ~later.T & ~np.eye(graph.n_variables, dtype=bool)


def _without_spread(
    model: FittedModel, pair: MomentGraph, mechanisms: Mapping[str, AnyMechanism]
) -> dict[str, AnyMechanism]:
    """Return mechanisms in which nothing but the mean moves the spread of discrete variables.

    The variance of a count grows with its mean, and that of a rating falls at both ends of its
    scale, whatever moves the mean: only what is left beyond that is a spread that changes.
    """
    still = MomentGraph.from_edges(pair.names, mean=pair.edges("mean"))
    plain = model.mean_functions(still)
    return {name: plain[name] if one.is_discrete else one for name, one in mechanisms.items()}


def _residual(
    rng: np.random.Generator, mechanism: AnyMechanism, dataset: Dataset, column: int
) -> FloatArray:
    """Return the residual of a variable given its mean causes, (n,)."""
    values = dataset.values
    discrete = as_discrete(mechanism)
    if discrete is not None:
        return np.asarray(ndtri(spread_transform(rng, discrete, values, values[:, column])))
    mean, _ = mechanism.moments(values)
    return np.asarray((values[:, column] - mean) / dataset.scale[column])


def _row(
    rng: np.random.Generator,
    residual: FloatArray,
    dataset: Dataset,
    predictors: npt.NDArray[np.intp],
) -> dict[str, Any]:
    if len(predictors) == 0:
        missing = dict.fromkeys(("breusch_pagan", "white", "forest_white", "p_value"), np.nan)
        return {"n_predictors": 0, **missing, "moves_with": ""}
    columns = [predictor_columns(dataset, k) for k in predictors]
    tests = spread_tests(rng, residual, np.hstack(columns))
    alone = [explains(white_terms(scores), residual**2) for scores in columns]
    return {
        "n_predictors": len(predictors),
        **tests._asdict(),
        "p_value": combine(tests),
        "moves_with": dataset.names[predictors[int(np.argmin(alone))]],
    }


def _left_out(left_out: Mapping[str, Kind], roots: Sequence[str]) -> str:
    texts = []
    levels = [name for name in left_out if name not in roots]
    if levels:
        texts.append(
            f" Left out: {', '.join(levels)}; the probabilities of their levels set their variance."
        )
    if roots:
        texts.append(f" Left out: {', '.join(roots)}; never an effect, so nothing moves it.")
    return "".join(texts)


def _verdict(row: pd.Series[Any]) -> str:
    if row["n_predictors"] == 0:
        return "a cause of all other columns, so there is nothing to test it against."
    p = row["p_adjusted"]
    p_text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    if row["heteroscedastic"]:
        most = row["moves_with"]
        return f"its spread changes with other columns ({p_text}), most clearly with {most}."
    return f"no sign that its spread changes ({p_text})."
