from dataclasses import replace

import numpy as np
import pytest

from momentdag.effects.inputs import consensus_pair
from momentdag.report.curves import draw_mechanisms, parent_curves


def curves_of(fit, data, name, n_draws=30):
    draws = draw_mechanisms(np.random.default_rng(0), fit.scm_, fit.posterior_, n_draws)
    drawn = [draw[name] for draw in draws]
    values, consensus = data.to_numpy(), consensus_pair(fit)
    mechanism = fit.scm_.mean_functions(consensus)[name]
    observed = fit.result_.observed
    curves = parent_curves(consensus, name, mechanism, drawn, observed, values, values[:50])
    return {data.columns[curve.parent]: curve for curve in curves}


def test_curves_follow_the_truth(fit, data):
    curves = curves_of(fit, data, data.columns[2])
    assert set(curves) == {"dose", "stress"}
    dose, stress = curves["dose"], curves["stress"]
    truth = 20 + 3 * np.sin(dose.grid)
    # The sd of the estimate is near 1.2 / sqrt(200 / 6 free parameters) = 0.2; three of them.
    assert np.abs(dose.mean.middle - truth).max() < 0.6
    spread = np.exp(0.7 * stress.grid)
    # A log sd from 200 rows, six free parameters: sd near 0.12, more at the edges; three of them.
    assert np.abs(np.log(stress.sd.middle / spread)).max() < 0.45
    for curve in curves.values():
        assert np.all(curve.mean.low <= curve.mean.high)
        assert np.all(curve.sd.low > 0)


def test_rows_keep_their_residuals_when_the_other_parents_go_to_their_medians(fit, data):
    name = data.columns[2]
    curve = curves_of(fit, data, name)["stress"]
    mechanism = fit.scm_.mean_functions(consensus_pair(fit))[name]
    rows = data.to_numpy()[:50]
    mean, sd = mechanism.moments(rows)
    at = np.column_stack([np.full(50, data["dose"].median()), rows[:, 1], rows[:, 2]])
    mean_there, sd_there = mechanism.moments(at)
    residual = (rows[:, 2] - mean) / sd
    np.testing.assert_allclose((curve.adjusted - mean_there) / sd_there, residual, rtol=1e-9)
    np.testing.assert_allclose(curve.deviation, np.abs(curve.adjusted - mean_there), rtol=1e-9)


@pytest.fixture(scope="module")
def mixed_curves(mixed_fit, mixed_data):
    frame = mixed_data.to_frame()
    return {name: curves_of(mixed_fit, frame, name) for name in ("passed", "outcome", "thickness")}


def test_a_binary_effect_is_a_probability_without_a_spread(mixed_curves, mixed_data):
    curves = mixed_curves["passed"]
    assert set(curves) == {"defects", "rating"}
    for curve in curves.values():
        assert curve.sd is None
        assert np.all((curve.mean.low >= 0) & (curve.mean.high <= 1))
        assert set(curve.adjusted) == {0.0, 1.0}  # the data as they are
        assert len(curve.deviation) == 0
    rating = curves["rating"]
    assert rating.ticks == ("1", "2", "3", "4", "5")
    assert np.all(np.diff(rating.mean.middle) > 0)  # better ratings pass more often
    np.testing.assert_array_equal(rating.rows, mixed_data.values[:50, 4] - 1)
    defects = curves["defects"]
    assert defects.ticks is None
    assert np.all(defects.grid == np.round(defects.grid))


def test_other_codes_than_0_and_1_are_rescaled_to_a_probability(mixed_fit, mixed_data):
    name = "passed"
    draws = draw_mechanisms(np.random.default_rng(0), mixed_fit.scm_, mixed_fit.posterior_, 5)
    observed = mixed_fit.result_.observed
    consensus = consensus_pair(mixed_fit)
    shifted = replace(observed, levels={**observed.levels, name: np.array([0.0, 2.0])})
    mechanism = mixed_fit.scm_.mean_functions(consensus)[name]
    values = mixed_data.values
    drawn = [draw[name] for draw in draws]
    rows = values[:20]
    one = parent_curves(consensus, name, mechanism, drawn, observed, values, rows)[0]
    half = parent_curves(consensus, name, mechanism, drawn, shifted, values, rows)[0]
    np.testing.assert_allclose(half.mean.middle, one.mean.middle / 2)


def test_a_category_has_the_probability_of_each_level(mixed_curves, mixed_data):
    machine = mixed_curves["outcome"]["machine"]
    assert (machine.mean, machine.sd) == (None, None)
    assert machine.ticks == ("M1", "M2", "M3")
    assert [share.level for share in machine.shares] == ["keep", "rework", "scrap"]
    total = sum(share.band.middle for share in machine.shares)
    np.testing.assert_allclose(total, 1)
    frame = mixed_data.to_frame()
    scrap = (frame["outcome"] == 2).groupby(frame["machine"]).mean()
    np.testing.assert_allclose(machine.shares[2].seen, scrap)
    temperature = mixed_curves["outcome"]["temperature"]
    assert temperature.ticks is None
    assert len(temperature.shares[0].seen) == 8
    rework = temperature.shares[1].band.middle
    assert rework[-1] > rework[0] + 0.5


def test_a_category_is_a_parent_at_its_levels(mixed_curves):
    curve = mixed_curves["thickness"]["machine"]
    assert curve.ticks == ("M1", "M2", "M3")
    # The standard error of a level's mean is near 0.16 / sqrt(100) = 0.016; five of them.
    np.testing.assert_allclose(curve.mean.middle, [1.6, 2.0, 2.5], atol=0.08)
    assert set(curve.rows) <= {0.0, 1.0, 2.0}


def test_missing_cells_are_not_shown(mixed_fit, mixed_data):
    frame = mixed_data.to_frame()
    frame.loc[:9, "rating"] = np.nan
    frame.loc[10:14, "outcome"] = np.nan
    assert len(curves_of(mixed_fit, frame, "passed")["rating"].rows) == 40
    assert np.isfinite(curves_of(mixed_fit, frame, "outcome")["machine"].shares[0].seen).all()
