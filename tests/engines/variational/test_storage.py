import numpy as np
import pytest

from momentdag.data import Dataset
from momentdag.engines.storage import State
from momentdag.engines.variational.likelihood import Networks
from momentdag.engines.variational.model import VariationalModel
from momentdag.engines.variational.storage import from_state, state
from momentdag.errors import StorageError
from momentdag.graph import MomentGraph


@pytest.fixture(params=[False, True], ids=["trained", "refitted"])
def model(request):
    rng = np.random.default_rng(0)
    dataset = Dataset(rng.normal(size=(30, 3)) * 4 + 2, ["a", "b", "c"])
    shapes = ((2, 3, 3, 5), (2, 3, 5), (2, 3, 5), (2, 3))
    mean, variance = (
        Networks(
            *(rng.normal(size=shape).astype(np.float32) for shape in (*shapes, (2, n_told, 3, 3)))
        )
        for n_told in (1, 2)
    )
    return VariationalModel(dataset, mean, variance, dataset.standardised, refitted=request.param)


def test_the_model_comes_back_to_the_bit(model):
    found = from_state(state(model))
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
    content, arrays = state(model)
    for wrong in (arrays[name][:-1], np.full_like(arrays[name], np.nan), arrays[name] > 0):
        with pytest.raises(StorageError):
            from_state(State(content, {**arrays, name: wrong}))
    with pytest.raises(StorageError, match="there is none"):
        from_state(State(content, {key: arrays[key] for key in arrays if key != name}))


def test_a_file_that_says_nothing_of_refitting_has_trained_layers(model):
    content, arrays = state(model)
    found = from_state(State({"names": content["names"]}, arrays))
    assert not found._refitted


def test_networks_of_unequal_numbers_of_restarts_are_refused(model):
    content, arrays = state(model)
    fewer = {key: value[:1] if key.startswith("mean") else value for key, value in arrays.items()}
    with pytest.raises(StorageError):
        from_state(State(content, fewer))
    none = {key: value[:0] if "_" in key else value for key, value in arrays.items()}
    with pytest.raises(StorageError, match="at least one restart"):
        from_state(State(content, none))
