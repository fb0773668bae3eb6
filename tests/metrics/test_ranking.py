import numpy as np
import pandas as pd
import pytest

from momentdag.errors import DataError, GraphError
from momentdag.metrics import auprc, auroc

NAMES = ["a", "b", "c"]
TRUTH = pd.DataFrame([[0, 1, 1], [0, 0, 0], [0, 0, 0]], index=NAMES, columns=NAMES)
# Off-diagonal ranking: a>b .9 (true), b>c .8, a>c .7 (true), then .3, .2, .1.
SCORES = pd.DataFrame(
    [[0.0, 0.9, 0.7], [0.3, 0.0, 0.8], [0.2, 0.1, 0.0]], index=NAMES, columns=NAMES
)


def test_areas_counted_by_hand():
    # Of 2 x 4 (true, absent) pairs only (a>c, b>c) is misordered.
    assert auroc(SCORES, TRUTH) == 7 / 8
    # Precision 1 at the first true edge, 2/3 at the second, each worth half the recall; the
    # tolerance allows for another order of summation.
    assert auprc(SCORES, TRUTH) == pytest.approx((1 + 2 / 3) / 2, abs=1e-12)


def test_ties_count_half():
    assert auroc(np.full((3, 3), 0.5), TRUTH) == 0.5


def test_labels_are_matched_by_name_in_rows_and_columns():
    shuffled = SCORES.loc[["b", "c", "a"], ["c", "a", "b"]]
    assert auroc(shuffled, TRUTH) == 7 / 8
    assert auroc(SCORES, TRUTH.loc[["c", "a", "b"], ["b", "a", "c"]]) == 7 / 8
    with pytest.raises(GraphError, match="not shared"):
        auroc(SCORES.rename(index={"a": "x"}, columns={"a": "x"}), TRUTH)


def test_the_diagonal_does_not_matter():
    scores = SCORES.to_numpy().copy()
    np.fill_diagonal(scores, np.nan)
    assert auroc(scores, TRUTH) == 7 / 8


def test_vectors_pool_pairs():
    off = ~np.eye(3, dtype=bool)
    assert auroc(SCORES.to_numpy()[off], TRUTH.to_numpy()[off]) == 7 / 8


@pytest.mark.parametrize("metric", [auroc, auprc])
def test_undefined_rankings_are_refused(metric):
    with pytest.raises(GraphError, match="0 edges among 6 pairs"):
        metric(SCORES, np.zeros((3, 3)))
    with pytest.raises(GraphError, match="2 edges among 2 pairs"):
        metric([0.1, 0.2], [1, 1])


@pytest.mark.parametrize(
    ("scores", "truth", "message"),
    [
        (np.full((3, 3), np.nan), TRUTH, "missing or infinite"),
        (np.zeros((3, 2)), TRUTH, "shape"),
        ([["x", "y"], ["z", "w"]], np.zeros((2, 2)), "numbers"),
        ([0.1, 0.2], [1, 0, 1], "shape"),
        ([0.1, 0.2], [1, 0.5], "0 and 1"),
        ([], [], "at least one pair"),
    ],
)
def test_malformed_scores_are_refused(scores, truth, message):
    with pytest.raises(DataError, match=message):
        auroc(scores, truth)


def test_scores_whose_index_and_columns_disagree_are_refused():
    with pytest.raises(GraphError, match="same unique names"):
        auroc(SCORES.rename(index={"a": "x"}), TRUTH)
