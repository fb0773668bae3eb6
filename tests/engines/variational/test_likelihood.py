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
    first, hidden, last, output = (np.asarray(part, dtype=float) for part in networks)
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
    assert np.abs(log_scale_of(networks, graph, 1e4 * values)).max() <= LOG_SCALE_RANGE
    small = networks._replace(last=0.01 * networks.last)
    # tanh departs from the line by x³/108 at most: 1e-5 for outputs of a tenth.
    np.testing.assert_allclose(
        log_scale_of(small, graph, values), evaluate(small, graph, values), atol=1e-5
    )


def test_initial_outputs_have_the_spread_asked_for():
    values = jnp.asarray(np.random.default_rng(4).normal(size=(500, 30)), jnp.float32)
    stacked = initial_networks(np.random.default_rng(5), 1, 30, 20, 0.5)
    out = evaluate(Networks(*(part[0] for part in stacked)), jnp.ones((30, 30)), values)
    # Rectifying two unit normals leaves about the spread itself.
    assert 0.2 < float(out.std()) < 1.0
