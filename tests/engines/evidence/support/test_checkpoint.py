"""A fit that is killed and goes on ends with the same bits."""

from functools import partial

import numpy as np
import pytest

from momentdag.engines.evidence import engine
from momentdag.engines.evidence.engine import EvidenceEngine
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.support import checkpoint
from momentdag.engines.protocol import FitRequest, NullCheckpoint, silent
from momentdag.knowledge import Knowledge
from momentdag.simulate import preset
from momentdag.table import Dataset


class KilledError(Exception):
    pass


class Memory:
    """A checkpoint in memory whose process dies at the save after ``n_saves``."""

    def __init__(self):
        self.stages = {}
        self.n_saves = np.inf

    def load(self, stage):
        return self.stages.get(stage)

    def save(self, stage, content, arrays):
        if self.n_saves == 0:
            raise KilledError
        self.n_saves -= 1
        # Copies, as a file would hold: later changes must not reach what was kept.
        self.stages[stage] = (dict(content), {k: v.copy() for k, v in arrays.items()})


def fit(checkpoint, posterior, n_jobs=1, progress=silent):
    simulation = preset("sparse-5", np.random.default_rng(5), 120)
    fitted_by = EvidenceEngine(EvidenceOptions(noise="gaussian", thinning=20, posterior=posterior))
    rng = np.random.default_rng(1)
    dataset = Dataset.from_table(simulation.data)
    return fitted_by.fit(
        FitRequest(
            dataset,
            Knowledge().compile(dataset.names),
            60,
            rng,
            n_jobs=n_jobs,
            progress=progress,
            checkpoint=checkpoint,
        )
    )


@pytest.fixture(scope="module", params=["worlds", "plain"])
def posterior(request):
    return request.param


@pytest.fixture(scope="module")
def undisturbed(posterior):
    return fit(NullCheckpoint(), posterior)


def test_killed_again_and_again_ends_with_the_same_bits(posterior, undisturbed, monkeypatch):
    at_once = partial(checkpoint.StageCheckpoint, seconds_between_saves=0.0)
    monkeypatch.setattr(engine, "StageCheckpoint", at_once)
    memory, n_deaths = Memory(), 0
    while True:
        memory.n_saves = 2 if posterior == "worlds" else 4
        try:
            ended = fit(memory, posterior)
        except KilledError:
            n_deaths += 1
            continue
        break
    assert n_deaths > 2
    assert_same(ended, undisturbed)


def test_every_stage_is_taken_from_what_was_kept(posterior, undisturbed):
    memory = Memory()
    fit(memory, posterior)
    stages = set(memory.stages)
    last = {"worlds": {"draws in worlds"}, "plain": {"pilot 0", "chain 0"}}[posterior]
    assert {"first search", "hyper-parameters", "order search"} | last <= stages
    memory.n_saves = 0  # anything done again would be saved again
    assert_same(fit(memory, posterior), undisturbed)


def test_processes_may_differ_before_and_after(posterior, undisturbed):
    memory = Memory()
    memory.n_saves = 3
    with pytest.raises(KilledError):
        fit(memory, posterior)
    memory.n_saves = np.inf
    assert_same(fit(memory, posterior, n_jobs=2), undisturbed)


def assert_same(one, other):
    np.testing.assert_array_equal(one.posterior.mean_graphs, other.posterior.mean_graphs)
    np.testing.assert_array_equal(one.posterior.variance_graphs, other.posterior.variance_graphs)
    np.testing.assert_array_equal(one.posterior.log_posterior, other.posterior.log_posterior)
    # Fits that are screened from are computed again after an interruption, so counts may differ.
    first, second = ({**each.details, "local_scores": None} for each in (one, other))
    assert first == second
    assert one.details["local_scores"]["failed"] == other.details["local_scores"]["failed"] == 0


def test_evidences_of_many_variables_survive_the_round_trip():
    evidences = [{} for _ in range(130)]  # three words a mask
    evidences[0] = {Parents(1 << 129 | 1 << 64, 0): -1.5, Parents(0, 1 << 63): -np.inf}
    evidences[129] = {Parents(7, 1 << 128): 2.25}
    assert checkpoint._decode_evidences(checkpoint._encode_evidences(evidences)) == evidences
