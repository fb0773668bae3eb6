from itertools import product
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate.kinds import SCALED_KINDS, Kind, encode
from momentdag.simulate.mixed import MixedSimulation, mixed, mixed_from_graph, mixed_pair
from momentdag.simulate.mixed_model import MixedMechanisms, MixedOptions
from momentdag.simulate.options import FloatArray
from momentdag.simulate.responses import (
    Binary,
    Category,
    Count,
    LocationScale,
    Ordered,
)

KINDS: tuple[Kind, ...] = get_args(Kind)
PAIRS = list(product(KINDS, KINDS))


def codes(simulation: MixedSimulation, frame: pd.DataFrame) -> FloatArray:
    return np.column_stack(
        [encode(name, kind, frame[name], len(frame)) for name, kind in simulation.kinds.items()]
    )


def test_types_of_all_kinds() -> None:
    data = mixed(np.random.default_rng(0), 300, kinds=KINDS).data
    assert data.shape == (300, 5)
    assert data["x1"].dtype == np.float64
    assert data["x2"].dtype == data["x3"].dtype == data["x4"].dtype == np.int64
    assert set(data["x2"]) == {1, 2, 3, 4, 5}
    assert data["x3"].min() >= 0
    assert set(data["x4"]) == {0, 1}
    assert pd.api.types.is_string_dtype(data["x5"].dtype)
    assert set(data["x5"]) == {"a", "b", "c"}
    options = MixedOptions(boolean=True)
    boolean = mixed(np.random.default_rng(0), 300, kinds=KINDS, options=options)
    assert boolean.data["x4"].dtype == np.bool_
    pd.testing.assert_frame_equal(boolean.data.astype({"x4": np.int64}), data)


def test_drawn_kinds_and_graphs() -> None:
    drawn = [mixed(np.random.default_rng(seed), 20, n_variables=8) for seed in range(12)]
    for simulation in drawn:
        kinds, graph = simulation.kinds, simulation.graph
        assert list(kinds.values()).count("continuous") == 4
        assert (graph.mean_graph.sum(), graph.variance_graph.sum()) == (8, 4)
        for adjacency in (graph.mean_graph, graph.variance_graph):
            assert adjacency.sum(axis=0).max() <= 3
        for _, effect in graph.edges("variance"):
            assert kinds[effect] in SCALED_KINDS
        position = {name: i for i, name in enumerate(simulation.order)}
        assert all(position[cause] < position[effect] for cause, effect in graph.edges())
    assert {kind for simulation in drawn for kind in simulation.kinds.values()} == set(KINDS)
    assert len({simulation.order[0] for simulation in drawn}) > 3


def test_edges_asked_for_are_capped_at_those_that_fit() -> None:
    simulation = mixed(
        np.random.default_rng(0),
        20,
        kinds=["binary", "category", "continuous"],
        n_edges=50,
        n_variance_edges=50,
    )
    assert simulation.graph.mean_graph.sum() == 3
    assert {effect for _, effect in simulation.graph.edges("variance")} <= {"x3"}
    empty = mixed(np.random.default_rng(0), 20, n_edges=0, n_variance_edges=0).graph
    assert not empty.union_graph.any()


def test_seeds_repeat_and_the_model_does_not_depend_on_the_rows() -> None:
    first, again, longer = (mixed(np.random.default_rng(3), n) for n in (50, 50, 400))
    pd.testing.assert_frame_equal(first.data, again.data)
    assert first.graph == longer.graph
    pd.testing.assert_frame_equal(
        first.sample(np.random.default_rng(1), 30), longer.sample(np.random.default_rng(1), 30)
    )
    assert not first.data.equals(mixed(np.random.default_rng(4), 50).data)


@pytest.mark.parametrize("seed", range(4))
def test_declared_moments_are_those_of_the_draws(seed: int) -> None:
    n = 20_000
    simulation = mixed(np.random.default_rng(seed), n, n_variables=8, n_edges=10)
    assert simulation.conditional_mean is not None
    assert simulation.conditional_std is not None
    for name, kind in simulation.kinds.items():
        if kind == "category":
            assert simulation.conditional_mean[name].isna().all()
            continue
        residual = simulation.data[name] - simulation.conditional_mean[name]
        std = simulation.conditional_std[name]
        # An ordered variable far beyond its last threshold has no variance to divide by.
        standard = (residual / std.clip(lower=1e-6)).to_numpy()
        # Mean 0 and variance 1 up to five standard errors, the variance's from the sample.
        assert abs(standard.mean()) < 5 / np.sqrt(n)
        share_random = float((std > 1e-6).mean())
        assert share_random > 0.95
        error = np.std(standard**2) / np.sqrt(n)
        assert abs(np.mean(standard**2) - share_random) < 5 * error
        for cause in simulation.graph.ancestors(name):
            x = codes(simulation, simulation.data)[:, simulation.graph.index(cause)]
            # Ranks are bounded; those of the residual would see its skewness change.
            assert abs(np.corrcoef(stats.rankdata(x), standard)[0, 1]) < 5 / np.sqrt(n)


