"""How columns of each kind act as causes.

A category and a binary variable act by level effects, a count through log1p, other kinds by their
standardised values; each through a smooth function of its own, plus products of pairs of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from momentdag.simulate.kinds import Kind
from momentdag.simulate.options import FloatArray
from momentdag.simulate.smooth import Shape, SmoothFunction

__all__ = ["Causes", "LevelEffect", "ParentFunction", "SmoothEffect"]


@dataclass(frozen=True, eq=False)
class LevelEffect:
    """The effect of a category or a binary variable: one number for each level.

    Parameters
    ----------
    column : int
    effects : float array, shape (n_levels,)
        Mean 0 and variance 1 over the rows that it was drawn for.
    """

    column: int
    effects: FloatArray

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return the effect at each row of a table of shape (n, d)."""
        return self.effects[values[:, self.column].astype(np.intp)]


@dataclass(frozen=True, eq=False)
class SmoothEffect:
    """The effect of a number: a smooth function of its standardised value or logarithm.

    Parameters
    ----------
    column : int
    log : bool
        Standardise ``log(1 + x)``, for counts.
    location, unit : float
        Mean and sd of the input.
    function : SmoothFunction
    offset, factor : float
        Make the effect's mean 0 and its variance 1 over the rows that it was drawn for.
    """

    column: int
    log: bool
    location: float
    unit: float
    function: SmoothFunction
    offset: float = 0.0
    factor: float = 1.0

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return the effect at each row of a table of shape (n, d)."""
        x = values[:, self.column]
        z = ((np.log1p(x) if self.log else x) - self.location) / self.unit
        return self.factor * (self.function(z) - self.offset)


@dataclass(frozen=True, eq=False)
class ParentFunction:
    """A function of all parents.

    ``constant + factor g(sum_i w_i e_i + sum_ij W_ij e_i e_j - c)``, where g is the identity, or
    ``g(z) = limit tanh(z / limit)`` to keep the function within bounds.

    Parameters
    ----------
    effects : tuple of effects
        e_i, one for each parent.
    weights : float array, shape (k,)
        w.
    pair_weights : float array, shape (k, k)
        W, strictly upper triangular.
    offset, factor, constant : float
        c and the outer numbers.
    limit : float or None
        Of g; None is the identity.

    Examples
    --------
    >>> ParentFunction.fixed(2.0)(np.zeros((2, 3))).tolist()
    [2.0, 2.0]
    """

    effects: tuple[LevelEffect | SmoothEffect, ...]
    weights: FloatArray
    pair_weights: FloatArray
    offset: float = 0.0
    factor: float = 1.0
    constant: float = 0.0
    limit: float | None = None

    @classmethod
    def fixed(cls, constant: float) -> ParentFunction:
        """Return the function without parents."""
        return cls((), np.zeros(0), np.zeros((0, 0)), constant=constant)

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return the function at each row of a table of shape (n, d)."""
        if not self.effects:
            return np.full(len(values), self.constant)
        parts = np.column_stack([effect(values) for effect in self.effects])
        total: FloatArray = parts @ self.weights + np.sum(
            (parts @ self.pair_weights) * parts, axis=1
        )
        inner = total - self.offset
        if self.limit is not None:
            inner = self.limit * np.tanh(inner / self.limit)
        return self.constant + self.factor * inner

    def plus(self, constant: float) -> ParentFunction:
        """Return the function with a constant added."""
        return replace(self, constant=self.constant + constant)


@dataclass(frozen=True, eq=False)
class Causes:
    """The rows, kinds and options from which functions of parents are drawn.

    Parameters
    ----------
    values : float array, shape (n, d)
        Rows over which functions are standardised; the parents' columns must be filled.
    kinds : sequence of Kind
        In column order.
    shape : {"monotone", "non-monotone", "either"}
    interaction_share : float
        Share of a function's variance that products of two effects have, about; in [0, 1).
    """

    values: FloatArray
    kinds: Sequence[Kind]
    shape: Shape = "either"
    interaction_share: float = 0.2

    def draw(
        self,
        rng: np.random.Generator,
        parents: Sequence[int],
        spread: float,
        limit: float | None = None,
    ) -> ParentFunction:
        """Draw a function of the given columns with mean 0 and sd ``spread`` over the rows.

        With a limit it is bounded at about that many sd, for functions that are exponentiated.
        """
        if not parents:
            return ParentFunction.fixed(0.0)
        k = len(parents)
        effects = tuple(self._draw_effect(rng, int(parent)) for parent in parents)
        weights = rng.uniform(0.8, 1.2, k)
        signs = np.triu(rng.choice([-1.0, 1.0], (k, k)), k=1)
        n_pairs = max(1, k * (k - 1) // 2)
        share = self.interaction_share
        pair_weights = signs * np.sqrt(share / (1 - share) * k / n_pairs)
        raw = ParentFunction(effects, weights, pair_weights)(self.values)
        unit = float(raw.std())
        offset = float(raw.mean()) / unit
        drawn = ParentFunction(effects, weights / unit, pair_weights / unit, offset, limit=limit)
        output = drawn(self.values)
        factor = spread / float(output.std())
        return replace(drawn, factor=factor, constant=-factor * float(output.mean()))

    def _draw_effect(self, rng: np.random.Generator, column: int) -> LevelEffect | SmoothEffect:
        kind, x = self.kinds[column], self.values[:, column]
        if kind in ("binary", "category"):
            middle = [] if kind == "binary" else [rng.uniform(-0.3, 0.3)]
            raw = rng.permutation(np.array([-1.0, *middle, 1.0]))
            output = raw[x.astype(np.intp)]
            return LevelEffect(column, (raw - output.mean()) / output.std())
        scaled = np.log1p(x) if kind == "count" else x
        effect = SmoothEffect(
            column,
            log=kind == "count",
            location=float(scaled.mean()),
            unit=float(scaled.std()),
            function=SmoothFunction.draw(rng, self.shape),
        )
        output = effect(self.values)
        factor = float(rng.choice([-1.0, 1.0]) / output.std())
        return replace(effect, offset=float(output.mean()), factor=factor)
