"""The density of the standardised noise: Student bases and a smooth tilt with its evidence.

Every density here has mean 0 and variance 1, so that m and v of the model stay the conditional
mean and standard deviation. The base is a standardised Student t (normal at infinite degrees of
freedom). ``flexible`` noise multiplies it by exp(Σ_k θ_k cos(k π F(e))) / Z(θ), F the distribution
function of the base, θ_k ~ N(0, τ² / k³), and standardises the result again. The log-likelihood is
concave in θ and needs only the means of K cosines, so its Laplace evidence costs a few Newton
steps in K dimensions, whatever n is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dposv, dtrtrs
from scipy.special import gammaln, ndtr, stdtr

__all__ = [
    "GAUSSIAN",
    "STUDENT_GRID",
    "NoiseDensity",
    "Student",
    "best_student",
    "fit_tilt",
    "student",
    "student_log_likelihoods",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_N_COSINES = 20
_HOPELESS, _CAUTION = -2.0, 0.75
_LOG_2 = float(np.log(2.0))
_TILT_SPREAD = 4.0
_HALF_GRID = 150
_ANCHOR_REACH = 3.0
_MAX_NEWTON_STEPS = 20
_MAX_HALVINGS = 12
_REACH = 4.8  # nodes span ±sinh(4.8) ≈ ±60 standard deviations


@dataclass(frozen=True)
class Student:
    """A Student t density standardised to variance one.

    Parameters
    ----------
    df : float
        Degrees of freedom, above 2; infinite for the normal.
    """

    df: float

    is_normal: bool = field(init=False)
    scale_information: float = field(init=False)
    curvature_ratio: float = field(init=False)
    _log_constant: float = field(init=False)

    def __post_init__(self) -> None:
        df, normal = self.df, bool(np.isinf(self.df))
        constant = -0.5 * np.log(2 * np.pi)
        if not normal:
            constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(np.pi * (df - 2))
        derived = {
            "is_normal": normal,
            # Expected information of the log standard deviation.
            "scale_information": 2.0 if normal else 2 * df / (df + 3),
            # Expected information of the location over the mean of `weights`.
            "curvature_ratio": 1.0 if normal else (df + 1) / (df + 3),
            "_log_constant": float(constant),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def log_density(self, e2: FloatArray) -> FloatArray:
        """Return the log density at squared values ``e2``."""
        if self.is_normal:
            return np.asarray(self._log_constant - 0.5 * e2)
        # log(1 + x) here is as exact as log1p in absolute terms, and several times faster.
        tails = np.log(1 + e2 / (self.df - 2))
        return np.asarray(self._log_constant - 0.5 * (self.df + 1) * tails)

    def weights(self, e2: FloatArray) -> FloatArray:
        """Return -(log f)'(e) / e, the weight of a residual in the location equations."""
        if self.is_normal:
            return np.ones_like(e2)
        return np.asarray((self.df + 1) / (self.df - 2 + e2))

    def distribution(self, e: FloatArray) -> FloatArray:
        """Return the distribution function at ``e``."""
        if self.is_normal:
            return np.asarray(ndtr(e))
        return np.asarray(stdtr(self.df, e * np.sqrt(self.df / (self.df - 2))))


@lru_cache(maxsize=32)
def student(df: float) -> Student:
    """Return the standardised Student density with ``df`` degrees of freedom."""
    return Student(df)


STUDENT_GRID = (np.inf, 12.0, 6.0, 4.0, 3.0)
GAUSSIAN = Student(np.inf)
_HEAVY = np.array(STUDENT_GRID[1:])
_LOG_CONSTANTS = np.array([student(df).log_density(np.zeros(1))[0] for df in STUDENT_GRID])


def student_log_likelihoods(e2: FloatArray) -> FloatArray:
    """Return the log-likelihood of squared values (n,) under each base of the grid, (bases,)."""
    tails = np.log(1 + e2 / (_HEAVY[:, None] - 2)).sum(axis=1)
    shapes = np.append(float(e2.sum()), (_HEAVY + 1) * tails)
    return np.asarray(len(e2) * _LOG_CONSTANTS - 0.5 * shapes)


def best_student(e2: FloatArray) -> Student:
    """Return the base of the grid under which squared values (n,) are most likely."""
    return student(STUDENT_GRID[int(np.argmax(student_log_likelihoods(e2)))])


class _Grid(NamedTuple):
    nodes: FloatArray  # (G,) values of e, dense in the middle
    probability: FloatArray  # (G,) mass of the base in the cell around each node
    first: FloatArray  # (G,) integral of e over the base in the cell
    second: FloatArray  # (G,) integral of e² over the base in the cell
    basis: FloatArray  # (G, 2 + K): two anchors, then the cosines


def _basis(base: Student, e: FloatArray) -> FloatArray:
    """Evaluate the anchors and the cosines at ``e`` (...,), shape (..., 2 + K)."""
    # The anchors are e and e², bent to be bounded so that no tail can outgrow the base.
    bend = 1 + e * e / _ANCHOR_REACH**2
    angle = np.pi * base.distribution(e)
    waves = np.cos(angle[..., None] * np.arange(1, _N_COSINES + 1))
    anchors = np.stack([e / np.sqrt(bend), e * e / bend], axis=-1)
    return np.concatenate([anchors, waves], axis=-1)


