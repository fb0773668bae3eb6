import math

from momentdag.experiments.experiment import Metric
from momentdag.experiments.store import Record
from momentdag.experiments.tables import Summary, Table, summarise

METRIC = Metric("x", "X", "lower")


def record(number, value=None):
    if value is None:
        return Record("case", "mc3", number, status="failed", reason="why")
    return Record("case", "mc3", number, {"x": value})


def test_failed_runs_do_not_count_but_show():
    summary = summarise([record(0, 1.0), record(1, 3.0), record(2)], METRIC)
    assert (summary.mean, summary.n, summary.n_failed) == (2.0, 2, 1)
    assert math.isclose(summary.sd, math.sqrt(2))
    assert summary.shown(2) == "2.00 ± 1.41 (1 failed)"


def test_cells_say_how_much_there_is():
    assert summarise([], METRIC).shown(2) == "·"
    assert summarise([record(0)], METRIC).shown(2) == "(1 failed)"
    assert Summary(1.25, math.nan, 1).shown(1) == "1.2"
    assert Summary(1.25, 0.5, 2).shown(1, n_usual=10) == "1.2 ± 0.5 [2]"
    assert Summary(1.25, 0.5, 10).shown(1, n_usual=10) == "1.2 ± 0.5"


def test_markdown_has_a_line_for_each_row():
    table = Table("title", ("", "a"), (("mc3", "1"), ("dds", "2")))
    assert table.to_markdown().splitlines() == [
        "|  | a |",
        "| --- | ---: |",
        "| mc3 | 1 |",
        "| dds | 2 |",
    ]
