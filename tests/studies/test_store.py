from dataclasses import replace
from types import MappingProxyType

import pytest
from studies.case import Outcome
from studies.methods import METHODS
from studies.simulated import simulated
from studies.store import Record, Store

from momentdag.errors import OptionError, StorageError
from studies import store as module

CASE = simulated("sparse-5")
POOR = Outcome(
    {"shd_mean": 2.0},
    0.25,
    'chains, "both", mix poorly',
    ("DataWarning: few rows", "ConvergenceWarning: MC3: mix\npoorly; ask for more"),
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, quick=True)


@pytest.fixture
def path(store):
    """Keep three runs and return the path of their table."""
    store.add(CASE, store.record(CASE, "varsort", 0, Outcome({"shd_mean": 1 / 3, "tv": 0.5}, 1.5)))
    store.add(CASE, store.record(CASE, "mc3", 4, POOR))
    store.add(CASE, store.failure(CASE, "mc3", 1, "out\nof luck"))
    return store.folder / "runs.csv"


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_a_table_has_a_readable_line_for_each_run(path):
    assert lines(path) == [
        "case,method,set,settings,version,status,warning,seconds,part,shd_mean,tv",
        "sparse-5,mc3,1,400 draws,1,failed: out of luck,,,,,",
        'sparse-5,mc3,4,400 draws,1,"chains, ""both"", mix poorly",MC3: mix poorly,0.25,,2,',
        "sparse-5,varsort,0,400 draws,1,complete,,1.50,,0.333333,0.5",
    ]


def test_runs_come_back(path, store):
    again = Store(store.folder, quick=True)
    (fine,) = again.records(CASE, "varsort")
    assert fine.measures == {"shd_mean": 0.333333, "tv": 0.5}
    failed, poor = again.records(CASE, "mc3")
    assert (poor.number, poor.status, poor.seconds) == (4, POOR.status, 0.25)
    assert poor.warning == "MC3: mix poorly"
    assert failed.reason == "out of luck"
    before = lines(path)
    again.add(CASE, fine)
    assert lines(path) == before
    assert not list(store.folder.glob("*.part"))


def test_parts_follow_their_run(store):
    parts = ({"n": 1.0}, {"n": 2.0, "x": 0.5})
    store.add(CASE, store.record(CASE, "mc3", 0, Outcome({"y": 1.0}, 1.0, parts=parts)))
    (run,) = Store(store.folder, quick=True).records(CASE, "mc3")
    assert (run.measures, run.parts) == ({"y": 1.0}, parts)


def test_another_process_may_add_runs(path, store):
    other = Store(store.folder, quick=True)
    other.add(CASE, other.record(CASE, "mc3", 7, Outcome({}, 1.0)))
    store.add(CASE, store.record(CASE, "mc3", 8, Outcome({}, 1.0)))
    assert [run.number for run in store.records(CASE, "mc3")] == [1, 4, 7, 8]


def test_settings_and_versions_tell_runs_apart(path, store, monkeypatch):
    folder = store.folder
    assert store.settings(CASE, "evidence").startswith("400 draws, n_chains=2, ")
    assert Store(folder).records(CASE, "mc3") == []
    assert Store(folder, quick=True, n_draws=10).records(CASE, "mc3") == []
    assert Store(folder, quick=True, options={"n_chains": 7}).records(CASE, "mc3") == []
    assert store.records(replace(CASE, version=2), "mc3") == []
    changed = {**METHODS, "mc3": replace(METHODS["mc3"], options={"n_chains": 7})}
    with monkeypatch.context() as patch:
        patch.setattr(module, "METHODS", MappingProxyType(changed))
        assert store.records(CASE, "mc3") == []
    with monkeypatch.context() as patch:
        patch.setattr("momentdag.baselines.mc3.METHOD_VERSION", 2)
        # Older runs are shown, and do not count.
        assert [store.is_outdated(run) for run in store.records(CASE, "mc3")] == [True, True]
        assert not store.is_finished(CASE, "mc3", 4)
        store.add(CASE, store.record(CASE, "mc3", 4, Outcome({"shd_mean": 3.0}, 1.0)))
        old, run = store.records(CASE, "mc3")
        assert (store.is_outdated(old), store.is_outdated(run)) == (True, False)
        # The newer run took the place of the older one.
        assert run.measures == {"shd_mean": 3.0}


def test_failed_and_incomplete_runs_are_not_finished(path, store):
    assert not store.is_finished(CASE, "mc3", 1)
    assert not store.is_finished(CASE, "mc3", 2)
    assert store.is_finished(CASE, "mc3", 4)
    assert store.is_finished(CASE, "mc3", 4, ["shd_mean"])
    assert not store.is_finished(CASE, "mc3", 4, ["shd_mean", "f1_mean"])
    failed, poor = store.records(CASE, "mc3")
    assert failed.value("seconds") is None
    assert (poor.value("shd_mean"), poor.value("tv")) == (2.0, None)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text[: len(text) // 2], "same columns"),
        (lambda text: text.replace("0.25", "soon"), "mc3 on sparse-5: .*soon"),
        (lambda text: text.replace("0.333333", "nan"), "nan for 'shd_mean'"),
        (lambda text: text.replace("version", "edition"), "version"),
        (lambda text: text.replace("case,", "\udcff,"), "decode"),
    ],
)
def test_a_damaged_table_is_named(path, store, damage, reason):
    text = damage(path.read_text(encoding="utf-8"))
    path.write_bytes(text.encode("utf-8", errors="surrogateescape"))
    with pytest.raises(StorageError, match=rf"(?s)runs\.csv.*{reason}.*remove it"):
        Store(store.folder, quick=True).records(CASE, "mc3")


def test_a_measure_that_no_table_can_keep_is_refused():
    with pytest.raises(OptionError, match="nan for 'x'"):
        Record("sparse-5", "mc3", 0, "", 1, {"x": float("nan")})
