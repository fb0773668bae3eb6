"""A pair, and a posterior around it, whose names need every kind of quoting."""

import numpy as np
import pytest

from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior, Provenance

ODD = ["dose (mg)", 'the "second"', "y", "a\\b", "it's"]


@pytest.fixture
def graph():
    return MomentGraph.from_edges(
        ODD,
        mean=[("dose (mg)", "y"), ('the "second"', "y"), ("y", "it's")],
        variance=[("dose (mg)", "y"), ("a\\b", "it's")],
    )


@pytest.fixture
def posterior(graph):
    sparser = MomentGraph.from_edges(ODD, mean=graph.edges("mean"))
    draws = [graph] * 6 + [sparser] * 2
    return Posterior(
        ODD,
        [draw.mean_graph for draw in draws],
        [draw.variance_graph for draw in draws],
        Provenance("by hand", {"depth": 3}, seed=4),
        log_posterior=np.arange(8.0),
        chains=[0, 1, 0, 1, 0, 1, 0, 0],
    )
