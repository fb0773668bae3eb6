from typing import get_args

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from momentdag.errors import OptionError
from momentdag.simulate import Misspecification, Simulation, misspecified, misspecified_families
from momentdag.simulate.misspecified_model import (
    ConditionalModel,
    Recording,
    draw_conditionals,
)

FAMILIES: tuple[Misspecification, ...] = get_args(Misspecification)
WITH_MOMENTS = {"post_nonlinear", "skewness", "multiplicative", "mixture"}
BOTH = WITH_MOMENTS - {"skewness"} | {"free_noise", "free_noise_weak"}
N = 8000


def draw(family: Misspecification, seed: int = 0, d: int = 2, n: int = 300) -> Simulation:
    return misspecified(np.random.default_rng(seed), family, d, n)


def conditional_model(simulation: Simulation) -> ConditionalModel:
    model = simulation.mechanisms
    assert isinstance(model, ConditionalModel)
    return model


def test_every_family_is_described() -> None:
    assert set(misspecified_families()) == set(FAMILIES)
    assert all("\n" not in line for line in misspecified_families().values())


@pytest.mark.parametrize("family", FAMILIES)
def test_graphs_mean_what_is_declared(family: Misspecification) -> None:
    n_variance = 0
    for seed in range(3):
        simulation = draw(family, seed, d=5, n=20)
        graph = simulation.graph
        assert graph.mean_graph.sum() == 5
        n_variance += int(graph.variance_graph.sum())
        assert (simulation.conditional_mean is not None) == (family in WITH_MOMENTS)
        if family in BOTH:
            assert np.array_equal(graph.mean_graph, graph.variance_graph)
    if family == "lagged":
        assert n_variance == 0
    elif family not in BOTH:
        assert 0 < n_variance < 15  # half of 15 are expected


def test_the_cause_of_a_pair_has_either_place() -> None:
    edges = {draw("rounding", seed, n=20).graph.edges("mean")[0] for seed in range(8)}
    assert edges == {("x1", "x2"), ("x2", "x1")}


@pytest.mark.parametrize("family", FAMILIES)
def test_units_are_standard_and_the_model_does_not_depend_on_the_rows(
    family: Misspecification,
) -> None:
    long, short = (draw(family, 4, d=3, n=n) for n in (3000, 20))
    # Errors of measurement add up to half; heavy tails make the pilot's sd a rough one.
    assert long.data.std().between(0.8, 1.35).all()
    assert np.abs(long.data.mean()).max() < 0.15
    assert short.graph == long.graph
    first, second = (s.sample(np.random.default_rng(1), 5) for s in (short, long))
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_edge_is_an_effect(family: Misspecification) -> None:
    """In most pairs the effect's distribution differs between settings of its cause."""
    found = 0
    for seed in range(4):
        pair = draw(family, seed, n=20)
        cause, effect = pair.order
        settings = np.repeat([-1.2, -0.4, 0.4, 1.2], 300)
        after = pair.intervene(np.random.default_rng(1), {cause: settings}, len(settings))
        groups = after[effect].to_numpy().reshape(4, -1)
        found += min(stats.ks_2samp(groups[0], group).pvalue for group in groups[1:]) < 1e-3
        still = pair.intervene(np.random.default_rng(0), {effect: 1.0}, 20)[cause]
        assert still.equals(pair.sample(np.random.default_rng(0), 20)[cause])
    assert found >= 3


def test_what_the_model_assumes_is_the_base_of_the_other_families() -> None:
    """Without an error, a grid or a hidden cause, these families are location-scale models."""
    graph = draw("rounding", 1, d=4, n=20).graph
    order = [graph.index(name) for name in graph.order]
    rng = np.random.default_rng(0)
    conditionals = draw_conditionals(rng, graph, order, "location_scale")
    model = ConditionalModel(conditionals, tuple(order), Recording.exact(rng, 4))
    values = model.draw(np.random.default_rng(1), N, {})
    moments = model.moments(values)
    assert moments is not None
    with_causes = graph.union_graph.any(axis=0)
    noise = ((values - moments[0]) / moments[1])[:, with_causes]
    assert stats.kstest(noise.ravel(), "norm").statistic < 0.02


