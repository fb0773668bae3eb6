import numpy as np
import pytest

import momentdag as md
from momentdag.report.variables import Effort, describe_variables
from momentdag.table import Dataset

QUICK = Effort(n_draws=8, n_rows=32, n_shown=20)


def test_levers_parts_and_parents(fit, data):
    dose, _, target = describe_variables(fit, data.to_numpy(), np.arange(20), QUICK)
    by_lever = {row["levers"]: row for row in target.levers}
    assert set(by_lever) == {"dose", "stress"}
    assert by_lever["stress"]["variance_ratio"] < 1
    assert by_lever["stress"]["p_variance_only"] > 0.7  # 200 rows, and some doubt of the model
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
    causes = fit.posterior_.edge_probabilities("either")["stress"]
    assert causes.max() < 0.5


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


@pytest.fixture(scope="module")
def mixed_variables(mixed_fit, mixed_data):
    described = describe_variables(mixed_fit, mixed_data.values, np.arange(20), QUICK)
    return dict(zip(mixed_data.names, described, strict=True))


def test_a_binary_variable_is_told_by_its_probability(mixed_variables):
    passed = mixed_variables["passed"]
    assert (passed.kind, passed.form) == ("binary", "probability")
    assert passed.label == "P(passed = yes)"
    assert [one["level"] for one in passed.levels] == ["no", "yes"]
    assert sum(one["share"] for one in passed.levels) == pytest.approx(1)
    assert "variance follows from its mean" in passed.notes[0]
    assert passed.levers is None
    # A binary variable has no scale that causes could move.
    assert {part.part for part in passed.parts} <= {"own noise", "mean"}
    assert sum(part.share for part in passed.parts) == pytest.approx(1, abs=0.03)


def test_a_category_has_no_variance_to_split(mixed_variables):
    outcome = mixed_variables["outcome"]
    assert (outcome.kind, outcome.form) == ("category", "shares")
    assert outcome.parts is None
    assert outcome.levers is None
    assert "no mean and no variance" in outcome.notes[0]
    assert {one["level"] for one in outcome.levels} == {"keep", "rework", "scrap"}


def test_settings_of_levers_are_names_of_levels(mixed_variables):
    thickness = mixed_variables["thickness"]
    settings = [row["setting"] for row in thickness.levers if row["levers"] == "machine"]
    assert settings
    assert settings[0] in ("machine=M1", "machine=M2", "machine=M3")
    assert (thickness.step, thickness.notes) == (None, [])
    assert mixed_variables["defects"].step == 1.0


def test_nobody_can_set_a_date():
    rng = np.random.default_rng(0)
    day, x = np.sort(rng.uniform(0, 90, 200)), rng.normal(size=200)
    y = 3 * np.sin(day / 15) + x + 0.5 * rng.normal(size=200)
    dataset = Dataset(np.column_stack([day, x, y]), ["day", "x", "y"], {"day": "time"})
    knowledge = md.Knowledge(tiers=[["day", "x"], ["y"]])
    fit = md.MomentDAG(n_draws=100, random_state=0, knowledge=knowledge).fit(dataset)
    effect = describe_variables(fit, dataset.values, np.arange(20), QUICK)[2]
    assert effect.parent_sets[0]["mean"] == ["day", "x"]
    assert [row["levers"] for row in effect.levers] == ["x"]
