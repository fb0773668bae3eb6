import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_t, norm

from momentdag.engines.evidence.local.linear import LinearScorer
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.variational import last_layer
from momentdag.engines.variational.last_layer import SCATTER, log_evidences, refit
from momentdag.engines.variational.likelihood import initial_networks
from momentdag.engines.variational.problem import MeanPart, VariancePart, Weights

D, H = 6, 4
regress = jax.jit(last_layer._regress)


@pytest.fixture(scope="module")
def values():
    """Return 300 rows: x1 moves the mean of x2 (a line), of x3 (none) and the spread of x4."""
    rng = np.random.default_rng(0)
    x1, e2, e3, e4, x5, x6 = rng.normal(size=(6, 300))
    x2, x3, x4 = x1 + e2, np.abs(x1) + 0.3 * e3, np.exp(0.8 * x1) * e4
    table = np.column_stack([x1, x2, x3, x4, x5, x6])
    return (table - table.mean(axis=0)) / table.std(axis=0)


@pytest.fixture(scope="module")
def weights():
    """Return two restarts of networks that were never trained."""
    rng = np.random.default_rng(1)
    mean, variance = (initial_networks(rng, 2, D, H, 0.5, told) for told in (1, 2))
    graph = jnp.zeros((2, D, D))
    return Weights(MeanPart(mean, graph, jnp.zeros((2, D))), VariancePart(variance, graph))


@pytest.fixture(scope="module")
def evidence(weights, values):
    """Return a function from a variable and its parents to their evidence."""

    def evidence(variable, mean=(), variance=()):
        parents = np.zeros((2, 1, D), dtype=bool)
        parents[0, 0, list(mean)] = parents[1, 0, list(variance)] = True
        every = np.ones(2, dtype=bool)
        rows = jnp.asarray(values, jnp.float32)
        return log_evidences(weights, every, rows, np.array([variable]), *parents)[0]

    return evidence


@pytest.fixture(scope="module")
def regression():
    """Return columns, prior scales, target and η of a small weighted regression."""
    rng = np.random.default_rng(2)
    columns = np.column_stack([np.ones(12), rng.normal(size=(12, 3))])
    scales = np.array([1.0, 1.4, 1.4, 0.0])
    target, eta = rng.normal(size=12), 0.5 * rng.normal(size=12)
    return [jnp.asarray(part, jnp.float32) for part in (columns, scales, target, eta)]


def test_the_mean_given_log_scales_has_the_density_of_a_multivariate_t(regression):
    columns, scales, target, eta = map(np.asarray, regression)
    found = regress(*regression, jnp.asarray(2.0))
    shape, rate = (2.0 + 3.0) / 2, SCATTER / 2
    covariance = np.diag(np.exp(2 * eta)) + columns @ np.diag(scales**2) @ columns.T
    expected = multivariate_t.logpdf(target, np.zeros(12), rate / shape * covariance, df=2 * shape)
    # Single precision.
    assert found.value == pytest.approx(expected, abs=1e-4)
    # Weights are those of ridge regression; the column of scale zero has none.
    ridge = np.diag(1 / np.maximum(scales, 1e-6) ** 2)
    precision = columns.T @ (np.exp(-2 * eta)[:, None] * columns) + ridge
    expected = np.linalg.solve(precision, columns.T @ (np.exp(-2 * eta) * target))
    np.testing.assert_allclose(found.weights, expected, atol=1e-4)


def test_its_gradient_is_that_of_its_value(regression):
    columns, scales, target, eta = regression
    n_parents = jnp.asarray(2.0)

    def value(eta):
        return regress(columns, scales, target, eta, n_parents).value

    found = regress(*regression, n_parents).gradient
    np.testing.assert_allclose(found, jax.grad(value)(eta), atol=1e-4)


