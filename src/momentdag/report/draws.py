"""The draws, packed small, so that the page itself can answer questions about edges and paths."""

from __future__ import annotations

import base64
from typing import NamedTuple

import numpy as np

from momentdag.posterior import Posterior

__all__ = ["PackedDraws", "pack_draws"]

_MOST_BITS = 2**23  # a mebibyte, before base64


class PackedDraws(NamedTuple):
    """Draws over the edges that occur at all.

    Parameters
    ----------
    edges : list of (cause, effect, moment)
        Columns of the variables and 0 for the mean graph, 1 for the variance graph.
    n_draws : int
        Draws in ``bits``; fewer than the posterior has if it is large.
    bits : str
        Base64; draw by draw one bit for each edge, each draw filled up to whole bytes, the first
        edge in the highest bit.
    """

    edges: list[tuple[int, int, int]]
    n_draws: int
    bits: str


def pack_draws(posterior: Posterior) -> PackedDraws:
    """Pack the draws of a posterior, evenly thinned where they would weigh more than 1 MiB.

    Examples
    --------
    >>> from momentdag.posterior import Posterior, Provenance
    >>> mean = [[[0, 1], [0, 0]], [[0, 0], [0, 0]]]
    >>> packed = pack_draws(Posterior("ab", mean, mean, Provenance("by hand")))
    >>> packed.edges, packed.n_draws, base64.b64decode(packed.bits).hex()
    ([(0, 1, 0), (0, 1, 1)], 2, 'c000')
    """
    both = np.stack([posterior.mean_graphs, posterior.variance_graphs], axis=-1)
    causes, effects, moments = np.nonzero(both.any(axis=0))
    n_edges = len(causes)
    most = max(1, _MOST_BITS // max(n_edges, 1))
    kept = posterior.n_draws
    chosen = np.arange(kept)
    if kept > most:
        kept = most
        chosen = np.floor((np.arange(kept) + 0.5) * posterior.n_draws / kept).astype(np.intp)
    bits = np.packbits(both[chosen][:, causes, effects, moments], axis=1)
    edges = [(int(i), int(j), int(k)) for i, j, k in zip(causes, effects, moments, strict=True)]
    return PackedDraws(edges, kept, base64.b64encode(bits.tobytes()).decode("ascii"))
