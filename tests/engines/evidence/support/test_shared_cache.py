"""Evidences that processes tell each other."""

from pathlib import Path

import numpy as np
import pytest

from momentdag.engines.evidence.local.linear import LinearScorer
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.prior import GraphPrior
from momentdag.engines.evidence.search.parents import ParentSearch
from momentdag.engines.evidence.support.shared_cache import SharedCache
from momentdag.knowledge import Knowledge

D = 4
FULL = Path("/dev/full")


@pytest.fixture
def pair(tmp_path):
    here, there = SharedCache(tmp_path), SharedCache(tmp_path)
    yield here, there
    here.close()
    there.close()


def heard(exchange):
    known = [{} for _ in range(D)]
    exchange.refresh(known)
    return known


def test_every_bit_arrives_once(pair):
    here, there = pair
    told = {
        Parents(1 << 70 | 1, 0): -1 / 3,
        Parents(0, 0): -np.inf,
        Parents(5, 1 << 99): np.nextafter(-7.0, 0.0),
    }
    for own, value in told.items():
        there.publish(2, own, value)
    assert heard(here) == [{}, {}, told, {}]
    assert heard(here) == [{}] * D
    there.publish(0, Parents(2, 2), 1.5)
    assert heard(here)[0] == {Parents(2, 2): 1.5}
    assert heard(there) == [{}] * D  # nobody hears himself


def test_a_line_that_is_not_finished_is_waited_for(pair, tmp_path):
    here, _ = pair
    with (tmp_path / "another.txt").open("wb", buffering=0) as other:
        other.write(b"1 2 3 -4.5\n3 1 ")
        assert heard(here) == [{}, {Parents(2, 3): -4.5}, {}, {}]
        other.write(b"0 -0.25\n")
        assert heard(here) == [{}, {}, {}, {Parents(1, 0): -0.25}]


def test_without_the_folder_everyone_works_alone(tmp_path):
    alone = SharedCache(tmp_path / "of another machine")
    alone.publish(0, Parents(0, 0), 1.0)
    assert heard(alone) == [{}] * D
    alone.close()


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_ends_the_exchange_and_nothing_else(tmp_path):
    exchange = SharedCache(tmp_path)
    exchange._own.close()
    exchange._own = FULL.open("wb", buffering=0)
    exchange.publish(0, Parents(0, 0), 1.0)
    exchange.publish(0, Parents(0, 0), 1.0)
    assert heard(exchange) == [{}] * D


def test_what_another_has_told_is_not_computed_again(pair):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((50, D))
    values[:, 3] += values[:, 0]
    prior = GraphPrior(Knowledge().compile(tuple("abcd")), with_variance_graph=False)
    searches = [
        ParentSearch(LinearScorer(values), prior.modular(D, 0), shared_cache=end) for end in pair
    ]
    scored = [search.log_evidence(3, Parents(1, 0)) for search in searches]
    assert scored[0] == scored[1]
    # The second has it from the first: it holds no fit of its own.
    assert [len(search.fits) for search in searches] == [1, 0]
