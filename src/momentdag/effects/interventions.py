"""Mean, spread and risk of targets under interventions, with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.effects.fitted import Fitted, read_fit
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.propagation import Conditional, propagate
from momentdag.effects.settings import Do, Settings, parse_do, parse_targets
from momentdag.effects.worlds import (
    MonteCarlo,
    Uncertainty,
    World,
    check_uncertainty,
    draw_worlds,
)
from momentdag.errors import OptionError

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Intervention", "Limits", "intervene", "intervene_in"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Limits: TypeAlias = Mapping[str, tuple[float | None, float | None]]
"""For a target the lowest and the highest value that are all right; None leaves a side open."""


@dataclass(frozen=True, eq=False)
class Intervention:
    """What interventions do, in each world of the posterior.

    Parameters
    ----------
    settings : DataFrame, shape (n_settings, n_set)
        One row for each intervention.
    targets : tuple of str
    means, sds : float array, shape (n_worlds, n_settings, n_targets)
        Mean and sd of each target in each setting, in the data's units.
    outside : float array of that shape, or None
        P(target outside its limits); nan for targets without limits.
    weights : float array, shape (n_worlds,)
        Posterior weights of the worlds.
    uncertainty : {"both", "graph", "function"}
        What varies between worlds, and so what the intervals hold.
    level : float
        Probability of the intervals.
    samples : DataFrame or None
        Drawn values of the targets; column ``setting`` is the row of ``settings``.
    """

    settings: pd.DataFrame
    targets: tuple[str, ...]
    means: FloatArray
    sds: FloatArray
    outside: FloatArray | None
    weights: FloatArray
    uncertainty: Uncertainty
    level: float
    samples: pd.DataFrame | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each setting and target.

        Columns: target, the variables that are set, mean, mean_low, mean_high, sd, sd_low,
        sd_high and, where limits were given, outside, outside_low, outside_high. Estimates are
        posterior means. A variable whose name is taken by a result appears as ``do(name)``.
        """
        answers = {"mean": self.means, "sd": self.sds}
        if self.outside is not None:
            answers["outside"] = self.outside
        columns: dict[str, FloatArray] = {}
        for name, answer in answers.items():
            summary = summarise(answer, self.weights, self.level)
            for suffix, part in zip(("", "_low", "_high"), summary, strict=True):
                columns[name + suffix] = part.ravel()
        taken = {"target", *columns}
        n_settings = len(self.settings)
        frame = pd.DataFrame({"target": list(self.targets) * n_settings})
        for name in self.settings.columns:
            label = f"do({name})" if name in taken else name
            frame[label] = np.repeat(self.settings[name].to_numpy(), len(self.targets))
        return pd.concat([frame, pd.DataFrame(columns)], axis=1)

    def __repr__(self) -> str:
        held = {"both": "graph and function", "graph": "graph", "function": "function"}
        return (
            f"Intervention({len(self.settings)} settings of {list(self.settings.columns)}, "
            f"{len(self.targets)} targets; {self.level:.0%} intervals hold "
            f"{held[self.uncertainty]} uncertainty)"
        )


