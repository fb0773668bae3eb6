import numpy as np

from momentdag.effects.inputs import consensus_pair
from momentdag.report.curves import draw_mechanisms, parent_curves


def curves_of(fit, data, name, n_draws=30):
    draws = draw_mechanisms(np.random.default_rng(0), fit.scm_, fit.posterior_, n_draws)
    drawn = [draw[name] for draw in draws]
    values, consensus = data.to_numpy(), consensus_pair(fit)
    mechanism = fit.scm_.mean_functions(consensus)[name]
    curves = parent_curves(consensus, name, mechanism, drawn, values, values[:50])
    return {data.columns[curve.parent]: curve for curve in curves}


def test_curves_follow_the_truth(fit, data):
    curves = curves_of(fit, data, data.columns[2])
    assert set(curves) == {"dose", "stress"}
    dose, stress = curves["dose"], curves["stress"]
    truth = 20 + 3 * np.sin(dose.grid)
    # The sd of the estimate is near 1.2 / sqrt(200 / 6 free parameters) = 0.2; three of them.
    assert np.abs(dose.mean.middle - truth).max() < 0.6
    spread = np.exp(0.7 * stress.grid)
    # A log sd from 200 rows, six free parameters: sd near 0.12; three of them at the edges.
    assert np.abs(np.log(stress.sd.middle / spread)).max() < 0.36
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
