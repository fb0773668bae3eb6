"""Columns that others determine are found, and close relatives with noise of their own are not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentdag.table.relations import find_near_formulas, find_relations, resolution

N = 300


def inputs():
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(20, 5, N), 1)
    y = np.round(rng.uniform(1, 9, N), 2)
    return x, y, np.round(rng.gamma(2, 10, N) + 1, 1), rng.normal(size=N)


X, Y, Z, E = inputs()
GROUPS = np.arange(N) % 5.0

RELATED = {
    "copy": ([X], X, "It repeats 'a'."),
    "other units": ([X], 2.54 * X - 3, "It repeats 'a'."),
    "reversed": ([X], 7 - X, "It repeats 'a'."),
    "Fahrenheit": ([X], np.round(1.8 * X + 32), "It repeats 'a', rounded."),
    "Fahrenheit of whole degrees": ([np.round(X)], np.round(1.8 * X + 32, 1), "rounded"),
    "logarithm": ([Z], np.log(Z), "the logarithm of 'a'"),
    "rounded logarithm": ([Z], np.round(np.log10(Z), 2), "the logarithm of 'a'"),
    "exponential": ([Y], np.exp(Y), "the exponential of 'a'"),
    "square": ([Y], Y**2, "the square of 'a'"),
    "square root": ([Z], np.sqrt(Z), "the square root of 'a'"),
    "reciprocal": ([Z], 1 / Z, "the reciprocal of 'a'"),
    "sum": ([X, Y], X + Y, "It is 'a' + 'b'."),
    "difference": ([X, Y], X - Y, "It is 'a' - 'b'."),
    "rounded sum": ([X, Z], np.round(X + Z), "'a' + 'b'"),
    "sum of three": ([X, Y, Z], X + Y - Z, "'a' + 'b' - 'c'"),
    "mean": ([X, Z], (X + Z) / 2, "0.5 'a' + 0.5 'b'"),
    "among others": ([E, X, Y, Z], X + Z, "'b' + 'd'"),
    "product": ([Y, Z], Y * Z, "'a' x 'b'"),
    "ratio": ([Y, Z], np.round(Y / Z, 4), "'a' x 'b'^-1"),
    "codes": ([GROUPS], (GROUPS * 3 + 1) % 5, "'a' under other names"),
    "complement": ([(E > 0) * 1.0], (E <= 0) * 1.0, "It repeats 'a'."),
}


@pytest.mark.parametrize("case", RELATED)
def test_found(case):
    columns, last, message = RELATED[case]
    names = "abcde"[: len(columns) + 1]
    found = find_relations(names, np.column_stack([*columns, last]))
    assert list(found) == [len(columns)]
    assert message in found[len(columns)]


UNRELATED = {
    "noise": ([X], X + 0.5 * E),
    "little noise": ([E], E + 1e-4 * X),
    "two ratings": ([np.round(X / 5)], np.round((X + E) / 5)),
    "noisy logarithm": ([Z], np.log(Z) + 0.05 * E),
    "noisy sum": ([X, Y], X + Y + 0.5 * E),
    "groups": ([GROUPS], (np.arange(N) // 7) % 5.0),
    "coarser": ([X], np.floor(X / 10)),
    "step": ([X], (X > 20) * 1.0),
}


@pytest.mark.parametrize("case", UNRELATED)
def test_not_found(case):
    columns, last = UNRELATED[case]
    assert find_relations("abcde"[: len(columns) + 1], np.column_stack([*columns, last])) == {}


def test_missing_cells_do_not_hide_a_relation():
    fahrenheit = np.round(1.8 * X + 32)
    holed = np.where(np.arange(N) % 4 == 0, np.nan, X)
    assert list(find_relations("abc", np.column_stack([holed, Y, fahrenheit]))) == [2]
    assert list(find_relations("abc", np.column_stack([holed, Y, holed + Y]))) == [2]


def test_columns_that_do_not_vary_are_found():
    assert "in every row" in find_relations("ab", np.column_stack([X, np.ones(N)]))[1]


@pytest.mark.parametrize(
    ("values", "unit"),
    [([1, 2, 3], 1), ([10, 250], 10), ([0.5, 1.25], 0.01), ([0.1 + 0.2, 1.1], 0.1), ([2000], 1000)],
)
def test_resolution(values, unit):
    assert resolution(np.array(values, dtype=float)) == pytest.approx(unit)
    assert resolution(E) < 1e-5


def test_near_formulas_are_said():
    nearly = X + Y + 0.1 * E
    found = find_near_formulas("xyzn", np.column_stack([X, Y, Z, nearly]))
    assert sorted(found) == ["n", "x", "y"]
    assert "explain 100.0% of its variance" in found["n"]
    assert find_near_formulas("xyz", np.column_stack([X, Y, Z])) == {}
    assert find_near_formulas("xyz", np.column_stack([X, Y, Z])[:5]) == {}


@settings(max_examples=30, deadline=None)
@given(
    st.integers(10, 30).flatmap(
        lambda n: st.lists(
            st.lists(st.floats(allow_infinity=False), min_size=n, max_size=n),
            min_size=1,
            max_size=4,
        )
    )
)
def test_whatever_the_numbers_nothing_fails(columns):
    values = np.array(columns).T
    found = find_relations("abcd"[: len(columns)], values)
    assert set(found) <= set(range(len(columns)))
