import numpy as np
import pytest

from momentdag.effects.inputs import consensus_pair
from momentdag.engines.evidence.engine import EvidenceEngine
from momentdag.report import checks
from momentdag.screening import criticism_text
from momentdag.table import Dataset


def test_the_criticism_holds_what_its_plots_need(fit, data):
    shown = np.arange(0, 200, 10)
    criticism, content = checks.criticise_fit(
        fit, Dataset.from_table(data), consensus_pair(fit), shown
    )
    assert [row["variable"] for row in content.rows] == list(data.columns)
    for k, name in enumerate(data.columns):
        quantiles = content.quantiles[k]
        assert np.all(np.diff(quantiles) >= 0)
        residual = criticism.residuals.standardised[name]
        assert (quantiles[0], quantiles[-1]) == (residual.min(), residual.max())
        # A density over the unit interval, up to rounding.
        assert np.mean(content.bins[k]) == pytest.approx(1)
    assert np.array_equal(content.values, data.to_numpy()[shown])
    n_found = sum(len(group.findings) for group in content.groups)
    assert n_found == len(criticism_text.findings(criticism))
    assert content.score.startswith("Log score per row")


def test_the_screen_finds_the_spread_that_changes_without_a_second_fit(fit, data, monkeypatch):
    monkeypatch.setattr(EvidenceEngine, "fit", None)  # calling it would fail
    screening, content = checks.screen_data(fit, Dataset.from_table(data), consensus_pair(fit))
    assert screening.variables == (data.columns[2],)
    assert [row["variable"] for row in content.rows if row["heteroscedastic"]] == [data.columns[2]]
    assert len(content.sentences) == 2 + len(data.columns)


def test_a_family_without_mechanisms_is_screened_by_a_quick_search(linear, data):
    screening, _ = checks.screen_data(linear, Dataset.from_table(data), consensus_pair(linear))
    assert not screening.from_fit
    assert screening.variables == (data.columns[2],)


def test_many_variables_are_not_screened(fit):
    wide = np.random.default_rng(0).normal(size=(210, 21))
    assert checks.screen_data(fit, Dataset.from_table(wide), consensus_pair(fit)) is None
