import jax.numpy as jnp
import numpy as np

from momentdag.engines.variational.likelihood import (
    LOG_SCALE_RANGE,
    SLOPE,
    Networks,
    evaluate,
    initial_networks,
    log_scale_of,
)

D, H, N = 4, 5, 30


def some_networks(spread=0.5):
    stacked = initial_networks(np.random.default_rng(0), 2, D, H, spread)
    return Networks(*(part[1] for part in stacked))


def test_masking_weights_is_masking_inputs():
    rng = np.random.default_rng(1)
    networks, values = some_networks(), rng.normal(size=(N, D))
    graph = rng.random((D, D)) < 0.5
    found = evaluate(networks, jnp.asarray(graph, jnp.float32), jnp.asarray(values, jnp.float32))
    first, hidden, last, output, _ = (np.asarray(part, dtype=float) for part in networks)
    for j in range(D):
        inner = (values * graph[:, j]) @ first[:, j] + hidden[j]
        expected = np.where(inner > 0, inner, SLOPE * inner) @ last[j] + output[j]
        np.testing.assert_allclose(found[:, j], expected, atol=1e-6)


def test_a_variable_that_is_no_parent_changes_nothing():
    rng = np.random.default_rng(2)
    networks, values = some_networks(), rng.normal(size=(N, D)).astype(np.float32)
    graph = jnp.asarray(np.eye(D, k=1), jnp.float32)
    before = evaluate(networks, graph, jnp.asarray(values))
    values[:, 3] += 5.0
    np.testing.assert_array_equal(before, evaluate(networks, graph, jnp.asarray(values)))
    values[:, 0] += 5.0
    after = evaluate(networks, graph, jnp.asarray(values))
    assert np.array_equal((before != after).any(axis=0), [False, True, False, False])


def test_log_scales_stay_in_range_and_are_faithful_near_zero():
    networks, graph = some_networks(), jnp.ones((D, D))
    values = jnp.asarray(np.random.default_rng(3).normal(size=(N, D)), jnp.float32)
    assert np.abs(log_scale_of(networks, graph, graph, 1e4 * values)).max() <= LOG_SCALE_RANGE
    small = networks._replace(last=0.01 * networks.last)
    # tanh departs from the line by x³/108 at most: 1e-5 for outputs of a tenth.
    np.testing.assert_allclose(
        log_scale_of(small, graph, graph, values), evaluate(small, graph, values), atol=1e-5
    )


def test_initial_outputs_have_the_spread_asked_for():
    values = jnp.asarray(np.random.default_rng(4).normal(size=(500, 30)), jnp.float32)
    stacked = initial_networks(np.random.default_rng(5), 1, 30, 20, 0.5)
    out = evaluate(Networks(*(part[0] for part in stacked)), jnp.ones((30, 30)), values)
    # Rectifying two unit normals leaves about the spread itself.
    assert 0.2 < float(out.std()) < 1.0


def test_constants_shift_with_the_parents_that_are_there():
    rng = np.random.default_rng(6)
    values = jnp.asarray(rng.normal(size=(N, D)), jnp.float32)
    mean_graph, variance_graph = (
        jnp.asarray(rng.random((D, D)) < 0.5, jnp.float32) for _ in range(2)
    )
    shift = jnp.asarray(0.1 * rng.normal(size=(2, D, D)), jnp.float32)
    networks = some_networks()._replace(shift=shift)
    still = networks._replace(shift=0.0 * shift)
    told = (mean_graph, variance_graph)
    found = evaluate(networks, mean_graph, values, told) - evaluate(still, mean_graph, values, told)
    expected = sum((graph * own).sum(axis=0) for graph, own in zip(told, shift, strict=True))
    # Outputs of order one in single precision.
    np.testing.assert_allclose(found, np.broadcast_to(expected, (N, D)), atol=1e-6)
    # A network that is told of no graph shifts with none.
    none = networks._replace(shift=shift[:0])
    np.testing.assert_array_equal(
        evaluate(none, mean_graph, values, told), evaluate(still, mean_graph, values, told)
    )


def test_the_spread_shifts_with_the_parents_of_the_mean():
    networks = some_networks()._replace(shift=jnp.zeros((2, D, D)).at[0, 0, 1].set(-1.0))
    values = jnp.asarray(np.random.default_rng(7).normal(size=(N, D)), jnp.float32)
    empty = jnp.zeros((D, D))
    before = log_scale_of(networks, empty, empty, values)
    after = log_scale_of(networks, empty.at[0, 1].set(1.0), empty, values)
    changed = np.asarray(after < before).all(axis=0)
    np.testing.assert_array_equal(changed, [False, True, False, False])
    np.testing.assert_array_equal(after[:, [0, 2, 3]], before[:, [0, 2, 3]])
