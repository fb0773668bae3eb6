import numpy as np
import pytest

from momentdag.engines.storage import State, read_units, take_array, take_floats
from momentdag.errors import StorageError

ARRAYS = {"location": np.zeros(2), "scale": np.ones(2)}


def test_arrays_are_checked():
    arrays = {"a": np.zeros((2, 3)), "b": np.array([np.nan])}
    assert take_array(arrays, "a", np.float64, (2, None)) is arrays["a"]
    for name, kind, shape in (
        ("c", np.float64, (2,)),
        ("a", np.int64, (2, 3)),
        ("a", np.float64, (3, 2)),
        ("a", np.float64, (2, 3, 1)),
    ):
        with pytest.raises(StorageError, match="Expected"):
            take_array(arrays, name, kind, shape)
    with pytest.raises(StorageError, match="finite"):
        take_floats(arrays, "b", (1,))


def test_units_are_checked():
    assert read_units(State({"names": ["a", "b"]}, ARRAYS)).names == ("a", "b")
    for content, arrays in (
        ({}, ARRAYS),
        ({"names": []}, ARRAYS),
        ({"names": "ab"}, ARRAYS),
        ({"names": ["a", 1]}, ARRAYS),
        ({"names": ["a"]}, ARRAYS),
        ({"names": ["a", "b"]}, ARRAYS | {"scale": np.array([1.0, 0.0])}),
    ):
        with pytest.raises(StorageError):
            read_units(State(content, arrays))
