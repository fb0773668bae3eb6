import numpy as np
import pytest

import momentdag as md
from momentdag.report.assumptions import judge_assumptions, lag_correlation
from momentdag.report.convergence import check_convergence
from momentdag.table import Dataset


def verdicts(assumptions):
    return {one.title: one.verdict for one in assumptions}


def test_a_good_fit_raises_no_doubt_that_it_should_not(fit, data):
    criticism = md.screening.criticise(fit, data, n_draws=10)
    screening = md.screening.heteroscedasticity(data, model=fit)
    convergence = check_convergence(fit.posterior_)
    verdict = verdicts(
        judge_assumptions(Dataset.from_table(data), convergence, screening, criticism)
    )
    assert verdict["No cycles"] == "cannot be checked"
    assert verdict["No unmeasured common causes"] == "cannot be checked"
    assert verdict["Independent rows"] == "looks fine"
    assert verdict["Some spread changes"] == "looks fine"
    assert verdict["Only mean and spread change"] == "looks fine"
    # Both roots are uniform, which is far from Gaussian.
    assert verdict["Gaussian noise"] == "doubtful"


def test_drifting_rows_are_found(fit, data):
    drifting = data.sort_values("dose")  # the same rows in an informative order
    criticism = md.screening.criticise(fit, drifting, n_draws=5)
    dataset = Dataset.from_table(drifting)
    assumptions = judge_assumptions(dataset, check_convergence(fit.posterior_), None, criticism)
    rows = next(one for one in assumptions if one.title == "Independent rows")
    assert rows.verdict == "doubtful"
    assert "Residuals of dose" in rows.reason


def test_what_was_not_computed_is_not_judged(fit, data):
    dataset = Dataset.from_table(data)
    verdict = verdicts(judge_assumptions(dataset, check_convergence(fit.posterior_), None, None))
    for title in ("Independent rows", "Some spread changes", "Gaussian noise"):
        assert verdict[title] == "not checked"


def test_a_hidden_cause_raises_doubt():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=200)
    X = np.column_stack([hidden + 0.3 * rng.normal(size=200), hidden + 0.3 * rng.normal(size=200)])
    forbidden = md.Knowledge(forbidden=[("x1", "x2"), ("x2", "x1")])
    fit = md.MomentDAG(n_draws=100, random_state=0, knowledge=forbidden).fit(X)
    criticism = md.screening.criticise(fit, X, n_draws=5)
    convergence = check_convergence(fit.posterior_)
    hidden_causes = judge_assumptions(Dataset.from_table(X), convergence, None, criticism)[0]
    assert hidden_causes.verdict == "doubtful"
    assert "x1 and x2" in hidden_causes.reason


@pytest.mark.filterwarnings("ignore::momentdag.errors.DataWarning")
def test_few_rows_raise_doubt(fit):
    few = Dataset.from_table(np.random.default_rng(0).normal(size=(40, 5)))
    verdict = verdicts(judge_assumptions(few, check_convergence(fit.posterior_), None, None))
    assert verdict["Enough rows for free functions"] == "doubtful"


@pytest.mark.parametrize("seed", range(3))
def test_independent_rows_show_no_lag_correlation(seed):
    _, _, p_value = lag_correlation(np.random.default_rng(seed).normal(size=(300, 10)))
    assert p_value > 0.01


def test_levels_raise_no_doubt_about_their_noise(mixed_fit, mixed_data):
    criticism = md.screening.criticise(mixed_fit, mixed_data, n_draws=5)
    convergence = check_convergence(mixed_fit.posterior_)
    screening = md.screening.heteroscedasticity(mixed_data, model=mixed_fit)
    assumptions = judge_assumptions(mixed_data, convergence, screening, criticism)
    by_title = {one.title: one for one in assumptions}
    kinds = by_title["Columns are what they are taken for"]
    assert kinds.verdict == "looks fine", kinds.reason
    assert "2 category" in kinds.reason
    noise = by_title["Gaussian noise"].reason
    assert not any(name in noise for name in ("passed", "machine", "outcome", "rating"))


def test_rows_in_the_order_of_their_time_are_no_drift():
    rng = np.random.default_rng(0)
    day, x = np.sort(rng.uniform(0, 90, 150)), rng.normal(size=150)
    kinds = ["time", "continuous"]
    dataset = Dataset(np.column_stack([day, x]), ["day", "x"], kinds)
    fit = md.MomentDAG(n_draws=100, random_state=0).fit(dataset)
    criticism = md.screening.criticise(fit, dataset, n_draws=5)
    assumptions = judge_assumptions(dataset, check_convergence(fit.posterior_), None, criticism)
    rows = next(one for one in assumptions if one.title == "Independent rows")
    assert rows.verdict == "looks fine", rows.reason
    assert "Residuals of x" in rows.reason
