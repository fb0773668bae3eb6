import numpy as np
import pytest

from momentdag.engines.region import Region


@pytest.fixture
def sheet():
    """Three inputs of which the third is nearly the sum of the others."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    return np.column_stack([a, b, a + b + 0.01 * rng.normal(size=500)])


def test_training_rows_stay_where_they_are(sheet):
    region = Region(sheet)
    np.testing.assert_allclose(region.clamp(sheet.copy()), sheet, atol=1e-12)
    assert not region.outside(sheet).any()


def test_beyond_the_range_an_input_counts_as_the_edge():
    region = Region(np.linspace(-1, 2, 50)[:, None])
    assert region.clamp(np.array([[-5.0], [0.3], [9.0]])).ravel().tolist() == [-1.0, 0.3, 2.0]
    # A little beyond is what noise does.
    assert region.outside(np.array([[-5.0], [-1.1], [2.2], [9.0]])).tolist() == [
        True,
        False,
        False,
        True,
    ]


def test_combinations_that_never_occurred_are_moved_to_those_that_did(sheet):
    region = Region(sheet)
    # Each value is well within its range, the combination is far off the sheet.
    off = np.array([[1.0, 1.0, -1.0]])
    assert region.outside(off).all()
    moved = region.clamp(off.copy())[0]
    assert abs(moved[2] - moved[0] - moved[1]) < 0.1
    box = Region(sheet, is_joint=False)
    np.testing.assert_array_equal(box.clamp(off.copy()), off)


def test_few_distinct_rows_and_copies_are_no_trouble():
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0)
    clamped = Region(rows).clamp(np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 1.0]]))
    assert np.isfinite(clamped).all()
    assert clamped[2].tolist() == pytest.approx([1.0, 1.0])
    alone = Region(np.zeros((5, 2))).clamp(np.array([[3.0, -1.0]]))
    assert alone.tolist() == [[0.0, 0.0]]


def test_inputs_that_fill_their_box_are_not_looked_up(sheet):
    rng = np.random.default_rng(1)
    assert Region(rng.normal(size=(500, 3))).fills_box
    assert not Region(sheet).fills_box
    # Uncorrelated, and yet most combinations never occur.
    x = rng.normal(size=500)
    assert not Region(np.column_stack([x, x * x + 0.1 * rng.normal(size=500)])).fills_box
