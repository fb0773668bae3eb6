import os
import stat

import pytest

import momentdag as md
from momentdag.errors import KnowledgeError, StorageError
from momentdag.storage.files import open_regular, read_regular, write_atomically


def test_a_regular_file_is_read_also_behind_a_link(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with open_regular(tmp_path / "link") as stream:
        assert stream.read() == b"12345"
    assert read_regular(tmp_path / "a", 5) == b"12345"
    with pytest.raises(OSError, match="Larger than the limit of 4 bytes"):
        read_regular(tmp_path / "a", 4)


@pytest.fixture(params=["folder", "pipe", "device", "endless", "missing"])
def odd(request, tmp_path):
    path = tmp_path / "odd.json"
    match request.param:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/null")
        case "endless":
            path.symlink_to("/dev/zero")
    return path


def test_anything_else_is_refused_at_once(odd):
    with pytest.raises(OSError):  # noqa: PT011, any reason will do
        open_regular(odd)


def test_readers_say_so_in_their_own_words(odd, tmp_path):
    with pytest.raises(KnowledgeError, match="readable file"):
        md.Knowledge.from_file(odd)
    with pytest.raises(StorageError, match="Could not read"):
        md.Posterior.load(odd)
    if os.path.lexists(odd):
        odd.rename(tmp_path / "run.json")
        with pytest.raises(StorageError, match="Could not read"):
            md.runs.read_info(tmp_path)


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


def test_the_rename_is_flushed_to_disk_where_the_system_can(tmp_path, monkeypatch):
    flushed = []

    def fsync(descriptor):
        flushed.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
        if flushed[-1]:
            raise OSError("not on this file system")

    monkeypatch.setattr(os, "fsync", fsync)
    assert write_atomically(tmp_path / "a.bin", b"new").read_bytes() == b"new"
    assert flushed == [False, True]
