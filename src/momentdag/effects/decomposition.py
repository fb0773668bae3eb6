"""Where the variance of a target comes from.

With Y = m(X_paM) + v(X_paV) E and the law of total variance,

    Var(Y) = (E v)² + Var(m) + Var(v) :

the target's own noise at its average scale, what its causes pass on through the mean, and what a
varying scale adds. m and v are functions of the *independent* noises of Y's ancestors, so Var(m)
and Var(v) split further into the Shapley effects of these noises (Owen 2014, Song et al. 2016):
the variance that originates in each cause. Shapley effects are never negative and add up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.display import text
from momentdag.display.printable import Printable, Writer
from momentdag.effects.inputs import FittedEstimator, read_world
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.posterior_samples import (
    MonteCarlo,
    PosteriorSample,
    Uncertainty,
    check_uncertainty,
    draw_samples,
)
from momentdag.effects.propagation import ancestors_of, propagate
from momentdag.effects.settings import Settings
from momentdag.effects.trust import Trust, judge

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["VarianceDecomposition", "decompose_variance"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_MAX_CAUSES_ALL_ORDERS = 4  # 15 subsets; with more causes, a few random orders are averaged
_N_RANDOM_ORDERS = 4
_SHOWN_SHARE = 0.005  # of the variance, for a cause to be in a notebook's table


@dataclass(frozen=True, eq=False, repr=False)
class VarianceDecomposition(Printable):
    """The parts of a target's variance, in each posterior sample.

    Parameters
    ----------
    target : str
    causes : tuple of str
        All other variables.
    own_noise : float array, shape (n_draws,)
        (E v)².
    through_mean, through_scale : float array, shape (n_draws, n_causes)
        Shares of Var(m) and of Var(v) that originate in each cause.
    weights : float array, shape (n_draws,)
    uncertainty : {"both", "graph", "function"}
    level : float
    trust : Trust or None
        How far the parts can be trusted.

    Examples
    --------
    >>> own_noise, mean, scale = np.array([0.3, 0.2]), np.array([[1.2], [1.3]]), np.zeros((2, 1))
    >>> parts = VarianceDecomposition(
    ...     "y", ("z",), own_noise, mean, scale, np.ones(2) / 2, "both", 0.9
    ... )
    >>> parts.by_part().set_index("part")["share"].round(2).to_dict()
    {'own noise': 0.17, 'mean': 0.83, 'scale': 0.0, 'total': 1.0}
    >>> parts
    VarianceDecomposition(variance of y 1.5: own noise 17%, mean 83%, scale 0%)
    >>> print(parts)
    Where the variance of y comes from
    <BLANKLINE>
    part       variance  low  high   share
    own noise      0.25  0.2   0.3  0.1667
    mean           1.25  1.2   1.3  0.8333
    scale             0    0     0       0
    total           1.5  1.5   1.5       1
    <BLANKLINE>
    part  cause  variance  low  high   share
    mean  z          1.25  1.2   1.3  0.8333
    """

    target: str
    causes: tuple[str, ...]
    own_noise: FloatArray
    through_mean: FloatArray
    through_scale: FloatArray
    weights: FloatArray
    uncertainty: Uncertainty
    level: float
    trust: Trust | None = None

    @property
    def total(self) -> FloatArray:
        """Var(Y) in each sample, shape (n_draws,): the sum of all parts."""
        return np.asarray(
            self.own_noise + self.through_mean.sum(axis=1) + self.through_scale.sum(axis=1)
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each part: part, cause, variance, low, high, share.

        The rows "own noise", "mean" (one for each cause) and "scale" (likewise) add up to the last
        row, "total". Estimates are posterior means; ``share`` is a part divided by the total.
        """
        n = len(self.causes)
        parts = [self.own_noise, self.through_mean, self.through_scale, self.total]
        summary = summarise(np.column_stack(parts), self.weights, self.level)
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

    def plot(self) -> Figure:
        """Return a figure: whose noise the variance comes from."""
        from momentdag.effects.figures import draw_decomposition

        return draw_decomposition(self)

    def _headline(self) -> str:
        *parts, total = self.by_part().itertuples()
        shares = ", ".join(f"{one.part} {one.share:.0%}" for one in parts)
        return f"variance of {self.target} {text.number(total.variance)}: {shares}"

    def _write(self, to: Writer) -> str:
        doubt = "" if self.trust is None else self.trust.message()
        causes = self.to_frame()
        causes = causes[(causes["share"] >= _SHOWN_SHARE) & causes["part"].isin(["mean", "scale"])]
        parts = [to.table(self.by_part())]
        if len(causes):
            parts.append(to.table(causes.sort_values("share", ascending=False)))
        parts.append(to.sentence(doubt) if doubt else "")
        return to.block(f"Where the variance of {self.target} comes from", parts)


