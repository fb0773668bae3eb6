import json
from dataclasses import replace

import pytest

from momentdag.errors import StorageError
from momentdag.storage.archive import checksum
from momentdag.storage.run_info import (
    DataInfo,
    RunInfo,
    describe_fit,
    file_hash,
    read_info,
    write_info,
)

INFO = RunInfo(
    "fitting", "key", DataInfo(("a", "é"), 10, "cafe", "a.csv", ("a",)), {"engine": "evidence"}
)


def test_round_trip(tmp_path):
    write_info(tmp_path, INFO)
    found = read_info(tmp_path)
    assert found.data == INFO.data
    assert (found.status, found.key, found.options) == (INFO.status, INFO.key, INFO.options)
    assert found.updated


def change(folder, **changes):
    path = folder / "run.json"
    content = json.loads(path.read_text()) | changes
    content["sha256"] = checksum(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "does not describe"),
        ({"format_version": 9}, "format version 9"),
        ({"status": "sleeping"}, "expected a status"),
        ({"options": []}, "as objects"),
        ({"surprise": 1}, "malformed"),
        ({"data": None}, "malformed"),
        ({"data": {"names": [1], "log_columns": []}}, "column names"),
    ],
)
def test_what_is_malformed_is_refused(tmp_path, changes, message):
    write_info(tmp_path, INFO)
    change(tmp_path, **changes)
    with pytest.raises(StorageError, match=message):
        read_info(tmp_path)


def test_a_careless_edit_is_found(tmp_path):
    write_info(tmp_path, INFO)
    path = tmp_path / "run.json"
    path.write_text(path.read_text().replace("a.csv", "b.csv"))
    with pytest.raises(StorageError, match="its own checksum"):
        read_info(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, "\ud800"])
def test_what_is_no_description_is_refused(tmp_path, text):
    (tmp_path / "run.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(StorageError):
        read_info(tmp_path)


def test_a_folder_without_one_is_no_run(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(StorageError, match="is not a run folder"):
            read_info(folder)


def test_the_hash_of_a_file(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    # SHA-256 of "abc", from the standard's own example.
    assert file_hash(tmp_path / "a").startswith("ba7816bf8f01cfea414140de5dae2223")
    with pytest.raises(StorageError, match="Could not read"):
        file_hash(tmp_path / "b")


def test_numbers_that_json_has_no_name_for_become_null(tmp_path):
    details = {"gain": float("nan"), 3: [1.5, (float("inf"), True)]}
    write_info(tmp_path, replace(INFO, result={"details": details}))
    assert read_info(tmp_path).result == {"details": {"gain": None, "3": [1.5, [None, True]]}}


def test_everything_but_the_number_of_processes_enters_the_key():
    options = {"n_draws": 5, "n_jobs": 1}
    key = describe_fit(INFO.data, options, None).key
    assert describe_fit(INFO.data, options | {"n_jobs": 2}, None).key == key
    others = (
        describe_fit(replace(INFO.data, fingerprint="beef"), options, None),
        describe_fit(INFO.data, options | {"n_draws": 6}, None),
        describe_fit(INFO.data, options, {"roots": ["a"]}),
    )
    assert len({key, *(other.key for other in others)}) == 4
