import numpy as np
import pytest

import momentdag as md
from momentdag.data import Dataset
from momentdag.report.assumptions import judge_assumptions, lag_correlation
from momentdag.report.convergence import check_convergence


def verdicts(found):
    return {one.title: one.verdict for one in found}


def test_a_good_fit_raises_no_doubt_that_it_should_not(fit, data):
    criticism = md.screening.criticise(fit, data, n_draws=10)
    screening = md.screening.heteroscedasticity(data)
    convergence = check_convergence(fit.posterior_)
    found = judge_assumptions(Dataset.from_table(data), convergence, screening, criticism)
    said = verdicts(found)
    assert said["No cycles"] == "cannot be checked"
    assert said["No unmeasured common causes"] == "cannot be checked"
    assert said["Rows stand alone"] == "looks fine"
    assert said["Some spread changes"] == "looks fine"
    assert said["Mean and spread say it all"] == "looks fine"
    # Both roots are uniform, which is far from Gaussian.
    assert said["Gaussian noise"] == "doubtful"


def test_drifting_rows_are_found(fit, data):
    drifting = data.sort_values("dose")  # same rows, telling order
    criticism = md.screening.criticise(fit, drifting, n_draws=5)
    dataset = Dataset.from_table(drifting)
    found = judge_assumptions(dataset, check_convergence(fit.posterior_), None, criticism)
    rows = next(one for one in found if one.title == "Rows stand alone")
    assert rows.verdict == "doubtful"
    assert "Residuals of dose" in rows.because


def test_what_was_not_worked_out_is_not_judged(fit, data):
    dataset = Dataset.from_table(data)
    found = judge_assumptions(dataset, check_convergence(fit.posterior_), None, None)
    said = verdicts(found)
    for title in ("Rows stand alone", "Some spread changes", "Gaussian noise"):
        assert said[title] == "not checked"


def test_a_hidden_cause_raises_doubt():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=200)
    X = np.column_stack([hidden + 0.3 * rng.normal(size=200), hidden + 0.3 * rng.normal(size=200)])
    forbidden = md.Knowledge(forbidden=[("x1", "x2"), ("x2", "x1")])
    fit = md.MomentDAG(n_draws=100, random_state=0, knowledge=forbidden).fit(X)
    criticism = md.screening.criticise(fit, X, n_draws=5)
    convergence = check_convergence(fit.posterior_)
    found = judge_assumptions(Dataset.from_table(X), convergence, None, criticism)
    assert found[0].verdict == "doubtful"
    assert "x1 and x2" in found[0].because


@pytest.mark.filterwarnings("ignore::momentdag.errors.DataWarning")
def test_few_rows_raise_doubt(fit):
    few = Dataset.from_table(np.random.default_rng(0).normal(size=(40, 5)))
    found = judge_assumptions(few, check_convergence(fit.posterior_), None, None)
    assert verdicts(found)["Enough rows for free functions"] == "doubtful"


@pytest.mark.parametrize("seed", range(3))
def test_independent_rows_show_no_lag_correlation(seed):
    _, _, p_value = lag_correlation(np.random.default_rng(seed).normal(size=(300, 10)))
    assert p_value > 0.01
