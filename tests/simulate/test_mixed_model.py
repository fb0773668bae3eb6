from typing import Any

import numpy as np
import pytest

from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate.kinds import Kind
from momentdag.simulate.mixed_model import MixedMechanisms, MixedOptions, draw_mechanisms
from momentdag.simulate.options import FloatArray
from momentdag.simulate.responses import Binary, Category, Count, LocationScale, Ordered

EDGE = MomentGraph.from_edges(["x", "y"], mean=[("x", "y")])
BOTH = MomentGraph.from_edges(["x", "y"], mean=[("x", "y")], variance=[("x", "y")])


def draw(
    seed: int, effect: Kind, graph: MomentGraph, options: MixedOptions
) -> tuple[MixedMechanisms, FloatArray]:
    rng = np.random.default_rng(seed)
    model = draw_mechanisms(rng, graph, [0, 1], ["continuous", effect], options)
    return model, model.draw(rng, 50_000, {})


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("graph", [EDGE, BOTH])
@pytest.mark.parametrize("effect", ["continuous", "ordered"])
def test_signal_share_of_location_scale(effect: Kind, graph: MomentGraph, seed: int) -> None:
    model, values = draw(seed, effect, graph, MixedOptions(signal_share=0.7))
    response = model.responses[1]
    assert isinstance(response, LocationScale | Ordered)
    signal = response.mean(values).var()
    noise = np.mean(np.exp(2 * response.log_std(values)))
    # Calibrated over 4000 rows: a share of 0.7 within a few standard errors of both variances.
    assert signal / (signal + noise) == pytest.approx(0.7, abs=0.06)
    if graph is BOTH:
        assert response.log_std(values).std() == pytest.approx(0.7, abs=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_signal_share_of_binary_and_category(seed: int) -> None:
    options = MixedOptions(signal_share=0.5)
    model, values = draw(seed, "binary", EDGE, options)
    assert isinstance(model.responses[1], Binary)
    # The variance of the logistic distribution is pi² / 3.
    assert model.responses[1].logit(values).var() == pytest.approx(np.pi**2 / 3, rel=0.15)
    assert 0.3 < values[:, 1].mean() < 0.7
    model, values = draw(seed, "category", EDGE, options)
    response = model.responses[1]
    assert isinstance(response, Category)
    for function in response.functions:
        assert 2 * function(values).var() == pytest.approx(np.pi**2 / 3, rel=0.15)
    np.testing.assert_allclose(response.contrasts.T @ response.contrasts, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(response.contrasts.sum(axis=0), 0.0, atol=1e-12)
    assert np.bincount(values[:, 1].astype(int)).min() > 0.15 * len(values)


@pytest.mark.parametrize("seed", range(5))
def test_ordered_levels_are_all_used(seed: int) -> None:
    _, values = draw(seed, "ordered", BOTH, MixedOptions())
    # Shares of 0.6 .. 1.4, normalised: at least 0.6 / (0.6 + 4 * 1.4) = 0.097, up to error.
    assert np.bincount(values[:, 1].astype(int))[1:].min() > 0.08 * len(values)


def test_count_families() -> None:
    def families(options: MixedOptions, graph: MomentGraph) -> set[bool]:
        found = set()
        for seed in range(12):
            rng = np.random.default_rng(seed)
            response = draw_mechanisms(rng, graph, [0, 1], ["binary", "count"], options)
            effect = response.responses[1]
            assert isinstance(effect, Count)
            found.add(effect.log_dispersion is None)
        return found

    assert families(MixedOptions(count_family="poisson"), EDGE) == {True}
    assert families(MixedOptions(count_family="negative-binomial"), EDGE) == {False}
    assert families(MixedOptions(), EDGE) == {True, False}
    assert families(MixedOptions(count_family="poisson"), BOTH) == {False}


def test_columns_need_not_be_in_causal_order() -> None:
    graph = MomentGraph.from_edges(["y", "x"], mean=[("x", "y")])
    rng = np.random.default_rng(0)
    model = draw_mechanisms(rng, graph, [1, 0], ["count", "category"], MixedOptions())
    values = model.draw(rng, 1000, {})
    assert set(values[:, 1]) == {0.0, 1.0, 2.0}
    assert values[:, 0].max() > 3


@pytest.mark.parametrize(
    "options",
    [
        {"signal_share": 1.0},
        {"signal_share": 0.0},
        {"log_std_spread": -1.0},
        {"interaction_share": 1.0},
        {"shape": "wavy"},
        {"noise": "cauchy"},
        {"count_family": "binomial"},
    ],
)
def test_options_refuse(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        MixedOptions(**options)
