import pytest

from momentdag.datasets import load_light_tunnel
from momentdag.errors import OptionError

ACTUATORS = ["red", "green", "blue", "pol_1", "pol_2"]


def test_core_has_graded_variance_edges():
    core = load_light_tunnel()
    assert core.graph.mean_graph.sum() == 16
    assert core.graph.variance_graph.sum() == 16
    assert sorted(core.graph.edges("variance")) == sorted(
        zip(core.grades["cause"], core.grades["effect"], strict=True)
    )
    by_grade = core.grades.groupby("grade")["effect"].agg(set).to_dict()
    assert by_grade == {
        "strong": {"current", "ir_1", "vis_2", "ir_3"},
        "weak": {"ir_3"},
        "unscored": {"angle_1", "angle_2"},
    }


def test_dropping_the_angles_drops_exactly_the_unscored_edges():
    core = load_light_tunnel()
    touching = core.grades[core.grades["effect"].isin(["angle_1", "angle_2"])]
    assert (touching["grade"] == "unscored").all()
    assert len(touching) == (core.grades["grade"] == "unscored").sum()


def test_core_is_the_full_table_and_graph_restricted_by_name():
    core, full = load_light_tunnel("core"), load_light_tunnel("full")
    names = list(core.names)
    assert core.data.equals(full.data[names])
    assert (core.union_graph == full.union_graph.loc[names, names]).all(axis=None)
    assert full.union_graph.to_numpy().sum() == 39
    assert full.graph is None
    assert full.grades is None


def test_actuators_are_roots_and_nearly_uncorrelated():
    core = load_light_tunnel()
    for name in ACTUATORS:
        assert core.graph.parents(name) == ()
    correlation = core.data[ACTUATORS].corr().abs()
    # Independent draws: sd of a correlation is 0.01 with 10000 rows; 5 of these.
    assert (correlation.to_numpy()[~(correlation.to_numpy() == 1)] < 0.05).all()


def test_evidence_agrees_with_the_truth():
    for variant in ("core", "full"):
        loaded = load_light_tunnel(variant)
        for row in loaded.evidence.itertuples():
            assert bool(loaded.union_graph.loc[row.cause, row.effect]) == row.edge_in_ground_truth
    assert len(load_light_tunnel().evidence) == 5 * 6


def test_residual_spread_of_current_rises_with_red():
    # Checks that columns and strong grades belong together: 17 % per sd of red is documented.
    core = load_light_tunnel().data
    colours = core[["red", "green", "blue"]].sum(axis=1)
    slope = core["current"].cov(colours) / colours.var()
    residual = (core["current"] - slope * colours).sub((core["current"] - slope * colours).mean())
    low, high = core["red"] < 20, core["red"] > 65
    # The ends are about 2 sd of red apart, so a ratio near 1.4 is expected; 1.2 is far from 1.
    assert residual[high].std() > 1.2 * residual[low].std()


@pytest.mark.parametrize("variant", ["Core", "small", None])
def test_other_variants_are_refused(variant):
    with pytest.raises(OptionError, match="'core', 'full'"):
        load_light_tunnel(variant)
