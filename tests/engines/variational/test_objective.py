from dataclasses import replace
from itertools import permutations, product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from momentdag.engines.variational.distribution import (
    Graphs,
    Limits,
    Parameters,
    Temperatures,
    draw_noise,
    log_probability_of_order,
    pair_from_noise,
)
from momentdag.engines.variational.fitting import settings_of
from momentdag.engines.variational.likelihood import (
    SLOPE,
    Networks,
    initial_networks,
    log_scale_of,
)
from momentdag.engines.variational.objective import (
    bernoulli_kl,
    edge_kl,
    log_likelihood,
    loss,
    squared_error,
)
from momentdag.engines.variational.options import VariationalOptions
from momentdag.engines.variational.problem import (
    MeanPart,
    Penalties,
    Program,
    Rates,
    Settings,
    VariancePart,
    Weights,
)
from momentdag.engines.variational.training import objective_of

WARM = Temperatures(1.0, 1.0)
BOUND = Settings(Rates(0.0, 0.0, 0.0), WARM, Penalties(1.0, 1.0, 0.0, 0.0))


def program(n_graphs=1, gradient="score"):
    return Program("joint", "adam", gradient, None, n_graphs, 1, (1,), False, False)


def some_weights(d, seed=0):
    rng = np.random.default_rng(seed)
    mean, variance = (
        Networks(*(part[0] for part in initial_networks(rng, 1, d, 4, spread, n_told)))
        for spread, n_told in ((0.7, 1), (0.4, 2))
    )
    mean, variance = (
        own._replace(shift=jnp.asarray(0.3 * rng.normal(size=own.shift.shape), jnp.float32))
        for own in (mean, variance)
    )
    logits = [jnp.asarray(rng.normal(size=(d, d)), jnp.float32) for _ in range(2)]
    scores = jnp.asarray(rng.normal(size=d), jnp.float32)
    return Weights(MeanPart(mean, logits[0], scores), VariancePart(variance, logits[1]))


def all_pairs(d):
    """Return every order with every choice of edges that it admits: precedences and pairs."""
    orders, before, means, variances = [], [], [], []
    for order in permutations(range(d)):
        slots = [(order[a], order[b]) for a in range(d) for b in range(a + 1, d)]
        for bits in product((0.0, 1.0), repeat=2 * len(slots)):
            graphs = np.zeros((3, d, d), dtype=np.float32)
            for (i, j), on_mean, on_variance in zip(
                slots, bits[: len(slots)], bits[len(slots) :], strict=True
            ):
                graphs[:, i, j] = 1.0, on_mean, on_variance
            orders.append(order)
            before.append(graphs[0])
            means.append(graphs[1])
            variances.append(graphs[2])
    arrays = (np.array(orders), np.stack(before), np.stack(means), np.stack(variances))
    return tuple(map(jnp.asarray, arrays))


def log_edges(logits, before, graphs):
    signed = jnp.where(graphs > 0.5, logits, -logits)
    return jnp.sum(before * jax.nn.log_sigmoid(signed), axis=(1, 2))


@jax.jit
def enumerated(problem, weights):
    """Return log q, log prior and log likelihood of everything there is, by definition."""
    d = problem.values.shape[1]
    orders, before, means, variances = all_pairs(d)
    parameters, prior = weights.parameters, problem.prior
    log_q = jax.vmap(lambda order: log_probability_of_order(parameters.scores, order))(orders)
    log_q += log_edges(parameters.mean_logits, before, means)
    log_q += log_edges(parameters.variance_logits, before, variances)
    log_prior = -jax.lax.lgamma(d + 1.0) + log_edges(prior.mean_logits, before, means)
    log_prior += log_edges(prior.variance_logits, before, variances)

    def of_pair(mean, variance):
        graphs = Graphs(mean, variance, mean, jnp.zeros(0, int), mean, variance)
        networks = weights.mean.networks, weights.variance.networks
        return log_likelihood(*networks, graphs, problem.values).sum()

    return log_q, log_prior, jax.lax.map(lambda pair: of_pair(*pair), (means, variances))


