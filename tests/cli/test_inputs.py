import numpy as np
import pytest

from momentdag.cli.inputs import (
    TableOptions,
    parse_costs,
    parse_limits,
    parse_names,
    parse_options,
    parse_settings,
    read_data,
    read_knowledge,
)
from momentdag.errors import DataError, OptionError


def test_columns_are_logged_on_request(csv, table):
    prepared = read_data(csv)
    assert prepared.log_columns == ()
    assert prepared.changes == ()
    # CSV keeps 17 digits, so that a number comes back as it was.
    np.testing.assert_array_equal(prepared.dataset.values, table.to_numpy())
    for options in (
        TableOptions(log_scale="dose, response"),
        TableOptions(transform=["dose=log", "response=log"]),
        TableOptions(log_scale="dose", transform=["response=log"]),
    ):
        prepared = read_data(csv, options)
        assert prepared.log_columns == ("dose", "response")
        np.testing.assert_array_equal(prepared.dataset.values[:, 0], np.log(table["dose"]))
        np.testing.assert_array_equal(prepared.dataset.values[:, 1], table["stress [%]"])
    assert read_data(csv, TableOptions(log_scale="all")).log_columns == tuple(table.columns)


def test_what_cannot_be_logged_is_refused(csv, table, tmp_path):
    with pytest.raises(OptionError, match="got 'nobody'"):
        read_data(csv, TableOptions(log_scale="dose,nobody"))
    table = table.assign(dose=table["dose"] - 1.5)
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match=r"t\.csv: expected positive values.*'dose' has"):
        read_data(tmp_path / "t.csv", TableOptions(log_scale="dose"))


@pytest.mark.parametrize("log_scale", [None, "all"])
def test_the_file_is_named_in_errors(tmp_path, log_scale):
    options = TableOptions(log_scale=log_scale)
    with pytest.raises(DataError, match=r"none\.csv: There is no file"):
        read_data(tmp_path / "none.csv", options)
    (tmp_path / "one.csv").write_text("a\n" + "\n".join(f"{k}.5" for k in range(40)))
    with pytest.raises(DataError, match=r"one\.csv: "):
        read_data(tmp_path / "one.csv", options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": "dose,nobody"}, "--columns .*'nobody'"),
        ({"drop": "nobody"}, "--drop .*'nobody'"),
        ({"kind": ["nobody=count"]}, "--kind .*'nobody'"),
        ({"kind": ["dose=colour"]}, "--kind .*'dose=colour'"),
        ({"kind": ["dose"]}, "--kind NAME=VALUE"),
        ({"transform": ["dose=sqrt"]}, "--transform .*'dose=sqrt'"),
        ({"recipe": "r.toml", "drop": "dose"}, "--recipe or --drop"),
        ({"recipe": "r.toml", "strict": True}, "--recipe or --strict"),
        ({"sheet": "first"}, "Excel workbook"),
    ],
    ids=str,
)
def test_options_at_fault(csv, options, message):
    with pytest.raises(OptionError, match=message):
        read_data(csv, TableOptions(**options))


def test_a_recipe_takes_the_place_of_the_options(csv, tmp_path):
    recipe = read_data(csv, TableOptions(transform=["dose=log"], drop="stress [%]")).recipe
    path = tmp_path / "r.toml"
    path.write_text(recipe.to_toml())
    prepared = read_data(csv, TableOptions(recipe=path))
    assert prepared.recipe == recipe
    assert prepared.log_columns == ("dose",)
    assert prepared.dataset.names == ("dose", "response")
    path.write_text("missing = 3")
    with pytest.raises(DataError, match=r"r\.toml: Recipe"):
        read_data(csv, TableOptions(recipe=path))
    with pytest.raises(DataError, match="Could not read the recipe"):
        read_data(csv, TableOptions(recipe=tmp_path / "none.toml"))


def test_no_knowledge_is_none():
    assert read_knowledge(None) is None


def test_settings():
    assert parse_settings([]) == {}
    assert parse_settings(["a=1", "b = 1, 2.5", "c=d=-1e3"]) == {
        "a": [1.0],
        "b": [1.0, 2.5],
        "c=d": [-1000.0],
    }
    assert parse_settings(["a=1:0:3"]) == {"a": [1.0, 0.5, 0.0]}


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "=3",
        "a=",
        "a=x:1:2",
        "a=1,,2",
        "a=nan",
        "a=inf",
        "a=1:2",
        "a=1:2:0",
        "a=1:2:1e9",
        "a=1:2:x",
    ],
)
def test_malformed_settings_are_refused(text):
    with pytest.raises(OptionError, match="Expected"):
        parse_settings([text])


def test_repeated_settings_are_refused():
    with pytest.raises(OptionError, match="repeated"):
        parse_settings(["a=1", "a=2"])


def test_limits():
    assert parse_limits([]) is None
    assert parse_limits(["a=:2", "b=-1:"]) == {"a": (None, 2.0), "b": (-1.0, None)}
    for text in ("a=1", "a=1:2:3", "a=x:2", "a=3:1", "a=1:1"):
        with pytest.raises(OptionError, match="Expected"):
            parse_limits([text])


def test_costs():
    assert parse_costs(["oven temperature=3", "belt=0.5"]) == {"oven temperature": 3, "belt": 0.5}
    assert parse_costs([]) is None
    with pytest.raises(OptionError, match="--cost"):
        parse_costs(["oven"])


def test_names_and_options():
    assert parse_names(" a, b c ,,") == ["a", "b c"]
    assert parse_options(["a=true", "b=[1]", "c=text"]) == {"a": True, "b": [1], "c": "text"}
    assert parse_options(["a=" + "[" * 100_000])["a"].startswith("[[")
    with pytest.raises(OptionError, match="NAME=VALUE"):
        parse_options(["a"])
