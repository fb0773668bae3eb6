"""A fit that is killed and goes on ends with the same bits."""

import copy
from functools import partial

import numpy as np
import pytest

from momentdag.engines.evidence import stages
from momentdag.engines.evidence.engine import EvidenceEngine
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.support import checkpoint
from momentdag.engines.evidence.support.stage_codec import decode_evidences, encode_evidences
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


OPTIONS = {"noise": "gaussian", "thinning": 20, "n_starts": 1, "n_kicks": 0, "n_inducing": 10}


def fit(checkpoint, posterior, n_jobs=1, progress=silent, **options):
    simulation = preset("sparse-5", np.random.default_rng(5), 120)
    fitted_by = EvidenceEngine(EvidenceOptions(posterior=posterior, **(OPTIONS | options)))
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


@pytest.fixture(scope="module", params=["worlds", pytest.param("plain", marks=pytest.mark.slow)])
def posterior(request):
    return request.param


@pytest.fixture(scope="module")
def undisturbed(posterior):
    return fit(NullCheckpoint(), posterior)


def test_killed_again_and_again_ends_with_the_same_bits(posterior, undisturbed, monkeypatch):
    at_once = partial(checkpoint.StageCheckpoint, seconds_between_saves=0.0)
    monkeypatch.setattr(stages, "StageCheckpoint", at_once)
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
    assert decode_evidences(encode_evidences(evidences), 130) == evidences


def entry(name, change):
    """Return a forgery that changes one array, or one entry of the content, if it is there."""

    def forge(content, arrays):
        for part in (content, arrays):
            if name in part:
                part[name] = change(part[name])

    return forge


def first(value):
    def change(array):
        array.flat[0] = value
        return array

    return change


FORGERIES = {
    "no counts": ({"local_scores"}, entry("local_scores", lambda _: {})),
    "a negative count": (
        {"local_scores"},
        entry("local_scores", lambda counts: {**counts, "computed": -1}),
    ),
    "an infinite evidence": ({"evidence"}, entry("evidence", first(np.inf))),
    "an evidence that is nan": ({"evidence"}, entry("evidence", first(np.nan))),
    "evidences of other rows": ({"evidence"}, entry("evidence", lambda a: a[:-1])),
    "counts that do not add up": ({"evidence"}, entry("evidence_counts", lambda a: a + 1)),
    "counts of floats": ({"evidence"}, entry("evidence_counts", lambda a: a.astype(float))),
    "a variable too many": ({"evidence"}, entry("evidence_mean", first(2**40))),
    "its own parent": ({"evidence"}, entry("evidence_variance", lambda a: a * 0 + 31)),
    "no order": ({"orders"}, entry("orders", lambda a: a[:0])),
    "an order twice through one": ({"orders"}, entry("orders", lambda a: a * 0)),
    "parents behind children": ({"orders"}, entry("parents_mean", lambda a: a * 0 + 30)),
    "a score that is nan": ({"scores"}, entry("scores", first(np.nan))),
    "a rate of text": ({"rates"}, entry("rates", lambda _: ["x", 1.0])),
    "a rate of zero": ({"rates"}, entry("rates", lambda _: [0.0, 1.0])),
    "a false kernel": (
        {"hyperparameters"},
        entry("hyperparameters", lambda h: {**h, "mean_kernel": {"shape": "network"}}),
    ),
    "a kernel without scale": (
        {"hyperparameters"},
        entry("hyperparameters", lambda h: {**h, "mean_kernel": {**h["mean_kernel"], "scale": 0}}),
    ),
    "an unknown choice": (
        {"hyperparameters"},
        entry("hyperparameters", lambda h: {**h, "features": "coarse"}),
    ),
    "fewer draws": ({"mean_graphs"}, entry("mean_graphs", lambda a: a[:-1])),
    "cyclic draws": ({"mean_graphs"}, entry("mean_graphs", lambda a: a | True)),
    "draws of whole numbers": ({"chains"}, entry("mean_graphs", lambda a: a.astype(np.int8))),
    "a log posterior that is nan": ({"chains"}, entry("log_posterior", first(np.nan))),
    "a start of text": ({"chains"}, entry("start", lambda _: "high")),
    "rates of acceptance beyond one": ({"chains"}, entry("acceptance_rates", lambda _: [2.0])),
    "no details": ({"chains"}, entry("details", lambda _: [])),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_stage_is_discarded_with_a_word(name, finished, caplog):
    needed, forge = FORGERIES[name]
    problem, stages = finished
    n_tried = 0
    for stage, (content, arrays) in stages.items():
        both = {**content, **arrays}
        if not needed <= both.keys() or not all(np.size(both[name]) for name in needed):
            continue  # as where a stage computed nothing
        n_tried += 1
        memory = Memory()
        content, arrays = copy.deepcopy((content, arrays))
        forge(content, arrays)
        memory.stages[stage] = (content, arrays)
        kept = checkpoint.StageCheckpoint(memory, problem)
        with caplog.at_level("WARNING", "momentdag"):
            if "orders" in arrays:
                assert kept.load_search(stage, problem) is None
            elif "chains" in arrays:
                assert kept.load_draws(stage, len(stages[stage][1]["chains"])) is None
            else:
                evidences = problem.no_evidences()
                kept.watch(stage.removesuffix(", evidences so far"), evidences)
                assert not any(evidences)
        assert f"The checkpoint of {stage} is discarded" in caplog.text
    assert n_tried


@pytest.fixture(scope="module")
def finished():
    """Return a problem and every kind of stage of its fit."""
    memory, problems = Memory(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "StageCheckpoint", partial(Watched, problems))
        fit(memory, "worlds", n_worlds=3, n_inducing=5, max_rows=100)
    assert {"first search, evidences so far", "order search", "draws in worlds"} <= set(
        memory.stages
    )
    return problems[0], memory.stages


class Watched(checkpoint.StageCheckpoint):
    def __init__(self, problems, kept, problem):
        super().__init__(kept, problem, seconds_between_saves=1e-3)
        problems.append(problem)


@pytest.mark.slow
def test_a_fit_whose_checkpoints_are_all_forged_is_begun_again(posterior, undisturbed, caplog):
    memory = Memory()
    fit(memory, posterior)
    for stage, (_, arrays) in memory.stages.items():
        memory.stages[stage] = ({"surprise": 1}, arrays)
    with caplog.at_level("WARNING", "momentdag"):
        assert_same(fit(memory, posterior), undisturbed)
    assert "discarded" in caplog.text
