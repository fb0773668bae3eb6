from typing import Any

import numpy as np
import pytest

from momentdag.errors import OptionError
from momentdag.simulate.kinds import Kind, check_kind, decode, encode


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("continuous", [0.5, -2.25]),
        ("ordered", [1, 5]),
        ("count", [0, 17]),
        ("binary", [0, 1]),
        ("category", ["a", "c"]),
    ],
)
def test_encode_and_decode_are_inverse(kind: Kind, values: list[Any]) -> None:
    assert decode(kind, encode("y", kind, values, 2)).tolist() == values
    assert decode(kind, encode("y", kind, values[1], 3)).tolist() == values[1:] * 3


def test_booleans() -> None:
    assert encode("y", "binary", True, 1).tolist() == [1.0]
    assert decode("binary", np.array([1.0, 0.0]), boolean=True).dtype == np.bool_


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("continuous", np.nan, "finite numbers"),
        ("continuous", "high", "finite numbers"),
        ("continuous", True, "finite numbers"),
        ("ordered", 6, r"levels among 1\.\.5"),
        ("ordered", 1.5, r"levels among 1\.\.5"),
        ("count", -1, "whole numbers >= 0"),
        ("count", 0.5, "whole numbers >= 0"),
        ("count", np.inf, "whole numbers >= 0"),
        ("binary", 2, "0 and 1"),
        ("category", "d", "levels among"),
        ("category", 1, "levels among"),
        ("category", None, "levels among"),
        ("count", [1, 2, 3], r"2 values, one for each row; got an array of shape \(3,\)"),
    ],
)
def test_refusals(kind: Kind, value: Any, message: str) -> None:
    with pytest.raises(OptionError, match=rf"do\['y'\].*{message}"):
        encode("y", kind, value, 2)


def test_unknown_kind() -> None:
    with pytest.raises(OptionError, match=r"kinds among .*'ordered'.*got 'text'"):
        check_kind("kinds", "text")
