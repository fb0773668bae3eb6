import pandas as pd
import pytest

from momentdag.datasets import load_light_tunnel
from momentdag.datasets.light_tunnel_truth import FULL, evidence
from momentdag.errors import DataError, OptionError

ACTUATORS = ["red", "green", "blue", "pol_1", "pol_2"]


@pytest.fixture(scope="module")
def small_copy(tmp_path_factory):
    """A folder as causalchamber unpacks it: more columns than ours, in another order."""
    root = tmp_path_factory.mktemp("chambers")
    folder = root / "lt_interventions_standard_v1"
    folder.mkdir()
    columns = ["timestamp", *reversed(FULL), "osr_c"]
    rows = [[10 * row + column for column in range(len(columns))] for row in range(5)]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "uniform_reference.csv", index=False)
    return root


@pytest.fixture(scope="module")
def core(light_tunnel_file):
    return load_light_tunnel(path=light_tunnel_file)


@pytest.fixture(scope="module")
def full(light_tunnel_file):
    return load_light_tunnel("full", path=light_tunnel_file)


def test_core_has_graded_variance_edges(small_copy):
    core = load_light_tunnel(path=small_copy)
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
    assert core.grades["grade"].value_counts().to_dict() == {"strong": 12, "weak": 2, "unscored": 2}


def test_dropping_the_angles_drops_exactly_the_unscored_edges(small_copy):
    core = load_light_tunnel(path=small_copy)
    touching = core.grades[core.grades["effect"].isin(["angle_1", "angle_2"])]
    assert (touching["grade"] == "unscored").all()
    assert len(touching) == (core.grades["grade"] == "unscored").sum()


def test_core_is_the_full_table_and_graph_restricted_by_name(small_copy):
    core, full = (
        load_light_tunnel("core", path=small_copy),
        load_light_tunnel("full", path=small_copy),
    )
    names = list(core.names)
    assert core.data.equals(full.data[names])
    assert (core.union_graph == full.union_graph.loc[names, names]).all(axis=None)
    assert full.union_graph.to_numpy().sum() == 39
    assert full.graph is None
    assert full.grades is None


def test_columns_are_found_by_name_in_a_file_or_a_folder(small_copy):
    file = small_copy / "lt_interventions_standard_v1" / "uniform_reference.csv"
    stored = pd.read_csv(file)
    for path in (small_copy, file, str(file)):
        loaded = load_light_tunnel("full", path=path)
        assert loaded.names == tuple(FULL)
        for name in loaded.names:
            assert loaded.data[name].tolist() == stored[name].tolist()


def test_actuators_are_roots_and_nearly_uncorrelated(core):
    for name in ACTUATORS:
        assert core.graph.parents(name) == ()
    correlation = core.data[ACTUATORS].corr().abs()
    # Independent draws: sd of a correlation is 0.01 with 10000 rows; 5 of these.
    assert (correlation.to_numpy()[~(correlation.to_numpy() == 1)] < 0.05).all()


def test_evidence_agrees_with_the_truth(small_copy):
    for variant in ("core", "full"):
        loaded = load_light_tunnel(variant, path=small_copy)
        for row in loaded.evidence.itertuples():
            assert bool(loaded.union_graph.loc[row.cause, row.effect]) == row.edge_in_ground_truth
    assert len(load_light_tunnel(path=small_copy).evidence) == 5 * 6


def test_truth_and_evidence_are_the_documented_ones(shared_data, core, full):
    pd.testing.assert_frame_equal(
        evidence(), pd.read_csv(shared_data / "light_tunnel_moment_evidence.csv"), check_exact=True
    )
    edges = {
        name: set(pd.read_csv(shared_data / f"light_tunnel_{name}.csv").itertuples(index=False))
        for name in ("edges", "core_mean_edges", "core_var_edges")
    }
    union = full.union_graph
    assert {(c, e) for c in union for e in union if union.loc[c, e]} == edges["edges"]
    assert set(core.graph.edges("mean")) == edges["core_mean_edges"]
    assert set(core.grades.itertuples(index=False)) == edges["core_var_edges"]