@jax.jit
def exact_bound(problem, weights):
    log_q, log_prior, log_p = enumerated(problem, weights)
    return jnp.sum(jnp.exp(log_q) * (log_p + log_prior - log_q))


@pytest.fixture(scope="module", params=[pytest.param(2, marks=pytest.mark.slow), 3])
def case(request, make_problem, pair_table):
    d = request.param
    return make_problem(pair_table[:20, :d]), some_weights(d)


def test_the_divergence_is_that_of_enumeration(case):
    problem, weights = case
    d = problem.values.shape[1]
    parameters, prior = weights.parameters, problem.prior
    orders, before, means, variances = all_pairs(d)
    order = tuple(range(d))[::-1]
    own = (np.asarray(orders) == order).all(axis=1)
    before, means, variances = (part[own] for part in (before, means, variances))
    log_q, log_p = (
        log_edges(which.mean_logits, before, means)
        + log_edges(which.variance_logits, before, variances)
        for which in (parameters, prior)
    )
    expected = float(jnp.sum(jnp.exp(log_q) * (log_q - log_p)))
    found = float(edge_kl(parameters, prior, problem.limits, before[0]))
    assert found == pytest.approx(expected, rel=1e-4)  # float32 sums of 64 terms
    assert found > 0


def test_the_divergence_vanishes_at_the_prior_and_pulls_towards_it():
    prior = jnp.array([-2.0])
    assert float(bernoulli_kl(prior, prior)[0]) == pytest.approx(0.0, abs=1e-7)
    slope = jax.jit(jax.grad(lambda logits: bernoulli_kl(logits, prior).sum()))
    assert float(slope(jnp.array([1.0]))[0]) > 0
    assert float(slope(jnp.array([-4.0]))[0]) < 0


def test_the_objective_is_the_bound_and_lies_below_the_evidence(case):
    problem, weights = case
    n, d = problem.values.shape
    log_q, log_prior, log_p = enumerated(problem, weights)
    assert float(jax.nn.logsumexp(log_q)) == pytest.approx(0.0, abs=1e-4)  # float32
    assert float(jax.nn.logsumexp(log_prior)) == pytest.approx(0.0, abs=1e-4)
    evidence = float(jax.nn.logsumexp(log_p + log_prior))
    bound = float(exact_bound(problem, weights))
    noise = draw_noise(np.random.default_rng(1), d, (4000,))
    stacked = jax.tree.map(lambda part: part[None], weights)
    found = n * float(objective_of(program(), problem, BOUND, noise, stacked)[0])
    costs = np.asarray(log_p)
    # Four standard errors of the mean of 4 000 draws, whose sd is at most that of the likelihood
    # over all pairs and a few nats of divergence.
    assert found == pytest.approx(bound, abs=4 * (costs.std() + 3) / np.sqrt(4000))
    assert bound < evidence
    assert found < evidence


def test_the_bound_is_tight_where_the_family_holds_the_posterior(case):
    problem, weights = case
    n, d = problem.values.shape
    # Networks that read no parent and shift with none: every pair has the same likelihood, the
    # prior is the posterior.
    deaf = [
        part.networks._replace(
            first=jnp.zeros_like(part.networks.first), shift=jnp.zeros_like(part.networks.shift)
        )
        for part in (weights.mean, weights.variance)
    ]
    level = Weights(
        MeanPart(deaf[0], problem.prior.mean_logits, jnp.zeros(d)),
        VariancePart(deaf[1], problem.prior.variance_logits),
    )
    _, log_prior, log_p = enumerated(problem, level)
    evidence = float(jax.nn.logsumexp(log_p + log_prior))
    noise = draw_noise(np.random.default_rng(2), d, (50,))
    stacked = jax.tree.map(lambda part: part[None], level)
    found = n * float(objective_of(program(), problem, BOUND, noise, stacked)[0])
    assert found == pytest.approx(evidence, rel=1e-5)  # float32; no Monte Carlo error is left


