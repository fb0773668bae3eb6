"""Functions and shifts of a variable, in the units of the file."""

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag.errors import OptionError

FAST = md.effects.MonteCarlo(n_draws=20, n_rows=64)


def means(model, do, targets=None):
    table = md.effects.intervene(model, do, targets, monte_carlo=FAST).to_frame()
    return table.set_index("target")["mean"]


def test_a_shift_moves_the_effect_and_keeps_the_spread(star):
    before = md.effects.intervene(star, {}, ["y"], monte_carlo=FAST).to_frame().iloc[0]
    after = md.effects.intervene(star, {"x": md.effects.Shift(by=1.5)}, ["y"], monte_carlo=FAST)
    row = after.to_frame().iloc[0]
    assert row["x"] == "+ 1.5"
    assert row["mean"] == pytest.approx(before["mean"] + 3.0)  # y = 1 + 2 x + ...
    assert row["sd"] == pytest.approx(before["sd"])


def test_any_function_of_the_value_may_be_given(star):
    result = md.effects.intervene(star, {"x": np.abs}, ["y"], monte_carlo=FAST).to_frame()
    assert result.loc[0, "x"] == "absolute"
    # E|x| of a standard normal is 0.798, up to 64 points.
    assert result.loc[0, "mean"] == pytest.approx(1 + 2 * 0.798, abs=0.05)


def test_a_changed_variable_still_responds_to_what_is_set(make_fit):
    chain = md.MomentGraph.from_edges(["a", "b", "c"], mean=[("a", "b"), ("b", "c")])
    one = (lambda row: 1 + 0 * row[0],)
    functions = {
        "a": (lambda row: 0 * row[0], *one),
        "b": (lambda row: 2 * row[0], *one),
        "c": (lambda row: row[1], *one),
    }
    model = make_fit(["a", "b", "c"], [(chain, functions, 2)])
    moved = means(model, {"a": 1.0, "b": md.effects.Shift(by=10, times=1)}, ["c"])
    assert moved["c"] == pytest.approx(12.0)


def test_a_frame_has_one_joint_setting_for_each_row(star):
    frame = pd.DataFrame({"x": [0.0, 1.0], "z": [0.0, -2.0]}, index=["now", "then"])
    result = md.effects.intervene(star, frame, ["y"], monte_carlo=FAST)
    assert list(result.settings.index) == ["now", "then"]
    table = result.to_frame()
    assert table["mean"].tolist() == pytest.approx([1.0, 3.0])
    assert table["sd"].tolist() == pytest.approx([1.0, np.exp(-1.0)])


def test_functions_of_text_take_and_return_names(mixed_fit):
    def one_machine(names):
        return np.where(names == "M1", "M3", names)

    moved = means(mixed_fit, {"machine": one_machine}, ["thickness"])
    before = means(mixed_fit, {}, ["thickness"])
    # A third of the rows moves from 1.6 to 2.5.
    assert moved["thickness"] - before["thickness"] == pytest.approx(0.3, abs=0.06)


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"machine": md.effects.Shift(by=1)}, "text, which cannot be shifted"),
        ({"machine": lambda names: ["M9"] * len(names)}, "no level 'M9'"),
        ({"temperature": lambda values: values * np.nan}, "finite values from the function"),
        ({"temperature": lambda values: values[:2]}, "one value for each"),
        (pd.DataFrame({"temperature": []}), "a row and a column"),
    ],
)
def test_bad_changes_say_what_is_wrong(mixed_fit, do, message):
    with pytest.raises(OptionError, match=message):
        md.effects.intervene(mixed_fit, do, ["thickness"], monte_carlo=FAST)


@pytest.mark.parametrize("value", ["2", np.nan, True])
def test_a_shift_takes_numbers(value):
    with pytest.raises(OptionError, match="by of a shift"):
        md.effects.Shift(by=value)
