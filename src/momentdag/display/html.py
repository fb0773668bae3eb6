"""Tables and sentences as HTML for notebooks, everything escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd

from momentdag.display.tables import MAX_ROWS, first_rows, number

__all__ = ["MAX_ROWS", "block", "fact_list", "sentence", "table"]


def sentence(text: str) -> str:
    """Return a paragraph.

    Examples
    --------
    >>> sentence("a < b")
    '<p>a &lt; b</p>'
    """
    return f"<p>{escape(text)}</p>"


def table(frame: pd.DataFrame, *, index: bool = False, full: str = "to_frame()") -> str:
    """Return a table with short numbers; of a long one, its first rows.

    Examples
    --------
    >>> "<td>&lt;b&gt;</td>" in table(pd.DataFrame({"name": ["<b>"]}))
    True
    """
    shown, note = first_rows(frame, full)
    html = str(
        shown.to_html(
            index=index,
            escape=True,
            border=0,
            na_rep="",
            float_format=number,
            classes="momentdag",
        )
    )
    return html + sentence(note) if note else html


def fact_list(facts: Mapping[str, object]) -> str:
    """Return names and values, one in each line."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in facts.items()
    )
    return f"<table class='momentdag'><tbody>{rows}</tbody></table>"


def block(title: str, parts: Sequence[str]) -> str:
    """Return parts, which are HTML already, under a title, which is text."""
    inner = "".join(part for part in parts if part)
    return f"<div class='momentdag'><p><strong>{escape(title)}</strong></p>{inner}</div>"
