import os

import pytest

from momentdag.errors import StorageError
from momentdag.storage.folder import (
    check_free,
    clear,
    find_run,
    hash_files,
    open_complete,
    open_folder,
)
from momentdag.storage.run_info import DataInfo, RunInfo, write_info


def test_a_folder_is_made_and_cleared_of_what_a_killed_process_left(tmp_path):
    with open_folder(tmp_path / "a" / "b") as folder:
        (folder / ".0123456789abcdef.part").write_text("half")
        (folder / ".mine.part").write_text("whole")
    with open_folder(folder):
        assert sorted(p.name for p in folder.iterdir() if p.suffix == ".part") == [".mine.part"]


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(StorageError, match="Could not create the folder"),
        open_folder(tmp_path / "file" / "run"),
    ):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_folder_is_a_clear_error(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageError, match="Could not write into"), open_folder(tmp_path):
            pass
    finally:
        tmp_path.chmod(0o700)


def test_only_empty_folders_are_free(tmp_path):
    check_free(tmp_path, force=False)
    (tmp_path / ".lock").write_text("")
    check_free(tmp_path, force=False)
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(StorageError, match=r"thesis\.tex"):
        check_free(tmp_path, force=False)
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(StorageError, match="already holds a run"):
        check_free(tmp_path, force=False)
    check_free(tmp_path, force=True)


def test_clearing_leaves_the_files_of_others(tmp_path):
    for name in ("run.json", "posterior.zip", "report.html", "thesis.tex"):
        (tmp_path / name).write_text("x")
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "a.npz").write_text("x")
    clear(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def complete_run(folder, status="complete", message=""):
    (folder / "posterior.zip").write_bytes(b"draws")
    (folder / "thesis.tex").write_text("mine")
    data = DataInfo(("a",), 10, "cafe")
    info = RunInfo(status, "key", data, {}, message=message, files=hash_files(folder))
    write_info(folder, info)
    return folder


def test_a_complete_run_is_opened_with_its_files_listed(tmp_path):
    with open_complete(complete_run(tmp_path)) as (path, info):
        assert path == tmp_path
        assert list(info.files) == ["posterior.zip"]


def test_a_run_that_is_not_complete_or_was_changed_is_refused(tmp_path):
    complete_run(tmp_path, "failed", "disk full")
    with pytest.raises(StorageError, match=r"failed \(disk full\)"), open_complete(tmp_path):
        pass
    complete_run(tmp_path)
    (tmp_path / "posterior.zip").write_bytes(b"other")
    with pytest.raises(StorageError, match="does not match its checksum"), open_complete(tmp_path):
        pass
    (tmp_path / "posterior.zip").unlink()
    write_info(tmp_path, RunInfo("complete", "key", DataInfo(("a",), 10, "cafe"), {}))
    with (
        pytest.raises(StorageError, match=r"does not list posterior\.zip"),
        open_complete(tmp_path),
    ):
        pass


def test_whatever_fails_while_reading_a_run_is_a_storage_error(tmp_path):
    complete_run(tmp_path)
    with (
        pytest.raises(StorageError, match="not an intact run folder: surprise"),
        open_complete(tmp_path),
    ):
        raise ZeroDivisionError("surprise")


def test_only_a_run_of_the_same_fit_is_found(tmp_path):
    assert find_run(tmp_path, "key") is None
    complete_run(tmp_path, "interrupted")
    assert find_run(tmp_path, "key").status == "interrupted"
    with pytest.raises(StorageError, match=r"cannot be resumed: it has other data.*Use force"):
        find_run(tmp_path, "another key")


def test_a_fit_that_was_killed_is_told_from_one_that_is_running(tmp_path):
    complete_run(tmp_path, "fitting")
    with pytest.raises(StorageError, match=r"cut short.*--resume"), open_complete(tmp_path):
        pass
    with (
        open_folder(tmp_path),
        pytest.raises(StorageError, match="still running"),
        open_complete(tmp_path),
    ):
        pass


def test_a_link_in_place_of_the_checkpoints_is_removed_and_its_target_is_not(tmp_path):
    complete_run(tmp_path)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "a.npz").write_text("mine")
    (tmp_path / "checkpoints").symlink_to(precious)
    clear(tmp_path)
    assert not (tmp_path / "checkpoints").is_symlink()
    assert (precious / "a.npz").read_text() == "mine"
