"""The numbers that tune a local score, each with its reason.

None was chosen by looking at a true graph: evidence, convergence and time decided. "Nats" are
units of log evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["TUNING", "Amplitudes", "ScoreTuning"]

Amplitudes: TypeAlias = tuple[tuple[float, float], ...]
"""Variances of a function with their prior probabilities, ascending."""


@dataclass(frozen=True)
class ScoreTuning:
    """How a local score is computed.

    Parameters
    ----------
    mean_amplitudes : Amplitudes
        a_M: variance of a mean function in units of the effect's own. Mostly moderate; tiny ones
        serve effects whose spread is nearly all noise.
    scale_amplitudes : Amplitudes
        a_V: variance of a log standard deviation. Mostly moderate; huge ones serve scales that
        range over orders of magnitude.
    least_signal : float
        A mean function needs this share of the typical noise variance. Below it an edge would be
        no edge: present in the graph, absent from the data, and nearly free of charge.
    max_steps : int
        Turns of mean and scale. Nearly all scores settle within ten.
    start_steps : int
        Fixed-point steps for the one noise variance to start from; it is near enough after three.
    scoring_steps : int
        Fisher scoring steps before residuals are computed again. With three, one score in
        fourteen with needless parents went back and forth between mean and scale and never
        settled; with two all settle, and sooner.
    tail_steps : tuple of int
        Turns at which the tails of the noise are chosen: once residuals mean something, and once
        more when the scale has taken shape.
    amplitude_looks : int
        Looks at neighbouring amplitudes of the mean after convergence, each followed by more turns
        if one of them is better.
    tolerance : float
        Largest move of a log standard deviation that counts as converged: what is left to gain is
        its square times n, a few hundredths of a nat.
    largest_move : float
        Fisher scoring is trusted this far in log standard deviation.
    overshoot : float
        Mean and scale take turns, and each turn leaves about a seventh of the way to where both
        rest.
    stale : float
        The posterior variance of the mean is a small part of a second moment; it is computed again
        once log standard deviations have moved by this much.
    largest_square : float
        A squared standardised residual beyond this says "outlier", not "larger scale".
    smallest_log_std : float
        Floor of η in units of the column's own sd: 4e-8, just above the 1e-8 to which standardised
        values are rounded. Below it a residual says nothing, and the weights would overflow.
    intercept_variance : float
        Prior variance of a constant, in units of the effect's own: columns are standardised, so 10
        says next to nothing.
    jitter : float
        Added to the kernel matrix of the inducing rows, relative to its diagonal, so that repeated
        rows do not break its factor.
    mean_detail, scale_detail : float
        Directions with less than this share of the kernel's variance are left out. A mean may have
        to be exact to a small fraction of its range, where noise is small; a log standard deviation
        need not be.
    fine_rows, fine_detail : int, float
        Inducing rows and `mean_detail` of fine features, for data in which noise nearly vanishes.
    fine_is_worth : float
        Fine features are worth their time, which grows with rows and pairs of variables, if they
        gain this many nats for each row and pair. Simulated data with usual noise give them less
        than 0.002, data with next to none up to 0.06.
    n_cosines : int
        Cosines of a tilt: a smooth density needs no more, as θ_k has variance of order 1/k³.
    tilt_spread : float
        τ, the prior standard deviation of the first cosine's coefficient.
    anchor_reach : float
        Where the bounded versions of e and e² bend, in standard deviations.
    grid_reach, half_grid : float, int
        A tilt is computed on 2 · half_grid + 1 nodes that span ± sinh(grid_reach), ± 60 standard
        deviations.
    tilt_caution, tilt_hopeless : float, float
        A tilt that could gain at most `tilt_caution` times the first Newton decrement is not
        computed if that leaves it `tilt_hopeless` nats or more below the best plain shape.
    shape_depth : float
        Shapes this many nats below the likeliest do not matter; they are not computed in full.
    max_newton_steps, max_halvings : int
        Of the concave log-likelihood of a tilt; a handful is usual.
    newton_tolerance : float
        Newton decrement below which a tilt is converged: half of it bounds what is left, in nats.
    placement_rounds, placement_steps : int
        Turns of placing residuals under their density and learning it anew, and climbing steps of
        each; later turns gain next to nothing.
    placement_tolerance : float
        Decrement, in nats, below which a placement has settled or is not worth a new density.
    largest_placement : float
        Longest step of a placement, in standard deviations.
    widest_placement : float
        Largest change of a log standard deviation: where values pile up on one point the likeliest
        density is a needle, which describes nothing.
    cached_priors : int
        Priors of parent sets that are kept, for each moment; a few hundred bytes each.
    cached_basis_bytes : int
        Bases that are kept, for each moment.
    """

    mean_amplitudes: Amplitudes = (
        (1e-6, 0.02),
        (1e-4, 0.03),
        (0.005, 0.05),
        (0.3, 0.3),
        (1.0, 0.35),
        (3.0, 0.25),
    )
    scale_amplitudes: Amplitudes = (
        (0.3, 0.3),
        (1.0, 0.35),
        (3.0, 0.25),
        (12.0, 0.06),
        (60.0, 0.025),
        (400.0, 0.015),
    )
    least_signal: float = 0.3
    max_steps: int = 40
    start_steps: int = 3
    scoring_steps: int = 2
    tail_steps: tuple[int, ...] = (1, 3)
    amplitude_looks: int = 4
    tolerance: float = 0.05
    largest_move: float = 1.5
    overshoot: float = 0.15
    stale: float = 0.2
    largest_square: float = 20.0
    smallest_log_std: float = -17.0
    intercept_variance: float = 10.0
    jitter: float = 1e-7
    mean_detail: float = 1e-6
    scale_detail: float = 2e-5
    fine_rows: int = 160
    fine_detail: float = 1e-9
    fine_is_worth: float = 0.002
    n_cosines: int = 20
    tilt_spread: float = 4.0
    anchor_reach: float = 3.0
    grid_reach: float = 4.8
    half_grid: int = 150
    tilt_caution: float = 0.75
    tilt_hopeless: float = -2.0
    shape_depth: float = 8.0
    max_newton_steps: int = 20
    max_halvings: int = 12
    newton_tolerance: float = 0.02
    placement_rounds: int = 4
    placement_steps: int = 8
    placement_tolerance: float = 0.1
    largest_placement: float = 0.3
    widest_placement: float = 1.5
    cached_priors: int = 4096
    cached_basis_bytes: int = 160 * 2**20


TUNING = ScoreTuning()
"""The values in use."""
