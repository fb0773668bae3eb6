import subprocess
import sys
import warnings
from dataclasses import replace

import jax
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from studies.case import Task
from studies.fits import Fitted
from studies.linear_gaussian import linear_gaussian

import momentdag as md
from momentdag.engines.protocol import FitRequest, silent
from momentdag.engines.variational import tune
from momentdag.engines.variational.engine import VariationalEngine
from momentdag.errors import OptionError
from momentdag.metrics import expected_shd
from momentdag.simulate import preset
from momentdag.table import Dataset, with_experiment

NAMES = ["x1", "x2", "x3"]


@pytest.fixture(scope="module")
def data(pair_table):
    return pd.DataFrame(pair_table, columns=NAMES)


@pytest.fixture(scope="module")
def fit(quick):
    def fit(data, knowledge=None, n_draws=200, seed=0, progress=silent, **options):
        engine = VariationalEngine(replace(quick, **options))
        dataset = Dataset(data.to_numpy(), tuple(data.columns))
        known = (md.Knowledge() if knowledge is None else knowledge).compile(dataset.names)
        rng = np.random.default_rng(seed)
        return engine.fit(FitRequest(dataset, known, n_draws, rng, seed, progress=progress))

    return fit


@pytest.fixture
def compilations():
    """Count programs that XLA compiles while the test runs."""
    seen = []

    def listen(event, duration, **details):
        if event.endswith("backend_compile_duration"):
            seen.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield seen
    jax.monitoring.unregister_event_duration_listener(listen)


@pytest.mark.slow
def test_a_second_fit_of_the_same_shape_compiles_nothing(fit, data, compilations):
    fit(data)
    compilations.clear()
    jax.jit(lambda x: x + 1)(1.0)
    assert compilations  # the listener hears
    compilations.clear()
    # Other values, seed, rates and number of draws: the same programs.
    fit(data**2 + data, seed=1, n_draws=120, learning_rate=1e-3, kl_weight=2.0)
    assert not compilations


@pytest.mark.slow
def test_details_report_the_restarts(fit, quick, data):
    found = fit(data)
    assert len(found.details["objectives"]) == quick.n_restarts
    assert found.details["restart_spread"] == pytest.approx(np.std(found.details["objectives"]))
    assert sum(found.details["shares"]) == pytest.approx(1)
    assert found.details["best_restart"] == int(np.argmax(found.details["objectives"]))
    assert found.details["n_steps"] == quick.max_steps
    assert found.posterior.log_posterior.shape == (200,)
    # The best pair is the draw of largest joint probability.
    top = found.posterior.draw(int(np.argmax(found.posterior.log_posterior)))
    assert found.best_graph == top


@pytest.mark.slow
def test_draws_are_close_to_the_exact_posterior_of_linear_data(fit):
    # As many rows as elsewhere, so that compiled programs are shared.
    simulation = preset("linear-anm-3", np.random.default_rng(901), 200)
    task = Task(simulation.data, {"simulated": simulation.graph})
    found = {
        resampling: linear_gaussian(3).measure(
            task, Fitted(fit(simulation.data, n_draws=1000, resampling=resampling).posterior)
        )["tv"]
        for resampling in (True, False)
    }
    # 0.12 with default options; what is left is the prior, here 0.1 for each edge and by orders.
    assert found[True] < 0.18
    assert found[False] > 0.25


AGAINST_THE_DATA = [("x3", "x2"), ("x2", "x1")]


@pytest.mark.slow
def test_soft_orders_hold_in_three_of_four_draws(fit, data):
    soft = md.Knowledge(order=AGAINST_THE_DATA, strength="soft")
    # Edges in every draw show the order: their prior is near one.
    options = {"edge_probability": 0.999, "kl_weight": 1000.0, "order_margin": 1.5}
    found = fit(data, soft, n_draws=500, **options).posterior
    for first, second in AGAINST_THE_DATA:
        obeyed = found.edge_probability(first, second)
        broken = found.edge_probability(second, first)
        # sigmoid(1.5) = 0.82 and a standard error of 0.02.
        assert obeyed / (obeyed + broken) >= 0.75
        assert broken > 0  # soft


