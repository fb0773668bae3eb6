"""From a setting to the conditional moments of the targets, in one posterior sample.

    X_j = m_j(X_paM(j)) + v_j(X_paV(j)) E_j

is evaluated in causal order for the ancestors of the targets only. The noise of a target itself is
integrated out in closed form: E[Y] = E[m], Var(Y) = Var(m) + E[v²] by the law of total variance,
P(Y <= y) = E[F((y - m) / v)]. Variables on a grid are simulated on it, see `views`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects.posterior_samples import PosteriorSample
from momentdag.effects.settings import Settings
from momentdag.effects.targets import Target
from momentdag.graph import BoolArray, reachability

__all__ = [
    "Conditional",
    "ancestors_of",
    "descendants_of",
    "moved_by",
    "propagate",
    "simulate_column",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_MAX_ROWS = 2**15
_CHECKED_ROWS = 32  # of each setting and sample, for the share that leaves the data


class Conditional(NamedTuple):
    """Moments of the targets given their parents, in each setting and noise row of a sample."""

    mean: FloatArray  # (n_settings, n_targets, n_rows), in the units of the file
    sd: FloatArray  # (n_settings, n_targets, n_rows)
    values: FloatArray  # (n_settings, n_targets, n_rows), noise included, on the scale of the fit
    latent_mean: FloatArray  # (n_settings, n_targets, n_rows), of the mechanism, see `views`
    latent_sd: FloatArray  # (n_settings, n_targets, n_rows)
    outside: FloatArray  # (n_settings,), share of rows that left the data, if counted
    beyond_limits: FloatArray  # (n_settings, n_targets), probability, of discrete targets

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each target in each setting, (n_settings, n_targets)."""
        variance = self.mean.var(axis=-1) + np.mean(self.sd**2, axis=-1)
        return self.mean.mean(axis=-1), variance


def ancestors_of(union_graph: BoolArray, targets: Sequence[int], fixed: Sequence[int]) -> BoolArray:
    """Return a mask of the targets and their ancestors once ``fixed`` are set, shape (d,)."""
    mask = np.asarray(_paths(union_graph, fixed)[:, list(targets)].any(axis=1))
    mask[list(targets)] = True
    return mask


def descendants_of(union_graph: BoolArray, fixed: Sequence[int]) -> BoolArray:
    """Return a mask of the variables that change when ``fixed`` are set, shape (d,)."""
    return np.asarray(_paths(union_graph, fixed)[list(fixed)].any(axis=0))


def _paths(union_graph: BoolArray, fixed: Sequence[int]) -> BoolArray:
    """Return which variable reaches which, (d, d), without the edges into ``fixed``."""
    cut = union_graph.copy()
    cut[:, list(fixed)] = False
    return reachability(cut)


def moved_by(union_graph: BoolArray, settings: Settings) -> BoolArray:
    """Return a mask of the variables that settings reach, (d,): with those that are changed."""
    changed = list(settings.changes)
    paths = _paths(union_graph, settings.columns)
    moving = np.asarray(paths[[*settings.columns, *changed]].any(axis=0))
    moving[changed] = True
    return moving


def simulate_column(
    sample: PosteriorSample,
    column: int,
    mean: FloatArray,
    sd: FloatArray,
    noise: FloatArray,
    rows: FloatArray,
) -> FloatArray:
    """Return values of a variable, on the scale of the fit, given its mechanism and its noise.

    Parameters
    ----------
    sample : PosteriorSample
    column : int
    mean, sd : float array, shape (..., n_rows)
        Of its mechanism at ``rows``.
    noise : float array, shape (n_rows,)
        Standardised; uniform of a discrete variable.
    rows : float array, shape (..., n_rows, d)
        With the values of its parents.
    """
    discrete = sample.discrete(column)
    if discrete is not None:
        uniforms = np.broadcast_to(noise, mean.shape).ravel()
        return discrete.settle(rows.reshape(-1, rows.shape[-1]), uniforms).reshape(mean.shape)
    values = mean + sd * noise
    view = sample.view(column)
    return values if view is None else view.settle(values)


