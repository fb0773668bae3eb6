from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from momentdag.engines.protocol import silent
from momentdag.engines.variational import tune as tuning
from momentdag.engines.variational.options import VariationalOptions
from momentdag.engines.variational.tune import BATCH_SIZES, HIDDEN_UNITS, tune
from momentdag.errors import OptionError
from momentdag.simulate import preset


@pytest.fixture(scope="module")
def data():
    return preset("linear-anm-2", np.random.default_rng(0), 60).data


@pytest.fixture(scope="module")
def brief(quick):
    return replace(quick, n_restarts=1, warm_up_steps=0, max_steps=20)


def test_the_grid_is_the_papers():
    assert (BATCH_SIZES, HIDDEN_UNITS) == ((32, 64, 128, 256), (8, 16, 32, 64))


@pytest.fixture(params=["stand-in", pytest.param("trained", marks=pytest.mark.slow)])
def training(request, monkeypatch):
    """Replace training by an objective that four hidden units raise, or leave it as it is."""

    def train(rng, problem, options, *arguments, **flags):
        noise = rng.normal()  # of the seed, so that another seed gives other trials
        return SimpleNamespace(objectives=np.array([-9.0, noise + options.n_hidden]))

    if request.param == "stand-in":
        monkeypatch.setattr(tuning, "train", train)


def test_a_trial_is_a_training_with_its_setting(pair_table, quick):
    """One real trial, of a shape that other tests have compiled."""
    table = pd.DataFrame(pair_table[:60], columns=["x1", "x2", "x3"])
    tuned = tune(table, options=replace(quick, n_hidden=9), batch_sizes=[32], hidden_units=[4])
    assert tuned.options == quick
    assert tuned.trials == ((32, 4, tuned.objective),)
    # Three standardised columns cost 4.3 nats a row without a cause.
    assert -4.3 < tuned.objective < -3


def test_a_study_goes_on_where_it_stopped_and_keeps_the_best(training, data, brief, tmp_path):
    place = {"storage": f"sqlite:///{tmp_path / 'study.db'}", "hidden_units": [2, 4]}
    heard = []
    first = tune(data, options=brief, batch_sizes=[16], max_trials=1, **place)
    assert len(first.trials) == 1
    whole = tune(
        data,
        options=brief,
        batch_sizes=[16],
        progress=lambda stage, done, total: heard.append((done, total)),
        **place,
    )
    assert heard == [(2, 2)]
    assert set(first.trials) < set(whole.trials)
    best = max(whole.trials, key=lambda trial: trial[2])
    assert (whole.options.batch_size, whole.options.n_hidden, whole.objective) == best
    assert whole.options == replace(brief, batch_size=best[0], n_hidden=best[1])
    # A fixed seed: a study of its own finds the same.
    again = tune(data, options=brief, batch_sizes=[16], hidden_units=[2, 4])
    assert again.trials == whole.trials
    with pytest.raises(OptionError, match="study_name"):
        tune(data * [1, 2] + data**2, options=brief, batch_sizes=[16], **place)


@pytest.mark.parametrize(("n_samples", "sizes"), [(500, 4), (128, 3), (100, 3), (20, 1)])
def test_the_grid_of_a_fit_has_each_batch_once(monkeypatch, make_problem, n_samples, sizes):
    """Batches of all rows are one; trials share a seed; hidden units decide here."""
    seeds = []

    def train(rng, problem, options, *arguments, **flags):
        seeds.append(rng.integers(2**31))
        return SimpleNamespace(objectives=np.array([float(options.n_hidden)]))

    monkeypatch.setattr(tuning, "train", train)
    problem = make_problem(np.zeros((n_samples, 2)))
    stated = SimpleNamespace(ordered=False, projected=False)
    options = VariationalOptions.published()
    tuned = tuning.choose(problem, stated, options, silent)
    assert len(tuned.trials) == len(HIDDEN_UNITS) * sizes
    assert len({trial[0] for trial in tuned.trials}) == sizes
    assert len(set(seeds)) == 1
    assert tuned.options.n_hidden == 64
    # What was chosen is not to be tuned again.
    assert tuned.options.tuning == "none"


@pytest.mark.parametrize("grid", [{"batch_sizes": []}, {"hidden_units": [0]}])
def test_a_grid_that_cannot_be_is_refused_before_any_work(data, grid):
    with pytest.raises(OptionError):
        tune(data, **grid)
