import numpy as np
import pytest

from momentdag.engines.variational.likelihood import Networks
from momentdag.engines.variational.model import VariationalModel
from momentdag.errors import StorageError
from momentdag.graph import MomentGraph
from momentdag.storage.state import State
from momentdag.table import Dataset


@pytest.fixture(params=[False, True], ids=["trained", "refitted"])
def model(request):
    rng = np.random.default_rng(0)
    # Of 60 rows, as in contracts/test_engines.py, so that compiled programs are shared.
    dataset = Dataset(rng.normal(size=(60, 3)) * 4 + 2, ["a", "b", "c"])
    shapes = ((2, 3, 3, 4), (2, 3, 4), (2, 3, 4), (2, 3))
    mean, variance = (
        Networks(
            *(rng.normal(size=shape).astype(np.float32) for shape in (*shapes, (2, n_told, 3, 3)))
        )
        for n_told in (1, 2)
    )
    return VariationalModel(dataset, mean, variance, dataset.standardised, refitted=request.param)


def test_the_model_comes_back_to_the_bit(model):
    found = VariationalModel.from_state(model.to_state())
    assert found.names == model.names
    values = np.random.default_rng(1).normal(size=(20, 3))
    graph = MomentGraph.from_edges("abc", mean=[("a", "c")], variance=[("b", "c"), ("a", "b")])
    for name in "abc":
        before, after = (m.moments(values, graph, name) for m in (model, found))
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(
    "name", ["variance_hidden", "mean_last", "mean_output", "variance_shift", "variance_first"]
)
def test_what_is_malformed_is_refused(model, name):
    content, arrays = model.to_state()
    for wrong in (arrays[name][:-1], np.full_like(arrays[name], np.nan), arrays[name] > 0):
        with pytest.raises(StorageError):
            VariationalModel.from_state(State(content, {**arrays, name: wrong}))
    with pytest.raises(StorageError, match="there is none"):
        VariationalModel.from_state(
            State(content, {key: arrays[key] for key in arrays if key != name})
        )


def test_a_file_that_says_nothing_of_refitting_has_trained_layers(model):
    content, arrays = model.to_state()
    found = VariationalModel.from_state(State({"names": content["names"]}, arrays))
    assert found.to_state().content["refitted"] is False


def test_networks_of_unequal_numbers_of_restarts_are_refused(model):
    content, arrays = model.to_state()
    fewer = {key: value[:1] if key.startswith("mean") else value for key, value in arrays.items()}
    with pytest.raises(StorageError):
        VariationalModel.from_state(State(content, fewer))
    none = {key: value[:0] if "_" in key else value for key, value in arrays.items()}
    with pytest.raises(StorageError, match="at least one restart"):
        VariationalModel.from_state(State(content, none))
