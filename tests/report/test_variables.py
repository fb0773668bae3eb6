import numpy as np
import pytest

from momentdag.report.variables import Effort, describe_variables

QUICK = Effort(n_draws=8, n_rows=32, n_shown=20)


def test_levers_parts_and_parents(fit, data):
    dose, stress, target = describe_variables(fit, data.to_numpy(), np.arange(20), QUICK)
    by_lever = {row["levers"]: row for row in target.levers}
    assert set(by_lever) == {"dose", "stress"}
    assert by_lever["stress"]["variance_ratio"] < 1
    assert by_lever["stress"]["p_variance_only"] > 0.9
    # The level of the variance cause matters, so it comes first.
    assert target.levers[0]["levers"] == "stress"
    assert by_lever["stress"]["ratio_by_level"] < 0.9
    assert by_lever["dose"]["p_variance_only"] < 0.1
    assert target.tolerance.startswith(f"{0.1 * fit.summary_['sd'].iloc[2]:.4g} (")
    assert target.recommendation.startswith("Set stress to ")
    assert sum(part.share for part in target.parts) == pytest.approx(1, abs=0.02)  # 0.5 % left out
    assert target.parent_sets[0]["mean"] == ["dose"]
    assert target.parent_sets[0]["variance"] == ["stress"]
    assert target.has_causes
    assert not dose.curves
    assert dose.levers is None
    assert not stress.has_causes


def test_the_budget_is_kept(fit, data):
    none = Effort(n_draws=8, n_rows=32, n_lever_searches=1, n_parts=1)
    target = describe_variables(fit, data.to_numpy(), np.arange(5), none)[2]
    assert target.has_causes
    assert target.levers is None
    assert target.parts is None


def test_a_family_without_functions_has_no_curves_and_levers(linear, data):
    assert linear.scm_ is None
    for variable in describe_variables(linear, data.to_numpy(), np.arange(5), QUICK):
        assert (variable.curves, variable.levers, variable.parts) == ([], None, None)
