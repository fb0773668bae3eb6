"""The plain posterior beside that of worlds, and the misfit index, in class and out of it."""

import numpy as np
import pytest

import momentdag as md
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.problem import pose_problem
from momentdag.engines.evidence.sampling.exact import enumerate_posterior
from momentdag.engines.evidence.sampling.model_doubt import (
    draw_plain,
    exact_plain,
    misfit_indices,
)
from momentdag.engines.evidence.sampling.world_draws import make_world_pools
from momentdag.engines.evidence.sampling.worlds import draw_worlds
from momentdag.engines.evidence.search.orders import OrderResult
from momentdag.graph import MomentGraph
from momentdag.knowledge import Knowledge
from momentdag.simulate import mean_variance_hnm_from_graph

QUICK = {"noise": "gaussian", "n_starts": 1, "n_inducing": 12}


@pytest.fixture(scope="module")
def scored():
    """Return a search over three variables with every parent set scored, and the best pair."""
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 90))
    y = 0.6 * np.sin(x) + np.exp(0.3 * z) * rng.normal(size=90)
    values = np.column_stack([x, y, z])
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    options = EvidenceOptions(noise="gaussian", n_inducing=12)
    knowledge = Knowledge().compile(("x", "y", "z"))
    problem = pose_problem(np.random.default_rng(0), values, knowledge, options)
    search = problem.search()
    posterior = enumerate_posterior(search.log_evidence, problem.prior)
    best = OrderResult(0.0, (0, 2, 1), (Parents(0, 0), Parents(1, 4), Parents(0, 0)))
    return problem, search, posterior, best


def test_plain_draws_from_pools_follow_the_enumeration(scored):
    problem, search, posterior, best = scored
    worlds = draw_worlds(problem.values, 3, 2.0)
    pools = make_world_pools(search, worlds, search.prior)
    drawn = draw_plain(np.random.default_rng(0), problem.prior, pools, best.order, 1)
    # 1 000 draws, and what no world finds within 14 nats is not in the pools.
    np.testing.assert_allclose(drawn, exact_plain(posterior), atol=0.05)


def test_plain_shares_are_those_of_the_graphs(scored):
    posterior = scored[2]
    mean, variance, either = exact_plain(posterior)
    p = np.exp(posterior.log_probability)
    np.testing.assert_allclose(mean, np.tensordot(p, posterior.mean_graphs, 1))
    assert (either <= mean + variance + 1e-12).all()
    assert (either >= np.maximum(mean, variance) - 1e-12).all()


def test_without_weights_both_posteriors_agree():
    table = md.simulate.preset("sparse-5", np.random.default_rng(8), 80).data.iloc[:, :3]

    def fit(**options):
        options = {**QUICK, **options}
        return md.MomentDAG(n_draws=400, random_state=0, engine_options=options).fit(table)

    # 400 systematic draws of one posterior: nothing but rounding is left.
    even = fit(tau=0.0, n_worlds=4)
    assert even.posterior_.disagreement(0.03).empty
    assert set(even.details_["misfit"].values()) == {None}
    honest = fit()
    plain = fit(posterior="plain")
    assert plain.posterior_.doubt is None
    for moment in ("mean", "variance", "either"):
        np.testing.assert_allclose(
            honest.posterior_.plain_edge_probabilities(moment),
            plain.posterior_.edge_probabilities(moment),
            atol=0.005,
        )


def test_columns_keep_their_places():
    """Numbers come back in the order of the table, not in that of the engine."""
    table = md.simulate.preset("sparse-5", np.random.default_rng(8), 80).data.iloc[:, :3]
    there, back = (
        md.MomentDAG(n_draws=200, random_state=0, engine_options=QUICK).fit(each).posterior_
        for each in (table, table[table.columns[::-1]])
    )
    names = list(there.names)
    np.testing.assert_allclose(
        there.plain_edge_probabilities("mean"),
        back.plain_edge_probabilities("mean").loc[names, names],
    )
    assert dict(there.misfit()[["variable", "misfit"]].values) == dict(
        back.misfit()[["variable", "misfit"]].values
    )


def _mixture(rng, n):
    """Return a cause and an effect that follows it or its negative: two branches, one mean."""
    x = rng.normal(size=n)
    branch = np.where(rng.random(n) < 1 / (1 + np.exp(-x)), x, -x)
    return np.column_stack([x, branch + 0.3 * rng.normal(size=n)])


def _in_class(rng, n):
    graph = MomentGraph.from_edges("ab", mean=[("a", "b")], variance=[("a", "b")])
    return mean_variance_hnm_from_graph(rng, graph, n).data.to_numpy()


def _largest_misfit(table):
    values = (table - table.mean(axis=0)) / table.std(axis=0)
    knowledge = Knowledge().compile(("a", "b"))
    problem = pose_problem(np.random.default_rng(0), values, knowledge, EvidenceOptions())
    search = problem.search()
    posterior = enumerate_posterior(search.log_evidence, problem.prior)
    top = int(np.argmax(posterior.log_probability))
    mean, variance = (
        graphs[top].T @ [1, 2] for graphs in (posterior.mean_graphs, posterior.variance_graphs)
    )
    parents = tuple(Parents(int(m), int(v)) for m, v in zip(mean, variance, strict=True))
    order = (0, 1) if parents[0].union == 0 else (1, 0)
    best = OrderResult(0.0, order, parents)
    worlds = draw_worlds(problem.values, 100, 2.0)
    entries = [list(known) for known in search.evidence]
    return misfit_indices(search, worlds, entries, best, 2.0).max()


def test_misfit_is_about_one_in_class_and_large_outside_of_it():
    inside = [_largest_misfit(_in_class(np.random.default_rng(k), 300)) for k in range(3)]
    outside = [_largest_misfit(_mixture(np.random.default_rng(k), 300)) for k in range(3)]
    # Over 16 sets of 500 rows: .95 to 1.8 inside, 2.3 to 5 outside.
    assert 0.5 < np.median(inside) < 1.8
    assert np.median(outside) > 2.0
    assert min(outside) > np.median(inside)


def test_few_worlds_measure_no_misfit(scored):
    problem, search, _, best = scored
    entries = [list(known) for known in search.evidence]
    for n_worlds, tau in ((5, 2.0), (50, 0.0)):
        worlds = draw_worlds(problem.values, n_worlds, tau)
        assert np.isnan(misfit_indices(search, worlds, entries, best, tau)).all()


def test_misfit_compares_rows_with_evidence(scored):
    """Compute the index of the edge x -> y alone from row weights, as the formula says."""
    problem, search, _, _ = scored
    best = OrderResult(0.0, (0, 1, 2), (Parents(0, 0), Parents(1, 0), Parents(0, 0)))
    worlds = draw_worlds(problem.values, 60, 2.0)
    turned = Parents(2, 0)
    entries = [[Parents(0, 0), turned], [Parents(0, 0), Parents(1, 0)], [Parents(0, 0)]]
    gain, rows = 0.0, np.zeros(60)
    for variable, own, other in ((1, Parents(1, 0), Parents(0, 0)), (0, Parents(0, 0), turned)):
        gain += search.log_evidence(variable, own) - search.log_evidence(variable, other)
        rows += worlds.scores(search, variable, own) - worlds.scores(search, variable, other)
    spread = np.mean((rows / worlds.taus) ** 2) / 4
    expected = (spread + 20) / (2 * max(gain, 0) + 20)
    found = misfit_indices(search, worlds, entries, best, 2.0)
    np.testing.assert_allclose(found, [1.0, expected, 1.0])
