import pytest

from momentdag.atomic import write_atomically
from momentdag.errors import StorageError


def test_replaces_and_leaves_nothing_else(tmp_path):
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    assert write_atomically(target, b"new") == target
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_permissions_are_those_of_an_ordinary_file(tmp_path):
    ordinary = tmp_path / "ordinary"
    ordinary.write_bytes(b"1")
    written = write_atomically(tmp_path / ("n" * 250), b"1")  # a long name is no trouble either
    assert written.stat().st_mode == ordinary.stat().st_mode


def test_a_missing_folder_is_a_clear_error(tmp_path):
    with pytest.raises(StorageError, match=r"No such file.*folder that exists"):
        write_atomically(tmp_path / "missing" / "a.bin", b"new")


def test_a_failure_keeps_the_old_file_and_leaves_nothing_behind(tmp_path):
    target = tmp_path / "folder"
    target.mkdir()
    (target / "kept").write_bytes(b"1")
    with pytest.raises(StorageError, match="Could not write"):
        write_atomically(target, b"new")
    assert list(tmp_path.iterdir()) == [target]
    assert (target / "kept").read_bytes() == b"1"
