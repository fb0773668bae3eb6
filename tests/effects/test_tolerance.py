import pytest

from momentdag.effects.tolerance import parse_tolerance
from momentdag.errors import OptionError


def test_units_percent_and_standard_deviations():
    assert parse_tolerance("2", 10, 1).value == 2
    assert parse_tolerance(2, 10, 1).value == 2
    assert parse_tolerance(" 5 %", -10, 1).value == 0.5
    assert parse_tolerance("0.5sd", 10, 3).value == 1.5
    assert parse_tolerance(None, 10, 3).value == pytest.approx(0.3)


def test_a_tolerance_is_stated_back_in_every_way():
    # 5 % of a mean far from zero is no constraint, and can be seen to be none.
    assert parse_tolerance("5%", 200, 2).text == "10 (5 % of the mean, 5 sd)"
    assert parse_tolerance("0.1sd", 0, 2).text == "0.2 (0.1 sd)"


@pytest.mark.parametrize("text", ["", "much", "0", "-1%", "%", "sd", "inf", "nan"])
def test_what_is_no_tolerance_is_refused(text):
    with pytest.raises(OptionError, match="Expected a positive tolerance"):
        parse_tolerance(text, 10, 1)
    with pytest.raises(OptionError, match="the target has mean 0"):
        parse_tolerance("5%", 0, 1)
