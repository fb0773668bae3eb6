import pytest

from momentdag.cli.parsing import (
    parse_limits,
    parse_names,
    parse_options,
    parse_settings,
    parse_tolerance,
)
from momentdag.errors import OptionError


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
    for text in ("a=1", "a=1:2:3", "a=x:2"):
        with pytest.raises(OptionError, match="Expected"):
            parse_limits([text])


def test_tolerances():
    assert parse_tolerance("2", 10, 1) == 2
    assert parse_tolerance(" 5 %", -10, 1) == 0.5
    assert parse_tolerance("0.5sd", 10, 3) == 1.5
    for text in ("", "much", "0", "-1%", "%", "sd"):
        with pytest.raises(OptionError, match="Expected"):
            parse_tolerance(text, 10, 1)
    with pytest.raises(OptionError, match="the target has mean 0"):
        parse_tolerance("5%", 0, 1)


def test_names_and_options():
    assert parse_names(" a, b c ,,") == ["a", "b c"]
    assert parse_options(["a=true", "b=[1]", "c=text"]) == {"a": True, "b": [1], "c": "text"}
    assert parse_options(["a=" + "[" * 100_000])["a"].startswith("[[")
    with pytest.raises(OptionError, match="NAME=VALUE"):
        parse_options(["a"])
