import hashlib

import numpy as np
import pandas as pd
import pytest

from momentdag import datasets
from momentdag.datasets import ReferenceData
from momentdag.datasets.reference import read_edges, read_table, shipped_file
from momentdag.errors import DataError, GraphError
from momentdag.graph import MomentGraph

FILES = [
    "engel.csv",
    "sachs.csv",
    "sachs_conditions.csv.gz",
    "sachs_edges_17.csv",
    "sachs_edges_18_cdt.csv",
    "sachs_edges_20.csv",
]


def reference(**fields):
    given = {
        "name": "example",
        "data": pd.DataFrame({"y": [1.0, 2.0], "x": [3.0, 5.0], "z": [0.0, 1.0]}),
        "description": "",
        "source": "",
        "licence": "",
        "citation": "",
    }
    return ReferenceData(**(given | fields))


@pytest.mark.parametrize("file_name", FILES)
def test_every_file_is_found_as_a_package_resource(file_name):
    assert shipped_file(file_name).is_file()


def test_no_unlisted_file_is_shipped():
    assert sorted(entry.name for entry in shipped_file(".").iterdir()) == FILES


def test_the_sachs_file_is_byte_for_byte_the_documented_one():
    content = shipped_file("sachs.csv").read_bytes()
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    assert digest == "6be6305cabf327d7e971ebaa890b2337"


LOADED = [
    *[(lambda truth=truth: datasets.load_sachs(truth), (853, 11)) for truth in ("17", "20")],
    (datasets.load_engel, (235, 2)),
]


@pytest.mark.parametrize(("load", "shape"), LOADED)
def test_every_data_set_is_complete_numeric_and_labelled_alike(load, shape):
    check(load(), shape)


@pytest.mark.parametrize(("variant", "n_variables"), [("core", 11), ("full", 20)])
def test_the_light_tunnel_is_complete_numeric_and_labelled_alike(
    light_tunnel_file, variant, n_variables
):
    loaded = datasets.load_light_tunnel(variant, path=light_tunnel_file)
    check(loaded, (10000, n_variables))


def check(loaded, shape):
    assert loaded.data.shape == shape
    assert (loaded.data.dtypes == np.float64).all()
    assert np.isfinite(loaded.data.to_numpy()).all()
    assert (loaded.data.nunique() > 1).all()
    assert loaded.names == tuple(loaded.data.columns)
    if loaded.union_graph is not None:
        assert list(loaded.union_graph.index) == list(loaded.data.columns)
        assert list(loaded.union_graph.columns) == list(loaded.data.columns)
    if loaded.graph is not None:
        assert loaded.graph.names == loaded.names
        assert loaded.union_graph.equals(loaded.graph.union_frame)
    assert (loaded.union_graph is None) == (loaded.tiers is not None)
    for text in (loaded.description, loaded.source, loaded.licence, loaded.citation):
        assert text


def test_loading_twice_gives_independent_tables():
    first = datasets.load_engel()
    first.data.iloc[0, 0] = -1.0
    assert datasets.load_engel().data.iloc[0, 0] > 0


def test_truth_is_brought_into_the_order_of_the_columns_by_name():
    graph = MomentGraph.from_edges(["x", "y", "z"], mean=[("x", "y")], variance=[("y", "z")])
    example = reference(graph=graph)
    assert example.graph.names == ("y", "x", "z")
    assert example.graph.edges("mean") == [("x", "y")]
    assert example.graph.edges("variance") == [("y", "z")]
    assert bool(example.union_graph.loc["y", "z"])
    agnostic = reference(union_graph=graph.union_frame)
    assert agnostic.union_graph.equals(example.union_graph)


def test_a_truth_that_names_other_variables_is_refused():
    graph = MomentGraph.from_edges(["x", "y", "w"])
    with pytest.raises(DataError, match="graph to name each column"):
        reference(graph=graph)
    with pytest.raises(DataError, match="union_graph to name each column"):
        reference(union_graph=graph.union_frame)
    with pytest.raises(DataError, match="tiers to name each column"):
        reference(tiers=(("x",), ("y",)))


def test_a_union_that_is_not_the_union_is_refused():
    graph = MomentGraph.from_edges(["x", "y", "z"], mean=[("x", "y")])
    other = MomentGraph.from_edges(["x", "y", "z"], mean=[("x", "z")])
    with pytest.raises(DataError, match="union"):
        reference(graph=graph, union_graph=other.union_frame)


def test_a_cyclic_truth_is_refused():
    names = list(read_table("sachs.csv").columns)
    cyclic = pd.DataFrame(False, index=names, columns=names)
    for cause, effect in read_edges("sachs_edges_18_cdt.csv"):
        cyclic.loc[cause, effect] = True
    with pytest.raises(GraphError, match="acyclic"):
        reference(data=read_table("sachs.csv"), union_graph=cyclic)


def test_the_value_is_frozen_and_prints_in_one_line():
    example = reference(tiers=(("x",), ("y", "z")))
    with pytest.raises(AttributeError):
        example.name = "other"
    assert repr(example) == "ReferenceData('example', 2 rows, 3 variables, 2 tiers)"
