import json

import numpy as np
import pytest

from momentdag.engines.evidence.local.features import Kernel
from momentdag.engines.evidence.local.hyperparameters import Hyperparameters, make_scorer
from momentdag.engines.evidence.model import EvidenceModel
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.standardise import ColumnUnits
from momentdag.errors import StorageError
from momentdag.graph import MomentGraph
from momentdag.storage.state import State
from momentdag.table import Dataset

RBF = Kernel("rbf", 1.2, linear=0.25)


def model_of(inputs="values", noise="flexible", rounded=False, features="usual"):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(80, 3))
    x[:, 2] += np.sin(x[:, 0]) * np.exp(0.5 * x[:, 1])
    dataset = Dataset(np.round(3 * x + 1, 0 if rounded else 9), ["a", "b", "c"])
    columns = np.array([2, 0, 1])
    values = dataset.standardised[:, columns]
    units = ColumnUnits(dataset.names, dataset.location, dataset.scale, dataset.kinds)
    scorer = make_scorer(
        values,
        values,
        np.arange(0, 80, 8),
        Hyperparameters(inputs, mean_kernel=RBF, features=features),
        EvidenceOptions(noise=noise),
        units.reordered(columns),
    )
    return dataset, EvidenceModel(units, columns, scorer)


def through_json(stored):
    return State(json.loads(json.dumps(stored.content)), stored.arrays)


@pytest.mark.parametrize("inputs", ["values", "ranks"])
@pytest.mark.parametrize("noise", ["flexible", "gaussian", "student"])
@pytest.mark.parametrize("rounded", [False, True])
def test_the_model_comes_back_to_the_bit(inputs, noise, rounded):
    dataset, model = model_of(inputs, noise, rounded)
    stored = model.to_state()
    assert "targets" not in stored.arrays
    assert ("continuous" in stored.content["kinds"]) != rounded
    found = EvidenceModel.from_state(through_json(stored))
    assert found.names == model.names
    graph = MomentGraph.from_edges("abc", mean=[("a", "c")], variance=[("b", "c"), ("a", "b")])
    for name in "abc":
        before, after = (m.moments(dataset.values, graph, name) for m in (model, found))
        np.testing.assert_array_equal(before, after)
    drawn = [
        m.draw_functions(np.random.default_rng(0), graph)["c"].moments(dataset.values)
        for m in (model, found)
    ]
    np.testing.assert_array_equal(*drawn)


def test_fine_features_come_back_to_the_bit_and_old_fits_have_usual_ones():
    dataset, model = model_of(features="fine")
    stored = through_json(model.to_state())
    assert len(stored.arrays["inducing_rows"]) == 80
    graph = MomentGraph.from_edges("abc", mean=[("a", "c")], variance=[("b", "c")])
    before, after = (
        m.moments(dataset.values, graph, "c") for m in (model, EvidenceModel.from_state(stored))
    )
    np.testing.assert_array_equal(before, after)
    del stored.content["hyperparameters"]["features"]
    assert (
        EvidenceModel.from_state(stored).to_state().content["hyperparameters"]["features"]
        == "usual"
    )


@pytest.mark.parametrize(
    ("content", "arrays"),
    [
        ({"noise": "loud"}, {}),
        ({"hyperparameters": None}, {}),
        ({"hyperparameters": {"inputs": "values"}}, {}),
        ({}, {"columns": np.array([0, 1, 1])}),
        ({}, {"inducing_rows": np.array([80])}),
        ({}, {"inducing_rows": np.array([], dtype=np.int64)}),
        ({}, {"values": np.full((80, 3), np.nan)}),
        ({}, {"targets": np.zeros((79, 3))}),
    ],
)
def test_what_is_malformed_is_refused(content, arrays):
    stored = model_of()[1].to_state()
    with pytest.raises(StorageError):
        EvidenceModel.from_state(State({**stored.content, **content}, {**stored.arrays, **arrays}))


@pytest.mark.parametrize(
    "change",
    [{"shape": "cube"}, {"scale": "wide"}, {"bias": -1.0}, {"scale": float("inf")}, {"z": 1}],
)
def test_kernels_are_checked(change):
    stored = model_of()[1].to_state()
    chosen = json.loads(json.dumps(stored.content["hyperparameters"]))
    chosen["mean_kernel"] |= change
    with pytest.raises(StorageError):
        EvidenceModel.from_state(
            State({**stored.content, "hyperparameters": chosen}, stored.arrays)
        )
