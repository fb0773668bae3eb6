"""The game that splits a surprise among noises, in one posterior sample. See `anomalies`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from momentdag.effects.abduction import abduct, replay
from momentdag.effects.posterior_samples import PosteriorSample
from momentdag.effects.propagation import ancestors_of
from momentdag.engines.protocol import DiscreteMechanism, as_continuous

__all__ = ["NoiseGame"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Subset: TypeAlias = frozenset[int]

_MAX_ALL_ORDERS = 5  # noises whose subsets are all computed; with more, random orders are averaged
_N_RANDOM_ORDERS = 8
_N_DISTANCES = 129  # at which the rarity of a distance is computed
_RAREST = 1e-15


@dataclass(frozen=True, eq=False)
class NoiseGame:
    """Noises of a row against noises drawn anew.

    Parameters
    ----------
    sample : PosteriorSample
    target : int
    is_category : bool
        Whether the target has no distances, only probabilities.
    players : int array, shape (k,)
        The target and its causes in this sample.
    of_row : float array, shape (d,)
        The noises of the row.
    drawn : float array, shape (n_rows, d)
        Noises as they usually are.
    """

    sample: PosteriorSample
    target: int
    is_category: bool
    players: npt.NDArray[np.intp]
    of_row: FloatArray
    drawn: FloatArray

    @classmethod
    def between(
        cls,
        rng: np.random.Generator,
        sample: PosteriorSample,
        row: FloatArray,
        target: int,
        is_category: bool,
    ) -> NoiseGame:
        """Return the game of a row (d,) on the scale of the fit."""
        players = np.flatnonzero(ancestors_of(sample.graph.union_graph, [target], []))
        of_row, drawn = np.zeros(len(row)), np.zeros((len(sample.uniforms), len(row)))
        for j in players:
            of_row[j] = abduct(rng, sample, int(j), row[None])[0]
            drawn[:, j] = sample.noise(int(j))
        return cls(sample, target, is_category, players, of_row, drawn)

    def standard_noises(self) -> FloatArray:
        """Return the noises of the row in standard deviations, (k,)."""
        return np.array(
            [
                self.of_row[j] if self.sample.discrete(int(j)) is None else ndtri(self.of_row[j])
                for j in self.players
            ]
        )

    @property
    def rarity(self) -> float:
        """How often a value at least as unusual as that of the row occurs."""
        return float(10 ** -self._surprise(self._target_values(self.of_row[None]))[0])

    def shapley(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return each noise's part of the surprise and of the distance from the mean, each (d,)."""
        orders = self._orders(rng)
        subsets = list(dict.fromkeys(_prefixes(orders)))
        noise = np.tile(self.drawn, (len(subsets), 1, 1))
        for k, subset in enumerate(subsets):
            noise[k][:, list(subset)] = self.of_row[list(subset)]
        values = self._target_values(noise.reshape(-1, noise.shape[-1]))
        surprise = self._surprise(values).reshape(len(subsets), -1).mean(axis=1)
        shown = self._shown(values).reshape(len(subsets), -1).mean(axis=1)
        worth = {s: np.array(pair) for s, *pair in zip(subsets, surprise, shown, strict=True)}
        parts = np.zeros((2, len(self.of_row)))
        for order in orders:
            for k, j in enumerate(order):
                before, after = frozenset(order[:k]), frozenset(order[: k + 1])
                parts[:, j] += (worth[after] - worth[before]) / len(orders)
        return parts[0], parts[1]

    def _orders(self, rng: np.random.Generator) -> list[tuple[int, ...]]:
        if len(self.players) <= _MAX_ALL_ORDERS:
            return list(itertools.permutations(self.players.tolist()))
        drawn = [tuple(rng.permutation(self.players).tolist()) for _ in range(_N_RANDOM_ORDERS)]
        return [order for one in drawn for order in (one, one[::-1])]

    def _rows(self, noise: FloatArray) -> FloatArray:
        """Return the variables (n, d) that follow from noises (n, d)."""
        moving = np.zeros(noise.shape[1], dtype=bool)
        moving[self.players] = True
        return replay(self.sample, noise, np.zeros_like(noise), moving, {})

    def _target_values(self, noise: FloatArray) -> FloatArray:
        """Return the target in rows with these noises, not yet on its grid if it has one, (n,)."""
        rows = self._rows(noise)
        if self.sample.discrete(self.target) is not None:
            return rows[:, self.target]
        mean, sd = self.sample.latent_moments(self.target, rows)
        return mean + sd * noise[:, self.target]

    def _shown(self, values: FloatArray) -> FloatArray:
        view = self.sample.view(self.target)
        if view is None:
            return values
        on_grid = view.settle(values) if self.sample.discrete(self.target) is None else values
        return view.show(on_grid)

    @cached_property
    def _usual(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The usual rows, and the target's mean and sd given its causes in each."""
        rows = self._rows(self.drawn)
        return rows, *self.sample.latent_moments(self.target, rows)

    def _surprise(self, values: FloatArray) -> FloatArray:
        """Return -log10 of how often values as unusual as these occur, (n,)."""
        rows, mean, sd = self._usual
        discrete = self.sample.discrete(self.target)
        if discrete is not None:
            found, place = np.unique(values, return_inverse=True)
            rarity = np.array([self._discrete_rarity(discrete, rows, y) for y in found])[place]
            return np.asarray(-np.log10(np.clip(rarity, _RAREST, 1.0)))
        centre = mean.mean()
        mechanism = as_continuous(self.sample.mechanisms[self.sample.graph.names[self.target]])
        distance = np.abs(values - centre)
        # Dense near the centre; between them its logarithm is nearly straight.
        grid = distance.max() * np.linspace(0.0, 1.0, _N_DISTANCES)[:, None] ** 2
        cdf: Callable[[FloatArray], FloatArray] = mechanism.noise_cdf
        above = 1 - cdf((centre + grid - mean) / sd)
        rarity = (above + cdf((centre - grid - mean) / sd)).mean(axis=1)
        logs = -np.log10(np.clip(rarity, _RAREST, 1.0))
        return np.asarray(np.interp(distance, grid[:, 0], logs))

    def _discrete_rarity(self, discrete: DiscreteMechanism, rows: FloatArray, y: float) -> float:
        if self.is_category:
            return float(discrete.probability(rows, y, y).mean())
        centre = float(self._usual[1].mean())
        reach = abs(y - centre) * (1 - 1e-9)
        return float(1 - discrete.probability(rows, centre - reach, centre + reach).mean())


def _prefixes(orders: Sequence[tuple[int, ...]]) -> list[Subset]:
    return [frozenset(order[:k]) for order in orders for k in range(len(order) + 1)]
