import numpy as np
import pytest

import momentdag as md
from momentdag.report.world import check_model
from momentdag.table import Dataset


def test_levels_have_shares_and_numbers_have_means(mixed_fit, mixed_data):
    content = check_model(mixed_fit, mixed_data)
    rows = {row["column"]: row for row in content.rows}
    assert rows["thickness"]["kind"] == "continuous"
    assert rows["thickness"]["level"] is None
    frame = mixed_data.to_frame()
    outcome = rows["outcome"]
    assert outcome["level"] == "rework"
    assert outcome["observed_share"] == pytest.approx((frame["outcome"] == 1).mean())
    # A share of 300 rows has a standard error of 0.03; three of them.
    assert outcome["modelled_share"] == pytest.approx(outcome["observed_share"], abs=0.09)
    assert rows["passed"]["level"] == "yes"
    assert rows["passed"]["modelled_share"] == pytest.approx(frame["passed"].mean(), abs=0.09)


def test_without_mechanisms_there_is_no_check(linear, data):
    assert check_model(linear, data) is None


def test_labels_that_never_occur_do_no_harm(tmp_path):
    rng = np.random.default_rng(0)
    day = rng.choice([0.0, 2.0, 3.0], 200, p=[0.1, 0.3, 0.6])
    values = np.column_stack([rng.normal(size=200), day])
    labels = {"day": ("Mon", "Tue", "Wed", "Thu")}
    dataset = Dataset(values, ["x", "day"], ["continuous", "category"], labels)
    quick = {"n_starts": 1, "n_kicks": 0, "n_inducing": 10, "noise": "gaussian"}
    fit = md.MomentDAG(n_draws=500, random_state=0, engine_options=quick).fit(dataset)
    row = check_model(fit, dataset).rows[1]
    assert row["level"] == "Thu"
    assert row["observed_share"] == pytest.approx((day == 3).mean())
    assert md.report.write_report(fit, dataset, tmp_path / "report.html").exists()
