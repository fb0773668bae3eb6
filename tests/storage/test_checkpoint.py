import logging

import numpy as np
import pytest

from momentdag.storage.checkpoint import FileCheckpoint


@pytest.fixture
def checkpoint(tmp_path):
    return FileCheckpoint(tmp_path / "checkpoints", "key")


def test_a_stage_comes_back_as_it_was_saved(checkpoint):
    assert checkpoint.load("the order search") is None
    arrays = {"scores": np.array([1.5, -np.inf]), "words": np.array([2**64 - 1], dtype=np.uint64)}
    checkpoint.save("the order search", {"rates": [0.5, 2.0]}, arrays)
    content, found = checkpoint.load("the order search")
    assert content == {"rates": [0.5, 2.0]}
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_saving_again_replaces(checkpoint):
    checkpoint.save("chain 1", {"n": 1}, {})
    checkpoint.save("chain 1", {"n": 2}, {})
    assert checkpoint.load("chain 1") == ({"n": 2}, {})
    assert len(list(checkpoint.folder.iterdir())) == 1


def test_stages_whose_names_look_alike_are_kept_apart(checkpoint):
    for k, stage in enumerate(("chain 1", "chain-1", "../chain 1", "chain 1" + "x" * 300)):
        checkpoint.save(stage, {"k": k}, {})
    assert checkpoint.load("chain 1") == ({"k": 0}, {})
    assert checkpoint.load("chain-1") == ({"k": 1}, {})
    assert checkpoint.load("../chain 1") == ({"k": 2}, {})
    assert len(list(checkpoint.folder.iterdir())) == 4


def test_those_of_another_fit_are_ignored_with_a_warning(checkpoint, caplog):
    checkpoint.save("chain 1", {}, {})
    other = FileCheckpoint(checkpoint.folder, "another key")
    with caplog.at_level(logging.WARNING, "momentdag"):
        assert other.load("chain 1") is None
    assert "other data, options, knowledge or seed" in caplog.text


def test_damaged_ones_are_ignored_with_a_warning(checkpoint, caplog):
    checkpoint.save("chain 1", {}, {"a": np.arange(5)})
    (path,) = checkpoint.folder.iterdir()
    path.write_bytes(path.read_bytes()[:-30])
    with caplog.at_level(logging.WARNING, "momentdag"):
        assert checkpoint.load("chain 1") is None
    assert "Ignoring a checkpoint" in caplog.text


def test_one_stage_under_the_name_of_another_is_ignored(checkpoint):
    checkpoint.save("chain 1", {}, {})
    (path,) = checkpoint.folder.iterdir()
    path.rename(checkpoint._path("chain 2"))
    assert checkpoint.load("chain 2") is None


def test_a_place_that_cannot_be_written_does_not_end_the_fit(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    checkpoint = FileCheckpoint(tmp_path / "file", "key")
    with caplog.at_level(logging.WARNING, "momentdag"):
        checkpoint.save("chain 1", {}, {})
    assert "could not be saved" in caplog.text
    assert checkpoint.load("chain 1") is None


def test_clearing_removes_checkpoints_and_nothing_else(checkpoint):
    checkpoint.clear()  # nothing there yet
    checkpoint.save("chain 1", {}, {})
    note = checkpoint.folder / "note.txt"
    note.write_text("mine")
    checkpoint.clear()
    assert list(checkpoint.folder.iterdir()) == [note]
    note.unlink()
    checkpoint.save("chain 1", {}, {})
    checkpoint.clear()
    assert not checkpoint.folder.exists()