@pytest.mark.parametrize("slope", [0.0, 0.6])
def test_the_spread_is_integrated_out(slope):
    """One weight of η, by quadrature."""
    rng = np.random.default_rng(3)
    cause = rng.normal(size=(200, 1))
    cause -= cause.mean()
    target = jnp.asarray(np.exp(slope * cause[:, 0]) * rng.normal(size=200), jnp.float32)
    columns, scales = jnp.ones((200, 1)), jnp.ones((1, 1))
    spread = last_layer._Spread(jnp.asarray(cause, jnp.float32), jnp.ones(1), jnp.zeros(1))
    found = jax.jit(last_layer._with_spread)(spread, columns, scales, target, jnp.asarray(0.0))
    value, mode = float(found[0]), float(found[2][0])

    def density(weight):
        eta = jnp.asarray(weight * cause[:, 0], jnp.float32)
        given = regress(columns, scales[0], target, eta, jnp.asarray(0.0)).value
        return np.exp(float(given) - value) * norm.pdf(weight)

    # The Laplace approximation with expected information, on 200 rows.
    assert quad(density, mode - 0.5, mode + 0.5, epsabs=1e-4)[0] == pytest.approx(1, abs=0.15)


@pytest.mark.slow
def test_linear_parents_have_the_evidence_of_equivalent_graphs(evidence, values):
    scorer = LinearScorer(values)
    # Without parents the alternatives are the same, and the evidence is the BGe score.
    alone = evidence(0)
    # Sums of 300 rows in single precision.
    assert alone == pytest.approx(scorer.fit(0, Parents(0, 0)).log_evidence, abs=1e-2)
    # Hidden units are not worth their price here: linear functions are one half of the prior.
    forward = evidence(1, mean=[0])
    linear = scorer.fit(1, Parents(1, 0)).log_evidence
    assert forward == pytest.approx(linear + np.log(0.5), abs=0.1)
    # So both directions are equally probable.
    assert alone + forward == pytest.approx(evidence(1) + evidence(0, mean=[1]), abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["mean", "variance"])
def test_a_parent_that_explains_nothing_loses_evidence(evidence, moment):
    without = evidence(0)
    assert evidence(0, **{moment: [4]}) < without - 1
    # The likelihood at its maximum would grow instead; a second one costs again.
    assert evidence(0, **{moment: [4, 5]}) < without - 2


@pytest.mark.slow
def test_parents_that_explain_something_gain_evidence(evidence):
    assert evidence(1, mean=[0]) > evidence(1) + 20
    # Not linear: units of a network that saw no data suffice.
    assert evidence(2, mean=[0]) > evidence(2) + 20
    assert evidence(3, variance=[0]) > evidence(3) + 20
    # Of the right moment.
    assert evidence(3, variance=[0]) > evidence(3, mean=[0]) + 20


def test_refitted_layers_recover_mean_and_spread(weights, values):
    rows = jnp.asarray(values, jnp.float32)
    first, none = jnp.zeros(D).at[0].set(1.0), jnp.zeros(D)
    networks = weights.mean.networks, weights.variance.networks
    of_mean = refit(*networks, rows, jnp.asarray(1), first, none)
    # x2 = (x1 + e) / √2, standardised; standard errors are 0.04.
    np.testing.assert_allclose(of_mean.slopes[:, 0], 0.5**0.5, atol=0.15)
    np.testing.assert_allclose(of_mean.log_sd, 0.5 * np.log(0.5), atol=0.15)
    of_spread = refit(*networks, rows, jnp.asarray(3), none, first)
    steps = of_spread.log_slopes[:, 0]
    assert (steps > 0.4).all()  # the slope is 0.8, some of it in hidden units
    assert (of_spread.highest - of_spread.lowest > 2).all()


def test_restarts_count_alike(weights, values):
    rows = jnp.asarray(values, jnp.float32)
    parents = np.arange(D)[None] == 0

    def of(used):
        return log_evidences(weights, np.array(used), rows, np.array([2]), parents, parents)[0]

    each = [of([True, False]), of([False, True])]
    assert abs(each[0] - each[1]) > 0.1
    assert of([True, True]) == pytest.approx(np.logaddexp(*each) - np.log(2), abs=1e-6)
