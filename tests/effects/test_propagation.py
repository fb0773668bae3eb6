"""Propagation computes the ancestors of the targets, and nothing else."""

import numpy as np
import pytest
from scipy.special import ndtr

from momentdag.effects.posterior_samples import PosteriorSample
from momentdag.effects.propagation import ancestors_of, descendants_of, propagate
from momentdag.effects.settings import Settings
from momentdag.graph import MomentGraph

NAMES = ("a", "b", "c", "d", "e")
# a -> b -> c -> d, and e a child of c.
GRAPH = MomentGraph.from_edges(
    NAMES, mean=[("a", "b"), ("c", "d")], variance=[("b", "c"), ("c", "e")]
)


class Recorded:
    """X = sum of the row + noise; counts the rows it was asked about."""

    is_discrete = False

    def __init__(self, parents):
        self.parents = parents
        self.n_rows = 0

    def moments(self, values):
        self.n_rows += len(values)
        return values[:, self.parents].sum(axis=1) + 1.0, np.ones(len(values))

    def noise_cdf(self, noise):
        return ndtr(noise)

    simulated_noise_cdf = noise_cdf

    def extrapolates(self, values):
        return np.zeros(len(values), dtype=bool)


@pytest.fixture
def sample():
    parents = {name: np.flatnonzero(GRAPH.union_graph[:, k]) for k, name in enumerate(NAMES)}
    uniforms = np.random.default_rng(0).random((8, 5))
    return PosteriorSample(
        GRAPH, {name: Recorded(causes) for name, causes in parents.items()}, uniforms, 1.0
    )


def test_ancestors_and_descendants_stop_at_what_is_set():
    def named(mask):
        return "".join(np.array(NAMES)[mask])

    assert named(ancestors_of(GRAPH.union_graph, [3], [])) == "abcd"
    assert named(ancestors_of(GRAPH.union_graph, [3], [1])) == "bcd"
    assert named(descendants_of(GRAPH.union_graph, [1])) == "cde"
    assert named(descendants_of(GRAPH.union_graph, [1, 2])) == "cde"[1:]
    assert named(descendants_of(GRAPH.union_graph, [])) == ""


def test_only_ancestors_are_computed_and_what_stays_only_once(sample):
    settings = Settings(("c",), (2,), np.array([[0.0], [5.0], [7.0]]))
    answer = propagate(sample, settings, [3, 0])
    asked = {name: mechanism.n_rows for name, mechanism in sample.mechanisms.items()}
    # a is a target that no setting reaches, b and e are not needed, d differs by setting.
    assert asked == {"a": 8, "b": 0, "c": 0, "d": 24, "e": 0}
    np.testing.assert_array_equal(answer.mean[:, 0], np.repeat([[1.0], [6.0], [8.0]], 8, axis=1))
    np.testing.assert_array_equal(answer.mean[:, 1], 1.0)
    np.testing.assert_allclose(answer.values[:, 0] - answer.mean[:, 0], [sample.noise(3)] * 3)


def test_many_settings_are_computed_in_parts(sample, monkeypatch):
    settings = Settings(("a",), (0,), np.linspace(-1, 1, 7)[:, None])
    whole = propagate(sample, settings, [3])
    monkeypatch.setattr("momentdag.effects.propagation._MAX_ROWS", 16)
    for one, other in zip(whole, propagate(sample, settings, [3]), strict=True):
        np.testing.assert_array_equal(one, other)
    mean, variance = whole.moments()
    # b, c and d each add one and unit noise; the noise of d is integrated out exactly.
    np.testing.assert_allclose(np.diff(mean[:, 0]), 1 / 3)
    inner = np.var(sample.noise(1) + sample.noise(2))
    np.testing.assert_allclose(variance[:, 0], inner + 1)


def test_a_setting_may_differ_between_noise_rows(sample):
    by_row = np.arange(16.0).reshape(2, 1, 8)
    answer = propagate(sample, Settings(("c",), (2,), by_row), [3])
    np.testing.assert_array_equal(answer.mean[:, 0], by_row[:, 0] + 1)
