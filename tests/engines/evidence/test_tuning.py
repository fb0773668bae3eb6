"""Every number that tunes the engine stands in one place, with its reason."""

import re
from dataclasses import fields

import pytest

from momentdag.engines.evidence.local.tuning import ScoreTuning
from momentdag.engines.evidence.search.tuning import SearchTuning


@pytest.mark.parametrize("tuning", [ScoreTuning, SearchTuning])
def test_every_field_is_documented(tuning):
    heads = re.findall(r"^    (\w[\w, ]*) : ", tuning.__doc__, flags=re.MULTILINE)
    documented = [name for head in heads for name in head.split(", ")]
    assert documented == [field.name for field in fields(tuning)]


def test_amplitudes_ascend_and_their_shares_add_up():
    tuning = ScoreTuning()
    for amplitudes in (tuning.mean_amplitudes, tuning.scale_amplitudes):
        values, shares = zip(*amplitudes, strict=True)
        assert list(values) == sorted(values)
        assert sum(shares) == pytest.approx(1)


def test_moves_of_a_chain_leave_room_for_reversals():
    tuning = SearchTuning()
    assert 0 < tuning.toggle_share + tuning.redraw_share < 1
