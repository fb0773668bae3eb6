"""Cases whose posterior is known exactly: linear Gaussian data of two to four variables."""

from __future__ import annotations

from functools import partial

import numpy as np

from momentdag.data import Dataset
from momentdag.engines.evidence.exact import enumerate_posterior
from momentdag.engines.evidence.linear import LinearScorer
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.experiments.case import FIRST_SEED, Case, Task
from momentdag.knowledge import Knowledge
from momentdag.metrics import total_variation
from momentdag.posterior import Posterior
from momentdag.simulate import preset

__all__ = ["linear_gaussian"]


def linear_gaussian(n_variables: int) -> Case:
    """Return linear Gaussian data of up to four variables as a case.

    Examples
    --------
    >>> linear_gaussian(3).name
    'linear-anm-3'
    """
    name = f"linear-anm-{n_variables}"
    return Case(name, f"d = {n_variables}", n_variables, partial(_draw, name), _measure, __name__)


def _draw(name: str, number: int) -> Task:
    simulation = preset(name, np.random.default_rng(FIRST_SEED + number))
    return Task(simulation.data, {"simulated": simulation.graph})


def _measure(task: Task, posterior: Posterior) -> dict[str, float]:
    """Return TV and KL(draws | exact) of the moment-agnostic graph."""
    exact = _exact_posterior(task)
    unions = posterior.mean_graphs | posterior.variance_graphs
    distinct, counts = np.unique(unions, axis=0, return_counts=True)
    found = {
        graph.tobytes(): count / posterior.n_draws
        for graph, count in zip(distinct, counts.tolist(), strict=True)
    }
    # From logarithms: the probability of a graph that fits badly is no number above zero.
    divergence = sum(share * (np.log(share) - exact[graph]) for graph, share in found.items())
    target = {graph: float(np.exp(log_p)) for graph, log_p in exact.items()}
    return {"tv": total_variation(found, target), "kl": max(float(divergence), 0.0)}


def _exact_posterior(task: Task) -> dict[bytes, float]:
    """Return the log probability of every graph, by its bytes."""
    dataset = Dataset.from_table(task.data)
    scorer = LinearScorer(dataset.standardised)
    prior = GraphPrior(Knowledge().compile(dataset.names), with_variance_graph=False)
    exact = enumerate_posterior(lambda j, own: scorer.fit(j, own).log_evidence, prior)
    pairs = zip(exact.mean_graphs, exact.log_probability.tolist(), strict=True)
    return {np.ascontiguousarray(graph).tobytes(): log_p for graph, log_p in pairs}
