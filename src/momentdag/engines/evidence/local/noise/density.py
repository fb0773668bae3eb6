"""The density of the standardised noise: shapes, smooth tilts, and their evidence.

Every density here has mean 0 and variance 1, so that m and v of the model stay the conditional
mean and standard deviation. ``flexible`` noise is one of `shapes.SHAPES`, or a tilt of one of two
of them: the base times exp(Σ_k θ_k cos(k π F(e))) / Z(θ), F its distribution function, θ_k ~ N(0,
τ² / k³), standardised again. The log-likelihood is concave in θ and needs only the means of K
cosines, so its Laplace evidence costs a few Newton steps in K dimensions, whatever n is. Plain and
tilted shapes are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dposv, dtrtrs

from momentdag.engines.evidence.local.noise.shapes import SHAPES, Shape, log_likelihoods, shape
from momentdag.engines.evidence.local.tuning import TUNING

__all__ = ["NoiseDensity", "fit_noise", "fit_tilt"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# A tilt reaches nearly the same densities from any base but for the tails; these two reach what
# more bases would to within a few nats.
_TILTED = {k: base for k, base in enumerate(SHAPES) if base in (shape(np.inf), shape(6.0))}
_TILTED_PLACES = np.array(list(_TILTED))
_LOG_PLAIN, _LOG_TILTED = float(np.log(2 * len(SHAPES))), float(np.log(2 * len(_TILTED)))


class _Grid(NamedTuple):
    nodes: FloatArray  # (G,) values of e, dense in the middle
    probability: FloatArray  # (G,) mass of the base in the cell around each node
    first: FloatArray  # (G,) integral of e over the base in the cell
    second: FloatArray  # (G,) integral of e² over the base in the cell
    basis: FloatArray  # (G, 2 + K): two anchors, then the cosines


def _basis(base: Shape, e: FloatArray) -> FloatArray:
    """Evaluate the anchors and the cosines at ``e`` (...,), shape (..., 2 + K)."""
    # The anchors are e and e², bent to be bounded so that no tail can outgrow the base.
    bend = 1 + e * e / TUNING.anchor_reach**2
    angle = np.pi * base.distribution(e)
    waves = np.cos(angle[..., None] * np.arange(1, TUNING.n_cosines + 1))
    anchors = np.stack([e / np.sqrt(bend), e * e / bend], axis=-1)
    return np.concatenate([anchors, waves], axis=-1)


@lru_cache(maxsize=64)
def _grid(base: Shape) -> _Grid:
    nodes = np.sinh(np.linspace(-TUNING.grid_reach, TUNING.grid_reach, 2 * TUNING.half_grid + 1))
    edges = (nodes[1:] + nodes[:-1]) / 2
    probability = np.diff(base.distribution(edges), prepend=0.0, append=1.0)
    # Exact moments of each cell, the outermost with the whole tail.
    first, second = base.moments(edges)
    first = np.diff(first, prepend=0.0, append=0.0)
    second = np.diff(second, prepend=0.0, append=1.0)
    return _Grid(nodes, probability, first, second, _basis(base, nodes))


class _PlainTable(NamedTuple):
    log_density: FloatArray  # (G,) of the base at the nodes of its grid
    slope: FloatArray  # (G,)
    basis_slope: FloatArray  # (G, 2 + K)


@lru_cache(maxsize=64)
def _plain_table(base: Shape) -> _PlainTable:
    grid = _grid(base)
    log_density = base.log_density(grid.nodes)
    return _PlainTable(
        log_density,
        np.gradient(log_density, grid.nodes),
        np.gradient(grid.basis, grid.nodes, axis=0),
    )


_PRECISION = np.concatenate(
    [[0.0, 0.0], np.arange(1.0, TUNING.n_cosines + 1) ** 3 / TUNING.tilt_spread**2]
)
_LOG_PRECISION = np.log(_PRECISION[2:]).sum()

_LARGEST_RESIDUAL = 1e150  # its square is still a number


def _log_normaliser(probability: FloatArray, exponent: FloatArray) -> float:
    """Return log Z of a tilt on the grid, finite also where it prefers nodes without any mass."""
    largest = float(exponent.max())
    total = float(probability @ np.exp(exponent - largest))
    if total < np.finfo(float).tiny:
        reached = probability > 0
        largest = float(exponent[reached].max())
        total = float(probability[reached] @ np.exp(exponent[reached] - largest))
    return float(np.log(total)) + largest


def _tilt(exponent: FloatArray, log_normaliser: float) -> FloatArray:
    """Return the tilt on the grid; finite, for it is multiplied by masses that may be 0."""
    return np.asarray(np.exp(np.minimum(exponent - log_normaliser, 700.0)))


@dataclass(frozen=True)
class NoiseDensity:
    """A standardised noise density: a Student base, tilted by ``coefficients`` (K,) or not.

    ``shift`` and ``stretch`` are the mean and standard deviation of the tilted base, taken out so
    that the density itself has mean 0 and variance 1.
    """

    base: Shape
    coefficients: tuple[float, ...] = ()
    log_normaliser: float = 0.0
    shift: float = 0.0
    stretch: float = 1.0

    def log_density(self, e: FloatArray) -> FloatArray:
        """Return the log density at ``e``."""
        if not self.coefficients:
            return self.base.log_density(e)
        raw = self.stretch * e + self.shift
        tilt = _basis(self.base, raw) @ np.array(self.coefficients)
        tilt += np.log(self.stretch) - self.log_normaliser
        return np.asarray(self.base.log_density(raw) + tilt)

    def table(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return values of e, rising, with the log density and its derivative there, each (G,)."""
        grid, plain = _grid(self.base), _plain_table(self.base)
        if not self.coefficients:
            return grid.nodes, plain.log_density, plain.slope
        theta = np.array(self.coefficients)
        log_density = plain.log_density + grid.basis @ theta
        log_density += np.log(self.stretch) - self.log_normaliser
        slope = (plain.slope + plain.basis_slope @ theta) * self.stretch
        return (grid.nodes - self.shift) / self.stretch, log_density, slope

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Draw standardised noise."""
        grid = _grid(self.base)
        tilt = np.ones(len(grid.nodes))
        if self.coefficients:
            tilt = _tilt(grid.basis @ np.array(self.coefficients), self.log_normaliser)
        # Piecewise uniform in the base's probability, hence smooth in e.
        mass = grid.probability * tilt
        cells = np.cumsum(mass) / mass.sum()
        starts = np.concatenate([[0.0], np.cumsum(grid.probability)])
        u = rng.random(shape)
        cell = np.minimum(np.searchsorted(cells, u, side="right"), len(cells) - 1)
        before = np.where(cell > 0, cells[cell - 1], 0.0)
        inside = (u - before) / np.maximum(cells[cell] - before, np.finfo(float).tiny)
        p = starts[cell] + inside * grid.probability[cell]
        # Keep off 0 and 1, where the quantile is infinite.
        quantile = self.base.quantile(np.clip(p, 1e-15, 1 - 1e-15))
        return np.asarray((quantile - self.shift) / self.stretch)

    def distribution(self, e: FloatArray) -> FloatArray:
        """Return the distribution function at ``e``, that of `draw`."""
        p = self.base.distribution(self.stretch * e + self.shift)
        if not self.coefficients:
            return p
        grid = _grid(self.base)
        tilt = _tilt(grid.basis @ np.array(self.coefficients), self.log_normaliser)
        # The tilt is constant in each cell, so this is piecewise linear in the base's.
        before = np.append(0.0, np.cumsum(grid.probability))
        after = np.append(0.0, np.cumsum(grid.probability * tilt))
        return np.asarray(np.interp(p, before, after / after[-1]))


def _grid_mass(e: FloatArray) -> FloatArray:
    """Spread the sample over the grid's nodes by linear interpolation, shape (G,), sum n."""
    # arcsinh, by a logarithm that is faster.
    position = np.copysign(np.log(np.abs(e) + np.sqrt(e * e + 1)), e)
    position += TUNING.grid_reach
    position *= TUNING.half_grid / TUNING.grid_reach
    # Beyond the last node every bounded basis function has reached its limit.
    np.maximum(position, 0, out=position)
    np.minimum(position, 2 * TUNING.half_grid - 1e-9, out=position)
    low = position.astype(np.intp)
    position -= low
    upper = np.bincount(low, weights=position, minlength=2 * TUNING.half_grid + 1)
    mass = np.bincount(low, minlength=2 * TUNING.half_grid + 1) - upper
    mass[1:] += upper[:-1]
    return np.asarray(mass)


