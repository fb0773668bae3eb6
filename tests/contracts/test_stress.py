"""Numbers at the edge of what floats and models can hold: a valid answer or a clear error."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import momentdag as md
from momentdag.effects import MonteCarlo, decompose_variance, intervene, levers
from momentdag.engines.protocol import as_continuous, as_discrete
from momentdag.errors import MomentdagError, MomentdagWarning
from momentdag.graph import is_acyclic

N = 60
FEW = MonteCarlo(n_draws=4, n_rows=128, random_state=0)
GP = {"n_starts": 1, "n_kicks": 0, "n_inducing": 8, "max_rows": 100, "n_worlds": 100}
ENGINES: dict[str, dict[str, Any]] = {
    "gaussian": {**GP, "noise": "gaussian"},
    "linear": {"family": "linear"},
    "variational": {  # as in test_engines.py, so that compiled programs are shared
        "n_hidden": 4,
        "batch_size": 32,
        "n_restarts": 2,
        "n_graphs": 2,
        "warm_up_steps": 0,
        "max_steps": 500,
    },
    "flexible": GP,
    "student": {**GP, "noise": "student"},
    "homoscedastic": {**GP, "family": "gp_homoscedastic", "noise": "gaussian"},
    "chain": {**GP, "noise": "gaussian", "method": "chain", "n_chains": 2, "thinning": 2},
}


def plain(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    a, b = rng.normal(size=(2, n))
    return pd.DataFrame({"a": a, "b": b, "c": np.sin(a) + np.exp(0.5 * b) * rng.normal(size=n)})


def with_outliers(rng: np.random.Generator) -> pd.DataFrame:
    table = plain(rng)
    table.loc[3, "a"], table.loc[5, "c"] = 1e6, -1e6
    return table


def nearly_constant(rng: np.random.Generator) -> pd.DataFrame:
    table = plain(rng, 400)  # of which the engine sees 100 rows
    return table.assign(b=np.where(np.arange(400) == 399, 1.0, 0.0))


_USED = "constant in the rows that are used"
TABLES: dict[str, Callable[[np.random.Generator], pd.DataFrame]] = {
    "near copies": lambda rng: plain(rng).assign(
        b=lambda t: t["a"] + 1e-4 * rng.normal(size=len(t))
    ),
    "exact sum": lambda rng: plain(rng).assign(c=lambda t: t["a"] + t["b"]),
    "exact curve": lambda rng: plain(rng).assign(c=lambda t: np.sin(3 * t["a"])),
    "huge": lambda rng: plain(rng) * 1e300,
    "tiny": lambda rng: plain(rng) * 1e-300,
    "large and small": lambda rng: plain(rng) * [1e100, 1.0, 1e-100],
    "three values": lambda rng: plain(rng).assign(a=rng.integers(0, 3, N), c=rng.integers(0, 3, N)),
    "twenty rows": lambda rng: plain(rng, 20),
    "outliers": with_outliers,
    _USED: nearly_constant,
    "whole numbers": lambda rng: pd.DataFrame(rng.poisson(3, (N, 3)), columns=list("abc")),
    "offset": lambda rng: plain(rng) + 1e9,
    "nearer copies": lambda rng: plain(rng).assign(
        b=lambda t: t["a"] + 1e-8 * rng.normal(size=len(t))
    ),
    "two values": lambda rng: plain(rng).assign(c=lambda t: (t["a"] > 0) * 1),
    "one row differs": lambda rng: plain(rng).assign(b=lambda t: (t.index == 7) * 1.0),
    "no second moment": lambda rng: pd.DataFrame(rng.standard_cauchy((N, 3)), columns=list("abc")),
    "mostly zero": lambda rng: plain(rng).where(rng.random((N, 3)) < 0.3, 0.0),
    "ten rows": lambda rng: plain(rng, 10),
    "sorted": lambda rng: plain(rng).apply(np.sort),
    "squares overflow": lambda rng: plain(rng) * 1e160,
    "small and large": lambda rng: plain(rng) * [1e-80, 1.0, 1e80],
}
# The others are for the slow tests, which fit all tables by every engine.
LEFT_OUT = {"exact curve", "large and small", "whole numbers"}
QUICK_TABLES = [name for name in list(TABLES)[:11] if name not in LEFT_OUT]
# One number of rows and columns: compiling is most of the time of the variational engine here.
SAME_ROWS = [name for name in QUICK_TABLES if name not in ("twenty rows", "exact sum", _USED)]
QUICK = [
    *((engine, name) for engine in ("gaussian", "linear") for name in QUICK_TABLES),
    *(("variational", name) for name in SAME_ROWS),
    ("gaussian", "small and large"),
]


def fitted(engine: str, table: pd.DataFrame) -> md.MomentDAG:
    name = "variational" if engine == "variational" else "evidence"
    options = ENGINES[engine]
    return md.MomentDAG(engine=name, n_draws=60, random_state=0, engine_options=options).fit(table)


def check_posterior(model: md.MomentDAG) -> None:
    posterior = model.posterior_
    assert is_acyclic(posterior.mean_graphs | posterior.variance_graphs).all()
    for moment in ("mean", "variance", "variance_only"):
        found = posterior.edge_probabilities(moment).to_numpy()
        assert ((found >= 0) & (found <= 1)).all()
    if posterior.log_posterior is not None:
        assert np.isfinite(posterior.log_posterior).all()
    assert np.isfinite(model.summary_.to_numpy()).all()
    assert (model.summary_["sd"] > 0).all()


def check_mechanisms(model: md.MomentDAG, table: pd.DataFrame) -> None:
    values, rng = table.to_numpy(np.float64), np.random.default_rng(0)
    graph = model.best_graph_
    for functions in (model.scm_.mean_functions(graph), model.scm_.draw_functions(rng, graph)):
        for mechanism in functions.values():
            mean, sd = mechanism.moments(values)
            assert np.isfinite(mean).all()
            assert np.isfinite(sd).all()
            discrete = as_discrete(mechanism)
            if discrete is None:
                assert (sd > 0).all()
                drawn = as_continuous(mechanism).draw_noise(rng, 50)
            else:
                assert (sd >= 0).all()  # a level may be as good as certain
                drawn = discrete.settle(values, rng.random(len(values)))
            assert np.isfinite(drawn).all()


def check_answers(model: md.MomentDAG, table: pd.DataFrame) -> None:
    middle = float(table["a"].median())
    target = table.columns[-1]
    effect = intervene(model, {"a": [middle, float(table["a"].max())]}, monte_carlo=FEW).to_frame()
    # A variable that is set has no spread, and no interval of it.
    numbers = effect.select_dtypes("number")
    assert np.isfinite(numbers.to_numpy()).all()
    assert (effect[[c for c in effect if c.startswith("sd")]] >= 0).all(axis=None)
    ranking = levers(model, target, monte_carlo=FEW).to_frame()
    # Empty if no draw has a cause of it; then pandas does not know what type it would have.
    ratios = ranking[["variance_ratio", "ratio_by_level", "ratio_by_holding"]].to_numpy(np.float64)
    held = ranking["p_held"].to_numpy(np.float64)
    assert np.isfinite(ratios).all()
    assert (ratios >= 0).all()
    assert ((held >= 0) & (held <= 1)).all()
    parts = decompose_variance(model, target, monte_carlo=FEW).to_frame()
    assert np.isfinite(parts.select_dtypes("number").to_numpy()).all()


def check(engine: str, table: pd.DataFrame) -> md.MomentDAG | None:
    """Fit and ask; None if the table was refused."""
    with warnings.catch_warnings():
        # Ours say what deserves a look. Those of numpy (overflow, invalid) are errors here.
        warnings.simplefilter("ignore", MomentdagWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model = fitted(engine, table)
        except MomentdagError:
            return None
        check_posterior(model)
        if model.scm_ is not None:
            assert np.isfinite(model.score_samples(table)).all()
        table = table[list(model.posterior_.names)]  # copies and formulas are left out
        if model.scm_ is not None:
            check_mechanisms(model, table)
            check_answers(model, table)
    return model


@pytest.mark.parametrize(("engine", "name"), QUICK)
def test_hard_numbers_give_an_answer_or_a_clear_error(engine: str, name: str) -> None:
    model = check(engine, TABLES[name](np.random.default_rng(1)))
    assert (model is None) == (name in ("huge", "tiny"))


@pytest.mark.slow  # evidence/sampling/test_worlds.py fits such a table too
@pytest.mark.parametrize("seed", range(6))
def test_columns_that_are_three_quarters_zero_can_be_fitted(seed: int) -> None:
    """Their noise has a point mass, which no tilt of a density reaches."""
    rng = np.random.default_rng([5, 28])
    table = rng.normal(size=(150, 3)) * (rng.random((150, 3)) < 0.25)
    quick = {"n_starts": 1, "n_kicks": 0} if seed == 0 else {}
    model = md.MomentDAG(n_draws=60, random_state=seed, engine_options=quick).fit(table)
    assert model.status_ == "complete"
    check_posterior(model)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("engine", ENGINES)
def test_hard_numbers_everywhere(engine: str, name: str) -> None:
    model = check(engine, TABLES[name](np.random.default_rng(2)))
    assert (model is None) == (name in ("huge", "tiny", "nearer copies", "squares overflow"))


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_screening_criticism_and_report_of_hard_numbers(name: str, tmp_path: Any) -> None:
    table = TABLES[name](np.random.default_rng(1))
    model = check("gaussian", table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MomentdagWarning)
        try:
            screened = md.screening.heteroscedasticity(table, random_state=0).to_frame()
        except MomentdagError:
            assert model is None  # what cannot be screened cannot be fitted either
        else:
            p = screened.filter(like="p_value").to_numpy(np.float64)
            # NaN says that a column could not be tested, as when others determine it.
            assert (np.isnan(p) | ((p >= 0) & (p <= 1))).all()
        if model is not None:
            md.screening.criticise(model, table)
            page = md.report.write_report(model, table, tmp_path / "report.html")
            assert (
                "NaN" not in page.read_text("utf-8").split('id="content"')[1].split("</script>")[0]
            )
