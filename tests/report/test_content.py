import numpy as np

from momentdag.report.content import _rows_to_check
from momentdag.table import Dataset


def test_a_long_table_is_checked_in_part():
    rng = np.random.default_rng(0)
    long = Dataset(rng.normal(size=(6000, 2)), ["a", "b"])
    part = _rows_to_check(long)
    assert (part.n_samples, part.names) == (2000, long.names)
    assert set(part.values[:, 0]) <= set(long.values[:, 0])
    assert _rows_to_check(part) is part


def test_a_column_that_moves_in_one_row_only_is_not_lost():
    values = np.random.default_rng(0).normal(size=(50_000, 2))
    values[:, 1] = 0.0
    values[17, 1] = 1.0
    rare = Dataset(values, ["a", "b"])
    assert _rows_to_check(rare) is rare
