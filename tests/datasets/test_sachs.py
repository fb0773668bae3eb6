import pandas as pd
import pytest

from momentdag.datasets import load_sachs
from momentdag.errors import OptionError

EDGES_17 = {
    "raf>mek",
    "mek>erk",
    "plcg>pip2",
    "plcg>pip3",
    "pip3>pip2",
    "erk>akt",
    "pka>raf",
    "pka>mek",
    "pka>erk",
    "pka>akt",
    "pka>p38",
    "pka>jnk",
    "pkc>raf",
    "pkc>mek",
    "pkc>pka",
    "pkc>p38",
    "pkc>jnk",
}


def edges(truth):
    graph = load_sachs(truth).union_graph
    return {f"{cause}>{effect}" for cause in graph for effect in graph if graph.loc[cause, effect]}


def test_the_17_edges_are_the_documented_ones():
    assert edges("17") == EDGES_17


def test_the_20_edges_differ_as_documented():
    changed = (EDGES_17 - {"plcg>pip3"}) | {"pip3>plcg", "plcg>pkc", "pip2>pkc", "pip3>akt"}
    assert edges("20") == changed


def test_columns_carry_their_own_values():
    data = load_sachs().data
    assert data.loc[748, ["mek", "erk", "akt"]].tolist() == [16.4, 2571.0, 3555.0]
    scores = (data - data.mean()) / data.std()
    # The documented outlier: "28 standard deviations", rounded.
    assert round(scores.loc[748, "erk"]) == 28
    assert round(scores.loc[748, "akt"]) == 28
    assert not data.duplicated().any()


def test_moment_truth_is_absent():
    assert load_sachs().graph is None


@pytest.mark.parametrize("truth", ["18", 17, None])
def test_other_truths_are_refused(truth):
    with pytest.raises(OptionError, match="'17', '20'"):
        load_sachs(truth)


def test_all_conditions_begin_with_the_observational_cells() -> None:
    everything = load_sachs(conditions="all")
    assert everything.regime is not None
    assert everything.targets is not None
    sizes = everything.regime.value_counts(sort=False)
    assert sizes.tolist() == [853, 902, 911, 723, 810, 799, 848, 913, 707]
    pd.testing.assert_frame_equal(everything.data[:853], load_sachs().data)
    assert set(everything.targets["regime"]) == set(sizes.index) - {"cd3_cd28"}
    assert set(everything.targets["variable"]) <= {"", *everything.names}


def test_unknown_conditions_are_refused() -> None:
    with pytest.raises(OptionError, match="Expected conditions"):
        load_sachs(conditions="some")  # type: ignore[arg-type]
