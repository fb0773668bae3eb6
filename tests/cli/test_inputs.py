import numpy as np
import pytest

from momentdag.cli.inputs import (
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
    data, logged = read_data(csv, None)
    assert logged == ()
    # CSV keeps 17 digits, so that a number comes back as it was.
    np.testing.assert_array_equal(data.values, table.to_numpy())
    data, logged = read_data(csv, "dose, response")
    assert logged == ("dose", "response")
    np.testing.assert_array_equal(data.values[:, 0], np.log(table["dose"]))
    np.testing.assert_array_equal(data.values[:, 1], table["stress [%]"])
    assert read_data(csv, "all")[1] == tuple(table.columns)


def test_what_cannot_be_logged_is_refused(csv, table, tmp_path):
    with pytest.raises(OptionError, match="got 'nobody'"):
        read_data(csv, "dose,nobody")
    table = table.assign(dose=table["dose"] - 1.5)
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match=r"t\.csv: expected positive values.*'dose' has"):
        read_data(tmp_path / "t.csv", "dose")


@pytest.mark.parametrize("log_scale", [None, "all"])
def test_the_file_is_named_in_errors(tmp_path, log_scale):
    with pytest.raises(DataError, match=r"none\.csv: There is no file"):
        read_data(tmp_path / "none.csv", log_scale)
    (tmp_path / "one.csv").write_text("a\n" + "\n".join(f"{k}.5" for k in range(40)))
    with pytest.raises(DataError, match=r"one\.csv: "):
        read_data(tmp_path / "one.csv", log_scale)


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
        "a=x",
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