@lru_cache(maxsize=32)
def _grid(df: float) -> _Grid:
    nodes = np.sinh(np.linspace(-_REACH, _REACH, 2 * _HALF_GRID + 1))
    base = student(df)
    edges = (nodes[1:] + nodes[:-1]) / 2
    probability = np.diff(base.distribution(edges), prepend=0.0, append=1.0)
    # Exact moments of each cell, the outermost with the whole tail: with g = f (1 + e²/(ν - 2)),
    # ∫ e f = -g (ν - 2)/(ν - 1) and ∫ e² f = ∫ f - e g (g = f in the limit of the normal).
    g, ratio = np.exp(base.log_density(edges * edges)), 1.0
    if not base.is_normal:
        g *= 1 + edges * edges / (df - 2)
        ratio = (df - 2) / (df - 1)
    first = -ratio * np.diff(g, prepend=0.0, append=0.0)
    second = probability - np.diff(edges * g, prepend=0.0, append=0.0)
    return _Grid(nodes, probability, first, second, _basis(base, nodes))


_PRECISION = np.concatenate([[0.0, 0.0], np.arange(1.0, _N_COSINES + 1) ** 3 / _TILT_SPREAD**2])
_LOG_PRECISION = np.log(_PRECISION[2:]).sum()


@dataclass(frozen=True)
class NoiseDensity:
    """A standardised noise density: a Student base, tilted by ``coefficients`` (K,) or not.

    ``shift`` and ``stretch`` are the mean and standard deviation of the tilted base, taken out so
    that the density itself has mean 0 and variance 1.
    """

    base: Student
    coefficients: tuple[float, ...] = ()
    log_normaliser: float = 0.0
    shift: float = 0.0
    stretch: float = 1.0

    def log_density(self, e: FloatArray) -> FloatArray:
        """Return the log density at ``e``."""
        if not self.coefficients:
            return self.base.log_density(e * e)
        raw = self.stretch * e + self.shift
        tilt = _basis(self.base, raw) @ np.array(self.coefficients)
        tilt += np.log(self.stretch) - self.log_normaliser
        return np.asarray(self.base.log_density(raw * raw) + tilt)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Draw standardised noise."""
        grid = _grid(self.base.df)
        tilt = np.ones(len(grid.nodes))
        if self.coefficients:
            tilt = np.exp(grid.basis @ np.array(self.coefficients) - self.log_normaliser)
        # Piecewise uniform in the base's probability, hence smooth in e.
        mass = grid.probability * tilt
        cells = np.cumsum(mass) / mass.sum()
        starts = np.concatenate([[0.0], np.cumsum(grid.probability)])
        u = rng.random(shape)
        cell = np.minimum(np.searchsorted(cells, u, side="right"), len(cells) - 1)
        before = np.where(cell > 0, cells[cell - 1], 0.0)
        inside = (u - before) / np.maximum(cells[cell] - before, np.finfo(float).tiny)
        p = starts[cell] + inside * grid.probability[cell]
        return np.asarray((self._quantile(p) - self.shift) / self.stretch)

    def distribution(self, e: FloatArray) -> FloatArray:
        """Return the distribution function at ``e``, that of `draw`."""
        p = self.base.distribution(self.stretch * e + self.shift)
        if not self.coefficients:
            return p
        grid = _grid(self.base.df)
        tilt = np.exp(grid.basis @ np.array(self.coefficients) - self.log_normaliser)
        # The tilt is constant in each cell, so this is piecewise linear in the base's.
        before = np.append(0.0, np.cumsum(grid.probability))
        after = np.append(0.0, np.cumsum(grid.probability * tilt))
        return np.asarray(np.interp(p, before, after / after[-1]))

    def _quantile(self, p: FloatArray) -> FloatArray:
        from scipy.special import ndtri, stdtrit

        # Keep off 0 and 1, where the quantile is infinite.
        p = np.clip(p, 1e-15, 1 - 1e-15)
        if self.base.is_normal:
            return np.asarray(ndtri(p))
        df = self.base.df
        return np.asarray(stdtrit(df, p) * np.sqrt((df - 2) / df))


def _grid_mass(e: FloatArray) -> FloatArray:
    """Spread the sample over the grid's nodes by linear interpolation, shape (G,), sum n."""
    # arcsinh, by a logarithm that is faster.
    position = np.copysign(np.log(np.abs(e) + np.sqrt(e * e + 1)), e)
    position += _REACH
    position *= _HALF_GRID / _REACH
    # Beyond the last node every bounded basis function has reached its limit.
    np.clip(position, 0, 2 * _HALF_GRID - 1e-9, out=position)
    low = position.astype(np.intp)
    position -= low
    upper = np.bincount(low, weights=position, minlength=2 * _HALF_GRID + 1)
    mass = np.bincount(low, minlength=2 * _HALF_GRID + 1) - upper
    mass[1:] += upper[:-1]
    return np.asarray(mass)


