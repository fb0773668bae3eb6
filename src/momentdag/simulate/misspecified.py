"""Data outside the model class: each family breaks one assumption of the location-scale model.

A method that is right as often as it says on data from its own model may be sure and wrong on other
data. These families have known graphs, so that the difference can be measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from momentdag.graph import BoolArray, MomentGraph
from momentdag.simulate.graphs import random_moment_graph
from momentdag.simulate.lagged import draw_lagged
from momentdag.simulate.misspecified_model import (
    RECORDINGS,
    ConditionalFamily,
    ConditionalModel,
    Recording,
    draw_conditionals,
)
from momentdag.simulate.options import check_choice, check_count
from momentdag.simulate.simulation import Mechanisms, Simulation

__all__ = ["Misspecification", "misspecified", "misspecified_families"]

Misspecification = Literal[
    "free_noise",
    "free_noise_weak",
    "post_nonlinear",
    "hidden_cause",
    "skewness",
    "multiplicative",
    "mixture",
    "measurement_error",
    "rounding",
    "lagged",
]
"""Which assumption is broken."""

_DESCRIPTIONS: dict[Misspecification, str] = {
    "free_noise": "noise enters through a free function: y = f(x, e), read with a small error",
    "free_noise_weak": "the same, nearly additive, with normal roots and noise",
    "post_nonlinear": "y = g(m(x) + e) with a monotone g",
    "hidden_cause": "a cause of two or three variables that is not in the table",
    "skewness": "the noise's skewness follows the causes",
    "multiplicative": "y = m(x) e + e': skewed noise where m is large, normal where it is 0",
    "mixture": "noise with two modes whose weights or places follow the causes",
    "measurement_error": "every variable is read with an error",
    "rounding": "every variable is read on a coarse grid",
    "lagged": "causes act with a delay; the table is one moment of the process",
}
_BOTH_MOMENTS = ("free_noise", "free_noise_weak", "post_nonlinear", "multiplicative", "mixture")
_OF_CONDITIONALS: dict[Misspecification, ConditionalFamily] = {
    "hidden_cause": "location_scale",
    "measurement_error": "location_scale",
    "rounding": "location_scale",
    "free_noise": "free_noise",
    "free_noise_weak": "free_noise_weak",
    "post_nonlinear": "post_nonlinear",
    "skewness": "skewness",
    "multiplicative": "multiplicative",
    "mixture": "mixture",
}
_NOISE: dict[Misspecification, str] = {
    "free_noise": "free",
    "skewness": "skew",
    "multiplicative": "multiplicative",
    "mixture": "mixture",
}


def misspecified_families() -> Mapping[Misspecification, str]:
    """Return one line about each family of `misspecified`, by name.

    Examples
    --------
    >>> misspecified_families()["post_nonlinear"]
    'y = g(m(x) + e) with a monotone g'
    """
    return MappingProxyType(_DESCRIPTIONS)


def misspecified(
    rng: np.random.Generator,
    family: Misspecification,
    n_variables: int = 2,
    n_samples: int = 1000,
    edges_per_node: int = 1,
) -> Simulation:
    """Simulate data that break one assumption of the location-scale model.

    Every variable has mean 0 and sd 1, about (before errors of measurement). Variables without
    causes are normal, uniform, bimodal or skew.

    Parameters
    ----------
    rng : numpy.random.Generator
    family : str
        - "free_noise": ``y = f(x, e)``, where f is a draw of a Gaussian process, roots and e are
          random monotone functions of normal numbers, and every variable is read with an error
          of sd 0.2 or so. After the pairs SIM of Mooij et al., appendix C, with more waves in e.
        - "free_noise_weak": the same with normal roots and e, and with long waves in e: f is nearly
          ``m(x) + s(x) e`` with a small s, and most of the noise is the error of reading. After
          the pairs SIM-G.
        - "post_nonlinear": ``y = g(m(x) + e)`` with a random monotone g (Zhang and Hyvärinen).
        - "hidden_cause": a location-scale model in which a variable that moves the mean of two or
          three others (of two, if there are only two) is missing.
        - "skewness": ``y = m(x) + exp(v(x)) e``, where e has mean 0, variance 1 and a skewness
          between -3.7 and 3.7 that follows the mean and variance parents.
        - "multiplicative": ``y = m(x) e + e'`` with a lognormal e of mean 1 and a normal e'.
        - "mixture": ``y = m(x) + noise`` with two modes, whose weights or whose places follow the
          mean parents (a fair coin for each variable).
        - "measurement_error": a location-scale model whose variables are read with errors that are
          8 to 33 % of their variance.
        - "rounding": a location-scale model whose variables are read on grids of 0.4 to 1.2 sd.
        - "lagged": ``x(t + 1) = c x(t) + f(parents(t)) + noise``; rows are independent runs, each
          read once in its stationary state.
    n_variables : int
        At least 2; named ``x1 .. xd``; their index does not follow the causal order.
    n_samples : int
        Rows of the table; at least 2.
    edges_per_node : int
        The mean graph has ``edges_per_node * n_variables`` edges, or all that fit.

    Returns
    -------
    Simulation
        What ``graph`` means is in the notes. ``conditional_mean`` and ``conditional_std`` are None
        where they have no closed form. A variable that is set is recorded as set, without error or
        rounding; in the lagged process it is held at that value all the time.

    Raises
    ------
    OptionError
        If an option is outside its choices or range.

    Notes
    -----
    In "skewness" the mean graph and the variance graph (with each forward edge of a second drawn
    graph with probability 1/2) say which moments really move: the skewness moves neither. In
    "post_nonlinear", "multiplicative" and "mixture" every cause moves both moments, so both graphs
    are the same. In these four families the conditional moments are known.

    In the others moments cannot be attributed, and only the *union* of the two graphs is a truth
    to hold a result against. In "free_noise" both graphs are the same. In "hidden_cause",
    "measurement_error" and "rounding" they are those of the location-scale model behind the table;
    in "lagged" all causes are mean parents. The table of a "hidden_cause", "measurement_error" or
    "lagged" simulation does not factor along its graph: the pairs of variables that are dependent
    given their parents are more than those with an edge.

    References
    ----------
    J. M. Mooij, J. Peters, D. Janzing, J. Zscheischler and B. Schölkopf, "Distinguishing
    cause from effect using observational data: methods and benchmarks", Journal of Machine
    Learning Research 17, 2016.

    K. Zhang and A. Hyvärinen, "On the identifiability of the post-nonlinear causal model",
    Uncertainty in Artificial Intelligence, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> simulation = misspecified(np.random.default_rng(0), "mixture", n_variables=5)
    >>> simulation
    Simulation(1000 rows, 5 variables, 5 mean edges, 5 variance edges, mixture noise)
    """
    check_choice("family", family, get_args(Misspecification))
    check_count("n_variables", n_variables, 2)
    check_count("n_samples", n_samples, 2)
    check_count("edges_per_node", edges_per_node, 0)
    graph, order = _draw_graphs(rng, family, n_variables, edges_per_node)
    model: Mechanisms
    if family == "lagged":
        model = draw_lagged(rng, graph.mean_graph, order)
    else:
        model = _draw_model(rng, family, graph, order)
    table = model.draw(rng, n_samples, {})
    return Simulation.from_values(table, graph, order, _NOISE.get(family, "gaussian"), model)


def _draw_graphs(
    rng: np.random.Generator, family: Misspecification, n_variables: int, edges_per_node: int
) -> tuple[MomentGraph, list[int]]:
    drawn, order = random_moment_graph(
        rng, n_variables, edges_per_node, shared_graph=family in _BOTH_MOMENTS
    )
    variance = drawn.variance_graph
    if family == "lagged":
        variance = np.zeros_like(variance)
    elif family not in _BOTH_MOMENTS:
        # With an edge in both graphs a location-scale model betrays its direction too easily.
        variance = variance & (rng.random(variance.shape) < 0.5)
    return MomentGraph(drawn.names, drawn.mean_graph, variance), order.tolist()


def _draw_model(
    rng: np.random.Generator, family: Misspecification, graph: MomentGraph, order: list[int]
) -> ConditionalModel:
    d = graph.n_variables
    complete, complete_order = graph, order
    if family == "hidden_cause":
        complete, complete_order = _with_hidden_cause(rng, graph), [d, *order]
    conditionals = draw_conditionals(rng, complete, complete_order, _OF_CONDITIONALS[family])
    recording = RECORDINGS.get(family, Recording.exact)(rng, d)
    return ConditionalModel(conditionals, tuple(complete_order), recording)


def _with_hidden_cause(rng: np.random.Generator, graph: MomentGraph) -> MomentGraph:
    """Return the graph with one more variable, last, that moves the mean of two or three."""
    d = graph.n_variables
    n_moved = min(d, int(rng.integers(2, 4)))
    mean, variance = (_padded(g) for g in (graph.mean_graph, graph.variance_graph))
    mean[d, rng.choice(d, size=n_moved, replace=False)] = True
    return MomentGraph((*graph.names, "hidden"), mean, variance)


def _padded(adjacency: BoolArray) -> BoolArray:
    return np.pad(adjacency, ((0, 1), (0, 1)))
