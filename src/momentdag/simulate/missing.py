"""Tables with missing cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from momentdag.errors import OptionError
from momentdag.simulate.options import check_choice

__all__ = ["MissingMechanism", "hide_cells"]

MissingMechanism = Literal["at random"]
"""Completely at random: regardless of any value, seen or hidden."""


def hide_cells(
    rng: np.random.Generator,
    frame: pd.DataFrame,
    share: float,
    mechanism: MissingMechanism = "at random",
    *,
    columns: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Set cells of a table missing, regardless of their values; never a whole row.

    Parameters
    ----------
    rng : numpy.random.Generator
    frame : DataFrame
        Left as it is. Cells that are missing already stay so and are not counted.
    share : float
        Share of the cells of ``columns`` to hide, in [0, 1); their number is rounded.
    mechanism : {"at random"}
        "at random": completely at random.
    columns : sequence of str, optional
        Columns that may lose cells; default all.

    Returns
    -------
    DataFrame
        A copy. Hidden numbers are NaN (whole numbers become floats), hidden dates NaT, hidden
        texts and booleans are None or what pandas writes for it.

    Raises
    ------
    OptionError
        If an option is outside its choices or range, a column is unknown, or so many cells cannot
        be hidden without a whole row.

    Examples
    --------
    >>> import numpy as np
    >>> frame = pd.DataFrame({"a": np.arange(10), "b": list("xyxyxyxyxy")})
    >>> int(hide_cells(np.random.default_rng(0), frame, 0.2).isna().sum().sum())
    4
    """
    check_choice("mechanism", mechanism, get_args(MissingMechanism))
    if not 0 <= share < 1:
        raise OptionError(f"Expected share in [0, 1); got {share!r}.")
    names = list(frame.columns) if columns is None else list(columns)
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        raise OptionError(f"Expected columns among {list(frame.columns)}; got {unknown}.")
    seen = frame.notna().to_numpy()
    # One seen cell of each row, picked regardless of its value, is kept.
    kept = np.argmax(rng.random(seen.shape) * seen, axis=1)
    open_cells = seen & frame.columns.isin(names)
    open_cells[np.arange(len(frame)), kept] = False
    candidates = np.argwhere(open_cells)
    n_hidden = round(share * len(frame) * len(names))
    if n_hidden > len(candidates):
        raise OptionError(
            f"Expected a share that leaves one cell in each row; {share} would hide {n_hidden} of "
            f"{len(candidates)} cells. Choose a smaller share."
        )
    hidden = np.zeros(seen.shape, dtype=bool)
    chosen = candidates[rng.choice(len(candidates), n_hidden, replace=False)]
    hidden[chosen[:, 0], chosen[:, 1]] = True
    return pd.DataFrame(
        {name: _hide(frame[name], hidden[:, j]) for j, name in enumerate(frame.columns)}
    )


def _hide(column: pd.Series, hidden: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> pd.Series:
    if not hidden.any():
        return column.copy()
    if pd.api.types.is_bool_dtype(column.dtype):
        return column.astype(object).mask(hidden, None)
    if pd.api.types.is_integer_dtype(column.dtype):
        return column.astype(np.float64).mask(hidden)
    return column.mask(hidden)