class _Untilted(NamedTuple):
    expected: FloatArray  # (2 + K,) means of the basis under the base
    factor: FloatArray  # Cholesky factor of the penalised information of n residuals
    occam: float  # half the log determinants that a tilt pays


@lru_cache(maxsize=64)
def _untilted(df: float, n: int) -> _Untilted:
    _, p, _, _, basis = _grid(df)
    expected = p @ basis
    root = (basis - expected) * np.sqrt(p)[:, None]
    information = n * (root.T @ root)
    information.flat[:: len(expected) + 1] += _PRECISION
    factor = np.asarray(np.linalg.cholesky(information), dtype=np.float64)
    occam = float(np.log(factor.diagonal()[2:]).sum()) - 0.5 * float(_LOG_PRECISION)
    return _Untilted(expected, factor, occam)


def _is_hopeless(base: Student, n: int, means: FloatArray) -> bool:
    """Tell whether a tilt cannot matter, from the first Newton step alone.

    To second order the tilt gains half the decrement and pays the determinants; most residuals
    end here, at the price of one small triangular solve. Allowing for half as much again, at most
    0.02 nats went missing on 1 200 samples of six kinds of noise.
    """
    expected, factor, occam = _untilted(base.df, n)
    half, _ = dtrtrs(factor, n * (means - expected), lower=1)
    return bool(_CAUTION * half @ half - occam < _HOPELESS)


def fit_tilt(base: Student, e: FloatArray) -> tuple[float, NoiseDensity]:
    """Fit the tilt to standardised residuals ``e`` (n,) and return its log Bayes factor.

    The gain is log(½ + ½ exp(G)) with G the log Bayes factor of the tilted against the plain
    base, so that noise which needs no tilt costs at most log 2.

    Returns
    -------
    gain : float
    density : NoiseDensity
        The tilted density if it is the more probable, else the base.
    """
    n = len(e)
    _, p, cell_first, cell_second, basis = _grid(base.df)
    means = _grid_mass(e) @ basis / n
    if _is_hopeless(base, n, means):
        return -_LOG_2, NoiseDensity(base)

    def evaluate(theta: FloatArray) -> tuple[float, float, FloatArray]:
        """Return the penalised log-likelihood gain, log Z and the tilt on the grid."""
        exponent = basis @ theta
        largest = float(exponent.max())
        log_z = float(np.log(p @ np.exp(exponent - largest))) + largest
        value = n * (float(means @ theta) - log_z) - 0.5 * float(_PRECISION @ theta**2)
        return value, log_z, np.exp(exponent - log_z)

    theta = np.zeros(2 + _N_COSINES)
    value, log_z, tilt = evaluate(theta)
    for _ in range(_MAX_NEWTON_STEPS):
        tilted = p * tilt
        expected = tilted @ basis
        root = (basis - expected) * np.sqrt(tilted)[:, None]
        hessian = n * (root.T @ root)
        hessian.flat[:: len(theta) + 1] += _PRECISION
        gradient = n * (means - expected) - _PRECISION * theta
        factor, step, status = dposv(hessian, gradient, lower=1)
        if status != 0:
            return -_LOG_2, NoiseDensity(base)
        if gradient @ step < 0.02:  # half of it bounds what is left to gain, in nats
            break
        # The objective is concave, so halving ends at a step that rises; full steps may diverge.
        for _ in range(_MAX_HALVINGS):
            trial = evaluate(theta + step)
            if trial[0] > value + 0.1 * float(gradient @ step):
                break
            step = 0.5 * step
        else:  # at working precision nothing rises any more
            break
        theta = theta + step
        value, log_z, tilt = trial
    shift = float(tilt @ cell_first)
    second = float(tilt @ cell_second)
    stretch = float(np.sqrt(max(second - shift**2, 1e-6)))
    raw = stretch * e + shift
    likelihood_gain = (
        float(np.sum(base.log_density(raw * raw) - base.log_density(e * e)))
        + float(_grid_mass(raw) @ (basis @ theta))
        + n * (np.log(stretch) - log_z)
    )
    # The anchors only restate the location and scale that m and v already carry, so they pay no
    # Occam factor: the determinant is that of the cosines given the anchors.
    log_determinant = 2 * float(np.log(factor.diagonal()[2:]).sum())
    gain = (
        likelihood_gain
        - 0.5 * float(_PRECISION @ theta**2)
        + 0.5 * float(_LOG_PRECISION)
        - 0.5 * log_determinant
    )
    if not gain > 0:  # also if it is not a number
        return float(np.logaddexp(0.0, np.nan_to_num(gain, nan=-np.inf))) - _LOG_2, (
            NoiseDensity(base)
        )
    density = NoiseDensity(base, tuple(theta.tolist()), log_z, shift, stretch)
    return float(np.logaddexp(0.0, gain)) - _LOG_2, density