def test_a_missing_cause_makes_variables_without_edges_depend_on_each_other() -> None:
    dependent = 0
    for seed in range(5):
        pair = misspecified(np.random.default_rng(seed), "hidden_cause", 2, N, edges_per_node=0)
        assert not pair.graph.union_graph.any()
        assert list(pair.data) == ["x1", "x2"]
        x = pair.data.to_numpy()
        cells = pd.crosstab(*(pd.qcut(x[:, j], 5, labels=False) for j in (0, 1)))
        dependent += stats.chi2_contingency(cells).pvalue < 1e-6
        before, after = (
            pair.intervene(np.random.default_rng(1), do, 30)["x2"] for do in ({}, {"x1": 2.0})
        )
        assert before.equals(after)
    assert dependent >= 4
    assert len(conditional_model(draw("hidden_cause", d=3, n=20)).conditionals) == 4


def test_errors_of_measurement_are_not_passed_on() -> None:
    pair = misspecified(np.random.default_rng(2), "measurement_error", n_samples=N)
    cause = pair.order[0]
    recording = conditional_model(pair).recording
    error = recording.error_std[pair.graph.index(cause)]
    assert 0.3 <= error <= 0.7
    assert pair.data[cause].var() == pytest.approx(1 + error**2, rel=0.08)
    # The effect follows the true value: the reading of a set cause has no error.
    assert pair.intervene(np.random.default_rng(0), {cause: 0.123}, 5)[cause].eq(0.123).all()


def test_rounded_columns_are_on_grids() -> None:
    simulation = draw("rounding", 5, d=5, n=2000)
    steps = conditional_model(simulation).recording.step
    cells = simulation.data.to_numpy() / steps
    assert np.allclose(cells, np.round(cells))
    assert simulation.data.nunique().between(3, 25).all()
    cause = next(name for name in simulation.order if simulation.graph.children(name))
    off_grid = 0.4567
    after = simulation.intervene(np.random.default_rng(0), {cause: off_grid}, 5)
    assert after[cause].eq(off_grid).all()


def test_noise_enters_freely_or_nearly_as_a_term() -> None:
    def noise_and_curvature(family: Misspecification, seed: int) -> tuple[float, float]:
        """Return the variance that e makes, and the share of it that is not linear in e."""
        pair = draw(family, seed, n=20)
        effect = conditional_model(pair).conditionals[pair.graph.index(pair.order[1])]
        levels = stats.norm.ppf((np.arange(20) + 0.5) / 20)
        x, e = (grid.ravel() for grid in np.meshgrid(levels, levels, indexing="ij"))
        outcomes = effect.evaluate(np.column_stack([x, x]), np.column_stack([e, e, e]))
        table = outcomes.reshape(20, 20) - outcomes.reshape(20, 20).mean(axis=1, keepdims=True)
        line = np.outer(table @ levels / (levels @ levels), levels)
        return float(table.var()), float((table - line).var() / table.var())

    free, weak = (
        np.median([noise_and_curvature(family, seed) for seed in range(12)], axis=0)
        for family in FAMILIES[:2]
    )
    # Medians of pairs, of a variance of 1; the waves in e differ by a factor of five.
    assert weak[0] < 0.02 < 0.05 < free[0]
    assert weak[1] < 0.02 < 0.05 < free[1]


def test_wrong_options_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(OptionError, match=r"family among .*'free_noise'.*got 'loops'"):
        misspecified(rng, "loops")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="n_variables as a whole number >= 2; got 1"):
        misspecified(rng, "mixture", 1)
    with pytest.raises(OptionError, match="n_samples as a whole number >= 2; got 1"):
        misspecified(rng, "mixture", 2, 1)
    with pytest.raises(OptionError, match="edges_per_node as a whole number >= 0; got -1"):
        misspecified(rng, "lagged", 2, 20, -1)
