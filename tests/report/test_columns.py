import numpy as np

from momentdag.report.columns import describe_columns
from momentdag.table import Dataset


def test_without_an_account_the_kinds_are_told(mixed_fit, mixed_data):
    content = describe_columns(mixed_fit.result_.observed, mixed_data, None)
    assert not content.is_recorded
    assert [row.column for row in content.rows] == list(mixed_data.names)
    rows = {row.column: row for row in content.rows}
    assert rows["passed"].kind == "binary"
    assert rows["passed"].done == "used; levels no, yes"
    assert rows["defects"].done == "used"


def test_an_account_is_told_as_it_is():
    values = np.random.default_rng(0).lognormal(size=(50, 3))
    values[3:5, 1] = np.nan
    logs = np.column_stack([np.log(values[:, 0]), values[:, 1:]])
    kinds = ["continuous", "continuous", "ordered"]
    dataset = Dataset(logs, ["income", "age", "day hour"], kinds, allow_missing=True)
    account = [
        {"column": "id", "kind": "identifier", "action": "leave out", "why": "It runs from 1."},
        {"column": "income", "kind": "continuous", "action": "keep", "why": "Many values."},
        {"column": "age", "kind": "continuous", "action": "keep", "why": "Many values."},
        {"column": "", "kind": "", "action": "note", "why": "2 cells are missing."},
    ]
    content = describe_columns(dataset.observe(("income",)), dataset, account)
    assert content.is_recorded
    assert content.notes == ["2 cells are missing."]
    told = {row.column: (row.kind, row.done, row.why, row.is_used) for row in content.rows}
    assert told["id"] == ("identifier", "left out", "It runs from 1.", False)
    assert told["income"][1] == "used; its logarithm was fitted"
    assert told["age"][1] == "used; 2 missing cells drawn by the model"
    assert told["day hour"] == ("ordered", "used", "Made of a date.", True)
