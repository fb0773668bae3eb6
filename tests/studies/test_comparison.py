import math

import pytest
from scipy.stats import ttest_ind_from_stats
from studies.comparison import (
    Compared,
    Printed,
    comparison_table,
    read_printed,
    verdict,
    verdict_tables,
)
from studies.tables import Summary

from momentdag.errors import OptionError


@pytest.mark.parametrize(
    ("ours", "paper", "better", "said"),
    [
        (Summary(1.0, 0.1, 20), Printed(2.0, 0.1, 0.05), "lower", "ours is better"),
        (Summary(1.0, 0.1, 20), Printed(2.0, 0.1, 0.05), "higher", "the paper's is better"),
        (Summary(3.0, 0.1, 20), Printed(2.0, 0.1, 0.05), "lower", "the paper's is better"),
        (Summary(0.1, 0.0, 20), Printed(0.6, 0.0, 0.05), "neither", "ours is smaller"),
        (Summary(0.1, 0.0, 20), Printed(0.0, 0.0, 0.05), "neither", "ours is larger"),
        # Whatever was printed as 0.01 may have been 0.0149.
        (Summary(0.0149, 0.0, 20), read_printed("0.01 ± 0.00"), "lower", "no clear difference"),
        (Summary(9.0, math.nan, 1), Printed(2.0, 1.0, 0.05), "lower", "too few sets to say"),
    ],
)
def test_verdicts(ours, paper, better, said):
    assert verdict(ours, paper, better) == said


@pytest.mark.parametrize("n", [2, 5, 20])
@pytest.mark.parametrize("shift", [0.3, 0.6, 0.7, 1.0, 3.0])
def test_a_verdict_is_that_of_welch(n, shift):
    ours, paper = Summary(2.0 + shift, 1.0, n), Printed(2.0, 0.5, 0.0)
    p_value = ttest_ind_from_stats(*ours[:3], *paper[:2], 20, equal_var=False).pvalue
    differs = verdict(ours, paper, "lower") == "the paper's is better"
    assert differs == (p_value < 0.05)


@pytest.mark.parametrize("cell", ["about 3", "2.1", ""])
def test_only_mean_and_sd_are_read(cell):
    with pytest.raises(OptionError, match="mean ± sd"):
        read_printed(cell)


def test_verdicts_are_counted_for_each_table_and_method():
    def compared(view, method, quantity, said, ratio=1.0):
        return Compared("a", view, quantity, method, "1 ± 1", "2 ± 1", said, ratio)

    all_of_them = [
        compared("17", "MC3", "SHD", "ours is better", 2.0),
        compared("17", "DDS", "SHD", "no clear difference", 9.0),
        compared("17", "MC3", "F1", "ours is better", 3.0),
        compared("20", "MC3", "SHD", "no clear difference"),
    ]
    assert len(comparison_table(all_of_them).rows) == 4
    first, second = verdict_tables(all_of_them)
    assert (first.title, second.title) == ("a, 17", "a, 20")
    assert first.columns[:3] == ("method", "ours is better", "no clear difference")
    assert first.rows == (
        ("MC3", "2", "", "F1: 1 ± 1, paper 2 ± 1"),
        ("DDS", "", "1", ""),
    )
    assert second.columns == ("method", "no clear difference", "furthest apart")
    assert second.rows == (("MC3", "1", ""),)