def intervene(
    estimator: MomentDAG,
    do: Do,
    targets: Sequence[str] | None = None,
    *,
    limits: Limits | None = None,
    n_samples: int = 0,
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> Intervention:
    """Work out mean, sd and risk of targets when variables are set from outside.

    In each world (a graph pair and functions drawn from the posterior) the ancestors of the
    targets are propagated from the setting on; the targets' own noise is integrated out.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    do : mapping from name to number or numbers
        Variables to set, in the data's units. Several grids are crossed; an empty mapping asks
        about the world as it is.
    targets : sequence of str, optional
        Variables asked about; by default all that are not set.
    limits : mapping from target to (low, high), optional
        Adds the probability that the target falls outside; None leaves a side open.
    n_samples : int
        Values of the targets to draw for each setting, from the whole posterior.
    uncertainty : {"both", "graph", "function"}
        What the intervals hold: graphs and functions, graphs with functions at their posterior
        means, or functions given the most probable pair.
    level : float
        Probability of the central intervals.
    monte_carlo : MonteCarlo, optional

    Returns
    -------
    Intervention

    Raises
    ------
    OptionError
        If a name is unknown, a value is not finite or an option is out of range.

    Warns
    -----
    ExtrapolationWarning
        If a variable is set to a value outside the data's range.

    Examples
    --------
    >>> import momentdag as md, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(-2, 2, 300)
    >>> y = 5 + np.exp(0.5 * z) * rng.normal(size=300)
    >>> import pandas as pd
    >>> est = md.MomentDAG(n_draws=100, random_state=0).fit(pd.DataFrame({"z": z, "y": y}))
    >>> result = md.effects.intervene(est, do={"z": [-1.0, 1.0]}, targets=["y"])
    >>> result.to_frame().columns.tolist()
    ['target', 'z', 'mean', 'mean_low', 'mean_high', 'sd', 'sd_low', 'sd_high']
    >>> result.to_frame()["sd"].round(1).tolist()  # e^-0.5 = 0.6, e^0.5 = 1.6
    [0.6, 1.6]
    """
    fitted = read_fit(estimator)
    settings = parse_do(fitted, do)
    wanted = parse_targets(fitted, targets, settings)
    check_level(level)
    check_uncertainty(uncertainty)
    bounds = _parse_limits(limits, wanted)
    if not isinstance(n_samples, int | np.integer) or n_samples < 0:
        raise OptionError(f"Expected n_samples as a count; got {n_samples!r}.")
    how = MonteCarlo() if monte_carlo is None else monte_carlo
    worlds = draw_worlds(how.rng, fitted, how.n_draws, how.n_rows, uncertainty)
    return intervene_in(worlds, fitted, settings, wanted, uncertainty, level, bounds, n_samples)


def intervene_in(
    worlds: Sequence[World],
    fitted: Fitted,
    settings: Settings,
    targets: tuple[str, ...],
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    limits: FloatArray | None = None,
    n_samples: int = 0,
) -> Intervention:
    """Answer `intervene` in worlds that are at hand; ``limits`` has shape (n_targets, 2)."""
    columns = [fitted.names.index(name) for name in targets]
    shape = (len(worlds), len(settings), len(targets))
    means, variances = np.empty(shape), np.empty(shape)
    outside = None if limits is None else np.full(shape, np.nan)
    weights = np.array([world.weight for world in worlds])
    shares = np.diff(np.round(np.cumsum(weights) * n_samples), prepend=0.0).astype(int)
    samples = []
    for k, world in enumerate(worlds):
        conditional = propagate(world, settings, columns)
        means[k], variances[k] = conditional.moments()
        if outside is not None and limits is not None:
            outside[k] = _outside(world, conditional, targets, limits)
        if shares[k]:
            samples.append(_first(conditional.values, int(shares[k])))
    return Intervention(
        settings.to_frame(),
        targets,
        means,
        np.sqrt(variances),
        outside,
        weights,
        uncertainty,
        level,
        _sample_frame(samples, targets) if samples else None,
    )


def _outside(
    world: World, conditional: Conditional, targets: tuple[str, ...], limits: FloatArray
) -> FloatArray:
    """Return P(target outside its limits), shape (n_settings, n_targets)."""
    answer = np.full(conditional.mean.shape[:2], np.nan)
    for t, name in enumerate(targets):
        if np.isnan(limits[t]).any():
            continue
        cdf = world.mechanisms[name].noise_cdf
        mean, sd = conditional.mean[:, t], conditional.sd[:, t]
        probability = np.zeros(mean.shape)
        if np.isfinite(limits[t, 0]):
            probability += cdf((limits[t, 0] - mean) / sd)
        if np.isfinite(limits[t, 1]):
            probability += 1 - cdf((limits[t, 1] - mean) / sd)
        answer[:, t] = probability.mean(axis=-1)
    return answer


def _parse_limits(limits: Limits | None, targets: tuple[str, ...]) -> FloatArray | None:
    if limits is None:
        return None
    parsed = np.full((len(targets), 2), np.nan)
    for name, pair in limits.items():
        if name not in targets:
            raise OptionError(f"Expected limits for targets {list(targets)}; got {name!r}.")
        if isinstance(pair, str) or len(pair) != 2:
            raise OptionError(f"Expected limits[{name!r}] as (low, high); got {pair!r}.")
        low = -np.inf if pair[0] is None else float(pair[0])
        high = np.inf if pair[1] is None else float(pair[1])
        if not low < high:
            raise OptionError(f"Expected limits[{name!r}] with low < high; got {pair!r}.")
        parsed[targets.index(name)] = low, high
    return parsed


def _first(values: FloatArray, n: int) -> FloatArray:
    """Take ``n`` rows of a world: a Sobol sequence is even from its start (or from it again)."""
    return values[:, :, np.arange(n) % values.shape[-1]]


def _sample_frame(samples: list[FloatArray], targets: tuple[str, ...]) -> pd.DataFrame:
    values = np.concatenate(samples, axis=2)  # (n_settings, n_targets, n_samples)
    n_settings, _, n_samples = values.shape
    frame = pd.DataFrame(
        np.moveaxis(values, 1, 2).reshape(-1, len(targets)), columns=pd.Index(targets)
    )
    frame.insert(0, "setting", np.repeat(np.arange(n_settings), n_samples))
    return frame
