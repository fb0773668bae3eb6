"""Mean, spread and distribution of targets in many settings, one posterior sample at a time.

What `intervene` computes, with P(Y <= y) at several y instead of the risk of one pair of limits: so
that limits can be chosen later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects.posterior_samples import PosteriorSample
from momentdag.effects.propagation import Conditional, propagate
from momentdag.effects.settings import Settings
from momentdag.engines.protocol import as_continuous

__all__ = ["Response", "respond"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# Standardised noise at which its distribution function is computed: dense in the middle.
_NODES = np.sinh(np.linspace(-4.8, 4.8, 601))


class Response(NamedTuple):
    """One target in every sample and setting, in the units of the file.

    Parameters
    ----------
    means, sds : float array, shape (n_draws, n_settings)
    below : float array, shape (n_draws, n_settings, n_thresholds)
        P(Y <= threshold).
    """

    means: FloatArray
    sds: FloatArray
    below: FloatArray


def respond(
    samples: Sequence[PosteriorSample],
    settings: Settings,
    thresholds: Mapping[int, FloatArray],
) -> dict[int, Response]:
    """Return the response of targets to settings.

    Parameters
    ----------
    samples : sequence of PosteriorSample
    settings : Settings
    thresholds : mapping from column to float array
        The targets, none of them set and none a category, each with rising values in the units of
        the file.
    """
    shape = (len(samples), len(settings))
    found = {
        column: Response(np.empty(shape), np.empty(shape), np.empty((*shape, len(values))))
        for column, values in thresholds.items()
    }
    for k, sample in enumerate(samples):
        wanted = _with_parents(sample, settings, thresholds)
        conditional = propagate(sample, settings, wanted)
        means, variances = conditional.moments()
        for column, values in thresholds.items():
            t = wanted.index(column)
            response = found[column]
            response.means[k], response.sds[k] = means[:, t], np.sqrt(variances[:, t])
            if sample.discrete(column) is None:
                response.below[k] = _continuous(sample, conditional, column, t, values)
            else:
                rows = _rows(sample, settings, conditional, wanted)
                response.below[k] = _discrete(sample, column, rows, values)
    return found


def _with_parents(
    sample: PosteriorSample, settings: Settings, thresholds: Mapping[int, FloatArray]
) -> list[int]:
    """Return the targets and those variables that probabilities of discrete ones depend on."""
    wanted = list(thresholds)
    for column, values in thresholds.items():
        if sample.discrete(column) is not None and len(values):
            parents = np.flatnonzero(sample.graph.union_graph[:, column])
            wanted += [int(j) for j in parents if j not in wanted and j not in settings.columns]
    return wanted


def _rows(
    sample: PosteriorSample, settings: Settings, conditional: Conditional, wanted: Sequence[int]
) -> FloatArray:
    """Return simulated rows (n_settings, n_rows, d) with what is known of them."""
    n_settings, _, n_rows = conditional.values.shape
    rows = np.zeros((n_settings, n_rows, len(sample.graph.names)))
    for t, column in enumerate(wanted):
        rows[:, :, column] = conditional.values[:, t]
    for k, column in enumerate(settings.columns):
        rows[:, :, column] = settings.values[:, k, None]
    return rows


def _continuous(
    sample: PosteriorSample, conditional: Conditional, column: int, t: int, values: FloatArray
) -> FloatArray:
    """Return P(Y <= y) of a target with location and scale, (n_settings, n_thresholds)."""
    view = sample.view(column)
    mechanism = as_continuous(sample.mechanisms[sample.graph.names[column]])
    # Levels have the probabilities that their thresholds were made for.
    cdf = mechanism.noise_cdf if view is None else mechanism.simulated_noise_cdf
    if view is not None:
        values = np.array([view.threshold(float(y), below=False) for y in values])
    mean, sd = conditional.latent_mean[:, t], conditional.latent_sd[:, t]
    # One table of the distribution serves all settings.
    noise = (values - mean[..., None]) / sd[..., None]
    return np.asarray(np.interp(noise, _NODES, cdf(_NODES)).mean(axis=1))


def _discrete(
    sample: PosteriorSample, column: int, rows: FloatArray, values: FloatArray
) -> FloatArray:
    """Return P(Y <= y) of a target that takes few values, (n_settings, n_thresholds)."""
    discrete = sample.discrete(column)
    assert discrete is not None  # the caller has looked
    if sample.shows_exponential(column):
        values = np.log(values)
    flat = rows.reshape(-1, rows.shape[-1])
    below = [discrete.distribution(flat, np.full(len(flat), y)) for y in values]
    shaped = np.stack(below, axis=-1) if below else np.empty((len(flat), 0))
    return np.asarray(shaped.reshape(*rows.shape[:2], len(values)).mean(axis=1))
