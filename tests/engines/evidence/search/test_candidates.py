import numpy as np
import pytest

from momentdag.engines.evidence.engine import EvidenceEngine
from momentdag.engines.evidence.local.linear import LinearScorer
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.engines.evidence.search.candidates import find_candidates
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.bitmasks import members
from momentdag.engines.protocol import FitRequest
from momentdag.knowledge import Knowledge
from momentdag.metrics import shd
from momentdag.simulate import linear_anm, nonlinear_anm
from momentdag.table import Dataset


@pytest.fixture(scope="module")
def wide():
    return linear_anm(np.random.default_rng(0), TUNING.all_candidates_up_to + 6, 1, 400)


def search_of(simulation):
    values = simulation.data.to_numpy()
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    prior = GraphPrior(Knowledge().compile(simulation.data.columns), False)
    return ParentSearch(LinearScorer(values), prior.modular(len(values.T) / 2, 0))


def test_candidates_hold_the_true_parents_and_are_symmetric(wide):
    search = search_of(wide)
    candidates = find_candidates(search, None)
    adjacency = wide.graph.union_graph
    d = len(adjacency)
    for j, mask in enumerate(candidates):
        assert not mask >> j & 1
        for i in members(mask):
            assert candidates[i] >> j & 1
        assert set(np.flatnonzero(adjacency[:, j])) <= set(members(mask))
    # The point of it: far fewer than everyone.
    assert np.mean([mask.bit_count() for mask in candidates]) < 0.95 * (d - 1)
    parents = tuple(search.best(j, candidates[j]).parents for j in range(d))
    again = find_candidates(search_with(search, candidates), parents)
    assert all(old & ~new == 0 for old, new in zip(candidates, again, strict=True))


def search_with(search, candidates):
    return ParentSearch(search.scorer, search.prior, candidates, search.evidence)


def test_few_variables_are_all_candidates():
    simulation = linear_anm(np.random.default_rng(1), 5, 1, 100)
    assert find_candidates(search_of(simulation), None) == tuple(31 & ~(1 << j) for j in range(5))


@pytest.mark.slow
def test_a_wide_nonlinear_table_is_recovered():
    simulation = nonlinear_anm(np.random.default_rng(2), TUNING.all_candidates_up_to + 2, 1, 400)
    options = EvidenceOptions(family="gp_homoscedastic", noise="gaussian", n_starts=1, n_kicks=0)
    dataset = Dataset(simulation.data.to_numpy(), tuple(simulation.data.columns))
    known = Knowledge().compile(dataset.names)
    request = FitRequest(dataset, known, 200, np.random.default_rng(0))
    result = EvidenceEngine(options).fit(request)
    # 16 edges; an engine that lost parents among the candidates would miss several.
    assert shd(result.posterior.consensus().mean_frame, simulation.graph.mean_frame) <= 3


def test_blocks_in_other_processes_find_the_same(wide):
    options = EvidenceOptions(family="linear", n_starts=1, n_chains=2)
    dataset = Dataset(wide.data.to_numpy(), tuple(wide.data.columns))
    known = Knowledge().compile(dataset.names)
    here, there = (
        EvidenceEngine(options)
        .fit(FitRequest(dataset, known, 50, np.random.default_rng(4), n_jobs=n_jobs))
        .posterior
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(here.mean_graphs, there.mean_graphs)
    np.testing.assert_array_equal(here.log_posterior, there.log_posterior)
