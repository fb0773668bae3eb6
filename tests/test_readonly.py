import copy
import pickle

import numpy as np
import pytest

from momentdag.knowledge import Knowledge
from momentdag.readonly import ReadOnlyArrays


class Pair(ReadOnlyArrays):
    def __init__(self, first, second):
        self.__dict__.update(first=first, second=second)


def test_arrays_are_frozen_on_arrival_and_all_else_is_kept():
    source = Pair(np.arange(3), ["a"])
    sent = copy.deepcopy(source)
    assert sent.first.tolist() == [0, 1, 2]
    assert sent.second == ["a"]
    with pytest.raises(ValueError, match="read-only"):
        sent.first[0] = 9
    source.first[0] = 9  # the original is left as it was
    assert sent.first[0] == 0


def test_compiled_knowledge_stays_read_only_in_another_process():
    compiled = Knowledge(order=[("a", "b")]).compile(["a", "b"])
    sent = pickle.loads(pickle.dumps(compiled))
    np.testing.assert_array_equal(sent.precedes, compiled.precedes)
    with pytest.raises(ValueError, match="read-only"):
        sent.precedes[0, 1] = False
