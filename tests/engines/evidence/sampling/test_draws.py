"""Draws in pieces: joined, interrupted, and the same wherever they run."""

import numpy as np
import pytest

from momentdag.engines.evidence.engine import EvidenceEngine
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.sampling.draws import Draws
from momentdag.engines.protocol import FitRequest
from momentdag.knowledge import Knowledge
from momentdag.simulate import linear_anm
from momentdag.table import Dataset


def part(value, n, start):
    graphs = np.zeros((n, 2, 2), dtype=bool)
    graphs[:, 0, 1] = value
    return Draws(graphs, graphs, np.full(n, start + 1.0), np.zeros(n, dtype=np.int32), start)


def test_joined_draws_keep_their_chains_and_the_best_start():
    joined = Draws.joined([part(True, 3, -5.0), part(False, 2, -2.0)])
    assert joined.chains.tolist() == [0, 0, 0, 1, 1]
    assert joined.mean_graphs[:, 0, 1].tolist() == [True] * 3 + [False] * 2
    assert joined.start == -2.0
    assert joined.gain == pytest.approx(1.0)


def test_the_best_orders_obey_knowledge():
    after = np.array([[False, False], [True, False]])
    assert [pair.order for pair in part(False, 1, 0.0).best_pairs(after, 2)] == [(1, 0)]


def test_the_best_orders_are_those_of_the_best_chains():
    turned = part(True, 2, 3.0)
    turned = Draws(
        turned.mean_graphs.swapaxes(1, 2),
        turned.variance_graphs.swapaxes(1, 2),
        *(turned.log_posterior, turned.chains, turned.start),
    )
    draws = Draws.joined([part(True, 3, -5.0), turned, part(True, 1, -7.0)])
    nothing = np.zeros((2, 2), dtype=bool)
    assert [pair.order for pair in draws.best_pairs(nothing, 3)] == [(1, 0), (0, 1)]
    assert [pair.order for pair in draws.best_pairs(nothing, 1)] == [(1, 0)]


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_chains_that_ended_outlive_an_interruption(n_jobs):
    simulation = linear_anm(np.random.default_rng(0), 5, 1, 150)
    dataset = Dataset.from_table(simulation.data)
    options = EvidenceOptions(family="linear", return_partial=True, n_chains=4)

    def interrupt_after_the_first_chain(stage, done, total):
        if stage == "the Markov chains" and done * 4 >= total and done:
            raise KeyboardInterrupt

    request = FitRequest(
        dataset,
        Knowledge().compile(dataset.names),
        80,
        np.random.default_rng(0),
        n_jobs=n_jobs,
        progress=interrupt_after_the_first_chain,
    )
    fit = EvidenceEngine(options).fit(request)
    assert "interrupted during the Markov chains" in fit.status
    if n_jobs == 2:
        assert fit.posterior.n_draws == 20  # one whole chain
    else:
        # Within one process the first chain reports its end before it is handed over.
        assert fit.posterior.n_draws in (1, 20)
