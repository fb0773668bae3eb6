import daqp
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from momentdag.engines.variational.projection import order_constraints, project


def random_partial_order(rng, d, share):
    before = np.triu(rng.random((d, d)) < share, 1)
    shuffled = rng.permutation(d)
    return before[np.ix_(shuffled, shuffled)]


def by_daqp(scores, before, margins):
    pairs = np.argwhere(before)
    A = np.zeros((len(pairs), len(scores)))
    A[np.arange(len(pairs)), pairs[:, 1]] = 1.0
    A[np.arange(len(pairs)), pairs[:, 0]] = -1.0
    lower = margins[before].copy()
    upper = np.full(len(pairs), 1e30)
    sense = np.zeros(len(pairs), dtype=np.int32)
    found, _, flag, _ = daqp.solve(
        np.eye(len(scores)), -np.asarray(scores, dtype=float), A, upper, lower, sense
    )
    assert flag == 1
    return np.asarray(found)


@pytest.mark.parametrize(("d", "share"), [(5, 0.3), (5, 0.9), (8, 0.5)])
def test_projection_is_the_quadratic_programmes(d, share):
    rng = np.random.default_rng(d)
    with jax.enable_x64(True):
        projection = jax.jit(lambda s, c: project(s, c, jnp.zeros((d, d)), tolerance=1e-9)[0])
        for _ in range(20):
            before = random_partial_order(rng, d, share)
            margins = rng.uniform(0.5, 2.0, size=(d, d)).astype(np.float32).astype(float)
            scores = 3 * rng.normal(size=d)
            found = np.asarray(projection(jnp.asarray(scores), order_constraints(before, margins)))
            assert found.dtype == np.float64
            gaps = found[None, :] - found[:, None] - margins
            assert gaps[before].min(initial=0.0) >= -1e-8
            # Both solvers stop at residuals far below this.
            np.testing.assert_allclose(found, by_daqp(scores, before, margins), atol=1e-6)


def test_feasible_scores_stay():
    before = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    constraints = order_constraints(before, np.full((3, 3), 1.5))
    scores = jnp.array([0.0, 2.0, 4.0])
    projected, multipliers = project(scores, constraints, jnp.zeros((3, 3)))
    assert projected.tolist() == scores.tolist()
    assert not np.asarray(multipliers).any()


def test_implied_pairs_are_left_out():
    before = np.triu(np.ones((4, 4), dtype=bool), 1)
    constraints = order_constraints(before, np.full((4, 4), 1.5))
    np.testing.assert_array_equal(constraints.active, np.eye(4, k=1))
    wide = np.full((4, 4), 1.5)
    wide[0, 3] = 10.0  # more than the chain of three gives
    assert order_constraints(before, wide).active[0, 3] == 1


def test_a_start_near_the_solution_gives_the_same_projection():
    rng = np.random.default_rng(1)
    before = random_partial_order(rng, 6, 0.6)
    constraints = order_constraints(before, np.full((6, 6), 1.5))
    scores = jnp.asarray(rng.normal(size=6), jnp.float32)
    cold, multipliers = project(scores, constraints, jnp.zeros((6, 6)), tolerance=1e-5)
    warm, _ = project(scores, constraints, multipliers, tolerance=1e-5)
    np.testing.assert_allclose(cold, warm, atol=1e-4)  # ten times the tolerance
