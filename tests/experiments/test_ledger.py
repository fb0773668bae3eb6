"""Runs of one page, taken over by another folder."""

import pytest

from momentdag.errors import StorageError
from momentdag.experiments import store as module
from momentdag.experiments.ledger import ledger, take_over
from momentdag.experiments.simulated import simulated
from momentdag.experiments.store import Record, Store, write_record

CASE = simulated("sparse-5")
PAIRS = [(CASE, "mc3"), (CASE, "varsort")]
FINE = Record("sparse-5", "varsort", 0, {"shd_mean": 1 / 3, "tv": 0.5}, 1.5)
POOR = Record(
    "sparse-5",
    "mc3",
    4,
    {"shd_mean": 2.0},
    0.25,
    'chains, "both", mix poorly',
    "",
    ["DataWarning: few rows", "ConvergenceWarning: MC3: mix\npoorly; ask for more"],
)
FAILED = Record("sparse-5", "mc3", 1, status="failed", reason="out of luck")


@pytest.fixture
def folder(tmp_path):
    """Return a store with a new folder."""

    def store(name):
        return Store(tmp_path / name, quick=False)

    return store


@pytest.fixture
def path(folder, tmp_path):
    """Make the table of three runs and return its path."""
    store = folder("first")
    for record in (FINE, POOR, FAILED):
        place = store.path(CASE, record.method, record.number)
        write_record(place, record, store.settings(CASE, record.method))
    path = tmp_path / "runs.csv"
    path.write_bytes(ledger(PAIRS, store))
    return path


def test_a_table_has_a_line_for_each_run(path, folder):
    key = folder("first").key(CASE, "mc3")
    assert path.read_text(encoding="utf-8").splitlines()[:3] == [
        "case,method,set,key,status,warning,seconds,shd_mean,tv",
        f"sparse-5,mc3,1,{key},failed: out of luck,,0.00,,",
        f'sparse-5,mc3,4,{key},"chains, ""both"", mix poorly",MC3: mix poorly,0.25,2,',
    ]


def test_finished_runs_are_taken_over_and_written_as_they_were(path, folder):
    second = folder("second")
    assert take_over(path, PAIRS, second) == 2
    (fine,) = second.records(CASE, "varsort")
    assert fine.measures == {"shd_mean": 0.333333, "tv": 0.5}
    (poor,) = second.records(CASE, "mc3")
    assert poor.complaint == POOR.complaint == "MC3: mix poorly"
    assert (poor.status, poor.seconds, poor.number) == (POOR.status, 0.25, 4)
    without_failed = [line for line in path.read_bytes().splitlines() if b"failed" not in line]
    assert ledger(PAIRS, second).splitlines() == without_failed


def test_what_is_there_stays(path, folder):
    first = folder("first")
    assert take_over(path, PAIRS, first) == 0
    assert first.records(CASE, "varsort") == [FINE]


def test_other_settings_or_code_are_left(path, folder, tmp_path, monkeypatch):
    assert take_over(path, PAIRS[:1], folder("second")) == 1  # nobody asked for VarSort
    assert take_over(path, PAIRS, Store(tmp_path / "third", quick=True)) == 0
    monkeypatch.setattr(module, "code_fingerprint", lambda modules: "newer")
    assert take_over(path, PAIRS, folder("fourth")) == 0


def test_without_a_table_there_is_nothing_to_take(tmp_path, folder):
    assert take_over(tmp_path / "none.csv", PAIRS, folder("second")) == 0


def test_tables_of_older_versions_had_no_key(path, folder):
    path.write_text("case,method,set,status,seconds\nsparse-5,mc3,0,complete,1.0\n")
    assert take_over(path, PAIRS, folder("second")) == 0


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text[: len(text) // 2], "same columns"),
        (lambda text: text.replace("0.25", "soon"), "mc3 on sparse-5: .*soon"),
        (lambda text: text.replace("0.333333", "nan"), "nan for 'shd_mean'"),
        (lambda text: text.replace("status", "state"), "same columns"),
        (lambda text: text.replace("case,", "\udcff,"), "decode"),
    ],
)
def test_a_damaged_table_is_named(path, folder, damage, said):
    text = damage(path.read_text(encoding="utf-8"))
    path.write_bytes(text.encode("utf-8", errors="surrogateescape"))
    with pytest.raises(StorageError, match=rf"(?s)runs\.csv.*{said}.*remove it"):
        take_over(path, PAIRS, folder("second"))