def decompose_variance(
    estimator: FittedEstimator,
    target: str,
    *,
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> VarianceDecomposition:
    """Split the variance of a target into own noise, what the mean passes on, and varying scale.

    The module's docstring has the equation. A cause's part is the variance that originates in that
    variable's own noise and reaches the target, directly or through others: in ``a -> b -> y`` what
    ``b`` merely passes on belongs to ``a``.

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
    With a fitted ``estimator``::

        md.effects.decompose_variance(estimator, "y").by_part()
    """
    inputs = read_world(estimator)
    column = inputs.number(target)
    check_level(level)
    check_uncertainty(uncertainty)
    how = MonteCarlo() if monte_carlo is None else monte_carlo
    sample_rng, order_rng = how.rng.spawn(2)
    samples = draw_samples(sample_rng, inputs, how.n_draws, how.n_rows, uncertainty)
    parts = [_decompose(order_rng, sample, column) for sample in samples]
    others = [j for j in range(len(inputs.names)) if j != column]
    return VarianceDecomposition(
        target,
        tuple(inputs.names[j] for j in others),
        np.array([own_noise for own_noise, _ in parts]),
        np.array([effects[0, others] for _, effects in parts]),
        np.array([effects[1, others] for _, effects in parts]),
        np.array([sample.weight for sample in samples]),
        uncertainty,
        level,
        judge(estimator, [target]),
    )


def _decompose(
    rng: np.random.Generator, sample: PosteriorSample, target: int
) -> tuple[float, FloatArray]:
    """Return (E v)² and the Shapley effects on m and on v of each variable, shape (2, d)."""
    d = len(sample.graph.names)
    causes = np.flatnonzero(ancestors_of(sample.graph.union_graph, [target], []))
    causes = causes[causes != target]
    noise = np.zeros((len(sample.uniforms), d))
    for j in causes:
        noise[:, j] = sample.noise(j)
    at = propagate(sample, Settings.none(), [target], noise)
    functions = np.stack([at.mean[0, 0], at.sd[0, 0]])  # m and v at each row
    variances = functions.var(axis=1)
    effects = np.zeros((2, d))
    if len(causes) == 1:
        effects[:, causes[0]] = variances
    elif len(causes):
        effects = _shapley_effects(rng, sample, target, causes, noise, functions)
        # Their sum is known exactly, so the estimates are scaled to it.
        sums = effects.sum(axis=1)
        effects *= np.divide(variances, sums, out=np.zeros(2), where=sums > 0)[:, None]
    return float(functions[1].mean() ** 2), effects


def _shapley_effects(
    rng: np.random.Generator,
    sample: PosteriorSample,
    target: int,
    causes: npt.NDArray[np.intp],
    noise: FloatArray,
    functions: FloatArray,
) -> FloatArray:
    """Estimate Shapley effects by replacing the noises one after the other.

    ½ E[(f(E) - f(E with the noises of S replaced))²] = E[Var(f | noises outside S)]; along an order
    of the causes its increments are the marginal contributions that Shapley effects average.
    """
    fresh = noise[rng.permutation(len(noise))]  # the same points in another order
    orders = _orders(rng, causes)
    subsets = list(dict.fromkeys(_prefixes(orders)))
    replaced = []
    for subset in subsets:
        replaced.append(noise.copy())
        replaced[-1][:, list(subset)] = fresh[:, list(subset)]
    at = propagate(sample, Settings.none(), [target], np.concatenate(replaced))
    changed = np.stack([at.mean[0, 0], at.sd[0, 0]]).reshape(2, len(subsets), -1)
    distances = 0.5 * np.mean((changed - functions[:, None]) ** 2, axis=2)
    distance = dict(zip(subsets, distances.T, strict=True))
    effects = np.zeros((2, noise.shape[1]))
    for order in orders:
        before = np.zeros(2)
        for k, j in enumerate(order, start=1):
            after = distance[frozenset(order[:k])]
            effects[:, j] += (after - before) / len(orders)
            before = after
    # An effect is never negative, but sampling error can make a small estimate so.
    return np.maximum(effects, 0.0)


def _prefixes(orders: list[tuple[int, ...]]) -> Iterator[frozenset[int]]:
    for order in orders:
        for k in range(1, len(order) + 1):
            yield frozenset(order[:k])


def _orders(rng: np.random.Generator, causes: npt.NDArray[np.intp]) -> list[tuple[int, ...]]:
    """Return all orders of a few causes; for many, random orders each with its reverse."""
    if len(causes) <= _MAX_CAUSES_ALL_ORDERS:
        return list(itertools.permutations(causes.tolist()))
    drawn = [tuple(rng.permutation(causes).tolist()) for _ in range(_N_RANDOM_ORDERS // 2)]
    return [order for one in drawn for order in (one, one[::-1])]
