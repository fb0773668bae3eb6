import numpy as np
import pytest

from momentdag.errors import StorageError
from momentdag.runs.archive import read_archive, write_archive
from momentdag.runs.mechanisms import load_model, save_model


@pytest.fixture
def path(estimator, tmp_path):
    save_model(estimator.scm_, "evidence", tmp_path / "m.npz")
    return tmp_path / "m.npz"


def test_moments_are_the_same_bits(path, estimator, table):
    found = load_model("evidence", path)
    graph = estimator.best_graph_
    for name in table.columns:
        for before, after in zip(
            estimator.scm_.moments(table.to_numpy(), graph, name),
            found.moments(table.to_numpy(), graph, name),
            strict=True,
        ):
            np.testing.assert_array_equal(before, after)


def test_engines_are_not_mixed_up(path, tmp_path, estimator):
    with pytest.raises(StorageError, match="of the engine 'variational'"):
        load_model("variational", path)
    with pytest.raises(StorageError, match="Expected an engine among"):
        save_model(estimator.scm_, "os", tmp_path / "n.npz")


def test_a_forged_model_is_refused_with_the_name_of_its_file(path):
    content, arrays = read_archive(path, "mechanisms")
    write_archive(path, "mechanisms", content, arrays | {"scale": -arrays["scale"]})
    with pytest.raises(StorageError, match=r"m\.npz: Expected positive scales"):
        load_model("evidence", path)
