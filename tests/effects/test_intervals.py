"""Weighted summaries against unweighted ones of repeated answers."""

import numpy as np
import pytest

from momentdag.effects.intervals import check_level, summarise, weighted_quantiles
from momentdag.errors import OptionError


def test_equal_weights_give_the_usual_quantiles():
    answers = np.random.default_rng(0).standard_normal((101, 2, 3))
    found = weighted_quantiles(answers, np.full(101, 1 / 101), (0.05, 0.5, 0.95))
    usual = np.quantile(answers, [0.05, 0.5, 0.95], axis=0, method="weibull")
    np.testing.assert_allclose(found, usual, rtol=1e-12)


def test_few_answers_still_give_intervals_that_cover():
    rng = np.random.default_rng(1)
    answers, one_more = rng.standard_normal((39, 20_000)), rng.standard_normal(20_000)
    _, low, high = summarise(answers, np.full(39, 1 / 39), 0.9)
    covered = float(np.mean((low <= one_more) & (one_more <= high)))
    # Three standard errors of a share over 20 000; the usual rule would cover 87.8 %.
    assert covered == pytest.approx(0.9, abs=0.0065)


def test_a_weight_counts_like_that_many_answers():
    answers = np.array([3.0, -1.0, 7.0])
    weights = np.array([1, 6, 3]) / 10
    summary = summarise(answers, weights, 0.5)
    repeated = np.repeat(answers, [1, 6, 3])
    assert summary.mean == pytest.approx(repeated.mean())
    assert summary.low == -1.0  # the lower quarter is all -1
    assert 3.0 < summary.high < 7.0


def test_levels_are_probabilities():
    for level in (0.0, 1.0, 90.0):
        with pytest.raises(OptionError, match="level"):
            check_level(level)
