import json
from dataclasses import replace

import pytest

from momentdag.errors import OptionError, StorageError
from momentdag.experiments import store as module
from momentdag.experiments.methods import METHODS
from momentdag.experiments.simulated import simulated
from momentdag.experiments.store import Record, Store, write_record

CASE = simulated("sparse-5")


def keep(store, record):
    path = store.path(CASE, record.method, record.number)
    write_record(path, record, store.settings(CASE, record.method))
    return path


def test_a_record_comes_back(tmp_path):
    store = Store(tmp_path, quick=True)
    record = Record("sparse-5", "mc3", 4, {"x": 0.5}, 1.5, "cut short", "", ["careful"])
    path = keep(store, record)
    assert store.records(CASE, "mc3") == [record]
    settings = json.loads(path.read_text(encoding="utf-8"))["settings"]
    assert settings == store.settings(CASE, "mc3")
    assert not list(tmp_path.rglob("*.part"))


def test_settings_and_code_part_results(tmp_path, monkeypatch):
    keep(Store(tmp_path, quick=True), Record("sparse-5", "mc3", 0))
    assert Store(tmp_path, quick=False).records(CASE, "mc3") == []
    assert Store(tmp_path, quick=True).records(CASE, "varsort") == []
    changed = {**METHODS, "mc3": replace(METHODS["mc3"], options={"n_chains": 7})}
    with monkeypatch.context() as patch:
        patch.setattr(module, "METHODS", changed)
        assert Store(tmp_path, quick=True).records(CASE, "mc3") == []
    with monkeypatch.context() as patch:
        patch.setattr(module, "code_fingerprint", lambda modules: "newer")
        assert Store(tmp_path, quick=True).records(CASE, "mc3") == []
    assert len(Store(tmp_path, quick=True).records(CASE, "mc3")) == 1


def test_failed_runs_are_not_finished(tmp_path):
    store = Store(tmp_path, quick=True)
    keep(store, Record("sparse-5", "mc3", 0, status="failed", reason="out of luck"))
    keep(store, Record("sparse-5", "mc3", 1, status="chains disagree", measures={"x": 1.0}))
    assert not store.is_finished(CASE, "mc3", 0)
    assert store.is_finished(CASE, "mc3", 1)
    assert not store.is_finished(CASE, "mc3", 2)
    failed, short = store.records(CASE, "mc3")
    assert failed.value("seconds") is None
    assert short.value("x") == 1.0
    assert short.value("y") is None


def test_a_file_that_is_no_record_is_named(tmp_path):
    store = Store(tmp_path, quick=True)
    path = keep(store, Record("sparse-5", "mc3", 0))
    path.write_text("{", encoding="utf-8")
    with pytest.raises(StorageError, match=r"000\.json.*Remove it"):
        store.records(CASE, "mc3")


def test_a_measure_that_no_file_can_keep_is_refused():
    with pytest.raises(OptionError, match="nan for 'x'"):
        Record("sparse-5", "mc3", 0, {"x": float("nan")})
