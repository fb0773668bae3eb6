import base64

import numpy as np
import pytest

from momentdag.posterior import Posterior, Provenance
from momentdag.report import draws
from momentdag.report.draws import pack_draws


def posterior(n_draws=50, d=6, seed=0):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((2, n_draws, d, d)) < 0.3, 1)
    return Posterior([f"x{k}" for k in range(d)], *upper, Provenance("by hand"))


def unpacked(packed):
    bits = np.frombuffer(base64.b64decode(packed.bits), dtype=np.uint8)
    rows = bits.reshape(packed.n_draws, -1)
    return np.unpackbits(rows, axis=1, count=len(packed.edges)).astype(bool)


def test_every_draw_comes_back():
    post = posterior()
    packed = pack_draws(post)
    graphs = np.zeros((2, 50, 6, 6), dtype=bool)
    for column, (cause, effect, moment) in zip(unpacked(packed).T, packed.edges, strict=True):
        graphs[moment, :, cause, effect] = column
    assert np.array_equal(graphs[0], post.mean_graphs)
    assert np.array_equal(graphs[1], post.variance_graphs)


def test_a_large_posterior_is_thinned_evenly(monkeypatch):
    post = posterior(n_draws=1000)
    monkeypatch.setattr(draws, "_MOST_BITS", 100 * 30)
    packed = pack_draws(post)
    assert packed.n_draws == 100
    probabilities = unpacked(packed).mean(axis=0)
    exact = [
        post.edge_probabilities(("mean", "variance")[k]).to_numpy()[i, j]
        for i, j, k in packed.edges
    ]
    # Three standard errors of a share of 100 draws near 0.3.
    assert probabilities == pytest.approx(exact, abs=3 * np.sqrt(0.21 / 100) + 0.02)


def test_no_edges_at_all():
    none = np.zeros((3, 2, 2), dtype=bool)
    packed = pack_draws(Posterior("ab", none, none, Provenance("by hand")))
    assert (packed.edges, packed.bits) == ([], "")
