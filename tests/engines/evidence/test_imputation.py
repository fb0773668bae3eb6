"""Missing cells, drawn along with the model."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import momentdag as md
from momentdag.engines.evidence.imputation import N_COMPLETIONS, redraw, start_completion
from momentdag.errors import OptionError
from momentdag.table import Dataset

QUICK = {"n_starts": 1, "n_kicks": 0, "n_inducing": 10, "noise": "gaussian", "posterior": "plain"}


def fit(dataset, n_draws=80, **options):
    model = md.MomentDAG(n_draws=n_draws, random_state=0, engine_options=QUICK | options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # so few draws tell little
        return model.fit(dataset)


@pytest.fixture(scope="module")
def table():
    """Return y = 2 x + e, a level of x, and a fifth of the cells missing."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, 200)
    y = 2 * x + 0.5 * rng.normal(size=200)
    level = (rng.random(200) < 1 / (1 + np.exp(-3 * x))).astype(float)
    complete = pd.DataFrame({"x": x, "y": y, "level": level})
    hidden = md.simulate.hide_cells(rng, complete, 0.2)
    return complete, Dataset(hidden.to_numpy(), list(hidden.columns), allow_missing=True)


@pytest.fixture(scope="module")
def fitted(table):
    return fit(table[1])


def test_a_completion_starts_from_similar_rows(table):
    complete, dataset = table
    values = start_completion(np.random.default_rng(1), dataset)
    missing = dataset.missing
    np.testing.assert_array_equal(values[~missing], dataset.values[~missing])
    lost = missing[:, 1] & ~missing[:, 0]
    error = values[lost, 1] - complete["y"].to_numpy()[lost]
    assert error.std() < 0.6 * complete["y"].std()
    assert set(values[missing[:, 2], 2]) <= {0.0, 1.0}


def test_cells_are_redrawn_from_parents_and_children(table, fitted):
    complete, dataset = table
    # The model of the complete table, of which all cells of one column are hidden.
    known = fit(Dataset(complete.to_numpy(), list(complete.columns)))
    for j, name in enumerate(complete.columns):
        missing = np.zeros(complete.shape, dtype=bool)
        missing[:100, j] = True
        start = complete.to_numpy().copy()
        start[:100, j] = np.random.default_rng(2).permutation(start[:100, j])
        found = redraw(np.random.default_rng(3), dataset.with_values(start), missing, known.result_)
        truth = complete[name].to_numpy()[:100]
        np.testing.assert_array_equal(found[~missing], start[~missing])
        if name == "level":
            # As often right as a level can be known from x.
            assert (found[:100, j] == truth).mean() > 0.75
        else:
            assert np.corrcoef(found[:100, j], truth)[0, 1] > 0.9


def test_the_graph_is_found_in_spite_of_missing_cells(table, fitted):
    posterior = fitted.posterior_
    assert posterior.n_draws == 80
    assert posterior.edge_probabilities("either").loc["x", "y"] + posterior.edge_probabilities(
        "either"
    ).loc["y", "x"] == pytest.approx(1, abs=0.05)
    assert posterior.provenance.data_hash == table[1].fingerprint
    assert posterior.provenance.options["n_completions"] == N_COMPLETIONS
    assert posterior.provenance.options["n_missing"] == table[1].missing.sum()
    assert set(fitted.world_check()["verdict"]) <= {"fine", "weak"}


@pytest.mark.slow
def test_the_same_seed_gives_the_same_draws(table, fitted):
    again = fit(table[1])
    np.testing.assert_array_equal(again.posterior_.mean_graphs, fitted.posterior_.mean_graphs)


def test_a_family_without_mechanisms_cannot_draw_cells(table):
    with pytest.raises(OptionError, match="missing"):
        fit(table[1], family="linear")