def test_the_tables_are_the_documented_ones(shared_data, core, full):
    assert core.data.shape == (10000, 11)
    assert core.data.equals(pd.read_csv(shared_data / "light_tunnel_core.csv").astype(float))
    assert full.data.equals(pd.read_csv(shared_data / "light_tunnel.csv").astype(float))


def test_residual_spread_of_current_rises_with_red(core):
    # Checks that columns and strong grades belong together: 17 % per sd of red is documented.
    data = core.data
    colours = data[["red", "green", "blue"]].sum(axis=1)
    slope = data["current"].cov(colours) / colours.var()
    residual = data["current"] - slope * colours
    low, high = data["red"] < 20, data["red"] > 65
    # The ends are about 2 sd of red apart, so a ratio near 1.4 is expected; 1.2 is far from 1.
    assert residual[high].std() > 1.2 * residual[low].std()


@pytest.mark.parametrize("variant", ["Core", "small", None])
def test_other_variants_are_refused(variant):
    with pytest.raises(OptionError, match="'core', 'full'"):
        load_light_tunnel(variant)


def test_other_files_are_refused(tmp_path):
    other, text = tmp_path / "other.csv", tmp_path / "text.csv"
    pd.DataFrame({"red": [1], "green": [2]}).to_csv(other, index=False)
    pd.DataFrame([["a"] * 20] * 3, columns=FULL).to_csv(text, index=False)
    with pytest.raises(DataError, match=r"other\.csv: .*no columns blue, pol_1"):
        load_light_tunnel(path=other)
    with pytest.raises(DataError, match=r"text\.csv: .*could not convert"):
        load_light_tunnel(path=text)
    with pytest.raises(DataError, match=r"uniform_reference\.csv: .*No such file"):
        load_light_tunnel(path=tmp_path)


@pytest.mark.slow
def test_further_experiments_follow_the_reference(shared_data, tmp_path):
    folder = tmp_path / "lt_interventions_standard_v1"
    folder.mkdir()
    table = pd.read_csv(shared_data / "light_tunnel_interventions.csv.gz")
    table[table["regime"] == "v_c_strong"].to_csv(folder / "uniform_v_c_strong.csv", index=False)
    table[table["regime"] == "red_strong"].to_csv(folder / "uniform_red_strong.csv", index=False)
    reference = pd.read_csv(shared_data / "light_tunnel.csv")
    reference.to_csv(folder / "uniform_reference.csv", index=False)
    tunnel = load_light_tunnel(regimes=["v_c_strong", "red_strong"], path=tmp_path)
    assert tunnel.regime.value_counts(sort=False).to_dict() == {
        "reference": 10_000, "v_c_strong": 1000, "red_strong": 1000,
    }  # fmt: skip
    assert tunnel.targets.values.tolist() == [
        ["v_c_strong", "current", "is read with another v_c"],
        ["red_strong", "red", "takes other values"],
    ]
    by_regime = tunnel.data["current"].groupby(tunnel.regime).std()
    assert by_regime["v_c_strong"] > 2 * by_regime["reference"]


def test_experiments_that_cannot_be_loaded_are_refused(small_copy):
    with pytest.raises(OptionError, match="'t_ir_2_strong' acts on 'ir_2'"):
        load_light_tunnel(regimes=["t_ir_2_strong"], path=small_copy)
    with pytest.raises(DataError, match="uniform_red_strong"):
        load_light_tunnel(regimes=["red_strong"], path=small_copy)
    file = small_copy / "lt_interventions_standard_v1" / "uniform_reference.csv"
    with pytest.raises(DataError, match="is one experiment"):
        load_light_tunnel(regimes=["red_strong"], path=file)