CHAIN_KINDS: dict[str, Kind] = {
    "site": "category",
    "load": "continuous",
    "grade": "ordered",
    "faults": "count",
    "stop": "binary",
}
CHAIN = MomentGraph.from_edges(
    list(CHAIN_KINDS),
    mean=[("site", "load"), ("load", "grade"), ("load", "faults"), ("load", "stop")],
    variance=[("site", "load"), ("load", "grade"), ("load", "faults")],
)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("level", ["a", "c"])
def test_interventional_means_match_quadrature(seed: int, level: str) -> None:
    simulation = mixed_from_graph(np.random.default_rng(seed), CHAIN, CHAIN_KINDS)
    assert isinstance(simulation.mechanisms, MixedMechanisms)
    _, load, grade, faults, stop = simulation.mechanisms.responses
    assert isinstance(load, LocationScale)
    assert isinstance(grade, Ordered)
    assert isinstance(faults, Count)
    assert isinstance(stop, Binary)
    site = np.zeros((1, 5))
    site[0, 0] = "abc".index(level)
    # Load is Gaussian under do(site), so the means of its effects are Gaussian integrals; 4000
    # midpoints in probability are exact far below the Monte Carlo error.
    normal = stats.norm.ppf((np.arange(4000) + 0.5) / 4000)
    grid = np.zeros((4000, 5))
    grid[:, 1] = load.mean(site)[0] + np.exp(load.log_std(site)[0]) * normal
    below = stats.norm.cdf(
        (grade.thresholds - grade.mean(grid)[:, None]) / np.exp(grade.log_std(grid))[:, None]
    )
    expected = {
        "load": load.mean(site)[0],
        "grade": float(np.mean(5 - below.sum(axis=1))),  # E y = sum over k of P(y > k)
        "faults": float(np.mean(np.exp(faults.log_mean(grid)))),
        "stop": float(np.mean(special.expit(stop.logit(grid)))),
    }
    n = 100_000
    drawn = simulation.intervene(np.random.default_rng(7), {"site": level}, n)
    assert set(drawn["site"]) == {level}
    for name, mean in expected.items():
        # Five Monte Carlo standard errors.
        assert abs(drawn[name].mean() - mean) < 5 * drawn[name].std() / np.sqrt(n), name


def test_setting_an_effect_cuts_it_off_and_leaves_its_causes() -> None:
    simulation = mixed_from_graph(np.random.default_rng(0), CHAIN, CHAIN_KINDS)
    before = simulation.sample(np.random.default_rng(1), 200)
    after = simulation.intervene(np.random.default_rng(1), {"load": 2.0, "stop": 1}, 200)
    pd.testing.assert_series_equal(before["site"], after["site"])
    assert not before["faults"].equals(after["faults"])
    assert (after["stop"] == 1).all()
    extreme = simulation.intervene(np.random.default_rng(1), {"load": 1e9}, 200)
    assert np.isfinite(extreme["faults"]).all()
    setting = ["a", "b"] * 100
    assert simulation.intervene(np.random.default_rng(1), {"site": setting}, 200)[
        "site"
    ].tolist() == (setting)


def permutation_p_value(x: pd.Series, y: pd.Series) -> float:
    """Return the p-value of chi-square over quantile bins, in place of many shuffles."""
    binned = [
        pd.qcut(v.rank(method="first"), 6, labels=False) if v.nunique() > 6 else v for v in (x, y)
    ]
    return float(stats.chi2_contingency(pd.crosstab(*binned)).pvalue)


@pytest.mark.slow
@pytest.mark.parametrize(("cause", "effect"), PAIRS)
def test_every_pair_is_dependent_in_800_rows(cause: Kind, effect: Kind) -> None:
    for seed in range(8):
        for moment in ("mean", "variance", "both") if effect in SCALED_KINDS else ("mean",):
            rng = np.random.default_rng(seed)
            simulation = mixed_pair(rng, cause, effect, moment=moment)  # type: ignore[arg-type]
            data = simulation.data
            assert permutation_p_value(data["x"], data["y"]) < 1e-8
            shuffled = data["x"].sample(frac=1, random_state=seed).reset_index(drop=True)
            # Some 400 tests at fixed seeds.
            assert permutation_p_value(shuffled, data["y"]) > 1e-5


def mean_signal(simulation: MixedSimulation, name: str, values: FloatArray) -> FloatArray:
    """Return what the mean parents move, with the sd of its noise as unit, shape (n, ...)."""
    assert isinstance(simulation.mechanisms, MixedMechanisms)
    response = simulation.mechanisms.responses[simulation.graph.index(name)]
    match response:
        case LocationScale() | Ordered():
            return response.mean(values)
        case Binary():
            return response.logit(values) / (np.pi / np.sqrt(3))
        case Count():
            mean, std = response.moments(values)
            return np.log(mean) / float(np.mean(std / mean))
        case Category():
            scores = np.column_stack([f(values) for f in response.functions])
            return scores / (np.pi / np.sqrt(6))
    raise AssertionError(response)


