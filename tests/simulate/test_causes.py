import numpy as np
import pytest

from momentdag.simulate.causes import Causes, LevelEffect, ParentFunction, SmoothEffect
from momentdag.simulate.kinds import Kind
from momentdag.simulate.smooth import SmoothFunction

KINDS: tuple[Kind, ...] = ("continuous", "ordered", "count", "binary", "category")


@pytest.fixture
def causes() -> Causes:
    rng = np.random.default_rng(0)
    n = 500
    columns = [
        5 + 3 * rng.standard_normal(n),
        rng.integers(1, 6, n),
        rng.poisson(6, n),
        rng.integers(0, 2, n),
        rng.integers(0, 3, n),
    ]
    return Causes(np.column_stack(columns).astype(np.float64), KINDS)


@pytest.mark.parametrize("parents", [[0], [3], [4], [0, 2], [1, 3, 4], [0, 1, 2, 3, 4]])
def test_functions_have_the_spread_asked_for(causes: Causes, parents: list[int]) -> None:
    output = causes.draw(np.random.default_rng(1), parents, 1.7)(causes.values)
    assert output.mean() == pytest.approx(0.0, abs=1e-10)
    assert output.std() == pytest.approx(1.7)


def test_only_the_parents_matter(causes: Causes) -> None:
    function = causes.draw(np.random.default_rng(2), [0, 4], 1.0)
    before = function(causes.values)
    for column in range(5):
        shuffled = causes.values.copy()
        shuffled[:, column] = np.random.default_rng(3).permutation(shuffled[:, column])
        assert np.array_equal(function(shuffled), before) is (column not in (0, 4))


def test_counts_act_through_their_logarithm_and_others_standardised() -> None:
    identity = SmoothFunction("tanh", 1.0, 0.0)
    values = np.array([[0.0], [np.e - 1]])
    effect = SmoothEffect(0, log=True, location=0.5, unit=2.0, function=identity)
    np.testing.assert_allclose(effect(values), identity(np.array([-0.25, 0.25])))
    plain = SmoothEffect(0, log=False, location=0.5, unit=2.0, function=identity)
    np.testing.assert_allclose(plain(values), identity((values[:, 0] - 0.5) / 2))


def test_level_effects_and_products_by_hand() -> None:
    effects = (LevelEffect(0, np.array([-1.0, 2.0])), LevelEffect(1, np.array([3.0, 5.0, 7.0])))
    pairs = np.array([[0.0, 0.5], [0.0, 0.0]])
    function = ParentFunction(effects, np.array([1.0, 2.0]), pairs, 4.0, 10.0, 100.0)
    # 100 + 10 (2 + 2 * 7 + 0.5 * 2 * 7 - 4)
    assert function(np.array([[1.0, 2.0]])).tolist() == [290.0]
    assert function.plus(1.0)(np.array([[1.0, 2.0]])).tolist() == [291.0]


def test_levels_of_a_category_have_different_effects(causes: Causes) -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        function = causes.draw(rng, [4], 1.0)
        rows = np.zeros((3, 5))
        rows[:, 4] = [0, 1, 2]
        # The raw effects -1, [-0.3, 0.3], 1 have an sd of about 0.8.
        assert np.diff(np.sort(function(rows))).min() > 0.7


def test_no_interactions_if_none_are_asked_for(causes: Causes) -> None:
    plain = Causes(causes.values, KINDS, interaction_share=0.0)
    assert not plain.draw(np.random.default_rng(5), [0, 1], 1.0).pair_weights.any()
    assert causes.draw(np.random.default_rng(5), [0, 1], 1.0).pair_weights[0, 1] != 0


def test_a_limit_bounds_the_function(causes: Causes) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        function = causes.draw(rng, [0, 2, 4], 0.7, limit=2.0)
        output = function(causes.values)
        assert output.mean() == pytest.approx(0.0, abs=1e-10)
        assert output.std() == pytest.approx(0.7)
        # 2 sd before the limiter, which takes at most a third of the sd; centred again.
        assert np.abs(output).max() < 0.7 * 3.5
