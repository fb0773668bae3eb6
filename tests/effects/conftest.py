"""A fit whose mechanisms are known in closed form, so that every answer is known too."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

import momentdag as md
from momentdag.engines.protocol import FitResult
from momentdag.graph import MomentGraph
from momentdag.posterior import Provenance
from momentdag.table import Observed


@dataclass(frozen=True)
class Known:
    """Mean and sd as given functions of the row; normal noise."""

    mean: object
    sd: object
    is_discrete = False

    def moments(self, values):
        n = len(values)
        return tuple(np.broadcast_to(f(values.T), n).astype(float) for f in (self.mean, self.sd))

    def draw_noise(self, rng, size):
        return rng.standard_normal(size)

    def noise_cdf(self, noise):
        return ndtr(noise)

    simulated_noise_cdf = noise_cdf

    def noise_log_density(self, noise):
        return -0.5 * (np.log(2 * np.pi) + noise**2)

    def extrapolates(self, values):
        return np.zeros(len(values), dtype=bool)

    def thresholds(self, levels):
        return 0.5 * (levels[1:] + levels[:-1])


class KnownModel:
    """For each graph pair the functions that go with it; a draw shifts every mean at random."""

    def __init__(self, names, functions, shift=0.0):
        self.names = tuple(names)
        self._functions = functions
        self._shift = shift

    def mean_functions(self, graph):
        return {name: Known(*pair) for name, pair in self._functions[graph].items()}

    def draw_functions(self, rng, graph):
        drawn = {}
        for name, (mean, sd) in self._functions[graph].items():
            moved = self._shift * rng.standard_normal()
            drawn[name] = Known(lambda row, f=mean, by=moved: f(row) + by, sd)
        return drawn


def known_fit(
    names,
    draws,
    shift=0.0,
    summary=(-3.0, -2.0, 0.0, 2.0, 3.0, 0.0, 1.0),
    levels=None,
    verdict="fine",
):
    """Return an estimator with the posterior ``draws``: a list of (graph, functions, count)."""
    graphs = [graph for graph, _, count in draws for _ in range(count)]
    posterior = md.Posterior(
        names,
        [graph.mean_graph for graph in graphs],
        [graph.variance_graph for graph in graphs],
        Provenance("by hand"),
    )
    model = KnownModel(names, {graph: f for graph, f, _ in draws}, shift)
    columns = ["min", "q05", "median", "q95", "max", "mean", "sd"]
    table = pd.DataFrame([summary] * len(names), index=pd.Index(names), columns=columns)
    observed = Observed(table, **({} if levels is None else {"levels": levels}))
    estimator = md.MomentDAG().adopt(FitResult(posterior, model, graphs[0], observed))
    # The summary is made up: whether the model reproduces it is not what these tests are about.
    verdicts = pd.DataFrame({"column": list(names), "verdict": verdict})
    estimator.world_check = lambda: verdicts
    estimator.world_alignment = dict
    return estimator


NAMES = ("x", "z", "y")
STAR = MomentGraph.from_edges(NAMES, mean=[("x", "y")], variance=[("z", "y")])
STAR_FUNCTIONS = {
    "x": (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0]),
    "z": (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0]),
    "y": (lambda row: 1 + 2 * row[0], lambda row: np.exp(0.5 * row[1])),
}


@pytest.fixture
def star():
    """Return a fit that is sure of y = 1 + 2 x + exp(z / 2) e."""
    return known_fit(NAMES, [(STAR, STAR_FUNCTIONS, 4)])


@pytest.fixture(scope="session")
def make_fit():
    return known_fit


@pytest.fixture(scope="session")
def fitted():
    """Return a real fit of y = sin(1.5 x) + 0.7 exp(0.6 z) e, 400 rows."""
    rng = np.random.default_rng(5)
    x, z = rng.uniform(-2, 2, (2, 400))
    y = 10 * (np.sin(1.5 * x) + 0.7 * np.exp(0.6 * z) * rng.normal(size=400))
    data = pd.DataFrame({"x": x, "z": z, "y": y})
    options = {"n_starts": 1, "noise": "gaussian"}
    knowledge = md.Knowledge(tiers=[["x", "z"], ["y"]])
    return md.MomentDAG(
        n_draws=200, random_state=0, knowledge=knowledge, engine_options=options
    ).fit(data)
