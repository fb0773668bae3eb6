"""From a setting to the conditional moments of the targets, inside one world.

    X_j = m_j(X_paM(j)) + v_j(X_paV(j)) E_j

is evaluated in causal order for the ancestors of the targets only. The noise of a target itself is
integrated out in closed form: E[Y] = E[m], Var(Y) = Var(m) + E[v²] by the law of total variance,
P(Y <= y) = E[F((y - m) / v)].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects.settings import Settings
from momentdag.effects.worlds import World
from momentdag.graph import BoolArray, reachability

__all__ = ["Conditional", "propagate", "reached_from", "sources"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_MAX_ROWS = 2**15


class Conditional(NamedTuple):
    """Moments of the targets given their parents, in each setting and noise row of a world."""

    mean: FloatArray  # (n_settings, n_targets, n_rows)
    sd: FloatArray  # (n_settings, n_targets, n_rows)
    values: FloatArray  # (n_settings, n_targets, n_rows), the noise of the targets included

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each target in each setting, (n_settings, n_targets)."""
        variance = self.mean.var(axis=-1) + np.mean(self.sd**2, axis=-1)
        return self.mean.mean(axis=-1), variance


def sources(union_graph: BoolArray, targets: Sequence[int], fixed: Sequence[int]) -> BoolArray:
    """Tell which variables have a say in the targets once ``fixed`` are set, shape (d,)."""
    cut = union_graph.copy()
    cut[:, list(fixed)] = False
    say = np.asarray(reachability(cut)[:, list(targets)].any(axis=1))
    say[list(targets)] = True
    return say


def reached_from(union_graph: BoolArray, fixed: Sequence[int]) -> BoolArray:
    """Tell which variables change when ``fixed`` are set, shape (d,)."""
    cut = union_graph.copy()
    cut[:, list(fixed)] = False
    return np.asarray(reachability(cut)[list(fixed)].any(axis=0))


def propagate(
    world: World, settings: Settings, targets: Sequence[int], noise: FloatArray | None = None
) -> Conditional:
    """Return the conditional moments of target columns in every setting.

    Parameters
    ----------
    world : World
    settings : Settings
    targets : sequence of int
        Columns; none of them set.
    noise : float array, shape (n_rows, d), optional
        Standardised noise; by default that of the world.
    """
    union, names = world.graph.union_graph, world.graph.names
    wanted = sources(union, targets, settings.columns)
    moving = reached_from(union, settings.columns)
    n_rows = len(world.uniforms if noise is None else noise)
    order = [names.index(name) for name in world.graph.order]
    order = [j for j in order if wanted[j] and j not in settings.columns]
    columns = {j: world.noise(j) if noise is None else noise[:, j] for j in order}
    # What no setting reaches is the same in all of them.
    still = np.zeros((n_rows, len(names)))
    unmoved = {}
    for j in order:
        if not moving[j]:
            unmoved[j] = world.mechanisms[names[j]].moments(still)
            still[:, j] = unmoved[j][0] + unmoved[j][1] * columns[j]
    shape = (len(settings), len(targets), n_rows)
    answer = Conditional(np.empty(shape), np.empty(shape), np.empty(shape))
    step = max(1, _MAX_ROWS // n_rows)
    for start in range(0, len(settings), step):
        part = slice(start, start + step)
        values = np.repeat(still[None], len(settings.values[part]), axis=0)
        for k, j in enumerate(settings.columns):
            given = settings.values[part, k]
            values[:, :, j] = given.reshape(len(given), -1)  # one for all rows, or one for each
        found = dict(unmoved)
        for j in order:
            if moving[j]:
                flat = world.mechanisms[names[j]].moments(values.reshape(-1, len(names)))
                mean, sd = (moment.reshape(values.shape[:2]) for moment in flat)
                found[j] = mean, sd
                values[:, :, j] = mean + sd * columns[j]
        for t, j in enumerate(targets):
            answer.mean[part, t], answer.sd[part, t] = found[j]
            answer.values[part, t] = values[:, :, j]
    return answer
