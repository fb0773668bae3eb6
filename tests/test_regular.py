import os

import pytest

import momentdag as md
from momentdag.errors import KnowledgeError, StorageError
from momentdag.regular import open_regular, read_regular


def test_a_regular_file_is_read_also_behind_a_link(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with open_regular(tmp_path / "link") as stream:
        assert stream.read() == b"12345"
    assert read_regular(tmp_path / "a", 5) == b"12345"
    with pytest.raises(OSError, match="More than the 4 bytes"):
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
