import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from momentdag.engines.variational.likelihood import (
    Networks,
    evaluate,
    initial_networks,
    log_scale_of,
)
from momentdag.engines.variational.model import VariationalModel
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior, Provenance
from momentdag.table import Dataset

NAMES = ("dose", "growth", "yield")


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 3)) * [1.0, 20.0, 0.01] + [5.0, -3.0, 0.0]
    return Dataset(values, NAMES)


@pytest.fixture(scope="module")
def networks():
    rng = np.random.default_rng(0)
    stacked = (initial_networks(rng, 2, 3, 4, 0.5, n_told) for n_told in (1, 2))
    return tuple(
        own._replace(shift=jnp.asarray(rng.normal(size=own.shift.shape), jnp.float32))
        for own in stacked
    )


@pytest.fixture(scope="module")
def model(dataset, networks):
    return VariationalModel(dataset, *networks, dataset.standardised)


@pytest.fixture(scope="module")
def graph():
    mean_graph = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
    variance_graph = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    return MomentGraph(NAMES, mean_graph, variance_graph)


def test_moments_are_those_of_the_trained_networks_in_the_datas_units(
    dataset, networks, model, graph
):
    z = jnp.asarray(dataset.standardised, jnp.float32)
    graphs = [jnp.asarray(g, jnp.float32) for g in (graph.mean_graph, graph.variance_graph)]

    def moments_of(restart):
        own = [jax.tree.map(lambda part: part[restart], pair) for pair in networks]
        return evaluate(own[0], graphs[0], z, graphs), log_scale_of(own[1], *graphs, z)

    means, log_sds = zip(*map(moments_of, range(2)), strict=True)
    pairs = zip(means, log_sds, strict=True)
    fits = np.stack([norm.logpdf(z, m, np.exp(s)).mean(axis=0) for m, s in pairs])
    # Each variable has the networks that fit it best; here both restarts serve some.
    best = fits.argmax(axis=0)
    assert len(set(best)) == 2
    mean, log_sd = (
        np.stack([own[k][:, j] for j, k in enumerate(best)], axis=1) for own in (means, log_sds)
    )
    for j, name in enumerate(NAMES):
        found_mean, found_sd = model.moments(dataset.values, graph, name)
        # Float32 against float64.
        expected = dataset.location[j] + dataset.scale[j] * np.asarray(mean[:, j])
        np.testing.assert_allclose(found_mean, expected, atol=1e-5 * dataset.scale[j])
        expected = dataset.scale[j] * np.exp(np.asarray(log_sd[:, j]))
        np.testing.assert_allclose(found_sd, expected, rtol=1e-5)


@pytest.mark.slow
def test_refitted_layers_fit_parents_that_networks_were_not_trained_on(networks, graph):
    rng = np.random.default_rng(5)
    dose = rng.normal(size=400)
    growth = 3.0 * dose + rng.normal(size=400)
    table = np.column_stack([dose, growth, dose + np.exp(0.3 * growth) * rng.normal(size=400)])
    old, new = Dataset(table[:200], NAMES), table[200:]
    densities = []
    for refitted in (False, True):
        model = VariationalModel(old, *networks, old.standardised, refitted=refitted)
        parts = [
            norm.logpdf(new[:, j], *model.moments(new, graph, name)).mean()
            for j, name in enumerate(NAMES)
        ]
        densities.append(parts)
        shuffled = new.copy()
        shuffled[:, 2] = 0.0
        same = model.moments(shuffled, graph, "growth")
        np.testing.assert_array_equal(same, model.moments(new, graph, "growth"))
    # The entropy of unit noise about growth's mean, and a standard error of 0.05.
    assert densities[1][1] == pytest.approx(-1.419, abs=0.15)
    assert densities[0][1] < -1.8  # networks that saw no data
    # Those of dose + exp(0.3 growth) e: -1.419 - 0.3 E growth.
    assert densities[1][2] == pytest.approx(-1.419 - 0.3 * new[:, 1].mean(), abs=0.25)


def test_mechanisms_read_their_parents_alone(dataset, model, graph):
    mechanisms = model.mean_functions(graph)
    shuffled = dataset.values.copy()
    shuffled[:, 2] = shuffled[::-1, 2]
    for name in NAMES:
        before = mechanisms[name].moments(dataset.values)
        np.testing.assert_array_equal(before, mechanisms[name].moments(shuffled))
    shuffled[:, 0] = shuffled[::-1, 0]
    mean, sd = mechanisms["growth"].moments(shuffled)
    before = mechanisms["growth"].moments(dataset.values)
    assert not np.allclose(mean, before[0])
    np.testing.assert_array_equal(sd, before[1])


def test_noise_is_standard_normal_and_functions_are_points(model, graph):
    drawn = model.draw_functions(np.random.default_rng(2), graph)["yield"]
    noise = drawn.draw_noise(np.random.default_rng(3), 5000)
    np.testing.assert_allclose(drawn.noise_cdf(noise), norm.cdf(noise), atol=1e-12)
    # Five standard errors of mean and variance.
    assert abs(noise.mean()) < 5 / np.sqrt(5000)
    assert abs(noise.var() - 1) < 5 * np.sqrt(2 / 5000)
    at = np.ones((2, 3))
    mean_function = model.mean_functions(graph)["yield"]
    np.testing.assert_array_equal(drawn.moments(at), mean_function.moments(at))


def test_densities_mix_the_drawn_pairs(dataset, model, graph):
    empty = np.zeros((3, 3), dtype=bool)
    posterior = Posterior(
        NAMES,
        np.stack([graph.mean_graph] * 3 + [empty]),
        np.stack([graph.variance_graph] * 3 + [empty]),
        Provenance("by hand"),
    )
    densities = []
    for pair in (graph, MomentGraph(NAMES, empty, empty)):
        total = np.ones(len(dataset.values))
        for j, name in enumerate(NAMES):
            mean, sd = model.moments(dataset.values, pair, name)
            total *= norm.pdf(dataset.values[:, j], mean, sd)
        densities.append(total)
    expected = np.log(0.75 * densities[0] + 0.25 * densities[1])
    found = model.log_density(dataset.values, posterior)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_networks_may_be_numpy_arrays(dataset, networks, graph):
    plain = (Networks(*map(np.asarray, own)) for own in networks)
    model = VariationalModel(dataset, *plain, dataset.standardised)
    assert np.isfinite(model.moments(dataset.values, graph, "yield")).all()
