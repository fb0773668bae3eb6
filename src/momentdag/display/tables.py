"""What tables have in common, as HTML and as text: short numbers, and how many rows are shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

__all__ = ["MAX_ROWS", "first_rows", "number"]

MAX_ROWS = 30
"""Rows of a table that are shown."""


def number(value: Any) -> str:
    """Return a value in four digits if it has decimals, and as it is otherwise.

    Examples
    --------
    >>> number(-1.6180339), number(12345), number("M2")
    ('-1.618', '12345', 'M2')
    """
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def first_rows(frame: pd.DataFrame, full: str) -> tuple[pd.DataFrame, str]:
    """Return the rows to show, and a sentence on the others, empty if there are none.

    Examples
    --------
    >>> first_rows(pd.DataFrame({"x": range(35)}), "to_frame()")[1]
    'and 5 rows more; see to_frame().'
    """
    left = len(frame) - MAX_ROWS
    note = f"and {left} row{'s' * (left > 1)} more; see {full}." if left > 0 else ""
    return frame.head(MAX_ROWS), note
