import logging
import os

import pytest

from momentdag.errors import StorageError
from momentdag.runs.folder import check_free, clear, logged, open_folder


def test_a_folder_is_made_and_cleared_of_what_a_killed_process_left(tmp_path):
    with open_folder(tmp_path / "a" / "b") as folder:
        (folder / ".0123456789abcdef.part").write_text("half")
        (folder / ".mine.part").write_text("whole")
    with open_folder(folder):
        assert sorted(p.name for p in folder.iterdir() if p.suffix == ".part") == [".mine.part"]


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(StorageError, match="Could not make the folder"),
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
    with pytest.raises(StorageError, match="holds a run already"):
        check_free(tmp_path, force=False)
    check_free(tmp_path, force=True)


def test_clearing_leaves_the_files_of_others(tmp_path):
    for name in ("run.json", "posterior.zip", "report.html", "thesis.tex"):
        (tmp_path / name).write_text("x")
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "a.npz").write_text("x")
    clear(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_the_log_gets_what_momentdag_says_while_it_is_open(tmp_path):
    logger = logging.getLogger("momentdag.anything")
    level = logging.getLogger("momentdag").level
    with logged(tmp_path):
        logger.info("inside")
    logger.warning("outside")
    text = (tmp_path / "log.txt").read_text()
    assert "INFO inside" in text
    assert "outside" not in text
    assert logging.getLogger("momentdag").level == level
