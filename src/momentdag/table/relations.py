"""Find columns that others determine: copies, codes of one another, formulas.

A column that is a function of others carries no information of its own, and a model of it given
these has no noise to speak of. Everything is compared within the rounding of the columns, as far
as that is well below their spread; of a pair the later column is the one to leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from momentdag.errors import quote
from momentdag.table.checks import MIN_SAMPLES, find_copies
from momentdag.table.observed import correlate
from momentdag.table.scaling import standardise_column
from momentdag.table.tables import FloatArray

__all__ = ["find_near_formulas", "find_relations", "resolution"]

_MIN_DISTINCT = 10
"""Columns with fewer distinct values are on too coarse a grid to compare within rounding."""

_MAX_ROUNDING = 0.15
"""Rounding beyond this share of the sd could hide noise."""

_MAX_ROUNDING_OF_THREE = 0.08
"""Three free coefficients fit coarse columns more easily."""

_NEAR = 0.97
"""A column of whose variance the others explain this much is nearly a formula of them."""

_SLACK = 1.25
"""The fitted line is not the true one: residuals may exceed the rounding a little."""

_MIN_ROWS = 30
"""Curves and sums fit fewer rows by chance."""

_MAX_CELLS = 5_000_000
_MAX_TERMS = 3
_MAX_INPUTS = 60
_MAX_CODES = 200

_TRANSFORMS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "the logarithm": np.log,
    "the square root": np.sqrt,
    "the reciprocal": np.reciprocal,
    "the square": np.square,
}
_INVERSES = {
    "the logarithm": "the exponential",
    "the square root": "the square",
    "the reciprocal": "the reciprocal",
    "the square": "the square root",
}


def resolution(column: FloatArray) -> float:
    """Return the unit that all values are multiples of, 1000 to 1e-8, or the rounding of floats.

    Examples
    --------
    >>> resolution(np.array([20.5, 21.0])), resolution(np.array([100.0, 3000.0]))
    (0.1, 100.0)
    """
    present = column[~np.isnan(column)]
    largest = float(np.abs(present).max(initial=0.0))
    for exponent in range(3, -9, -1):
        # Powers of ten with negative exponents are not exact, but their inverses are.
        scaled = present / 10.0**exponent if exponent >= 0 else present * 10.0**-exponent
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-9 + 4e-16 * np.abs(scaled)):
            return float(10.0**exponent)
    spread = float(np.subtract(*np.percentile(present, [75, 25]))) if len(present) else 0.0
    return max(1e-15 * largest, 1e-6 * spread)


def find_relations(names: Sequence[str], values: FloatArray) -> dict[int, str]:
    """Return the columns to leave out, each with a sentence on what it is.

    Parameters
    ----------
    names : sequence of str
    values : float array, shape (n, d)
        NaN for missing; every column varies.

    Examples
    --------
    >>> x, y = np.random.default_rng(0).normal(size=(2, 100))
    >>> find_relations(["x", "y", "sum"], np.column_stack([x, y, x + y]))
    {2: "It is 'x' + 'y'."}
    """
    # Squares and products of enormous values overflow; such formulas are then not found.
    with np.errstate(all="ignore"):
        return _find_relations(names, values)


def _find_relations(names: Sequence[str], values: FloatArray) -> dict[int, str]:
    left: dict[int, str] = {}
    z = np.empty_like(values)
    scale = np.ones(values.shape[1])
    for j in range(values.shape[1]):
        column = standardise_column(values[:, j])
        if isinstance(column, str):
            left[j] = f"It {column.split(';')[0]}."
            z[:, j] = np.nan
        else:
            z[:, j], _, scale[j] = column
    usable = [j for j in range(len(names)) if j not in left]
    for i, j in find_copies(values[:, usable], z[:, usable], scale[usable]):
        left.setdefault(usable[j], f"It repeats {quote(names[usable[i]])}.")
    for i, j in _find_codes(values, left):
        left.setdefault(j, f"It is {quote(names[i])} under other names or codes.")
    fine = [
        j for j in range(len(names)) if j not in left and _n_distinct(values[:, j]) >= _MIN_DISTINCT
    ]
    units = {j: resolution(values[:, j]) for j in fine}
    fine = [j for j in fine if units[j] <= _MAX_ROUNDING * 2 * scale[j]]
    left.update(_find_functions(names, values, z, fine, units))
    fine = [j for j in fine if j not in left]
    for place, j in enumerate(fine):
        inputs = [i for i in fine[:place] if i not in left][-_MAX_INPUTS:]
        formula = _find_formula(names, values, j, inputs, units)
        if formula:
            left[j] = f"It is {formula}."
    return left


def find_near_formulas(names: Sequence[str], values: FloatArray) -> dict[str, str]:
    """Return columns that are nearly linear functions of all others, with a sentence on it.

    Parameters
    ----------
    names : sequence of str
    values : float array, shape (n, d)
        NaN for missing; only complete rows count.

    Examples
    --------
    >>> x, y, e = np.random.default_rng(0).normal(size=(3, 100))
    >>> sorted(find_near_formulas(["x", "y", "z"], np.column_stack([x, y, 9 * x + y + e / 2])))
    ['x', 'z']
    """
    rows = values[~np.isnan(values).any(axis=1)]
    if len(names) < 3 or len(rows) < 3 * len(names):
        return {}
    columns = [j for j in range(len(names)) if not isinstance(standardise_column(rows[:, j]), str)]
    z = np.column_stack([standardise_column(rows[:, j])[0] for j in columns])
    # The inverse of the correlations has 1 / (1 - R^2) on its diagonal.
    inverse = np.linalg.pinv(z.T @ z / len(z), rcond=1e-12, hermitian=True)
    explained = 1 - 1 / np.maximum(np.diag(inverse), 1.0)
    return {
        names[
            j
        ]: f"The other columns explain {share:.1%} of its variance: nearly a formula of them."
        for j, share in zip(columns, explained, strict=True)
        if share > _NEAR
    }


def _n_distinct(column: FloatArray) -> int:
    head = len(np.unique(column[:1000]))
    return head if head > _MIN_DISTINCT + 1 else len(np.unique(column[~np.isnan(column)]))


def _find_codes(values: FloatArray, left: Mapping[int, str]) -> list[tuple[int, int]]:
    """Return pairs of columns with three or more levels that map to each other one to one."""
    coded: list[tuple[int, int, npt.NDArray[np.intp]]] = []
    pairs = []
    for j in range(values.shape[1]):
        column = values[:, j]
        if j in left or len(np.unique(column[:1000])) > _MAX_CODES:
            continue
        present = ~np.isnan(column)
        levels, found = np.unique(column[present], return_inverse=True)
        if not 3 <= len(levels) <= min(_MAX_CODES, present.sum() / 3):
            continue
        codes = np.full(len(column), -1)
        codes[present] = found
        for i, n_levels, others in coded:
            both = (codes >= 0) & (others >= 0)
            joint = np.unique(codes[both] * _MAX_CODES + others[both])
            if n_levels == len(levels) == len(joint):
                pairs.append((i, j))
                break
        else:
            coded.append((j, len(levels), codes))
    return pairs


def _find_functions(
    names: Sequence[str],
    values: FloatArray,
    z: FloatArray,
    columns: list[int],
    units: Mapping[int, float],
) -> dict[int, str]:
    """Return columns that are a linear function, logarithm, square, ... of an earlier one."""
    if len(columns) < 2:
        return {}
    rows = slice(0, max(1000, _MAX_CELLS // (5 * len(columns))))
    shapes = ["", *_TRANSFORMS]
    stacked = np.full((len(values[rows]), len(shapes), len(columns)), np.nan)
    for place, j in enumerate(columns):
        stacked[:, 0, place] = z[rows, j]
        for k, shape in enumerate(shapes[1:], 1):
            standard = standardise_column(_apply(shape, values[rows, j]))
            if not isinstance(standard, str):
                stacked[:, k, place] = standard[0]
    # similar[k, a, b]: shape k of column a against column b. One shape at a time: the matrices of
    # a wide table are large.
    plain = stacked[:, 0]
    similar = np.empty((len(shapes), len(columns), len(columns)), dtype=bool)
    for k in range(len(shapes)):
        both = correlate(np.hstack([stacked[:, k], plain]))
        similar[k] = np.abs(both[: len(columns), len(columns) :]) > 0.99
    left: dict[int, str] = {}
    for b, j in enumerate(columns):
        for a, i in enumerate(columns[:b]):
            if i in left or j in left:
                continue
            for k, shape in enumerate(shapes):
                if similar[k, a, b] and _is_linear(values, [(i, shape)], (j, ""), units):
                    how = f"{shape} of {quote(names[i])}, up to units"
                    left[j] = f"It is {how}." if k else f"It repeats {quote(names[i])}, rounded."
                elif k and similar[k, b, a] and _is_linear(values, [(i, "")], (j, shape), units):
                    left[j] = f"It is {_INVERSES[shape]} of {quote(names[i])}, up to units."
                else:
                    continue
                break
    return left


def _apply(shape: str, column: FloatArray) -> FloatArray:
    """Return a function of a column where it is one-to-one, else only NaN."""
    if not shape:
        return column
    least = float(np.nanmin(column))
    if least < 0 or (least == 0 and shape in ("the logarithm", "the reciprocal")):
        return np.full(len(column), np.nan)
    with np.errstate(all="ignore"):
        changed = _TRANSFORMS[shape](column)
    return (
        changed if np.isfinite(changed[~np.isnan(column)]).all() else np.full(len(column), np.nan)
    )


def _rounding(shape: str, column: FloatArray, unit: float) -> FloatArray:
    """Return by how much rounding to a unit can change a function of each value, (n,)."""
    half = np.full(len(column), unit / 2)
    with np.errstate(all="ignore"):
        match shape:
            case "the logarithm":
                return np.asarray(half / np.abs(column))
            case "the square root":
                return np.asarray(np.minimum(half / (2 * np.sqrt(column)), np.sqrt(half)))
            case "the reciprocal":
                return np.asarray(half / column**2)
            case "the square":
                return np.asarray(2 * np.abs(column) * half)
    return half


def _is_linear(
    values: FloatArray,
    inputs: Sequence[tuple[int, str]],
    output: tuple[int, str],
    units: Mapping[int, float],
) -> bool:
    """Tell whether a column is a linear function of others within their rounding."""
    return _fit(values, inputs, output, units) is not None


def _fit(
    values: FloatArray,
    inputs: Sequence[tuple[int, str]],
    output: tuple[int, str],
    units: Mapping[int, float],
) -> FloatArray | None:
    """Return the coefficients of a formula that holds within rounding, or None."""
    j, shape = output
    y = _apply(shape, values[:, j])
    xs = np.column_stack([_apply(how, values[:, i]) for i, how in inputs])
    rows = ~np.isnan(np.column_stack([xs, y])).any(axis=1)
    is_plain = len(inputs) == 1 and not shape and not inputs[0][1]
    if rows.sum() < (MIN_SAMPLES if is_plain else _MIN_ROWS):
        return None
    x, y = xs[rows], y[rows]
    spread, sd = x.std(axis=0), float(y.std())
    if not (np.isfinite(sd) and sd > 0 and np.isfinite(spread).all() and (spread > 0).all()):
        return None
    design = np.column_stack([(x - x.mean(axis=0)) / spread, np.ones(len(y))])
    coefficients = np.linalg.lstsq(design, (y - y.mean()) / sd, rcond=None)[0]
    residual = np.abs((y - y.mean()) / sd - design @ coefficients) * sd
    slopes = coefficients[:-1] * sd / spread
    bound = _rounding(shape, values[rows, j], units[j])
    for slope, (i, how) in zip(slopes, inputs, strict=True):
        bound = bound + abs(slope) * _rounding(how, values[rows, i], units[i])
    typical = float(np.sqrt(np.mean(bound**2)))
    tiny = 1e-9 * sd
    most = _MAX_ROUNDING if len(inputs) < 3 else _MAX_ROUNDING_OF_THREE
    if typical > most * sd or not np.all(residual <= _SLACK * bound + tiny):
        return None
    return np.asarray(slopes)


def _find_formula(
    names: Sequence[str],
    values: FloatArray,
    j: int,
    inputs: list[int],
    units: Mapping[int, float],
) -> str:
    """Return a column as a sum or product of two or three others, or an empty text."""
    if len(inputs) < 2:
        return ""
    for shape in ("", "the logarithm"):
        usable = [i for i in inputs if not np.isnan(_apply(shape, values[:, i])).all()]
        target = _apply(shape, values[:, j])
        if len(usable) < 2 or np.isnan(target).all():
            continue
        for chosen in _choose_terms(values, target, usable, shape):
            slopes = _fit(values, [(i, shape) for i in chosen], (j, shape), units)
            if slopes is not None:
                return _write([names[i] for i in chosen], slopes, shape)
    return ""


def _choose_terms(
    values: FloatArray, target: FloatArray, inputs: list[int], shape: str
) -> list[list[int]]:
    """Return the two and the three inputs that a regression on all gives the most weight."""
    table = np.column_stack([*(_apply(shape, values[:, i]) for i in inputs), target])
    table = table[~np.isnan(table).any(axis=1)][:4000]
    if len(table) < 3 * (len(inputs) + 2):
        return []
    spread = table.std(axis=0)
    if not (np.isfinite(spread).all() and (spread > 0).all()):
        return []
    z = (table - table.mean(axis=0)) / spread
    slopes = np.linalg.lstsq(z[:, :-1], z[:, -1], rcond=None)[0]
    if np.std(z[:, -1] - z[:, :-1] @ slopes) > _MAX_ROUNDING:
        return []
    ranked = [inputs[k] for k in np.argsort(-np.abs(slopes))]
    return [sorted(ranked[:k]) for k in range(2, min(_MAX_TERMS, len(inputs)) + 1)]


def _write(names: Sequence[str], slopes: FloatArray, shape: str) -> str:
    """Write a sum, or a product of powers, with whole coefficients where they nearly are."""
    rounded = [
        float(np.round(s)) if abs(s - np.round(s)) < 0.02 and round(s) else s for s in slopes
    ]
    if shape:
        powers = [
            quote(name) if power == 1 else f"{quote(name)}^{power:.3g}"
            for name, power in zip(names, rounded, strict=True)
        ]
        return f"{' x '.join(powers)}, up to units"
    text = ""
    for name, slope in zip(names, rounded, strict=True):
        sign = ("-" if slope < 0 else "") if not text else (" - " if slope < 0 else " + ")
        text += f"{sign}{'' if abs(slope) == 1 else f'{abs(slope):.3g} '}{quote(name)}"
    return text