class _Untilted(NamedTuple):
    expected: FloatArray  # (2 + K,) means of the basis under the base
    factor: FloatArray  # Cholesky factor of the penalised information of n residuals
    occam: float  # half the log determinants that a tilt pays


@lru_cache(maxsize=64)
def _untilted(base: Shape, n: int) -> _Untilted:
    _, p, _, _, basis = _grid(base)
    expected = p @ basis
    root = (basis - expected) * np.sqrt(p)[:, None]
    information = n * (root.T @ root)
    information.flat[:: len(expected) + 1] += _PRECISION
    factor = np.asarray(np.linalg.cholesky(information), dtype=np.float64)
    occam = float(np.log(factor.diagonal()[2:]).sum()) - 0.5 * float(_LOG_PRECISION)
    return _Untilted(expected, factor, occam)


def _most_from_tilt(base: Shape, n: int, mass: FloatArray) -> float:
    """Return what a tilt can gain at most, from the first Newton step alone.

    To second order the tilt gains half the decrement and pays the determinants; this allows for
    half as much again.
    """
    expected, factor, occam = _untilted(base, n)
    half, _ = dtrtrs(factor, mass @ _grid(base).basis - n * expected, lower=1)
    return TUNING.tilt_caution * float(half @ half) - occam


@lru_cache(maxsize=1)
def _log_densities() -> FloatArray:
    """Return the log density of every shape at the nodes of the grid, (G, k)."""
    nodes = _grid(SHAPES[0]).nodes
    return np.stack([base.log_density(nodes) for base in SHAPES], axis=1)


