"""From dataclasses and arrays to JSON that is safe inside a page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

__all__ = ["dump_for_script", "to_plain_values"]

_DIGITS = 5


def to_plain_values(value: Any) -> Any:
    """Convert dataclasses to mappings and arrays to lists; round numbers; turn NaN into None.

    Examples
    --------
    >>> to_plain_values({"p": np.array([0.123456789, np.nan]), 7: (True, np.int64(3))})
    {'p': [0.12346, None], '7': [True, 3]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_plain_values(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return to_plain_values(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): to_plain_values(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [to_plain_values(item) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return _short(float(value))
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"JSON cannot represent a {type(value)}.")


def dump_for_script(value: Any) -> str:
    r"""Return JSON that is safe inside a script element, whatever strings it contains.

    ASCII only, so that no line separator ends a statement, and without ``<``, ``>`` and ``&``, so
    that nothing closes the element or opens a comment.

    Examples
    --------
    >>> dump_for_script(["</script>", "\u2028"])
    '["\\u003c/script\\u003e","\\u2028"]'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _short(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 2**53 else short
