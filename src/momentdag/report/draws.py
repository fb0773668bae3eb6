"""Packed draws, with which the page itself answers questions about edges and paths."""

from __future__ import annotations

import base64
from typing import NamedTuple

import numpy as np

from momentdag.posterior import Posterior
from momentdag.posterior.monte_carlo import evenly_spaced

__all__ = ["PackedDraws", "pack_draws"]

_MOST_BITS = 2**23  # a mebibyte, before base64


class PackedDraws(NamedTuple):
    """Draws of the edges that occur in any draw.

    Parameters
    ----------
    edges : list of (cause, effect, moment)
        Columns of the variables and 0 for the mean graph, 1 for the variance graph.
    n_draws : int
        Draws in ``bits``; a large posterior is thinned.
    bits : str
        Base64; for each draw one bit for each edge, padded to whole bytes, the first edge in the
        highest bit.
    """

    edges: list[tuple[int, int, int]]
    n_draws: int
    bits: str


def pack_draws(posterior: Posterior) -> PackedDraws:
    """Pack the draws of a posterior, evenly thinned to at most 1 MiB.

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
    n_kept = min(posterior.n_draws, max(1, _MOST_BITS // max(len(causes), 1)))
    rows = evenly_spaced(posterior.n_draws, n_kept)
    bits = np.packbits(both[rows][:, causes, effects, moments], axis=1)
    edges = [(int(i), int(j), int(k)) for i, j, k in zip(causes, effects, moments, strict=True)]
    return PackedDraws(edges, n_kept, base64.b64encode(bits.tobytes()).decode("ascii"))
