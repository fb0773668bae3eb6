"""What is measured of a fit is what a fit by hand gives."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from studies.methods import METHODS
from studies.recovery import recovery
from studies.registry import STUDIES
from studies.store import Store
from studies.tables import view_table

import momentdag as md
from momentdag.metrics import brier_score, expected_calibration_error, expected_shd, shd

REDUCED = {"n_starts": 1, "n_kicks": 0, "n_inducing": 10, "noise": "gaussian"}
CASE = recovery("sparse-5")


@pytest.fixture(scope="module")
def outcome():
    return CASE.run(METHODS["evidence"], 0, 60, REDUCED)


@pytest.fixture(scope="module")
def fitted():
    simulation = md.simulate.preset("sparse-5", np.random.default_rng(20260))
    estimator = md.MomentDAG(n_draws=60, random_state=0, engine_options=REDUCED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sixty draws never look converged
        return estimator.fit(simulation.data).posterior_, simulation.graph


def test_the_measures_are_those_of_a_fit_by_hand(outcome, fitted):
    posterior, truth = fitted
    measures = outcome.measures
    for moment in ("mean", "variance"):
        estimate = posterior.consensus().to_frame(moment)
        assert measures[f"shd_{moment}"] == shd(estimate, truth.to_frame(moment))
        assert measures[f"expected_shd_{moment}"] == expected_shd(posterior, truth, moment=moment)
        p = posterior.edge_probabilities(moment)
        assert measures[f"brier_{moment}"] == brier_score(p, truth.to_frame(moment))
    assert measures["gram_units"] == pytest.approx(outcome.seconds / measures["gram_seconds"])
    assert np.isfinite(measures["score"])


def test_the_found_order_is_compared_with_the_true_one(outcome):
    # Hundreds of nats would part the two if they were scored on different footings.
    assert -5 <= outcome.measures["order_gap"] < 50
    assert outcome.measures["order_found"] == 1


def test_calibration_is_pooled_over_runs(tmp_path, outcome, fitted):
    posterior, truth = fitted
    store, study = Store(tmp_path, n_draws=60, options=REDUCED), STUDIES["calibration"]
    for number in range(2):  # the same run twice: pooled, nothing changes
        store.add(CASE, store.record(CASE, "evidence", number, outcome))
    summary, bins = (view_table(study, view, store) for view in study.views)
    for moment, row in zip(("mean", "variance"), summary.rows, strict=True):
        p, true = posterior.edge_probabilities(moment), truth.to_frame(moment)
        expected = expected_calibration_error(p, true), brier_score(p, true)
        assert row == (moment, "2", *(f"{value:.4f}" for value in expected))
    assert sum(int(row[1]) for row in bins.rows) == 2 * 20
    assert sum(int(row[4]) for row in bins.rows) == 2 * 20


def test_the_quick_look_measures_real_fits(tmp_path, complete, console):
    look = recovery("linear-anm-2", "look")
    study = STUDIES["look"]
    view = replace(study.views[0], cases=(look,))
    study = replace(study, views=(view,), quick=(look.name,), on_request=("variational",))
    assert complete([study], tmp_path, n_sets=2) == 0
    for run in Store(tmp_path, quick=True).records(look, "evidence"):
        assert run.seconds > 0
        assert 0 <= run.measures["expected_shd_mean"] <= 1  # of two variables, one edge at most
    assert "linear-anm-2" in console.file.getvalue()
