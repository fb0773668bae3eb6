"""A process in which causes act with a delay, of which a table is one moment.

    s_j(t + 1) = c_j s_j(t) + sqrt(1 - c_j²) (f_j(s_pa(j)(t)) + scale_j Z_j(t))

Rows are independent runs of the process, each long enough to forget its start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from momentdag.graph import BoolArray
from momentdag.simulate.causes import Causes, ParentFunction
from momentdag.simulate.kinds import Kind
from momentdag.simulate.options import FloatArray

__all__ = ["LaggedModel", "draw_lagged"]

_N_STEPS = 60  # 0.9 to the power of 60 is 0.002
_N_PILOT = 1000


@dataclass(frozen=True, eq=False)
class LaggedModel:
    """A lagged process and the units in which it is read.

    Parameters
    ----------
    functions : tuple of ParentFunction
        f, in column order.
    persistence, scale : float array, shape (d,)
        c and the sd of the noise.
    offset, unit : float array, shape (d,)
        Mean and sd of the stationary process; a reading is ``(s - offset) / unit``.
    """

    functions: tuple[ParentFunction, ...]
    persistence: FloatArray
    scale: FloatArray
    offset: FloatArray
    unit: FloatArray

    def draw(
        self, rng: np.random.Generator, n_samples: int, fixed: Mapping[int, FloatArray]
    ) -> FloatArray:
        """Draw rows; the columns of ``fixed`` are held at their values all the time."""
        state = np.zeros((n_samples, len(self.functions)))
        for _ in range(_N_STEPS):
            noise = rng.standard_normal(state.shape)
            push = np.column_stack([function(state) for function in self.functions])
            kept = self.persistence * state
            state = kept + np.sqrt(1 - self.persistence**2) * (push + self.scale * noise)
            for j, setting in fixed.items():
                state[:, j] = self.offset[j] + self.unit[j] * setting
        reading: FloatArray = (state - self.offset) / self.unit
        for j, setting in fixed.items():
            reading[:, j] = setting
        return reading

    def moments(self, values: FloatArray) -> None:
        """Return None: a reading does not determine the moments, the past does."""


def draw_lagged(rng: np.random.Generator, graph: BoolArray, order: Sequence[int]) -> LaggedModel:
    """Draw a process whose causes are those of a graph of shape (d, d).

    Functions are standardised over a pilot of the stationary process, causes first.
    """
    d = len(graph)
    persistence, scale = rng.uniform(0.5, 0.9, d), rng.uniform(0.3, 0.8, d)
    scale[~graph.any(axis=0)] = 1.0
    paths = np.zeros((_N_STEPS + 1, _N_PILOT, d))  # of the process, by step
    functions: dict[int, ParentFunction] = {}
    kinds: list[Kind] = ["continuous"] * d
    for j in order:
        parents = np.flatnonzero(graph[:, j]).tolist()
        causes = Causes(paths[-1], kinds)
        functions[j] = causes.draw(rng, parents, spread=1.0)
        noise = rng.standard_normal((_N_STEPS, _N_PILOT))
        push = functions[j](paths[:-1].reshape(-1, d)).reshape(noise.shape) + scale[j] * noise
        for t in range(_N_STEPS):
            step = np.sqrt(1 - persistence[j] ** 2) * push[t]
            paths[t + 1, :, j] = persistence[j] * paths[t, :, j] + step
    return LaggedModel(
        tuple(functions[j] for j in range(d)),
        persistence,
        scale,
        paths[-1].mean(axis=0),
        paths[-1].std(axis=0),
    )
