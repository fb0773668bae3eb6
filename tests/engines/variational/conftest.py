"""Small problems that several tests share, so that compiled programs are shared too."""

import jax.numpy as jnp
import numpy as np
import pytest

from momentdag.engines.variational.distribution import Limits, Parameters
from momentdag.engines.variational.options import VariationalOptions
from momentdag.engines.variational.problem import Problem
from momentdag.engines.variational.projection import order_constraints

QUICK = {
    "n_hidden": 4,
    "batch_size": 32,
    "n_restarts": 2,
    "n_graphs": 2,
    "warm_up_steps": 500,
    "max_steps": 1000,
}


@pytest.fixture(scope="session")
def quick() -> VariationalOptions:
    return VariationalOptions(**QUICK)


@pytest.fixture(scope="session")
def make_problem():
    """Return a function that makes a problem over standardised values."""

    def make(values, edge_probability=0.3):
        d = values.shape[1]
        logits = jnp.full((d, d), np.log(edge_probability / (1 - edge_probability)), jnp.float32)
        nothing = np.zeros((d, d))
        return Problem(
            jnp.asarray(values, jnp.float32),
            Parameters(logits, logits, jnp.zeros(d, jnp.float32)),
            Limits.none(d),
            order_constraints(nothing.astype(bool), nothing),
        )

    return make


@pytest.fixture(scope="session")
def pair_table():
    """Return 200 rows in which x1 moves the mean of x2 and the spread of x3, standardised."""
    rng = np.random.default_rng(0)
    x1 = rng.normal(size=200)
    x2 = np.sin(2 * x1) + 0.3 * rng.normal(size=200)
    x3 = np.exp(0.8 * x1) * rng.normal(size=200)
    table = np.column_stack([x1, x2, x3])
    return (table - table.mean(axis=0)) / table.std(axis=0)
