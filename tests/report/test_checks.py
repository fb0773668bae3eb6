import numpy as np
import pytest

from momentdag.data import Dataset
from momentdag.report import checks
from momentdag.screening import words


def test_the_criticism_holds_what_its_plots_need(fit, data):
    shown = np.arange(0, 200, 10)
    criticism, content = checks.criticise_fit(fit, Dataset.from_table(data), shown)
    assert [row["variable"] for row in content.rows] == list(data.columns)
    for k, name in enumerate(data.columns):
        quantiles = content.quantiles[k]
        assert np.all(np.diff(quantiles) >= 0)
        residual = criticism.residuals.standardised[name]
        assert (quantiles[0], quantiles[-1]) == (residual.min(), residual.max())
        # A density over the unit interval, up to rounding.
        assert np.mean(content.bins[k]) == pytest.approx(1)
    assert np.array_equal(content.values, data.to_numpy()[shown])
    assert content.findings == list(words.findings(criticism))
    assert content.score.startswith("Log score per row")


def test_the_screen_finds_the_spread_that_changes(data):
    screening, content = checks.screen_data(Dataset.from_table(data), None)
    assert screening.variables == (data.columns[2],)
    assert [row["variable"] for row in content.rows if row["heteroscedastic"]] == [data.columns[2]]
    assert len(content.sentences) == 2 + len(data.columns)


def test_many_variables_are_not_screened():
    wide = np.random.default_rng(0).normal(size=(210, 21))
    assert checks.screen_data(Dataset.from_table(wide), None) is None
