"""Bit masks: members, and the words they are stored in."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from momentdag.engines.evidence.support.bitmasks import (
    column_mask,
    everyone_but,
    from_words,
    members,
    to_words,
)

SETS = st.sets(st.integers(0, 199))


@given(SETS)
def test_a_mask_has_the_members_it_was_made_of(variables):
    column = np.isin(np.arange(200), sorted(variables))
    mask = column_mask(column)
    assert members(mask) == sorted(variables)
    assert mask.bit_count() == len(variables)


@given(st.lists(SETS.map(lambda s: sum(1 << i for i in s)), max_size=5))
def test_words_hold_masks_of_many_variables(masks):
    words = to_words(masks, 200)
    assert words.shape == (len(masks), 4)
    assert from_words(words) == masks


def test_everyone_but_oneself():
    assert [members(mask) for mask in everyone_but(3)] == [[1, 2], [0, 2], [0, 1]]
