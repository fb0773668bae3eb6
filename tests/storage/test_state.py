import numpy as np
import pytest

from momentdag.errors import StorageError
from momentdag.storage.state import take_array, take_floats, take_names

ARRAYS = {"a": np.zeros((2, 3)), "b": np.array([np.nan]), "c": np.array([-1e151])}


def test_arrays_are_checked():
    assert take_array(ARRAYS, "a", np.float64, (2, None)) is ARRAYS["a"]
    for name, dtype, shape in (
        ("d", np.float64, (2,)),
        ("a", np.int64, (2, 3)),
        ("a", np.float64, (3, 2)),
        ("a", np.float64, (2, 3, 1)),
    ):
        with pytest.raises(StorageError, match="Expected"):
            take_array(ARRAYS, name, dtype, shape)


@pytest.mark.parametrize("name", ["b", "c"])
def test_floats_must_be_finite_and_their_squares_too(name):
    np.testing.assert_array_equal(take_floats(ARRAYS, "a", (None, 3)), ARRAYS["a"])
    with pytest.raises(StorageError, match="finite"):
        take_floats(ARRAYS, name, (1,))


@pytest.mark.parametrize("names", [None, "ab", ["a", 1], {"a": 1}])
def test_names_are_a_list_of_text(names):
    assert take_names({"names": ["a", "b"]}) == ("a", "b")
    with pytest.raises(StorageError, match="list of variable names"):
        take_names({"names": names})


def test_numbers_too_small_to_be_inverted_are_zero():
    array = take_floats({"a": np.array([5e-324, -1e-310, 1e-300])}, "a", (3,))
    assert array.tolist() == [0.0, 0.0, 1e-300]


def test_names_that_cannot_be_written_are_refused():
    with pytest.raises(StorageError, match="variable names"):
        take_names({"names": ["a", "\ud800"]})
