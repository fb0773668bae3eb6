from typing import Any

import numpy as np
import pytest

from momentdag.errors import DataError, OptionError
from momentdag.simulate.options import check_choice, check_count, check_finite, check_positive


def test_choice_names_the_option_and_the_choices() -> None:
    check_choice("noise", "a", ("a", "b"))
    with pytest.raises(OptionError, match=r"Expected noise among \['a', 'b'\]; got 'c'"):
        check_choice("noise", "c", ("a", "b"))


@pytest.mark.parametrize("value", [1, 2.0, True, "3", None, np.int64(-1)])
def test_count_refuses(value: Any) -> None:
    with pytest.raises(OptionError, match="n_samples as a whole number >= 2"):
        check_count("n_samples", value, 2)


def test_count_accepts_numpy_integers() -> None:
    check_count("n_samples", np.int64(2), 2)


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, True, "1"])
def test_positive_refuses(value: Any) -> None:
    with pytest.raises(OptionError, match="decay as a finite number > 0"):
        check_positive("decay", value)


def test_finite_names_variable_and_row() -> None:
    check_finite(np.ones((2, 2)), ["a", "b"], "Stop.")
    with pytest.raises(DataError, match=r"'b' is inf in row 1\. Stop\."):
        check_finite(np.array([[0.0, 0.0], [0.0, np.inf]]), ["a", "b"], "Stop.")
