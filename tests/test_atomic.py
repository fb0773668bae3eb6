import pytest

from momentdag.atomic import write_atomically
from momentdag.errors import StorageError


def test_replaces_and_leaves_nothing_else(tmp_path):
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    assert write_atomically(target, b"new") == target
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_keeps_the_old_file_and_leaves_nothing_behind(tmp_path):
    target = tmp_path / "folder"
    target.mkdir()
    (target / "kept").write_bytes(b"1")
    with pytest.raises(StorageError, match="Could not write"):
        write_atomically(target, b"new")
    assert list(tmp_path.iterdir()) == [target]
    assert (target / "kept").read_bytes() == b"1"
