import json
import logging

import numpy as np
import pytest

import momentdag as md
from momentdag import runs
from momentdag.errors import KnowledgeError, OptionError, StorageError

pytestmark = pytest.mark.filterwarnings(
    # Few draws are poor on purpose here.
    "ignore:The draws may not describe:sklearn.exceptions.ConvergenceWarning"
)

LINEAR = {"family": "linear"}
CHAINS = {
    "n_starts": 1,
    "n_kicks": 0,
    "n_inducing": 10,
    "noise": "gaussian",
    "method": "chain",
    "posterior": "plain",
    "n_chains": 2,
    "thinning": 2,
}


def quick(**changes):
    arguments = {"n_draws": 60, "random_state": 0, "engine_options": LINEAR} | changes
    return md.MomentDAG(**arguments)


@pytest.fixture(scope="module")
def chained(table):
    """Return a fit by Markov chains that nothing disturbed."""
    return quick(engine_options=CHAINS).fit(table)


class Stop:
    """Raise when progress was reported so many times."""

    def __init__(self, after, error=KeyboardInterrupt):
        self.left = after
        self.error = error

    def __call__(self, stage, done, total):
        self.left -= 1
        if self.left < 0:
            raise self.error


def stop_in_the_chains(stage, done, total):
    if stage == "the Markov chains" and done:
        raise KeyboardInterrupt


def same_draws(one, two):
    for field in ("mean_graphs", "variance_graphs", "log_posterior", "chains"):
        if getattr(one.posterior_, field) is None:
            assert getattr(two.posterior_, field) is None
        else:
            np.testing.assert_array_equal(
                getattr(one.posterior_, field), getattr(two.posterior_, field)
            )


def test_the_run_is_the_fit(table, tmp_path):
    estimator = quick()
    assert runs.fit(estimator, table, tmp_path / "run") is estimator
    same_draws(estimator, runs.load(tmp_path / "run"))
    same_draws(estimator, quick().fit(table))
    log = (tmp_path / "run" / "log.txt").read_text()
    assert "Stage: the order search" in log
    assert "The draws may not describe" in log
    assert "Complete: 60 draws" in log
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_a_fit_interrupted_again_and_again_is_bit_for_bit_identical(
    table, tmp_path, chained, caplog
):
    folder = tmp_path / "run"
    n_cuts, patience = 0, 1
    while True:
        estimator = quick(engine_options=CHAINS)
        try:
            with caplog.at_level(logging.INFO, "momentdag"):
                runs.fit(estimator, table, folder, resume=True, progress=Stop(patience))
            break
        except KeyboardInterrupt:
            n_cuts += 1
            patience += 1
            info = runs.read_info(folder)
            assert info.status == "interrupted"
            assert not list(folder.rglob("*.part"))
            with pytest.raises(StorageError, match="interrupted"):
                runs.load(folder)
    assert n_cuts >= 5  # or nothing was tested
    assert "Restored from a checkpoint" in caplog.text
    same_draws(estimator, chained)
    assert estimator.best_graph_ == chained.best_graph_
    same_draws(runs.load(folder), chained)
    assert not (folder / "checkpoints").exists()


def test_a_complete_run_is_read_not_fitted(table, tmp_path):
    first = runs.fit(quick(), table, tmp_path)
    found = runs.fit(quick(n_jobs=2), table, tmp_path, resume=True, progress=Stop(0))
    same_draws(first, found)


@pytest.mark.parametrize(
    "other",
    [
        {"random_state": 1},
        {"n_draws": 61},
        {"engine_options": {"family": "linear", "n_starts": 3}},
        {"knowledge": md.Knowledge(roots=["é"])},
    ],
)
def test_another_fit_is_not_resumed(table, tmp_path, other):
    with pytest.raises(KeyboardInterrupt):
        runs.fit(quick(), table, tmp_path, progress=Stop(1))
    with pytest.raises(StorageError, match="other data, options, knowledge, seed"):
        runs.fit(quick(**other), table, tmp_path, resume=True)
    with pytest.raises(StorageError, match="other data"):
        runs.fit(quick(), table * 2, tmp_path, resume=True)


def test_a_taken_folder_is_refused_and_force_replaces_it(table, tmp_path):
    runs.fit(quick(), table, tmp_path)
    with pytest.raises(StorageError, match="already holds a run"):
        runs.fit(quick(), table, tmp_path)
    runs.fit(quick(n_draws=70), table, tmp_path, force=True)
    assert runs.load(tmp_path).posterior_.n_draws == 70


def test_a_failure_is_told_and_leaves_a_valid_folder(table, tmp_path):
    with pytest.raises(ZeroDivisionError):
        runs.fit(quick(), table, tmp_path, progress=Stop(2, ZeroDivisionError("by zero")))
    info = runs.read_info(tmp_path)
    assert (info.status, info.message) == ("failed", "ZeroDivisionError: by zero")
    with pytest.raises(StorageError, match=r"is failed \(ZeroDivisionError: by zero\)"):
        runs.load(tmp_path)
    same_draws(runs.fit(quick(), table, tmp_path, resume=True), quick().fit(table))


def test_a_full_disk_while_saving_keeps_the_checkpoints(table, tmp_path, monkeypatch, chained):
    def full(estimator, folder, info, dataset):
        raise StorageError("Could not write: No space left on device.")

    with monkeypatch.context() as patched:
        patched.setattr("momentdag.runs.save_files", full)
        with pytest.raises(StorageError, match="No space"):
            runs.fit(quick(engine_options=CHAINS), table, tmp_path)
    assert runs.read_info(tmp_path).status == "failed"
    assert list((tmp_path / "checkpoints").iterdir())
    same_draws(runs.fit(quick(engine_options=CHAINS), table, tmp_path, resume=True), chained)


def test_damaged_checkpoints_cost_time_only(table, tmp_path, chained):
    with pytest.raises(KeyboardInterrupt):
        runs.fit(quick(engine_options=CHAINS), table, tmp_path, progress=stop_in_the_chains)
    kept = list((tmp_path / "checkpoints").iterdir())
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[:-1])
    same_draws(runs.fit(quick(engine_options=CHAINS), table, tmp_path, resume=True), chained)
    assert "Ignoring a checkpoint" in (tmp_path / "log.txt").read_text()


def test_nothing_is_written_for_a_fit_that_cannot_be(table, tmp_path):
    folder = tmp_path / "run"
    bad = {
        OptionError: quick(engine_options={"n_startz": 1}),
        KnowledgeError: quick(knowledge=md.Knowledge(roots=["nobody"])),
    }
    for error, estimator in bad.items():
        with pytest.raises(error):
            runs.fit(estimator, table, folder)
    with pytest.raises(OptionError, match="integer random_state"):
        runs.fit(quick(random_state=None), table, folder)
    with pytest.raises(OptionError, match="resume or force"):
        runs.fit(quick(), table, folder, resume=True, force=True)
    assert not folder.exists()


def test_a_folder_left_before_anything_was_written_can_be_resumed(table, tmp_path):
    (tmp_path / ".lock").write_text("")
    (tmp_path / ".0123456789abcdef.part").write_bytes(b"half a description")
    runs.fit(quick(), table, tmp_path, resume=True)
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "complete"
