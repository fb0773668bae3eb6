"""A knowledge file to fill in: every kind of statement with the columns of one table."""

from __future__ import annotations

import json
from collections.abc import Sequence

__all__ = ["write_template"]

_PER_LINE = 6


def write_template(names: Sequence[str], source: str = "the table") -> str:
    """Return a TOML file whose statements are commented out, so that it loads as it is.

    Parameters
    ----------
    names : sequence of str
        The columns that a fit uses; at least two.
    source : str
        Where they come from, for the first line.

    Examples
    --------
    >>> text = write_template(["dose", "stress", "response"], "cells.csv")
    >>> print(text.splitlines()[0])
    # What is known about the columns of cells.csv before a fit.
    >>> from momentdag.knowledge import Knowledge
    >>> import tomllib
    >>> Knowledge.from_dict(tomllib.loads(text))
    Knowledge()
    """
    quoted = [_quote(name) for name in names]
    first, second, last = quoted[0], quoted[1], quoted[-1]
    listed = [
        "#   " + ", ".join(quoted[k : k + _PER_LINE]) + ","
        for k in range(0, len(quoted), _PER_LINE)
    ]
    title = source.replace("\n", " ").replace("\r", " ")
    lines = [
        f"# What is known about the columns of {title} before a fit.",
        "# Take the # off a statement and put in the columns it is about. The columns are:",
        *listed,
        "",
        '# "hard": every statement holds in every draw. "soft": each holds with probability',
        "# confidence, and data may outweigh it.",
        'strength = "hard"',
        "# confidence = 0.9",
        "",
        "# From first to last: no column of a later tier causes one of an earlier tier. Columns",
        "# that stand in no tier are free.",
        "# tiers = [",
        f"#   [{', '.join(quoted[: max(1, len(quoted) // 2)])}],",
        f"#   [{', '.join(quoted[max(1, len(quoted) // 2) :])}],",
        "# ]",
        "",
        "# The first comes before the second: the second does not cause it, directly or not.",
        f"# order = [[{first}, {last}]]",
        "",
        '# Cause, effect, and "mean", "variance" or "both"; without a moment: in at least one.',
        f'# required = [[{first}, {last}, "mean"]]',
        "",
        "# The same; without a moment: in neither graph.",
        f'# forbidden = [[{second}, {first}], [{second}, {last}, "mean"]]',
        "",
        "# Nothing in the table causes these; these cause nothing in it.",
        f"# roots = [{first}]",
        f"# sinks = [{last}]",
        "",
        "# How probable an edge is before the data; may be repeated. No moment means both.",
        "# [[edge_priors]]",
        f"# cause = {first}",
        f"# effect = {last}",
        '# moment = "variance"',
        "# probability = 0.7",
    ]
    return "\n".join(lines) + "\n"


def _quote(name: str) -> str:
    # TOML's basic strings are JSON's, but for DEL.
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