def fit_noise(e: FloatArray) -> tuple[float, NoiseDensity]:
    """Return the log evidence of standardised residuals ``e`` (n,) and their likeliest density.

    Half of the prior probability is with the plain shapes and half with the tilted ones, evenly.
    Most residuals need no tilt: one that cannot come near what was found so far is not computed.

    Examples
    --------
    >>> e = np.random.default_rng(0).normal(size=200)
    >>> evidence, density = fit_noise(e)
    >>> density.base.tails.is_normal, density.coefficients
    (True, ())
    """
    if not (np.abs(e) <= _LARGEST_RESIDUAL).all():
        raise np.linalg.LinAlgError("A standardised residual is no number that can be squared.")
    mass = _grid_mass(e)
    # On the grid first, which is nearly exact; then in full where it may matter.
    values = mass @ _log_densities()
    matters = values > values.max() - TUNING.shape_depth
    matters[_TILTED_PLACES] = True
    near = np.flatnonzero(matters)
    values[near] = log_likelihoods(e, near)
    top = int(near[values[near].argmax()])
    found = NoiseDensity(SHAPES[top])
    best = float(values[top]) - _LOG_PLAIN
    terms = [float(np.logaddexp.reduce(values)) - _LOG_PLAIN]
    for k, base in _TILTED.items():
        start = float(values[k]) - _LOG_TILTED
        if start + _most_from_tilt(base, len(e), mass) < best + TUNING.tilt_hopeless:
            continue
        gain, density = fit_tilt(base, e, mass)
        terms.append(start + gain)
        if terms[-1] > best:
            best, found = terms[-1], density
    return float(np.logaddexp.reduce(terms)), found


def fit_tilt(
    base: Shape, e: FloatArray, mass: FloatArray | None = None
) -> tuple[float, NoiseDensity]:
    """Tilt a shape to standardised residuals ``e`` (n,); ``mass`` is theirs on the grid.

    Returns
    -------
    gain : float
        Log Bayes factor of the tilted against the plain base; minus infinity if it cannot be had.
    density : NoiseDensity
    """
    n = len(e)
    _, p, cell_first, cell_second, basis = _grid(base)
    means = (_grid_mass(e) if mass is None else mass) @ basis / n

    def evaluate(theta: FloatArray) -> tuple[float, float, FloatArray]:
        """Return the penalised log-likelihood gain, log Z and the tilt on the grid."""
        exponent = basis @ theta
        log_z = _log_normaliser(p, exponent)
        value = n * (float(means @ theta) - log_z) - 0.5 * float(_PRECISION @ theta**2)
        return value, log_z, _tilt(exponent, log_z)

    theta = np.zeros(2 + TUNING.n_cosines)
    value, log_z, tilt = evaluate(theta)
    for _ in range(TUNING.max_newton_steps):
        tilted = p * tilt
        expected = tilted @ basis
        root = (basis - expected) * np.sqrt(tilted)[:, None]
        hessian = n * (root.T @ root)
        hessian.flat[:: len(theta) + 1] += _PRECISION
        gradient = n * (means - expected) - _PRECISION * theta
        factor, step, status = dposv(hessian, gradient, lower=1)
        if status != 0:
            return -np.inf, NoiseDensity(base)
        if gradient @ step < TUNING.newton_tolerance:
            break
        # The objective is concave, so halving ends at a step that rises; full steps may diverge.
        for _ in range(TUNING.max_halvings):
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
    if not np.isfinite(shift + stretch):  # a tilt that runs away, as at a point mass
        return -np.inf, NoiseDensity(base)
    raw = stretch * e + shift
    likelihood_gain = (
        float(np.sum(base.log_density(raw) - base.log_density(e)))
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
    if not np.isfinite(gain):
        return -np.inf, NoiseDensity(base)
    return gain, NoiseDensity(base, tuple(theta.tolist()), log_z, shift, stretch)