def test_score_gradients_are_those_of_the_exact_bound(make_problem, pair_table):
    # Few rows: the likelihood must not drown the divergences.
    problem, weights = make_problem(pair_table[:6, :2]), some_weights(2, seed=3)
    n_graphs, n_steps = 16, 2000

    def slope(noise):
        def of(mean_logits, variance_logits, scores):
            moved = Weights(
                weights.mean._replace(logits=mean_logits, scores=scores),
                weights.variance._replace(logits=variance_logits),
            )
            values = problem.values
            own = program(n_graphs)
            return loss(own, problem, BOUND, moved, noise, values, by_error=False).moved

        return jax.grad(of, argnums=(0, 1, 2))(*weights.parameters)

    noise = draw_noise(np.random.default_rng(4), 2, (n_steps, n_graphs))
    slopes = jax.jit(lambda noise: jax.lax.map(slope, noise))(noise)

    def exact(mean_logits, variance_logits, scores):
        moved = Weights(
            weights.mean._replace(logits=mean_logits, scores=scores),
            weights.variance._replace(logits=variance_logits),
        )
        return -exact_bound(problem, moved) / problem.values.shape[0]

    expected = jax.jit(jax.grad(exact, argnums=(0, 1, 2)))(*weights.parameters)
    for found, wanted in zip(slopes, expected, strict=True):
        mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(n_steps)
        # Ten entries within four standard errors each; the diagonal is exactly zero.
        assert (np.abs(mean - wanted) <= 4.5 * error + 1e-6).all()
        assert np.abs(wanted).max() > 20 * error.max()


@pytest.mark.slow
def test_relaxed_gradients_are_those_of_finite_differences(pair_table):
    d = 3
    with jax.enable_x64(True):
        as_double = lambda tree: jax.tree.map(lambda part: jnp.asarray(part, jnp.float64), tree)  # noqa: E731
        weights = as_double(some_weights(d, seed=5))
        noise = as_double(draw_noise(np.random.default_rng(6), d))
        limits, values = as_double(Limits.none(d)), jnp.asarray(pair_table[:30])
        prior = Parameters(jnp.full((d, d), -1.0), jnp.full((d, d), -1.0), jnp.zeros(d))

        @jax.jit
        def relaxed(flat):
            parameters = unravel(flat)
            graphs = pair_from_noise(parameters, noise, WARM, limits, straight=False)
            networks = weights.mean.networks, weights.variance.networks
            fit = log_likelihood(*networks, graphs, values).sum()
            return fit - edge_kl(parameters, prior, limits, graphs.precedence)

        flat, unravel = jax.flatten_util.ravel_pytree(weights.parameters)
        slope = np.asarray(jax.jit(jax.grad(relaxed))(flat))
        step = 1e-5
        numeric = np.array(
            [
                (relaxed(flat.at[k].add(step)) - relaxed(flat.at[k].add(-step))) / (2 * step)
                for k in range(len(flat))
            ]
        )
        # Central differences in double precision; kinks of the units are not within the step.
        np.testing.assert_allclose(slope, numeric, rtol=1e-5, atol=1e-5)
        assert np.count_nonzero(slope) >= 2 * d * (d - 1) + d


