"""Worlds: weights, what scores come to in them, and draws against enumeration."""

import numpy as np
import pytest

import momentdag as md
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.local.rows import row_log_densities
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.problem import pose_problem
from momentdag.engines.evidence.sampling import world_draws
from momentdag.engines.evidence.sampling.exact import enumerate_scores
from momentdag.engines.evidence.sampling.worlds import (
    canonical_rows,
    draw_worlds,
    spread_taus,
    world_weights,
)
from momentdag.engines.evidence.search.orders import OrderResult
from momentdag.engines.evidence.search.starts import SearchResult
from momentdag.knowledge import Knowledge
from momentdag.table import Dataset


@pytest.fixture(scope="module")
def result():
    """Return a search result of three variables with every parent set scored."""
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 90))
    y = 0.6 * np.sin(x) + np.exp(0.3 * z) * rng.normal(size=90)
    values = np.column_stack([x, y, z])
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    knowledge = Knowledge().compile(("x", "y", "z"))
    options = EvidenceOptions(n_inducing=12)
    problem = pose_problem(np.random.default_rng(0), values, knowledge, options)
    search = problem.search()
    for j in range(3):
        others = [1 << i for i in range(3) if i != j]
        sets = [0, *others, sum(others)]
        for mean in sets:
            for variance in sets:
                search.log_evidence(j, Parents(mean, variance))
    best = OrderResult(0.0, (0, 2, 1), (Parents(0, 0), Parents(1, 4), Parents(0, 0)))
    return SearchResult(problem, (best,), search.evidence)


def test_weights_have_the_spread_that_is_asked_for():
    weights = world_weights(np.random.default_rng(0), np.repeat([2.0, 0.5], 100), 400)
    np.testing.assert_allclose(weights.sum(axis=1), 400)
    assert weights[:100].std() == pytest.approx(2.0, rel=0.05)
    assert weights[100:].std() == pytest.approx(0.5, rel=0.05)
    assert (world_weights(np.random.default_rng(0), np.zeros(2), 5) == 1).all()


def test_worlds_differ_in_how_far_the_model_is_doubted():
    taus = spread_taus(400, 2.0, 10**6)
    assert np.median(taus) == pytest.approx(2.0, rel=0.02)
    assert np.median(taus[:50]) == pytest.approx(2.0, rel=0.1)  # any first ones are like all
    assert np.log(taus).std() == pytest.approx(0.8, rel=0.05)
    assert spread_taus(400, 2.0, 500).max() == pytest.approx(
        (500 / 60) ** 0.5
    )  # 60 clusters are left
    assert spread_taus(400, 2.0, 60).max() == 2.0  # who asks for more doubt gets it


def test_rows_in_any_order_and_with_any_sign_have_the_same_weights():
    rng = np.random.default_rng(1)
    values = rng.gamma(2.0, size=(50, 3))
    order = rng.permutation(50)
    worlds = draw_worlds(values, 10, 2.0).deviations
    np.testing.assert_array_equal(draw_worlds(values[order], 10, 2.0).deviations, worlds[:, order])
    flipped = values * [1, -1, 1]
    np.testing.assert_array_equal(canonical_rows(flipped), canonical_rows(values))


def test_a_score_in_a_world_is_its_evidence_and_reweighted_rows(result):
    worlds = draw_worlds(result.problem.values, 20, 2.0)
    search = result.problem.search(result.evidences)
    parents = Parents(1, 4)
    rows = row_log_densities(search.scorer, 1, parents, search.fit(1, parents))
    expected = worlds.deviations.astype(float) @ rows
    np.testing.assert_allclose(worlds.scores(search, 1, parents), expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(
        worlds.balanced(search, 1, parents, parents), worlds.book[1][parents]
    )


def test_rows_left_out_are_those_of_fits_without_them(result):
    """Compare with fits that really leave rows out, on average over rows."""
    problem = result.problem
    search = problem.search(result.evidences)
    parents = Parents(1, 0)
    rows = row_log_densities(search.scorer, 1, parents, search.fit(1, parents))
    fit = search.fit(1, parents)
    in_sample = fit.noise.log_density(fit.residual * np.exp(-fit.log_std)) - fit.log_std
    # Leaving a row out can only make it less likely, by about its share of the free parameters.
    loss = float((in_sample - rows).sum())
    assert 1.0 < loss < 15.0


@pytest.mark.parametrize("statements", [{}, {"order": [("z", "x")]}])
def test_draws_follow_the_enumerated_posterior_of_their_world(result, statements):
    problem = result.problem
    prior = type(problem.prior)(
        Knowledge(**statements).compile(("x", "y", "z")), problem.prior.with_variance_graph
    )
    worlds = draw_worlds(problem.values, 3, 2.0)
    search = problem.search(result.evidences)
    pools = world_draws.make_world_pools(search, worlds, search.prior)

    def scores(j, parents):
        return search.log_evidence(j, parents) + worlds.balanced(
            search, j, parents, world_draws._dominator(search, j, parents)
        )

    exact = enumerate_scores(scores, prior)
    for world in range(3):
        draws, effective = world_draws.draw_in_world(
            np.random.default_rng(world), prior, pools, world, 3000, (2, 0, 1)
        )
        assert effective > 0.2
        posterior = exact.in_world(world)
        p = np.exp(posterior.log_probability)
        for drawn, graphs in (
            (draws.mean_graphs, posterior.mean_graphs),
            (draws.variance_graphs, posterior.variance_graphs),
        ):
            # Pools leave out what no world finds within 14 nats; the rest is sampling error.
            np.testing.assert_allclose(drawn.mean(axis=0), np.tensordot(p, graphs, 1), atol=0.05)


QUICK = {"n_starts": 1, "n_kicks": 0, "n_inducing": 10, "noise": "gaussian"}


@pytest.mark.parametrize(
    "options", [QUICK, pytest.param({"n_starts": 1, "n_kicks": 0}, marks=pytest.mark.slow)]
)
def test_answers_depend_neither_on_the_seed_nor_on_the_order_of_the_rows(options):
    data = md.simulate.preset("sparse-5", np.random.default_rng(8), 100).data

    def probabilities(table, seed):
        fitted = md.MomentDAG(n_draws=1000, random_state=seed, engine_options=options).fit(table)
        return fitted.posterior_.edge_probabilities("either").to_numpy()

    first = probabilities(data, 0)
    shuffled = data.sample(frac=1, random_state=3)
    # Draws of the same worlds: sampling error alone.
    assert np.abs(probabilities(-shuffled, 1) - first).max() < 0.06


@pytest.mark.parametrize(
    "options",
    [
        {"n_starts": 1, "n_kicks": 0, "n_inducing": 10},
        pytest.param({}, marks=pytest.mark.slow),
    ],
)
def test_independent_columns_with_piles_have_no_sure_edge(options):
    """75 % zeros ended in a ValueError from inside the noise."""
    rng = np.random.default_rng([5, 28])
    table = rng.normal(size=(150, 3)) * (rng.random((150, 3)) < 0.25)
    estimator = md.MomentDAG(n_draws=500, random_state=0, engine_options=options)
    fitted = estimator.fit(Dataset.from_table(table))
    for moment in ("mean", "variance"):
        assert fitted.posterior_.edge_probabilities(moment).to_numpy().max() < 0.9
