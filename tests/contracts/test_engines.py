"""What every engine promises, both through one suite."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag.errors import OptionError
from momentdag.graph import is_acyclic

pytestmark = pytest.mark.filterwarnings(
    # A hundred draws are poor on purpose here.
    "ignore:The draws may not describe:sklearn.exceptions.ConvergenceWarning"
)

N_DRAWS = 100
ENGINES: dict[str, dict[str, Any]] = {
    "evidence": {"n_starts": 1, "n_kicks": 0, "n_chains": 2, "n_inducing": 10, "noise": "gaussian"},
    "variational": {
        "n_hidden": 4,
        "batch_size": 32,
        "n_restarts": 2,
        "n_graphs": 2,
        "warm_up_steps": 0,
        "max_steps": 500,
    },
}


class Case(NamedTuple):
    engine: str
    data: pd.DataFrame
    fitted: md.MomentDAG


def fit(engine: str, data: pd.DataFrame, **parameters: Any) -> md.MomentDAG:
    given = {"n_draws": N_DRAWS, "random_state": 0, "engine_options": ENGINES[engine]}
    return md.MomentDAG(engine=engine, **{**given, **parameters}).fit(data)


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    # Three variables: both engines are quick, and the evidence engine enumerates. Of 60 rows, as
    # in test_stress.py and faults/test_runs.py, which share the compiled programs.
    rng = np.random.default_rng(3)
    dose = rng.normal(size=60)
    growth = np.sin(2 * dose) + 0.3 * rng.normal(size=60)
    harvest = growth + np.exp(0.8 * dose) * rng.normal(size=60)
    return pd.DataFrame({"dose": dose, "growth": growth, "harvest": harvest})


@pytest.fixture(scope="module", params=ENGINES)
def case(request: pytest.FixtureRequest, data: pd.DataFrame) -> Case:
    return Case(request.param, data, fit(request.param, data))


def test_draws_are_jointly_acyclic_pairs_over_the_named_columns(case: Case) -> None:
    posterior = case.fitted.posterior_
    assert posterior.names == tuple(case.data.columns) == case.fitted.scm_.names
    assert posterior.mean_graphs.shape == posterior.variance_graphs.shape == (N_DRAWS, 3, 3)
    assert is_acyclic(posterior.mean_graphs | posterior.variance_graphs).all()
    assert posterior.provenance.engine == case.engine
    assert posterior.provenance.seed == 0
    assert posterior.provenance.options.items() >= ENGINES[case.engine].items()
    assert case.fitted.best_graph_.names == posterior.names
    assert case.fitted.status_ == "complete"


def test_the_same_seed_gives_the_same_bits(case: Case) -> None:
    again = fit(case.engine, case.data, n_jobs=2)
    for moment in ("mean", "variance"):
        first, second = (f.posterior_.graphs(moment) for f in (case.fitted, again))
        np.testing.assert_array_equal(first, second)
    assert case.fitted.score(case.data) == again.score(case.data)


def test_units_change_scores_by_their_logarithm_and_graphs_not_at_all(case: Case) -> None:
    scaled = case.data.assign(dose=case.data["dose"] * 1000 - 7, growth=case.data["growth"] / 60)
    other = fit(case.engine, scaled)
    np.testing.assert_array_equal(other.posterior_.mean_graphs, case.fitted.posterior_.mean_graphs)
    np.testing.assert_array_equal(
        other.posterior_.variance_graphs, case.fitted.posterior_.variance_graphs
    )
    expected = case.fitted.score(case.data) - np.log(1000) + np.log(60)
    # Standardised values are rounded before the fit; what is left is arithmetic.
    assert other.score(scaled) == pytest.approx(expected, abs=1e-5)


def test_columns_may_come_in_another_order(case: Case) -> None:
    turned = case.data[["harvest", "dose", "growth"]]
    other = fit(case.engine, turned)
    assert other.posterior_.names == tuple(turned.columns)
    for moment in ("mean", "variance"):
        found = other.posterior_.edge_probabilities(moment)
        expected = case.fitted.posterior_.edge_probabilities(moment)
        pd.testing.assert_frame_equal(found.loc[expected.index, expected.columns], expected)


def test_hard_knowledge_holds_in_every_draw(case: Case) -> None:
    # Against the data on purpose: harvest comes first, and growth must have it as a cause.
    knowledge = md.Knowledge(
        order=[("harvest", "dose")],
        required=[("harvest", "growth", "variance"), ("growth", "dose", "either")],
        forbidden=[("harvest", "growth", "mean")],
    )
    posterior = fit(case.engine, case.data, knowledge=knowledge).posterior_
    compiled = knowledge.compile(posterior.names)
    assert np.all(compiled.allows(posterior.mean_graphs, posterior.variance_graphs))
    assert posterior.edge_probability("harvest", "growth", "variance") == 1
    assert posterior.edge_probability("growth", "dose", "either") == 1


def test_scores_are_finite_log_densities(case: Case) -> None:
    scores = case.fitted.score_samples(case.data)
    assert scores.shape == (len(case.data),)
    assert np.isfinite(scores).all()
    far = case.data * 50
    assert np.isfinite(case.fitted.score(far))
    assert case.fitted.score(far) < case.fitted.score(case.data)


def test_mechanisms_have_moments_and_standardised_noise(case: Case) -> None:
    model, graph = case.fitted.scm_, case.fitted.best_graph_
    values = case.data.to_numpy()
    rng = np.random.default_rng(1)
    for mechanisms in (model.mean_functions(graph), model.draw_functions(rng, graph)):
        assert tuple(mechanisms) == graph.names
        for j, name in enumerate(graph.names):
            mechanism = mechanisms[name]
            mean, sd = mechanism.moments(values)
            assert mean.shape == sd.shape == (len(values),)
            assert np.isfinite(mean).all()
            assert (sd > 0).all()
            parents = graph.mean_graph[:, j] | graph.variance_graph[:, j]
            moved = values.copy()
            moved[:, ~parents] = rng.permutation(moved[:, ~parents])
            np.testing.assert_array_equal(mechanism.moments(moved), (mean, sd))
            noise = mechanism.draw_noise(rng, 4000)
            # Five standard errors; a variance of 1 that heavier tails make uncertain.
            assert abs(noise.mean()) < 5 / np.sqrt(4000)
            assert noise.var() == pytest.approx(1.0, abs=0.25)
            p = mechanism.noise_cdf(np.sort(noise))
            assert (np.diff(p) >= 0).all()
            # Probability integral: uniform, with a Kolmogorov distance of at most 2 / sqrt(n).
            assert np.abs(p - np.linspace(0, 1, 4000)).max() < 2 / np.sqrt(4000)


def test_unknown_options_are_refused_by_name(case: Case) -> None:
    with pytest.raises(OptionError, match="surprise"):
        md.MomentDAG(engine=case.engine, engine_options={"surprise": 1}).fit(case.data)


def test_unknown_engines_are_refused() -> None:
    with pytest.raises(OptionError, match="variational"):
        md.MomentDAG(engine="magic").fit(pd.DataFrame({"a": [1.0], "b": [2.0]}))  # type: ignore[arg-type]
