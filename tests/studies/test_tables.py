import math
from dataclasses import replace

import pytest
from studies.store import Record
from studies.study import Metric
from studies.tables import Summary, Table, summarise

METRIC = Metric("x", "X", "lower")


def record(number, value=None):
    if value is None:
        return Record("case", "mc3", number, "", 1, status="failed: why")
    return Record("case", "mc3", number, "", 1, {"x": value})


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


@pytest.mark.parametrize(
    ("summary", "shown"),
    [("share", "2 of 3"), ("median", "1.0"), ("largest", "5.0"), ("smallest", "0.0")],
)
def test_other_summaries(summary, shown):
    metric = replace(METRIC, summary=summary, digits=1)
    assert (
        summarise([record(k, x) for k, x in enumerate((0.0, 5.0, 1.0))], metric).shown(1) == shown
    )


def test_a_note_stands_below():
    table = Table("title", ("", "a"), (("mc3", "1 ± 2"),), note="Why.")
    assert table.to_markdown().splitlines()[-3:] == ["| mc3 | 1\u00a0±\u00a02 |", "", "Why."]
    assert table.to_rich().caption == "Why."
