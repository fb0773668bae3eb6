from dataclasses import FrozenInstanceError, dataclass
from typing import Literal

import pytest

from momentdag.baselines.options import Options, number, whole
from momentdag.errors import OptionError


@dataclass(frozen=True)
class Example(Options):
    """Options of every kind."""

    colour: Literal["red", "blue"] = "red"
    count: int = whole(3, at_least=1)
    limit: int | None = whole(None, at_least=2)
    share: float = number(0.5, above=0.0, up_to=1.0)
    weight: float = number(0.0, above=0.0, closed=True)


def test_defaults_pass_their_own_checks():
    assert Example().to_dict() == {
        "colour": "red",
        "count": 3,
        "limit": None,
        "share": 0.5,
        "weight": 0.0,
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"colour": "green"}, r"colour as one of \['red', 'blue'\]; got 'green'"),
        ({"count": 0}, "count as a whole number >= 1; got 0"),
        ({"count": 2.0}, "count as a whole number"),
        ({"count": True}, "count as a whole number"),
        ({"count": None}, "count as a whole number"),
        ({"limit": 1}, "limit as a whole number >= 2 or None"),
        ({"share": 0.0}, "share as a finite number > 0 and <= 1"),
        ({"share": 1.1}, "share as a finite number"),
        ({"share": float("nan")}, "share as a finite number"),
        ({"weight": -1e-9}, "weight as a finite number >= 0"),
        ({"weight": float("inf")}, "weight as a finite number"),
        ({"weight": True}, "weight as a finite number"),
        ({"weight": "1"}, "weight as a finite number"),
        ({"cuont": 1}, "among .*'count'.*; got 'cuont'"),
    ],
)
def test_bad_values_are_refused_by_name(given, message):
    with pytest.raises(OptionError, match=message):
        Example.read(given)


@pytest.mark.parametrize("given", [{"share": 1}, {"limit": 2}, {"weight": 0}, {"colour": "blue"}])
def test_the_ends_of_the_ranges_belong_to_them(given):
    name, value = next(iter(given.items()))
    assert getattr(Example.read(given), name) == value


def test_options_are_read_from_themselves_and_nothing_else():
    own = Example(count=7)
    assert Example.read(own) is own
    assert Example.read(None) == Example()
    with pytest.raises(OptionError, match="mapping or Example; got list"):
        Example.read([("count", 1)])


def test_options_are_frozen():
    with pytest.raises(FrozenInstanceError):
        Example().count = 4
