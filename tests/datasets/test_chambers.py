import hashlib
import io
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from momentdag.datasets.chambers import cache_folder, fetch
from momentdag.errors import DataError, MissingExtraError

NAME = "lt_interventions_standard_v1"
SERVER = "https://causalchamber.s3.eu-central-1.amazonaws.com/downloadables"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("MOMENTDAG_CACHE", str(folder))
    return folder


def archive_of(text):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(f"{NAME}/uniform_reference.csv", text)
    return stream.getvalue()


class Server:
    """The authors' server, as the package asks it; ``stated`` is the checksum it announces."""

    def __init__(self, archive):
        self.archive = archive
        self.md5 = hashlib.md5(archive, usedforsecurity=False).hexdigest()
        self.stated = self.md5
        self.is_up = True

    def get(self, url, stream=False):
        if not self.is_up:
            raise ConnectionError("no route to host")
        if url == f"{SERVER}/{NAME}.zip":
            return SimpleNamespace(headers={}, iter_content=lambda size: [self.archive])
        assert url == f"{SERVER}/directory.yaml"
        entry = f"{{image: false, chamber: lt, url: '{SERVER}/{NAME}.zip', md5: '{self.stated}'}}"
        content = f"last_updated: today\ndatasets: {{{NAME}: {entry}}}".encode()
        return SimpleNamespace(status_code=200, content=content)


@pytest.fixture
def server(monkeypatch):
    """Stand in for the connection; everything else is the real package's own code."""
    pytest.importorskip("causalchamber")
    requests = pytest.importorskip("requests")
    for module in [name for name in sys.modules if name.startswith("causalchamber.datasets")]:
        monkeypatch.delitem(sys.modules, module)
    server = Server(archive_of("red,green\n1,2\n"))
    monkeypatch.setattr(requests, "get", server.get)
    return server


def test_a_download_is_kept_and_asked_for_once(server, cache, capsys):
    folder = fetch(NAME, server.md5)
    assert folder == cache / NAME
    assert (folder / "uniform_reference.csv").read_text() == "red,green\n1,2\n"
    assert [entry.name for entry in cache.iterdir()] == [NAME]
    assert capsys.readouterr().out == ""
    server.is_up = False
    assert fetch(NAME, server.md5) == folder


@pytest.mark.parametrize("stated", ["the one expected", "its own"])
def test_another_archive_is_refused_and_not_kept(server, cache, stated):
    expected = "0" * 32
    if stated == "the one expected":
        server.stated = expected
    with pytest.raises(DataError, match=rf"(?s){NAME}.*{expected}"):
        fetch(NAME, expected)
    assert list(cache.iterdir()) == []


def test_without_a_connection_the_error_says_what_to_do(server, cache):
    server.is_up = False
    with pytest.raises(DataError, match=r"no route to host.*pass a local copy as path="):
        fetch(NAME, server.md5)
    assert list(cache.iterdir()) == []


def test_a_cached_data_set_needs_no_package(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "causalchamber", None)
    message = rf"^Downloading {NAME} needs causalchamber; install momentdag\[chambers\]\.$"
    with pytest.raises(MissingExtraError, match=message):
        fetch(NAME, "")
    (cache / NAME).mkdir(parents=True)
    assert fetch(NAME, "") == cache / NAME


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "chosen/momentdag"),
        ("win32", "LOCALAPPDATA", "chosen/momentdag"),
        ("darwin", "XDG_CACHE_HOME", "~/Library/Caches/momentdag"),
        ("linux", "LOCALAPPDATA", "~/.cache/momentdag"),
        ("win32", "XDG_CACHE_HOME", "~/AppData/Local/momentdag"),
    ],
)
def test_each_system_has_its_cache_folder(monkeypatch, platform, variable, expected):
    for name in ("MOMENTDAG_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, "chosen")
    assert cache_folder() == Path(expected).expanduser()
    monkeypatch.setenv("MOMENTDAG_CACHE", "~/elsewhere")
    assert cache_folder() == Path.home() / "elsewhere"
