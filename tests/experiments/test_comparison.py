import pytest

from momentdag.errors import OptionError
from momentdag.experiments.comparison import Printed, read_printed, verdict, verdict_table
from momentdag.experiments.tables import Summary, Table


@pytest.mark.parametrize(
    ("ours", "paper", "better", "said"),
    [
        (Summary(1.0, 0.1, 20), Printed(2.0, 0.1), "lower", "ours is better"),
        (Summary(1.0, 0.1, 20), Printed(2.0, 0.1), "higher", "the paper's is better"),
        (Summary(3.0, 0.1, 20), Printed(2.0, 0.1), "lower", "the paper's is better"),
        (Summary(0.1, 0.0, 20), Printed(0.6, 0.0), "neither", "ours is smaller"),
        # 2 standard errors of the difference are 2 sqrt(1/20 + 1/20) = 0.63.
        (Summary(2.6, 1.0, 20), Printed(2.0, 1.0), "lower", "no clear difference"),
        (Summary(2.7, 1.0, 20), Printed(2.0, 1.0), "lower", "the paper's is better"),
        (Summary(9.0, float("nan"), 1), Printed(2.0, 1.0), "lower", "too few sets to say"),
    ],
)
def test_verdicts(ours, paper, better, said):
    assert verdict(ours, paper, better) == said


def test_only_mean_and_sd_are_read():
    with pytest.raises(OptionError, match="about 3"):
        read_printed("about 3")


def test_verdicts_are_counted_for_each_experiment_and_method():
    def row(experiment, method, said):
        return (experiment, "SHD", method, "1 ± 1", "2 ± 1", said)

    columns = ("experiment", "quantity", "method", "ours", "paper", "verdict")
    rows = (
        row("a", "MC3", "ours is better"),
        row("a", "DDS", "no clear difference"),
        row("a", "MC3", "ours is better"),
        row("b", "MC3", "no clear difference"),
    )
    counts = verdict_table(Table("", columns, rows))
    assert counts.columns == ("experiment", "method", "ours is better", "no clear difference")
    assert counts.rows == (("a", "MC3", "2", "0"), ("a", "DDS", "0", "1"), ("b", "MC3", "0", "1"))
