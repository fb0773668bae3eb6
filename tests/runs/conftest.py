"""Small fits, made once."""

import numpy as np
import pandas as pd
import pytest

import momentdag as md

QUICK = {"n_starts": 1, "n_kicks": 0, "n_inducing": 10, "noise": "gaussian"}


def small_table(n=90):
    rng = np.random.default_rng(5)
    x, z = rng.uniform(-2, 2, (2, n))
    y = 10 * (np.sin(1.5 * x) + 0.7 * np.exp(0.6 * z) * rng.normal(size=n))
    # One column is rounded: its likelihood is that of a grid.
    return pd.DataFrame({"x 1": np.round(x, 1), "é": z, "y": y})


@pytest.fixture(scope="session")
def table():
    return small_table()


@pytest.fixture(scope="session")
def estimator(table):
    """Return a fit with knowledge and mechanisms."""
    knowledge = md.Knowledge(tiers=[["x 1", "é"], ["y"]])
    return md.MomentDAG(n_draws=500, random_state=3, knowledge=knowledge, engine_options=QUICK).fit(
        table
    )


@pytest.fixture(scope="session")
def linear(table):
    """Return a fit of the family that has no mechanisms."""
    return md.MomentDAG(n_draws=500, random_state=0, engine_options={"family": "linear"}).fit(table)


@pytest.fixture(scope="session")
def whole(estimator, table, tmp_path_factory):
    """Return a run that tests may damage if they mend it."""
    return md.runs.save(estimator, tmp_path_factory.mktemp("runs") / "run", table)


@pytest.fixture
def run(estimator, table, tmp_path):
    return md.runs.save(estimator, tmp_path / "run", table)