def propagate(
    sample: PosteriorSample,
    settings: Settings,
    targets: Sequence[int | Target],
    noise: FloatArray | None = None,
    *,
    count_outside: bool = False,
    limits: FloatArray | None = None,
) -> Conditional:
    """Return the conditional moments of targets in every setting.

    Parameters
    ----------
    sample : PosteriorSample
    settings : Settings
    targets : sequence of int or Target
        Columns, or levels of categories; none of them set.
    noise : float array, shape (n_rows, d), optional
        Standardised noise, uniform for discrete variables; by default that of the sample.
    count_outside : bool
        Also count the rows that leave the data, in a few rows of each setting.
    limits : float array, shape (n_targets, 2), optional
        Between which discrete targets should be; NaN for none.
    """
    union, names = sample.graph.union_graph, sample.graph.names
    wanted = [Target(one) if isinstance(one, int | np.integer) else one for one in targets]
    needed = ancestors_of(union, [one.column for one in wanted], settings.columns)
    moving = moved_by(union, settings)
    n_rows = len(sample.uniforms if noise is None else noise)
    order = [names.index(name) for name in sample.graph.order]
    order = [j for j in order if needed[j] and j not in settings.columns]
    columns = {j: sample.noise(j) if noise is None else noise[:, j] for j in order}

    # Variables that no setting reaches are computed once, for all settings.
    still = np.zeros((n_rows, len(names)))
    unmoved = {}
    for j in order:
        if not moving[j]:
            unmoved[j] = sample.latent_moments(j, still)
            still[:, j] = simulate_column(sample, j, *unmoved[j], columns[j], still)
    shape = (len(settings), len(targets), n_rows)
    mean, sd, drawn, latent_mean, latent_sd = np.empty((5, *shape))
    beyond = np.full((len(settings), len(targets)), np.nan)
    left_data = np.zeros(len(settings))
    result = Conditional(mean, sd, drawn, latent_mean, latent_sd, left_data, beyond)
    step = max(1, _MAX_ROWS // n_rows)
    for start in range(0, len(settings), step):
        part = slice(start, start + step)
        values = np.repeat(still[None], len(settings.values[part]), axis=0)
        for k, j in enumerate(settings.columns):
            given = settings.values[part, k]
            values[:, :, j] = given.reshape(len(given), -1)  # one for all rows, or one for each
        moments = dict(unmoved)
        for j in order:
            if moving[j]:
                flat = sample.latent_moments(j, values.reshape(-1, len(names)))
                moments[j] = flat[0].reshape(values.shape[:2]), flat[1].reshape(values.shape[:2])
                drawn_values = simulate_column(sample, j, *moments[j], columns[j], values)
                if j in settings.changes:
                    drawn_values = settings.changes[j](drawn_values)
                values[:, :, j] = drawn_values
        for t, (j, level) in enumerate(wanted):
            latent_mean[part, t], latent_sd[part, t] = moments[j]
            mean[part, t], sd[part, t] = sample.moments(j, *moments[j])
            drawn[part, t] = values[:, :, j]
            discrete = sample.discrete(j)
            if level is not None and discrete is not None:
                inside = discrete.probability(values.reshape(-1, len(names)), level, level)
                mean[part, t] = share = inside.reshape(values.shape[:2])
                sd[part, t] = np.sqrt(np.maximum(share * (1 - share), 0.0))
                drawn[part, t] = drawn[part, t] == level
            elif discrete is not None and sample.shows_exponential(j):
                shares = discrete.shares(values.reshape(-1, len(names)))
                shown = np.exp(discrete.levels)
                first = (shares @ shown).reshape(values.shape[:2])
                second = (shares @ shown**2).reshape(values.shape[:2])
                mean[part, t] = first
                sd[part, t] = np.sqrt(np.maximum(second - first**2, 0.0))
            elif discrete is not None and limits is not None and np.isfinite(limits[t]).any():
                inside = discrete.probability(values.reshape(-1, len(names)), *limits[t])
                beyond[part, t] = 1 - inside.reshape(values.shape[:2]).mean(axis=1)
        if count_outside:
            rows = values[:, :_CHECKED_ROWS].reshape(-1, len(names))
            left = np.zeros(len(rows), dtype=bool)
            for j in order:
                left |= sample.mechanisms[names[j]].extrapolates(rows)
            result.outside[part] = left.reshape(len(values), -1).mean(axis=1)
    return result
