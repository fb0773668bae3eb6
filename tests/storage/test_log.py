import logging

import pytest

from momentdag.errors import StorageError
from momentdag.storage.log import StageLog, logged


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


def test_a_log_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "log.txt").symlink_to(tmp_path / "precious")
    with pytest.raises(StorageError, match="The log is a link"), logged(tmp_path):
        pass
    assert not (tmp_path / "precious").exists()


def test_each_stage_is_logged_once_and_all_progress_passed_on(caplog):
    reports = []
    report = StageLog(lambda *progress: reports.append(progress))
    with caplog.at_level(logging.INFO, "momentdag"):
        for progress in (("search", 0, 2), ("search", 1, 2), ("chains", 0, 1)):
            report(*progress)
    assert caplog.messages == ["Stage: search", "Stage: chains"]
    assert reports == [("search", 0, 2), ("search", 1, 2), ("chains", 0, 1)]
