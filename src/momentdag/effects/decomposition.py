"""Where the variance of a target comes from.

With Y = m(X_paM) + v(X_paV) E and the law of total variance,

    Var(Y) = (E v)² + Var(m) + Var(v) :

what the target's own noise would do at its average scale, what is passed through the mean, and
what a varying scale adds. m and v are functions of the *independent* noises of Y's ancestors, so
Var(m) and Var(v) split further, each into the Shapley effects of these noises (Owen 2014, Song et
al. 2016): what originates in each cause. Shapley effects are never negative and add up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.effects.fitted import read_fit
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.propagation import propagate, sources
from momentdag.effects.settings import Settings
from momentdag.effects.worlds import (
    MonteCarlo,
    Uncertainty,
    World,
    check_uncertainty,
    draw_worlds,
)

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["VarianceDecomposition", "decompose_variance"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_MAX_CAUSES_ALL_ORDERS = 4  # 15 subsets; beyond, a world averages over a few random orders
_N_RANDOM_ORDERS = 4


@dataclass(frozen=True, eq=False)
class VarianceDecomposition:
    """The parts of a target's variance, in each world of the posterior.

    Parameters
    ----------
    target : str
    causes : tuple of str
        All other variables.
    own_noise : float array, shape (n_worlds,)
        (E v)².
    through_mean, through_scale : float array, shape (n_worlds, n_causes)
        Shares of Var(m) and of Var(v) that originate in each cause.
    weights : float array, shape (n_worlds,)
    uncertainty : {"both", "graph", "function"}
    level : float
    """

    target: str
    causes: tuple[str, ...]
    own_noise: FloatArray
    through_mean: FloatArray
    through_scale: FloatArray
    weights: FloatArray
    uncertainty: Uncertainty
    level: float

    @property
    def total(self) -> FloatArray:
        """Var(Y) in each world, shape (n_worlds,): the sum of all parts."""
        return np.asarray(
            self.own_noise + self.through_mean.sum(axis=1) + self.through_scale.sum(axis=1)
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each part: part, cause, variance, low, high, share.

        The rows "own noise", "mean" (one for each cause) and "scale" (likewise) add up to the last
        one, "total". Estimates are posterior means; ``share`` is the part of the total.
        """
        n = len(self.causes)
        answers = np.column_stack(
            [self.own_noise, self.through_mean, self.through_scale, self.total]
        )
        summary = summarise(answers, self.weights, self.level)
        return pd.DataFrame(
            {
                "part": ["own noise", *["mean"] * n, *["scale"] * n, "total"],
                "cause": [self.target, *self.causes, *self.causes, ""],
                "variance": summary.mean,
                "low": summary.low,
                "high": summary.high,
                "share": summary.mean / summary.mean[-1],
            }
        )

    def by_part(self) -> pd.DataFrame:
        """Return the three parts without their causes: part, variance, low, high, share."""
        parts = [self.own_noise, self.through_mean.sum(axis=1), self.through_scale.sum(axis=1)]
        summary = summarise(np.column_stack([*parts, self.total]), self.weights, self.level)
        return pd.DataFrame(
            {
                "part": ["own noise", "mean", "scale", "total"],
                "variance": summary.mean,
                "low": summary.low,
                "high": summary.high,
                "share": summary.mean / summary.mean[-1],
            }
        )


