"""What an engine sees of a table does not depend on names, units or places of columns."""

import numpy as np
import pytest

from momentdag.engines.protocol import FitRequest
from momentdag.engines.standardise import read_units, standardise
from momentdag.errors import StorageError
from momentdag.knowledge import Knowledge
from momentdag.storage.state import State
from momentdag.table import Dataset

NAMES = ("dose", "growth", "yield")


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(size=80), rng.exponential(size=80), rng.uniform(size=80)])


def test_places_and_units_of_columns_do_not_matter(values):
    here = standardise(Dataset(values, NAMES))
    order = [2, 0, 1]
    scaled = values[:, order] * [1000, 0.1, 7] + [5, -3, 0]
    there = standardise(Dataset(scaled, tuple(NAMES[i] for i in order)))
    np.testing.assert_allclose(here.values, there.values, atol=1e-12)
    assert [NAMES[i] for i in here.columns] == [there.units.names[i] for i in there.columns]


def test_graphs_come_back_in_the_order_of_the_data(values):
    table = standardise(Dataset(values, NAMES))
    graph = np.zeros((3, 3), dtype=bool)
    graph[0, 2] = True  # from the first to the last place
    restored = table.restore(graph)
    assert np.argwhere(restored).tolist() == [[table.columns[0], table.columns[2]]]
    np.testing.assert_array_equal(
        table.values[:, table.places], Dataset(values, NAMES).standardised
    )


def test_a_request_standardises_and_reorders_once(values):
    dataset = Dataset(values, NAMES)
    known = Knowledge(order=[("yield", "dose")]).compile(NAMES)
    request = FitRequest(dataset, known, 10, np.random.default_rng(0))
    assert request.table is request.table
    names = request.canonical_knowledge.names
    assert names == tuple(NAMES[i] for i in request.table.columns)
    precedes = request.canonical_knowledge.precedes
    assert np.argwhere(precedes).tolist() == [[names.index("yield"), names.index("dose")]]


def test_units_are_checked():
    arrays_of_two = {"location": np.zeros(2), "scale": np.ones(2)}
    units = read_units(State({"names": ["a", "b"]}, arrays_of_two))
    assert units.names == ("a", "b")
    for content, arrays in (
        ({}, arrays_of_two),
        ({"names": []}, arrays_of_two),
        ({"names": "ab"}, arrays_of_two),
        ({"names": ["a", 1]}, arrays_of_two),
        ({"names": ["a"]}, arrays_of_two),
        ({"names": ["a", "b"]}, arrays_of_two | {"scale": np.array([1.0, 0.0])}),
    ):
        with pytest.raises(StorageError):
            read_units(State(content, arrays))
