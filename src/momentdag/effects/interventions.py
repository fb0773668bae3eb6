"""Mean, spread and risk of targets under interventions, with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.display import text
from momentdag.display.printable import Printable, Writer
from momentdag.effects.inputs import EffectInputs, FittedEstimator, read_world
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.posterior_samples import (
    MonteCarlo,
    PosteriorSample,
    Uncertainty,
    check_uncertainty,
    draw_samples,
)
from momentdag.effects.propagation import Conditional, propagate
from momentdag.effects.settings import Do, Settings, parse_do, parse_targets
from momentdag.effects.targets import Target
from momentdag.effects.trust import Trust, judge
from momentdag.engines.protocol import as_continuous
from momentdag.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["Intervention", "Limits", "intervene", "intervene_in"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Limits: TypeAlias = Mapping[str, tuple[float | None, float | None]]
"""Lowest and highest acceptable value of a target; None leaves a side open."""


@dataclass(frozen=True, eq=False, repr=False)
class Intervention(Printable):
    """Mean, sd and risk of targets in each setting and posterior sample.

    Parameters
    ----------
    settings : DataFrame, shape (n_settings, n_set)
        One row for each intervention.
    targets : tuple of str
    means, sds : float array, shape (n_draws, n_settings, n_targets)
        Mean and sd of each target in each setting, in the data's units.
    outside : float array of that shape, or None
        P(target outside its limits); NaN for targets without limits.
    weights : float array, shape (n_draws,)
        Posterior weights of the samples.
    uncertainty : {"both", "graph", "function"}
        What varies between samples, and so what the intervals cover.
    level : float
        Probability of the intervals.
    samples : DataFrame or None
        Drawn values of the targets; column ``setting`` is the row of ``settings``.
    outside_data : float array, shape (n_settings,), or None
        Share of simulated rows in which some cause left the region of the data.
    trust : Trust or None
        How far the answer can be trusted.

    Examples
    --------
    >>> settings = pd.DataFrame({"z": [-1.0, 1.0]})
    >>> means = np.array([[[5.0], [5.0]], [[5.2], [4.8]]])  # two samples, two settings, one target
    >>> sds = np.array([[[0.6], [1.6]], [[0.6], [1.8]]])
    >>> result = Intervention(settings, ("y",), means, sds, None, np.ones(2) / 2, "both", 0.9)
    >>> result.to_frame()[["target", "z", "mean", "sd", "sd_low", "sd_high"]]
      target    z  mean   sd  sd_low  sd_high
    0      y -1.0   5.1  0.6     0.6      0.6
    1      y  1.0   4.9  1.7     1.6      1.8
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
    outside_data: FloatArray | None = None
    trust: Trust | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each setting and target.

        Columns: target, the variables that are set, mean, mean_low, mean_high, sd, sd_low,
        sd_high, where limits were given outside, outside_low, outside_high, and outside_data, the
        share of simulated rows that left the data. Estimates are posterior means. A variable with
        the name of a result column appears as ``do(name)``.
        """
        results = {"mean": self.means, "sd": self.sds}
        if self.outside is not None:
            results["outside"] = self.outside
        columns: dict[str, FloatArray] = {}
        for name, result in results.items():
            summary = summarise(result, self.weights, self.level)
            columns |= {label: part.ravel() for label, part in summary.columns(name).items()}
        if self.outside_data is not None:
            columns["outside_data"] = np.repeat(self.outside_data, len(self.targets))
        taken = {"target", *columns}
        n_settings = len(self.settings)
        frame = pd.DataFrame({"target": list(self.targets) * n_settings})
        for name in self.settings.columns:
            label = f"do({name})" if name in taken else name
            frame[label] = np.repeat(self.settings[name].to_numpy(), len(self.targets))
        return pd.concat([frame, pd.DataFrame(columns)], axis=1)

    def plot(self) -> Figure:
        """Return a figure: mean and sd (and risk) of each target against the settings."""
        from momentdag.effects.figures import draw_intervention

        return draw_intervention(self)

    def _headline(self) -> str:
        rows = len(self.settings) * len(self.targets)
        if not rows:
            return "no targets"
        mean, sd = (
            np.ravel(summarise(result[:, :1, :1], self.weights, self.level))
            for result in (self.means, self.sds)
        )
        more = f"; {text.count(rows - 1, 'row')} more" if rows > 1 else ""
        return (
            f"{self.targets[0]} with {text.settings(self.settings.iloc[0].to_dict())}: "
            f"mean {text.interval(mean)}, sd {text.interval(sd)}{more}; {self._covered()}"
        )

    def _covered(self) -> str:
        covered = "graph and function" if self.uncertainty == "both" else self.uncertainty
        return f"{self.level:.0%} intervals cover {covered} uncertainty"

    def _write(self, to: Writer) -> str:
        doubt = "" if self.trust is None else self.trust.message()
        notes = to.sentence(doubt) if doubt else ""
        names = ", ".join(str(name) for name in self.settings.columns)
        what = f"{text.count(len(self.settings), 'setting')} of {names}" if names else "Nothing set"
        title = f"{what}; {text.count(len(self.targets), 'target')}; {self._covered()}"
        return to.block(title, [to.table(self.to_frame()), notes])


def intervene(
    estimator: FittedEstimator,
    do: Do,
    targets: Sequence[str] | None = None,
    *,
    limits: Limits | None = None,
    n_samples: int = 0,
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> Intervention:
    """Compute mean, sd and risk of targets when variables are set from outside.

    In each posterior sample (a drawn graph pair with drawn functions) the setting is propagated
    through the ancestors of the targets; the targets' own noise is integrated out.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    do : mapping from name to number or numbers
        Variables to set, in the data's units; levels of text by their name. Several grids are
        crossed; an empty mapping is no intervention.
    targets : sequence of str, optional
        By default all variables that are not set. A category stands for its levels, each named
        "machine=M2": its mean is then the probability of the level.
    limits : mapping from target to (low, high), optional
        Add the probability that the target falls outside; None leaves a side open.
    n_samples : int
        Values of the targets to draw for each setting, from the whole posterior.
    uncertainty : {"both", "graph", "function"}
        What the intervals cover: graphs and functions, graphs with functions at their posterior
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
    With a fitted ``estimator``, mean and sd of ``y`` at two values of ``z``::

        md.effects.intervene(estimator, do={"z": [-1.0, 1.0]}, targets=["y"]).to_frame()
    """
    inputs = read_world(estimator)
    settings = parse_do(inputs, do)
    names = parse_targets(inputs, targets, settings.all_names)
    check_level(level)
    check_uncertainty(uncertainty)
    bounds = _parse_limits(limits, names)
    if not isinstance(n_samples, int | np.integer) or n_samples < 0:
        raise OptionError(f"Expected n_samples to be 0 or a positive integer; got {n_samples!r}.")
    how = MonteCarlo() if monte_carlo is None else monte_carlo
    samples = draw_samples(how.rng, inputs, how.n_draws, how.n_rows, uncertainty)
    answer = intervene_in(samples, inputs, settings, names, uncertainty, level, bounds, n_samples)
    involved = [inputs.names[inputs.target(name).column] for name in names]
    return replace(answer, trust=judge(estimator, involved))


def intervene_in(
    samples: Sequence[PosteriorSample],
    inputs: EffectInputs,
    settings: Settings,
    targets: tuple[str, ...],
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    limits: FloatArray | None = None,
    n_samples: int = 0,
) -> Intervention:
    """Compute `intervene` in the given samples; ``limits`` has shape (n_targets, 2)."""
    wanted = [inputs.target(name) for name in targets]
    shape = (len(samples), len(settings), len(targets))
    means, variances = np.empty(shape), np.empty(shape)
    outside = None if limits is None else np.full(shape, np.nan)
    weights = np.array([sample.weight for sample in samples])
    shares = np.diff(np.round(np.cumsum(weights) * n_samples), prepend=0.0).astype(int)
    drawn = []
    left_data = np.zeros(len(settings))
    for k, sample in enumerate(samples):
        conditional = propagate(sample, settings, wanted, count_outside=True, limits=limits)
        means[k], variances[k] = conditional.moments()
        left_data += weights[k] * conditional.outside
        if outside is not None and limits is not None:
            outside[k] = _outside(sample, conditional, wanted, limits)
        if shares[k]:
            drawn.append(_first(_shown(sample, conditional, wanted), int(shares[k])))
    return Intervention(
        inputs.show_settings(settings.to_frame()),
        targets,
        means,
        np.sqrt(variances),
        outside,
        weights,
        uncertainty,
        level,
        _drawn_frame(drawn, targets) if drawn else None,
        left_data,
    )


def _outside(
    sample: PosteriorSample,
    conditional: Conditional,
    targets: Sequence[Target],
    limits: FloatArray,
) -> FloatArray:
    """Return P(target outside its limits), shape (n_settings, n_targets)."""
    outside = conditional.beyond_limits.copy()
    for t, (column, _) in enumerate(targets):
        if np.isnan(limits[t]).any() or sample.discrete(column) is not None:
            continue
        mean, sd = conditional.latent_mean[:, t], conditional.latent_sd[:, t]
        low, high = (float(limit) for limit in limits[t])
        view = sample.view(column)
        mechanism = as_continuous(sample.mechanisms[sample.graph.names[column]])
        # Levels have the probabilities that their thresholds were made for.
        cdf = mechanism.noise_cdf if view is None else mechanism.simulated_noise_cdf
        if view is not None:
            low, high = view.threshold(low, below=True), view.threshold(high, below=False)
        probability = np.zeros(mean.shape)
        if low > -np.inf:
            probability += cdf((low - mean) / sd)
        if high < np.inf:
            probability += 1 - cdf((high - mean) / sd)
        outside[:, t] = probability.mean(axis=-1)
    return outside


def _parse_limits(limits: Limits | None, targets: tuple[str, ...]) -> FloatArray | None:
    if limits is None:
        return None
    parsed = np.full((len(targets), 2), np.nan)
    for name, pair in limits.items():
        if name not in targets:
            raise OptionError(
                f"Limits given for {name!r}, which is none of {list(targets)}."
                f"{did_you_mean(name, targets)}"
            )
        if isinstance(pair, str) or len(pair) != 2:
            raise OptionError(f"Expected limits[{name!r}] as (low, high); got {pair!r}.")
        low = -np.inf if pair[0] is None else float(pair[0])
        high = np.inf if pair[1] is None else float(pair[1])
        if not low < high:
            raise OptionError(f"Expected limits[{name!r}] with low < high; got {pair!r}.")
        parsed[targets.index(name)] = low, high
    return parsed


def _shown(
    sample: PosteriorSample, conditional: Conditional, targets: Sequence[Target]
) -> FloatArray:
    """Return the drawn values of the targets in the units of the file."""
    shown = conditional.values.copy()
    for t, (column, _) in enumerate(targets):
        view = sample.view(column)
        if view is not None:
            shown[:, t] = view.show(shown[:, t])
    return shown


def _first(values: FloatArray, n: int) -> FloatArray:
    """Take the first ``n`` rows, starting again if there are fewer: Sobol points stay even."""
    return values[:, :, np.arange(n) % values.shape[-1]]


def _drawn_frame(drawn: list[FloatArray], targets: tuple[str, ...]) -> pd.DataFrame:
    values = np.concatenate(drawn, axis=2)  # (n_settings, n_targets, n_samples)
    n_settings, _, n_samples = values.shape
    frame = pd.DataFrame(
        np.moveaxis(values, 1, 2).reshape(-1, len(targets)), columns=pd.Index(targets)
    )
    frame.insert(0, "setting", np.repeat(np.arange(n_settings), n_samples))
    return frame
