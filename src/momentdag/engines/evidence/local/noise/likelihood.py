"""The log-likelihood of residuals, with the shape of the noise averaged."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.cells import Cells
from momentdag.engines.evidence.local.noise.density import NoiseDensity, fit_noise
from momentdag.engines.evidence.local.noise.placement import Placement, find_placement
from momentdag.engines.evidence.local.noise.shapes import SHAPES, SYMMETRIC, Shape, log_likelihoods
from momentdag.engines.evidence.local.noise.student import GAUSSIAN
from momentdag.engines.evidence.local.tuning import TUNING

__all__ = ["NoiseFamily", "PlacedNoise", "noise_evidence", "noise_likelihood"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
NoiseFamily: TypeAlias = Literal["flexible", "gaussian", "student"]


class PlacedNoise(NamedTuple):
    """The noise of an effect given its mean and scale."""

    log_likelihood: float  # of the effect, the shape of its noise averaged
    density: NoiseDensity
    placement: Placement


def noise_likelihood(
    y: FloatArray,
    residual: FloatArray,
    log_std: FloatArray,
    cells: Cells | None,
    family: NoiseFamily,
) -> PlacedNoise:
    """Return the log-likelihood of an effect with the shape of its noise averaged, and that shape.

    Of a variable on a grid the density is learned from values spread over their cells, and what
    averaging its shape costs is kept; the likelihood itself is that of the cells.

    Parameters
    ----------
    y, residual, log_std : float array, shape (n,)
    cells : Cells or None
    family : {"flexible", "gaussian", "student"}
    """
    if cells is None:
        return _place(residual, log_std, family)
    mean = y - residual
    spread = cells.spread(y, mean) - mean
    placed = _place(spread, log_std, family)
    e = placed.placement.standardise(spread, log_std)
    wider = log_std + placed.placement.widening
    occam = placed.log_likelihood - float((placed.density.log_density(e) - wider).sum())
    masses = cells.log_masses(mean + placed.placement.shift, wider, y, placed.density)
    return placed._replace(log_likelihood=occam + float(masses.sum()))


def _place(residual: FloatArray, log_std: FloatArray, family: NoiseFamily) -> PlacedNoise:
    """Return the density of residuals, in turns with their placement under it."""

    def at(placement: Placement) -> PlacedNoise:
        log_noise, density = noise_evidence(placement.standardise(residual, log_std), family)
        wider = float(log_std.sum()) + len(log_std) * placement.widening
        return PlacedNoise(log_noise - wider, density, placement)

    best = at(Placement())
    if family == "gaussian":  # means and scales were found for it
        return best
    for _ in range(TUNING.placement_rounds):
        placement, gain = find_placement(best.density, residual, log_std, best.placement)
        if gain < TUNING.placement_tolerance:
            break
        trial = at(placement)
        if not trial.log_likelihood > best.log_likelihood:
            break
        best = trial
    return best


def noise_evidence(e: FloatArray, family: NoiseFamily) -> tuple[float, NoiseDensity]:
    """Return the log-likelihood of standardised residuals (n,), and their likeliest density."""
    if family == "flexible":
        return fit_noise(e)
    if family == "gaussian":
        return float(GAUSSIAN.log_density(e * e).sum()), NoiseDensity(Shape(GAUSSIAN))
    values = log_likelihoods(e, SYMMETRIC)
    likeliest = SHAPES[SYMMETRIC[int(values.argmax())]]
    return float(np.logaddexp.reduce(values) - np.log(len(values))), NoiseDensity(likeliest)
