from dataclasses import replace

import numpy as np
import pytest

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


@pytest.mark.slow
def test_a_study_goes_on_where_it_stopped_and_keeps_the_best(data, brief, tmp_path):
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


@pytest.mark.parametrize("grid", [{"batch_sizes": []}, {"hidden_units": [0]}])
def test_a_grid_that_cannot_be_is_refused_before_any_work(data, grid):
    with pytest.raises(OptionError):
        tune(data, **grid)