@pytest.mark.parametrize("d", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_objective_of_a_draw_is_the_printed_one(make_problem, pair_table, d):
    """`eq-plogl` with `eq-reg` for one pair drawn by rank, in double precision, term by term."""
    problem, weights = make_problem(pair_table[:15, :d]), some_weights(d, seed=7)
    options = replace(
        VariationalOptions.published(),
        penalty_weight=0.5,
        kl_weight=3.0,
        mean_l2=0.2,
        variance_l2=0.3,
    )
    settings = settings_of(options, factor=1.0, warming_up=False)
    own = replace(program(gradient="relaxed"), ranks=True)
    noise = draw_noise(np.random.default_rng(8), d, (1,))

    @jax.jit
    def everything(weights):
        values, single = problem.values, jax.tree.map(lambda part: part[0], noise)
        found = [
            loss(own, problem, settings, weights, noise, values, by_error=by_error)
            for by_error in (False, True)
        ]
        return found, pair_from_noise(weights.parameters, single, WARM, problem.limits, ranks=True)

    found, graphs = everything(weights)
    x = np.asarray(problem.values, dtype=float)
    mean = outputs(weights.mean.networks, graphs.mean, (graphs.mean,), x)
    log_v = outputs(weights.variance.networks, graphs.variance, (graphs.mean, graphs.variance), x)
    likelihood = -((x - mean) ** 2 / (2 * np.exp(2 * log_v)) + log_v).sum(axis=1).mean()
    likelihood -= d * 0.5 * np.log(2 * np.pi)  # which the paper leaves out
    p = float(jax.nn.sigmoid(problem.prior.mean_logits[0, 1]))
    kl = 0.0
    for logits in (weights.mean.logits, weights.variance.logits):
        phi = 1 / (1 + np.exp(-np.asarray(logits, dtype=float)[np.triu_indices(d, 1)]))
        kl += (phi * np.log(phi / p) + (1 - phi) * np.log((1 - phi) / (1 - p))).sum()
    norms = [
        sum(float((np.asarray(part, dtype=float) ** 2).sum()) for part in networks)
        for networks in (weights.mean.networks, weights.variance.networks)
    ]
    omega = 3.0 / len(x) * kl + 0.2 * norms[0] + 0.3 * norms[1]
    # log v is bounded smoothly at 6, which takes a thousandth of what it has here.
    assert float(found[False].negative) == pytest.approx(-(likelihood - 0.5 * omega), rel=1e-3)
    error = 0.5 * ((x - mean) ** 2).sum(axis=1).mean()
    assert float(found[True].moved) == pytest.approx(error + 0.5 * omega, rel=1e-4)


def outputs(networks, graph, told, x):
    """Return the networks' outputs (n, d) in NumPy, one at a time."""
    first, hidden, last, output, shift = (np.asarray(part, dtype=float) for part in networks)
    graph = np.round(np.asarray(graph, dtype=float))
    found = []
    for j in range(x.shape[1]):
        inner = (x * graph[:, j]) @ first[:, j] + hidden[j]
        constant = output[j] + sum(
            (np.round(np.asarray(own, dtype=float))[:, j] * by[:, j]).sum()
            for own, by in zip(told, shift, strict=True)
        )
        found.append(np.where(inner > 0, inner, SLOPE * inner) @ last[j] + constant)
    return np.stack(found, axis=1)


@pytest.mark.parametrize("d", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_the_error_has_the_gradient_of_the_likelihood_times_v_squared(pair_table, d):
    weights = some_weights(d, seed=9)
    graph = jnp.triu(jnp.ones((d, d)), 1)
    graphs = Graphs(graph, graph, graph, jnp.zeros(0, int), graph, graph)
    values = jnp.asarray(pair_table[:10, :d], jnp.float32)
    variance = weights.variance.networks

    @jax.jit
    def slopes(shift):
        """Derivatives (n, d) by the predicted means, which a constant shifts."""

        def moved(by):
            return weights.mean.networks._replace(output=weights.mean.networks.output + by)

        ones = jnp.ones(d)
        _, of_error = jax.jvp(
            lambda by: squared_error(moved(by), graphs, values), (shift,), (ones,)
        )
        _, of_likelihood = jax.jvp(
            lambda by: -log_likelihood(moved(by), variance, graphs, values), (shift,), (ones,)
        )
        return of_error, of_likelihood

    of_error, of_likelihood = slopes(jnp.zeros(d))
    v = np.exp(log_scale_of(variance, graph, graph, values))
    np.testing.assert_allclose(of_error, v**2 * of_likelihood, rtol=1e-4, atol=1e-6)  # float32
