import numpy as np
from scipy.special import ndtri

from momentdag.engines.evidence.local.inputs import RankScale, as_features


def test_as_features_are_quantiles_of_mean_ranks():
    column = np.array([3.0, 1.0, 2.0, 2.0])
    scale = RankScale.of(column)
    np.testing.assert_allclose(scale(column), ndtri([0.875, 0.125, 0.5, 0.5]))
    np.testing.assert_allclose(scale(np.array([-9.0, 9.0])), ndtri([0.125, 0.875]))


def test_between_levels_scores_are_between_theirs():
    scale = RankScale.of(np.repeat([0.0, 1.0], [30, 70]))
    low, quarter, high = scale(np.array([0.0, 0.25, 1.0]))
    assert quarter == low + 0.25 * (high - low)
    # What differs from a level in its last bits has the level's score.
    np.testing.assert_allclose(scale(np.array([1.0 - 1e-15])), high, atol=1e-12)


def test_each_column_has_its_scale():
    values = np.random.default_rng(0).normal(size=(50, 2)) * [1, 5]
    scales = [RankScale.of(column) for column in values.T]
    scores = as_features(values, scales)
    np.testing.assert_array_equal(scores[:, 1], scales[1](values[:, 1]))
