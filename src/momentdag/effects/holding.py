"""What a lever does by being held still, wherever it is.

A cause that is set no longer passes its own variation on. With x spread as the lever is spread in
a world, and the levers of a group spread together,

    V = E_x Var(Y | do x) = E[v²] + E_x Var(m | do x)

is the variance that is left at a typical value. So Var(Y | do x*) / Var(Y) is V / Var(Y), by
holding, times Var(Y | do x*) / V, by the level: tolerance design against parameter design, in the
words of robust design (Taguchi, Chowdhury and Wu 2005).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momentdag.effects.propagation import propagate, reached_from
from momentdag.effects.settings import Settings
from momentdag.effects.worlds import World

__all__ = ["variance_held_still"]

_MEETINGS = 2  # noise rows that each value of the levers meets


def variance_held_still(
    rng: np.random.Generator, world: World, columns: Sequence[int], target: int
) -> float:
    """Return E_x Var(Y | do x), where x has the distribution of the levers in this world.

    Each of the world's rows hands over its values of the levers, and these meet the noise of other
    rows, twice: the spread of m between the meetings of one value is Var(m | do x) without bias.

    Parameters
    ----------
    rng : Generator
        Says who meets whom.
    world : World
    columns : sequence of int
        The levers.
    target : int
    """
    now = Settings.nothing()
    if not reached_from(world.graph.union_graph, columns)[target]:
        # Nothing is handed on, so holding changes nothing: exactly the variance as it is.
        return float(propagate(world, now, [target]).moments()[1][0, 0])
    own = propagate(world, now, columns).values[0]  # (n_levers, n_rows)
    met = np.stack([rng.permutation(own.shape[1]) for _ in range(_MEETINGS)])
    settings = Settings((), tuple(columns), np.stack([own[:, rows] for rows in met]))
    answer = propagate(world, settings, [target])
    mean = np.take_along_axis(answer.mean[:, 0], np.argsort(met, axis=1), axis=1)
    return float(np.mean(answer.sd**2) + mean.var(axis=0, ddof=1).mean())
