"""Cases whose posterior is known exactly: linear Gaussian data of two to four variables."""

from __future__ import annotations

from functools import partial

import numpy as np

from momentdag.metrics import total_variation
from studies.case import FitCase, Measures, Task
from studies.exact import exact_posterior
from studies.fits import Fitted
from studies.simulated import draw_preset

__all__ = ["linear_gaussian"]


def linear_gaussian(n_variables: int) -> FitCase:
    """Return linear Gaussian data of up to four variables as a case.

    Examples
    --------
    >>> linear_gaussian(3).name
    'linear-anm-3'
    """
    name = f"linear-anm-{n_variables}"
    return FitCase(
        name=name,
        group=f"d = {n_variables}",
        n_variables=n_variables,
        draw=partial(draw_preset, name),
        measure=_measure,
    )


def _measure(task: Task, fitted: Fitted) -> Measures:
    """Return TV and KL(draws | exact) of the moment-agnostic graph."""
    exact = exact_posterior(task.data)
    log_exact = {
        np.ascontiguousarray(graph).tobytes(): log_p
        for graph, log_p in zip(exact.mean_graphs, exact.log_probability.tolist(), strict=True)
    }
    posterior = fitted.posterior
    unions = posterior.mean_graphs | posterior.variance_graphs
    distinct, counts = np.unique(unions, axis=0, return_counts=True)
    shares = {
        graph.tobytes(): count / posterior.n_draws
        for graph, count in zip(distinct, counts.tolist(), strict=True)
    }
    # From logarithms: the probability of a graph that fits badly is no number above zero.
    divergence = sum(share * (np.log(share) - log_exact[g]) for g, share in shares.items())
    target = {graph: float(np.exp(log_p)) for graph, log_p in log_exact.items()}
    return {"tv": total_variation(shares, target), "kl": max(float(divergence), 0.0)}
