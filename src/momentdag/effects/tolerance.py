"""How far a mean may move: in units, in percent of itself, or in standard deviations."""

from __future__ import annotations

import math
from typing import NamedTuple

from momentdag.errors import OptionError, quote

__all__ = ["Tolerance", "parse_tolerance"]

_DEFAULT = "0.1sd"


class Tolerance(NamedTuple):
    """A tolerance in the units of the target, and what it was asked as.

    Parameters
    ----------
    value : float
        In the units of the target.
    text : str
        All three ways to say it, such as "0.42 (5 % of the mean, 0.1 sd)".
    """

    value: float
    text: str


def parse_tolerance(tolerance: float | str | None, mean: float, sd: float) -> Tolerance:
    """Read ``0.3`` (in units), ``"5%"`` (of the size of the mean) or ``"0.1sd"`` (the default).

    Raises
    ------
    OptionError
        If it is not of that form or not positive.

    Examples
    --------
    >>> [parse_tolerance(text, mean=-20.0, sd=4.0).value for text in (0.3, "5%", "0.1sd")]
    [0.3, 1.0, 0.4]
    >>> parse_tolerance("5%", mean=-20.0, sd=4.0).text
    '1 (5 % of the mean, 0.25 sd)'
    """
    text = _DEFAULT if tolerance is None else str(tolerance).strip()
    number, unit = text, 1.0
    if text.endswith("%"):
        number, unit = text[:-1], abs(mean) / 100
    elif text.endswith("sd"):
        number, unit = text[:-2], sd
    try:
        value = float(number) * unit
    except ValueError:
        value = math.nan
    if not (value > 0 and math.isfinite(value)):
        raise OptionError(
            f"Expected a positive tolerance such as 0.3, 5% or 0.1sd; {quote(tolerance)} comes to "
            f"{value:g}, as the target has mean {mean:g} and sd {sd:g}."
        )
    in_percent = f"{100 * value / abs(mean):.3g} % of the mean, " if mean else ""
    return Tolerance(value, f"{value:.4g} ({in_percent}{value / sd:.3g} sd)")