@pytest.mark.parametrize("seed", range(5))
def test_shuffling_a_cause_moves_its_effects_and_no_others(seed: int) -> None:
    simulation = mixed(np.random.default_rng(seed), 800, n_variables=8, n_edges=12)
    graph, values = simulation.graph, codes(simulation, simulation.data)
    for cause, effect in product(graph.names, graph.names):
        if cause == effect:
            continue
        shuffled = values.copy()
        column = graph.index(cause)
        shuffled[:, column] = np.random.default_rng(seed).permutation(values[:, column])
        before = mean_signal(simulation, effect, values)
        moved = before - mean_signal(simulation, effect, shuffled)
        if graph.has_edge(cause, effect, "mean"):
            # Half the mean square of a difference is the variance that the cause is good for, in
            # units of the noise; 1.5 (for signal_share 0.6) is shared by at most three parents.
            assert 0.5 * np.mean(moved**2) > 0.15
        elif simulation.kinds[effect] != "count":
            assert not moved.any()
        if simulation.kinds[effect] in SCALED_KINDS and not graph.has_edge(cause, effect):
            first, second = (simulation.mechanisms.moments(v) for v in (values, shuffled))
            assert first is not None
            assert second is not None
            j = graph.index(effect)
            assert np.array_equal(first[1][:, j], second[1][:, j])


def test_a_variance_parent_leaves_the_mean_alone() -> None:
    for effect in ("continuous", "count"):
        simulation = mixed_pair(np.random.default_rng(0), "continuous", effect, moment="variance")  # type: ignore[arg-type]
        assert simulation.conditional_mean is not None
        assert simulation.conditional_std is not None
        assert np.ptp(simulation.conditional_mean["y"]) < 1e-9
        assert simulation.conditional_std["y"].max() > 2 * simulation.conditional_std["y"].min()


def test_pairs_and_their_reverse() -> None:
    pair = mixed_pair(np.random.default_rng(0), "continuous", "count", 60)
    assert list(pair.data) == ["x", "y"]
    assert pair.graph.edges("mean") == [("x", "y")]
    assert pair.kinds == {"x": "continuous", "y": "count"}
    reverse = mixed_pair(np.random.default_rng(0), "continuous", "count", 60, reverse=True)
    assert list(reverse.data) == ["x", "y"]
    assert reverse.graph.edges("mean") == [("y", "x")]
    assert reverse.kinds == {"x": "count", "y": "continuous"}
    assert reverse.data["x"].dtype == np.int64


def test_a_continuous_cause_has_many_shapes() -> None:
    draws = [
        mixed_pair(np.random.default_rng(seed), "continuous", "binary", 3000).data["x"]
        for seed in range(40)
    ]
    assert min(abs(stats.skew(x)) for x in draws) < 0.1
    assert max(abs(stats.skew(x)) for x in draws) > 1.0
    assert any(stats.kstest(x, "norm").pvalue > 0.01 for x in draws)
    # A uniform has kurtosis -1.2; the mixtures lie between or below it.
    assert sum(stats.kurtosis(x) < -1.0 for x in draws) > 5


def test_sortabilities_need_numbers() -> None:
    numbers = mixed_pair(
        np.random.default_rng(0), "continuous", "binary", options=MixedOptions(boolean=True)
    )
    assert numbers.varsortability() == 0.0  # a binary variance is at most 1/4
    assert numbers.r2_sortability() == pytest.approx(0.5)
    with pytest.raises(OptionError, match=r"\['x'\] are categories"):
        mixed_pair(np.random.default_rng(0), "category", "binary").varsortability()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": ["continuous", "text"]}, "kinds among"),
        ({"kinds": []}, "number of kinds"),
        ({"kinds": ["binary"], "n_variables": 2}, "n_variables as the 1 kinds"),
        ({"n_variables": 0}, "n_variables"),
        ({"share_continuous": 1.5}, "share_continuous"),
        ({"n_edges": -1}, "n_edges"),
        ({"n_variance_edges": 0.5}, "n_variance_edges"),
        ({"n_samples": 1}, "n_samples"),
    ],
)
def test_mixed_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        mixed(np.random.default_rng(0), **options)


def test_other_refusals() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(OptionError, match="'y' is binary, so its mean sets its variance"):
        mixed_pair(rng, "continuous", "binary", moment="both")
    with pytest.raises(OptionError, match="moment among"):
        mixed_pair(rng, "continuous", "count", moment="skewness")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="cause_kind among"):
        mixed_pair(rng, "text", "count")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="kinds of"):
        mixed_from_graph(rng, CHAIN, {"site": "category"})
    simulation = mixed_from_graph(rng, CHAIN, CHAIN_KINDS, 20)
    with pytest.raises(OptionError, match="got 'nobody'"):
        simulation.intervene(rng, {"nobody": 1}, 5)
    with pytest.raises(OptionError, match=r"do\['site'\] to be levels among"):
        simulation.intervene(rng, {"site": "z"}, 5)
    with pytest.raises(OptionError, match="Expected n as a whole number"):
        simulation.sample(rng, 0)