def decompose_variance(
    estimator: MomentDAG,
    target: str,
    *,
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> VarianceDecomposition:
    """Split the variance of a target into own noise, passed through the mean, and set by scale.

    See the module for the equation. The part of a cause is what originates in that variable's own
    noise and reaches the target, directly or through others; in ``a -> b -> y`` what ``b`` merely
    hands on belongs to ``a``.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    target : str
    uncertainty, level, monte_carlo
        As in `intervene`.

    Returns
    -------
    VarianceDecomposition

    Raises
    ------
    OptionError
        If the target is unknown or an option is out of range.

    Examples
    --------
    >>> import momentdag as md, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(-2, 2, 300)
    >>> y = z + 0.5 * rng.normal(size=300)  # variance 4/3 + 1/4
    >>> est = md.MomentDAG(n_draws=100, random_state=0).fit(pd.DataFrame({"z": z, "y": y}))
    >>> parts = md.effects.decompose_variance(est, "y").by_part()
    >>> parts["part"].tolist()
    ['own noise', 'mean', 'scale', 'total']
    """
    fitted = read_fit(estimator)
    column = fitted.column(target, "target")
    check_level(level)
    check_uncertainty(uncertainty)
    how = MonteCarlo() if monte_carlo is None else monte_carlo
    world_rng, order_rng = how.rng.spawn(2)
    worlds = draw_worlds(world_rng, fitted, how.n_draws, how.n_rows, uncertainty)
    parts = [_decompose(order_rng, world, column) for world in worlds]
    others = [j for j in range(len(fitted.names)) if j != column]
    return VarianceDecomposition(
        target,
        tuple(fitted.names[j] for j in others),
        np.array([own for own, _ in parts]),
        np.array([shares[0, others] for _, shares in parts]),
        np.array([shares[1, others] for _, shares in parts]),
        np.array([world.weight for world in worlds]),
        uncertainty,
        level,
    )


def _decompose(rng: np.random.Generator, world: World, target: int) -> tuple[float, FloatArray]:
    """Return (E v)² and the Shapley effects on m and on v of each variable, shape (2, d)."""
    d = len(world.graph.names)
    nothing = Settings.nothing()
    causes = np.flatnonzero(sources(world.graph.union_graph, [target], []))
    causes = causes[causes != target]
    noise = np.zeros((len(world.uniforms), d))
    for j in causes:
        noise[:, j] = world.noise(j)
    at = propagate(world, nothing, [target], noise)
    functions = np.stack([at.mean[0, 0], at.sd[0, 0]])  # m and v at each row
    variances = functions.var(axis=1)
    effects = np.zeros((2, d))
    if len(causes) == 1:
        effects[:, causes[0]] = variances
    elif len(causes):
        effects = _shapley_effects(rng, world, target, causes, noise, functions)
        # Estimates of a total that is known: made to add up to it.
        sums = effects.sum(axis=1)
        effects *= np.divide(variances, sums, out=np.zeros(2), where=sums > 0)[:, None]
    return float(functions[1].mean() ** 2), effects


def _shapley_effects(
    rng: np.random.Generator,
    world: World,
    target: int,
    causes: npt.NDArray[np.intp],
    noise: FloatArray,
    functions: FloatArray,
) -> FloatArray:
    """Estimate Shapley effects by replacing the noises one after the other.

    ½ E[(f(E) - f(E with the noises of S replaced))²] = E[Var(f | noises outside S)]; along an order
    of the causes its increments are the marginal contributions that Shapley effects average.
    """
    fresh = noise[rng.permutation(len(noise))]  # the same points, paired anew
    orders = _orders(rng, causes)
    subsets = list(dict.fromkeys(_prefixes(orders)))
    replaced = []
    for subset in subsets:
        replaced.append(noise.copy())
        replaced[-1][:, list(subset)] = fresh[:, list(subset)]
    at = propagate(world, Settings.nothing(), [target], np.concatenate(replaced))
    there = np.stack([at.mean[0, 0], at.sd[0, 0]]).reshape(2, len(subsets), -1)
    distances = 0.5 * np.mean((there - functions[:, None]) ** 2, axis=2)
    left = dict(zip(subsets, distances.T, strict=True))
    effects = np.zeros((2, noise.shape[1]))
    for order in orders:
        before = np.zeros(2)
        for k, j in enumerate(order, start=1):
            after = left[frozenset(order[:k])]
            effects[:, j] += (after - before) / len(orders)
            before = after
    # Sampling error can make a small effect negative, which no effect is.
    return np.maximum(effects, 0.0)


def _prefixes(orders: list[tuple[int, ...]]) -> Iterator[frozenset[int]]:
    for order in orders:
        for k in range(1, len(order) + 1):
            yield frozenset(order[:k])


def _orders(rng: np.random.Generator, causes: npt.NDArray[np.intp]) -> list[tuple[int, ...]]:
    """Return all orders of a few causes; of many, random ones in pairs of opposites."""
    if len(causes) <= _MAX_CAUSES_ALL_ORDERS:
        return list(itertools.permutations(causes.tolist()))
    drawn = [tuple(rng.permutation(causes).tolist()) for _ in range(_N_RANDOM_ORDERS // 2)]
    return [order for one in drawn for order in (one, one[::-1])]