@pytest.mark.slow  # contracts/test_engines.py states an order as well
def test_hard_orders_hold_in_all_draws(fit, data):
    hard = fit(data, md.Knowledge(order=AGAINST_THE_DATA)).posterior
    for first, second in [*AGAINST_THE_DATA, ("x3", "x1")]:
        assert hard.edge_probability(second, first) == 0


@pytest.mark.slow
def test_a_fit_that_tunes_says_what_it_chose(fit, data, quick, monkeypatch):
    """The walk of the grid is replaced: it is tested where it lives."""
    chosen = replace(quick, n_hidden=4, batch_size=32)
    trials = ((32, 4, -3.0), (64, 4, -3.5))
    monkeypatch.setattr(
        tune, "choose", lambda *arguments: tune.Tuned(chosen, -3.0, trials), raising=True
    )
    found = fit(data, tuning="grid", n_hidden=9, max_steps=1000)
    assert found.details["tuned"] == {
        "batch_size": 32,
        "n_hidden": 4,
        "trials": [list(trial) for trial in trials],
    }
    # What was asked for is what is stored.
    assert found.posterior.provenance.options["tuning"] == "grid"
    assert found.model.to_state().arrays["mean_first"].shape[-1] == 4


def test_an_interrupted_fit_is_flagged(fit, data):
    def interrupt(stage, done, total):
        if done >= 500:
            raise KeyboardInterrupt

    # Of 60 rows, as in contracts/test_engines.py, so that compiled programs are shared.
    found = fit(data.iloc[:60], n_draws=50, progress=interrupt, return_partial=True)
    assert "interrupted" in found.status
    assert found.posterior.n_draws == 50
    assert found.posterior.provenance.status == found.status


def test_jax_is_loaded_for_this_engine_only():
    code = "import sys, momentdag.estimator; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_directions_that_data_cannot_tell_apart_stay_open():
    rng = np.random.default_rng(0)
    cause = rng.normal(size=500)
    data = pd.DataFrame({"cause": cause, "effect": 0.8 * cause + rng.normal(size=500)})
    forwards = []
    for shifting in (True, False):
        # One restart, as it is: neither mixture nor resampling helps out.
        options = {"shifting": shifting, "n_restarts": 1, "resampling": False}
        fitted = md.MomentDAG(engine="variational", random_state=0, engine_options=options)
        found = fitted.fit(data).posterior_.edge_probabilities("either")
        assert found.to_numpy().sum() > 0.9
        forwards.append(found.loc["cause", "effect"])
    # One half each; networks of one constant for both directions settle on one.
    assert 0.3 < forwards[0] < 0.7
    assert not 0.1 < forwards[1] < 0.9


@pytest.mark.slow
def test_defaults_recover_sparse_graphs():
    distances = []
    for seed in (0, 1):
        simulation = preset("sparse-5", np.random.default_rng(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = md.MomentDAG(engine="variational", random_state=0).fit(simulation.data)
        distances += [
            expected_shd(fitted.posterior_, simulation.graph, moment=moment)
            for moment in ("mean", "variance")
        ]
    # Empty graphs are at distance five; twenty other sets had means below two.
    assert np.mean(distances) < 3.3


@pytest.mark.slow
def test_a_hundred_thousand_rows_fit_by_mini_batches(fit):
    data = preset("sparse-20", np.random.default_rng(0), 100_000).data
    found = fit(data, n_restarts=1, n_graphs=8, warm_up_steps=500, max_steps=3000)
    assert found.details["n_steps"] == 3000
    trace = found.details["trace"]
    # Twenty standardised columns cost 28 nats without a cause.
    assert trace[-1] > -27.5
    assert found.posterior.n_draws == 200


def test_regimes_and_interventions_are_for_the_other_engine():
    table = Dataset(np.random.default_rng(0).normal(size=(40, 2)), ["a", "b"])
    engine = VariationalEngine()
    for stated in ({"regime": ["x", "y"] * 20}, {"interventions": ["a"] * 5 + [""] * 35}):
        with pytest.raises(OptionError, match="neither regimes nor interventions"):
            engine.check(with_experiment(table, **stated))
