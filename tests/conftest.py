"""How tests are shared out to processes, data that are not ours to keep, and one mixed fit."""

import contextlib
import gc
import importlib
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from sklearn.exceptions import ConvergenceWarning

SHARED_DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


# Tests of these compile programs, which one process can share and two would compile twice.
COMPILED = ("variational", "dds")


def pytest_configure(config):
    """Spare the default run: fewer random examples, and programs that are compiled quickly.

    Most programs run for less time here than XLA takes to compile them well. Runs with slow tests,
    which train for minutes, have its usual settings.
    """
    is_default = config.getoption("markexpr") == "not slow"
    settings.register_profile("momentdag", deadline=None, max_examples=40 if is_default else 100)
    settings.load_profile("momentdag")
    if is_default:
        quick = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
        os.environ.setdefault("XLA_FLAGS", quick)
    if hasattr(config, "workerinput"):
        _import_arviz()


def _import_arviz():
    """Import ArviZ in a process beside others, with a cache of its own.

    The first import of a day writes a file, in which two processes of one run would meet.
    """
    with tempfile.TemporaryDirectory() as cache, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", cache)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is being split up
            with contextlib.suppress(ImportError):
                importlib.import_module("arviz")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage while everything is imported: there is none, and looking takes long."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file in one process for their fixtures, and all compiled ones in one."""
    from xdist.scheduler import LoadScopeScheduling

    if config.getoption("dist") != "load":
        return None  # another way was asked for

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            compiled = any(word in nodeid for word in COMPILED)
            return "compiled" if compiled else nodeid.partition("::")[0]

    return ByFile(config, log)


@pytest.fixture(scope="session")
def shared_data():
    """Return the folder ``shared/data`` beside the checkout; without it the test is skipped."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs data that are not in the repository: no folder {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def light_tunnel_file(shared_data):
    return shared_data / "light_tunnel.csv"


@pytest.fixture(scope="session")
def mixed_data():
    """Return 300 parts of a factory: columns of every kind but time, with known causes.

    machine -> thickness -> defects -> passed <- rating <- temperature -> outcome <- machine, and
    temperature moves the spread of thickness.
    """
    from momentdag.table import Dataset

    rng = np.random.default_rng(0)
    n = 300
    temperature, machine = rng.normal(22, 3, n), rng.integers(3, size=n)
    warm = (temperature - 22) / 3
    noise = 0.12 * np.exp(0.75 * warm) * rng.normal(size=n)
    thickness = 2 + np.array([-0.4, 0.0, 0.5])[machine] + noise
    defects = rng.poisson(np.exp(1 + 0.8 * np.tanh((thickness - 2) / 0.4)))
    rating = 1 + np.digitize(1.2 * warm + rng.normal(size=n), [-1.5, -0.5, 0.5, 1.5])
    chance = 1 / (1 + np.exp(-1.3 * (rating - 3) + 0.5 * (defects - 3)))
    passed = rng.random(n) < chance
    logits = np.column_stack([np.zeros(n), 2 * warm, np.array([-1.5, 0.0, 1.5])[machine]])
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    outcome = (rng.random(n)[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    return Dataset(
        np.column_stack([temperature, machine, thickness, defects, rating, passed, outcome]),
        ["temperature", "machine", "thickness", "defects", "rating", "passed", "outcome"],
        ["continuous", "category", "continuous", "count", "ordered", "binary", "category"],
        {
            "machine": ("M1", "M2", "M3"),
            "passed": ("no", "yes"),
            "outcome": ("keep", "rework", "scrap"),
        },
    )


@pytest.fixture(scope="session")
def mixed_fit(mixed_data):
    from momentdag import Knowledge, MomentDAG

    later = ["defects", "rating"], ["passed", "outcome"]
    knowledge = Knowledge(tiers=[["temperature", "machine"], ["thickness"], *later])
    options = {"n_starts": 1, "n_kicks": 0, "n_inducing": 15, "noise": "gaussian"}
    estimator = MomentDAG(n_draws=100, random_state=0, knowledge=knowledge, engine_options=options)
    with warnings.catch_warnings():
        # Few draws mix poorly, and say so.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(mixed_data)
