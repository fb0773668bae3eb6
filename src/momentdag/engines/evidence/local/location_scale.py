"""The local score: log evidence of one variable given its mean and variance parents.

    y = Q w + exp(P u) e,    w ~ N(0, a_M Λ_M),   u ~ N(0, a_V Λ_V),   e ~ p, mean 0, variance 1

with Q and P the orthonormal bases of `features`, η = P u and r = y - Q w. Mean and scale take turns
until both rest:

* given η, rows have precisions d_i = ω_i e^{-2 η_i}, ω_i the weights of Student tails, and w is
  Gaussian with precision H = Q' diag(d) Q + (a_M Λ_M)^-1 and mean H^-1 Q' diag(d) y (`mean`);
* given second moments s_i = r_i² + Q_i H^-1 Q_i', w integrated out, Fisher scoring moves u. The
  expected information κ of a log standard deviation is a constant (2 for normal noise), so that
  the step and its determinant are diagonal (`scale`).

What is returned is Laplace's approximation at rest,

    log p(y) =   log ∫ Π_i p(r_i e^{-η_i}) dP(p)                  the noise, its shape averaged
               - Σ_i η_i                                          (masses instead, see `cells`)
               + log Σ_a π_a |a Λ_M|^-½ |H_a|^-½ exp(-½ w'(a Λ_M)^-1 w)     the mean's Occam factor
               + log Σ_a π_a |I + κ a Λ_V|^-½ exp(-½ u'(a Λ_V)^-1 u)        the scale's
               + ½ κ |δ|²                                     what the last move δ of η, not made,
                                                              would have gained

with the sums over amplitudes taken around the best one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dposv

from momentdag.engines.evidence.local.cells import Cells
from momentdag.engines.evidence.local.features import Basis, FeatureMap
from momentdag.engines.evidence.local.mean import (
    MeanPart,
    MeanPrior,
    mean_occam,
    mean_part,
    mean_variance,
    start,
)
from momentdag.engines.evidence.local.noise.density import NoiseDensity
from momentdag.engines.evidence.local.noise.likelihood import NoiseFamily, noise_likelihood
from momentdag.engines.evidence.local.noise.shapes import Shape
from momentdag.engines.evidence.local.noise.student import GAUSSIAN, Student, best_student
from momentdag.engines.evidence.local.protocol import Parents, ScoreCounts
from momentdag.engines.evidence.local.scale import Move, ScalePrior, move_log_std, scale_evidence
from momentdag.engines.evidence.local.tuning import TUNING, ScoreTuning
from momentdag.engines.evidence.support.cache import BudgetedCache

__all__ = ["LocalFit", "LocalScorer", "NoiseFamily"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class LocalFit(NamedTuple):
    """A converged local score with what is needed to continue from it or to draw functions."""

    log_evidence: float
    log_std: FloatArray  # η, (n,)
    residual: FloatArray  # r, (n,)
    second_moment: FloatArray  # s = r² + leverage, (n,)
    mean: MeanPart
    scale_amplitude: int
    tails: Student  # those that mean and scale were fitted with; κ is theirs
    noise: NoiseDensity
    converged: bool
    coarse: Any = None  # what the evidence is that of, where values pile up: see `piles`


class _Given(NamedTuple):
    """What a score is computed from."""

    y: FloatArray  # (n,)
    mean_basis: Basis  # Q
    P: FloatArray  # (n, s)
    mean_prior: MeanPrior
    scale_prior: ScalePrior  # for normal noise
    cells: Cells | None  # of a variable on a grid


@dataclass(slots=True)
class _State:
    """Where the turns of mean and scale stand."""

    log_std: FloatArray  # η, (n,)
    variance: FloatArray  # Q_i H^-1 Q_i', (n,), as of the last time it was computed
    mean_amplitude: int
    scale_prior: ScalePrior  # for the present tails
    tails: Student = GAUSSIAN
    weights: FloatArray | None = None  # ω, (n,); None for normal tails
    scale_amplitude: int | None = None  # None while it may still change
    moved: float = 0.0  # of η since `variance` was computed
    n_looks: int = 0  # at neighbouring amplitudes of the mean


class _Turn(NamedTuple):
    """The mean and the next move of the scale at one state."""

    mean: MeanPart
    residual: FloatArray  # r, (n,)
    second_moment: FloatArray  # s, (n,)
    move: Move
    remainder: FloatArray  # δ, the move of η, (n,)
    largest: float  # of its entries
    converged: bool
    near: dict[int, float] | None = None
    """Log evidence of neighbouring amplitudes relative to this one, once everything rests."""


class LocalScorer:
    """Scores of every variable of one standardised table.

    Parameters
    ----------
    values : float array, shape (n, d)
        Standardised columns.
    mean_features, variance_features : FeatureMap
    noise : {"flexible", "gaussian", "student"}
    tuning : ScoreTuning
    cells : mapping from variable to Cells
        Of the variables on a grid.
    """

    def __init__(
        self,
        values: FloatArray,
        mean_features: FeatureMap,
        variance_features: FeatureMap,
        noise: NoiseFamily,
        tuning: ScoreTuning = TUNING,
        cells: Mapping[int, Cells] | None = None,
    ) -> None:
        self.cells = {} if cells is None else dict(cells)
        self.columns = np.ascontiguousarray(values.T)
        self.mean_features = mean_features
        self.variance_features = variance_features
        self.noise = noise
        self.tuning = tuning
        self.counts = ScoreCounts()
        self._amplitudes = [amplitude for amplitude, _ in tuning.mean_amplitudes]
        shares = [share for _, share in tuning.mean_amplitudes]
        self._usual_amplitude = int(np.argmax(shares))
        self._mean_priors: BudgetedCache[int, MeanPrior] = BudgetedCache(tuning.cached_priors)
        self._scale_priors: BudgetedCache[int, ScalePrior] = BudgetedCache(tuning.cached_priors)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.columns)

    @property
    def fit_bytes(self) -> int:
        """Rough size of a `LocalFit`."""
        return 8 * int(3 * self.columns.shape[1] + 2 * len(self.mean_features.inducing_rows) ** 2)

    def fit(self, variable: int, parents: Parents) -> LocalFit:
        """Score one variable given its parents; the same call always gives the same bits.

        Where a factorisation fails the evidence is minus infinity, so that no search or chain
        ever goes there, and ``converged`` is false. `counts` counts these and those that did not
        converge.
        """
        try:
            fit = self._fit(self._given(variable, parents))
        except np.linalg.LinAlgError:
            self.counts.add(failed=True)
            return _failed_fit(self.columns.shape[1])
        self.counts.add(converged=fit.converged)
        return fit

    def _fit(self, given: _Given) -> LocalFit:
        state = self._init(given)
        for step in range(self.tuning.max_steps):
            turn = self._turn(given, state, step)
            if turn.near is not None and not self._look_around(state, turn, step):
                break
            self._step(state, turn, step)
        return self._finish(given, state, turn)

    def _given(self, variable: int, parents: Parents) -> _Given:
        return _Given(
            self.columns[variable],
            self.mean_features(parents.mean),
            self.variance_features(parents.variance).functions,
            self._mean_prior(parents.mean),
            self._scale_prior(parents.variance),
            self.cells.get(variable),
        )

    def _init(self, given: _Given) -> _State:
        """Start from one noise variance for all rows, and one move of the scale from there."""
        y, mean_basis, P, mean_prior, scale_prior, cells = given
        usual = min(self._usual_amplitude, len(mean_prior.log_weight) - 1)
        noise, leverage, second, evidence = start(y, mean_basis, mean_prior, usual, self.tuning)
        if cells is not None:
            second = second + cells.variance
            noise += float(cells.variance.mean())
        log_std = np.full(len(y), 0.5 * np.log(noise))
        amplitude = usual
        if usual > 0:
            lowest = self._lowest_amplitude(log_std)
            amplitude = lowest + int(evidence[lowest:].argmax())
        if P.shape[1] > 1:
            move = move_log_std(P, scale_prior, log_std, second, GAUSSIAN, None, self.tuning)
            log_std = move.log_std
        return _State(log_std, leverage * np.exp(2 * log_std), amplitude, scale_prior)

    def _turn(self, given: _Given, state: _State, step: int) -> _Turn:
        """Solve for the mean, choose the tails when it is time, and propose a move of the scale."""
        tuning = self.tuning
        y, mean_basis, P, mean_prior, _, cells = given
        log_std = state.log_std
        inverse_square = np.exp(-2 * log_std)
        precision = inverse_square if state.weights is None else state.weights * inverse_square
        mean = mean_part(y, mean_basis, precision, mean_prior, state.mean_amplitude)
        residual = y - mean_basis.functions @ mean.coefficients
        if state.moved > tuning.stale:
            state.variance, state.moved = mean_variance(mean_basis, mean), 0.0
        second = residual * residual + state.variance
        if cells is not None:
            second += cells.variance
        if self.noise != "gaussian" and step in tuning.tail_steps:
            state.tails = best_student(second * inverse_square)
            state.scale_prior = state.scale_prior.given(state.tails.scale_information)
        move = move_log_std(
            P, state.scale_prior, log_std, second, state.tails, state.scale_amplitude, tuning
        )
        remainder = move.log_std - log_std
        largest = float(np.abs(remainder).max())
        converged = largest < tuning.tolerance
        turn = _Turn(mean, residual, second, move, remainder, largest, converged)
        # Tails other than the normal's are chosen in the second turn and need a third.
        settled = converged and step >= (1 if self.noise == "gaussian" else 2)
        if settled or step == tuning.max_steps - 1:
            return turn._replace(near=self._near_evidence(mean, mean_prior, log_std))
        return turn

    def _look_around(self, state: _State, turn: _Turn, step: int) -> bool:
        """Take a neighbouring amplitude of the mean if it is better; tell whether to go on."""
        assert turn.near is not None
        state.n_looks += 1
        better = max(turn.near, key=turn.near.__getitem__, default=state.mean_amplitude)
        if (
            step == self.tuning.max_steps - 1
            or turn.near.get(better, 0.0) <= 0
            or state.n_looks == self.tuning.amplitude_looks
        ):
            return False
        state.mean_amplitude, state.moved = better, np.inf
        return True

    def _step(self, state: _State, turn: _Turn, step: int) -> None:
        """Make the proposed move of the scale, and a little more."""
        tuning = self.tuning
        state.log_std = np.maximum(
            turn.move.log_std + tuning.overshoot * turn.remainder, tuning.smallest_log_std
        )
        state.moved += turn.largest if step > 0 else np.inf
        state.weights = None
        if not state.tails.is_normal:
            e2 = turn.second_moment * np.exp(-2 * state.log_std)
            state.weights = state.tails.weights(e2)
        # Let the amplitude settle, then hold it: a choice that flips back and forth would keep the
        # turns from converging.
        state.scale_amplitude = None if step < 2 else turn.move.amplitude

    def _finish(self, given: _Given, state: _State, turn: _Turn) -> LocalFit:
        """Add up the evidence; its terms are those of the formula above, in that order."""
        assert turn.near is not None
        tails = state.tails
        likelihood, noise, placement = noise_likelihood(
            given.y, turn.residual, state.log_std, given.cells, self.noise
        )
        log_std = state.log_std + placement.widening
        occam_mean = mean_occam(turn.mean, given.mean_prior, list(turn.near.values()), tails)
        occam_scale, scale_amplitude = scale_evidence(
            given.P, state.scale_prior, log_std, turn.move.projection
        )
        unmade = 0.0
        if turn.converged:
            unmade = 0.5 * tails.scale_information * float(turn.remainder @ turn.remainder)
        evidence = likelihood + occam_mean + occam_scale + unmade
        if not np.isfinite(evidence):
            raise np.linalg.LinAlgError("The evidence is not a number.")
        residual = turn.residual - placement.shift
        coefficients = turn.mean.coefficients.copy()
        coefficients[0] += placement.shift * math.sqrt(len(residual))  # of the constant 1/√n
        return LocalFit(
            evidence,
            log_std,
            residual,
            turn.second_moment + residual * residual - turn.residual * turn.residual,
            turn.mean._replace(coefficients=coefficients),
            scale_amplitude,
            tails,
            noise,
            turn.converged,
        )

    def screen(
        self,
        variable: int,
        fit: LocalFit,
        parents: Parents,
        mean_additions: list[int],
        variance_additions: list[int],
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Estimate the evidence gained by each addition to the mean, and to the variance parents.

        The addition enters as a function of its own on top of ``fit``, which is held fixed.
        """
        precision = np.exp(-2 * fit.log_std)
        weighted = precision * fit.residual
        mean_gains = {}
        for i in mean_additions:
            Q, variances = self.mean_features(1 << i)
            if len(variances) == 1:  # it hardly ever moves: nothing to gain
                continue
            target = (weighted @ Q)[1:]
            scaled = Q[:, 1:] * np.sqrt(precision)[:, None]
            H = scaled.T @ scaled
            H.flat[:: len(H) + 1] += 1 / variances[1:]
            factor, solution, status = dposv(H, target, lower=1)
            if status == 0:
                log_det = 2 * np.log(factor.diagonal()).sum() + np.log(variances[1:]).sum()
                mean_gains[i] = 0.5 * float(target @ solution - log_det)
        e2 = np.minimum(fit.second_moment * precision, self.tuning.largest_square)
        slope = 0.5 * (e2 - 1)
        variance_gains = {}
        for i in variance_additions:
            P, variances = self.variance_features(1 << i)
            projection = (slope @ P)[1:]
            prior = ScalePrior.of(variances[None, 1:], np.zeros(1))
            variance_gains[i] = float(prior.working_evidence(projection)[0])
        return mean_gains, variance_gains

    def _near_evidence(
        self, mean: MeanPart, prior: MeanPrior, log_std: FloatArray
    ) -> dict[int, float]:
        """Return the log evidence of the neighbouring amplitudes relative to this one."""
        lowest, highest = self._lowest_amplitude(log_std), len(prior.log_weight) - 1
        at_best = mean.evidence(prior)
        return {
            a: mean.at(prior, a).evidence(prior) - at_best
            for a in (mean.amplitude - 1, mean.amplitude + 1)
            if lowest <= a <= highest
        }

    def _lowest_amplitude(self, log_std: FloatArray) -> int:
        """Return the first amplitude at which a function stands out from the noise."""
        typical_noise = math.exp(2 * float(log_std.sum()) / len(log_std))
        lowest = bisect_left(self._amplitudes, self.tuning.least_signal * typical_noise)
        return min(lowest, self._usual_amplitude - 1) if self._usual_amplitude else 0

    def _mean_prior(self, mask: int) -> MeanPrior:
        return self._mean_priors.get(
            mask,
            lambda: MeanPrior.of(self.mean_features(mask).variances, self.tuning.mean_amplitudes),
        )

    def _scale_prior(self, mask: int) -> ScalePrior:
        return self._scale_priors.get(
            mask,
            lambda: ScalePrior.over(
                self.variance_features(mask).variances, self.tuning.scale_amplitudes
            ),
        )

    def scale_posterior(self, fit: LocalFit, parents: Parents) -> tuple[FloatArray, FloatArray]:
        """Return posterior means and variances of u, the log standard deviation's coefficients."""
        basis = self.variance_features(parents.variance)
        prior = self._scale_prior(parents.variance).variances[fit.scale_amplitude]
        return fit.log_std @ basis.functions, 1 / (fit.tails.scale_information + 1 / prior)

    def prior_precisions(self, fit: LocalFit, parents: Parents) -> tuple[FloatArray, FloatArray]:
        """Return the prior precisions of w and u at the amplitudes of a fit."""
        mean, scale = self._mean_prior(parents.mean), self._scale_prior(parents.variance)
        return mean.precisions[fit.mean.amplitude], 1 / scale.variances[fit.scale_amplitude]


def _failed_fit(n: int) -> LocalFit:
    nothing = np.zeros(n)
    empty = MeanPart(np.eye(1), np.zeros(1), 0, np.eye(1), np.zeros(1))
    noise = NoiseDensity(Shape(GAUSSIAN))
    return LocalFit(-np.inf, nothing, nothing, nothing, empty, 0, GAUSSIAN, noise, False)
