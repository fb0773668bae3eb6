"""The registry of baselines and the one function that runs them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from momentdag.baselines.dds_options import DDSOptions
from momentdag.baselines.host import HOSTOptions, learn_host
from momentdag.baselines.icdh import ICDHOptions, learn_icdh
from momentdag.baselines.mc3 import MC3Options, learn_mc3
from momentdag.baselines.one_graph import GraphLimits
from momentdag.baselines.options import Options
from momentdag.baselines.protocol import BaselineResult, Estimate, Method
from momentdag.baselines.skewscore import SkewScoreOptions, learn_skewscore
from momentdag.baselines.varsort import VarSortOptions, learn_varsort
from momentdag.errors import OptionError, require
from momentdag.knowledge import Knowledge
from momentdag.posterior import Posterior, Provenance
from momentdag.seeds import Seed, seed_of
from momentdag.table import Dataset
from momentdag.table.checks import check_finite, check_numbers

__all__ = ["METHODS", "MethodName", "fit"]

MethodName: TypeAlias = Literal["icdh", "host", "dds", "mc3", "varsort", "skewscore"]


def _learn_dds(
    rng: np.random.Generator,
    dataset: Dataset,
    limits: GraphLimits,
    n_draws: int,
    options: DDSOptions,
) -> Estimate:
    """Run DDS, imported here because it needs an extra."""
    require("jax", "optax", extra="variational", purpose="DDS")
    from momentdag.baselines.dds import learn_dds

    return learn_dds(rng, dataset, limits, n_draws, options)


METHODS: Mapping[str, Method] = {
    "icdh": Method("ICDH", ICDHOptions, learn_icdh),
    "host": Method("HOST", HOSTOptions, learn_host),
    "dds": Method("DDS", DDSOptions, _learn_dds),
    "mc3": Method("MC3", MC3Options, learn_mc3),
    "varsort": Method("VarSort", VarSortOptions, learn_varsort),
    "skewscore": Method("SkewScore", SkewScoreOptions, learn_skewscore),
}


def fit(
    method: MethodName,
    X: Any,
    knowledge: Knowledge | None = None,
    n_draws: int = 2000,
    random_state: Seed = None,
    options: Options | Mapping[str, Any] | None = None,
) -> BaselineResult:
    """Learn a graph with one of the baselines.

    None of the methods distinguishes the two moments: the graph that a method learns is used as
    mean graph and as variance graph, as in the comparisons of Chikahara (2026, section 5).

    Parameters
    ----------
    method : {"icdh", "host", "dds", "mc3", "varsort", "skewscore"}
    X : table, shape (n_samples, n_variables)
        A pandas or polars frame, an array, or a `Dataset`. Names are kept.
    knowledge : Knowledge or None
        Hard statements are obeyed by every method; soft ones and edge priors are refused. An edge
        forbidden in one moment is left out there and allowed in the other.
    n_draws : int
        Number of draws of the Bayesian methods (DDS, MC3); the others give a single draw.
    random_state : int, numpy Generator or None
        With an int, repeated fits on one machine are bit-for-bit identical.
    options : mapping, the options class of the method, or None
        `ICDHOptions`, `HOSTOptions`, `DDSOptions`, `MC3Options`, `VarSortOptions`,
        `SkewScoreOptions`.

    Returns
    -------
    BaselineResult

    Raises
    ------
    DataError, KnowledgeError, OptionError
        If the table, the knowledge or an option cannot be used.
    MissingExtraError
        If the method is "dds" and the extra ``variational`` is not installed.

    Warns
    -----
    ConvergenceWarning
        If the status is not "complete"; the message says what to change.

    Examples
    --------
    >>> import momentdag as md, numpy as np
    >>> simulation = md.simulate.preset("linear-anm-3", np.random.default_rng(1))
    >>> result = fit("varsort", simulation.data)
    >>> result.graph.names, result.posterior.n_draws
    (('x1', 'x2', 'x3'), 1)
    """
    if method not in METHODS:
        raise OptionError(f"Expected method among {list(get_args(MethodName))}; got {method!r}.")
    if isinstance(n_draws, bool) or not isinstance(n_draws, int | np.integer) or n_draws < 1:
        raise OptionError(f"Expected n_draws to be a positive integer; got {n_draws!r}.")
    knowledge = Knowledge() if knowledge is None else knowledge
    if not isinstance(knowledge, Knowledge):
        raise OptionError(f"Expected knowledge to be a Knowledge; got {type(knowledge).__name__}.")
    entry = METHODS[method]
    settings = entry.options.read(options)
    dataset = Dataset.from_table(X, min_variables=2)
    check_finite(dataset.names, dataset.values)
    check_numbers(dataset.names, dataset.kinds, entry.title)
    limits = GraphLimits.of(knowledge, dataset.names)
    seed = seed_of(random_state)
    rng = np.random.default_rng(seed)
    # One thread: sums then do not depend on the number of cores.
    with threadpool_limits(1):
        estimate = entry.learn(rng, dataset, limits, int(n_draws), settings)
    posterior = Posterior(
        dataset.names,
        *limits.pair(estimate.graphs),
        Provenance(method, settings.to_dict(), dataset.fingerprint, seed, status=estimate.status),
        log_posterior=estimate.log_posterior,
        chains=estimate.chains,
    )
    is_point = posterior.n_draws == 1
    graph = posterior.draw(0) if is_point else posterior.consensus(knowledge=knowledge)
    if estimate.status != "complete":
        warnings.warn(f"{entry.title}: {estimate.status}", ConvergenceWarning, stacklevel=2)
    return BaselineResult(method, posterior, graph, estimate.status, dict(estimate.details))
