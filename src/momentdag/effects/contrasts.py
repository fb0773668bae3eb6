"""Differences between two interventions, paired over the same posterior samples and noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.display import text
from momentdag.display.printable import Printable, Writer
from momentdag.effects.inputs import (
    EffectInputs,
    FittedEstimator,
    read_inputs,
    read_world,
)
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.interventions import intervene_in
from momentdag.effects.posterior_samples import (
    MonteCarlo,
    Uncertainty,
    check_uncertainty,
    draw_samples,
)
from momentdag.effects.settings import Settings, parse_do, parse_targets
from momentdag.effects.targets import categories_of
from momentdag.errors import OptionError

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["Contrast", "contrast", "direct_effect", "total_effect"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Contrast(Printable):
    """The change from one intervention to another, in each posterior sample.

    Parameters
    ----------
    do, reference : dict of str to float
        The two interventions; an empty mapping is no intervention.
    targets : tuple of str
    mean_differences : float array, shape (n_draws, n_targets)
        Mean under ``do`` minus mean under ``reference``.
    sd_differences, sd_ratios : float array, shape (n_draws, n_targets)
        Difference and ratio of the sds.
    weights : float array, shape (n_draws,)
    uncertainty : {"both", "graph", "function"}
    level : float
    reference_sds : float array, shape (n_targets,), or None
        Average sd of each target under ``reference``.

    Examples
    --------
    >>> sd = np.array([[-0.9], [-1.1], [-1.0], [0.1]])  # four samples, one target
    >>> change = Contrast(
    ...     {"z": -1.0}, {}, ("y",), np.zeros((4, 1)), sd, 1 + sd / 2, np.full(4, 0.25), "both", 0.9
    ... )
    >>> change.to_frame()[["target", "sd_difference", "p_sd_falls"]]
      target  sd_difference  p_sd_falls
    0      y         -0.725        0.75
    >>> change
    Contrast(z = -1 against nothing set: mean of y changes by 0 (0 to 0), sd by ... (... to ...))
    """

    do: Mapping[str, float]
    reference: Mapping[str, float]
    targets: tuple[str, ...]
    mean_differences: FloatArray
    sd_differences: FloatArray
    sd_ratios: FloatArray
    weights: FloatArray
    uncertainty: Uncertainty
    level: float
    reference_sds: FloatArray | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each target.

        Columns: target; mean_difference, sd_difference and sd_ratio, each with _low and _high;
        p_mean_rises and p_sd_falls, the posterior probabilities that the intervention raises the
        mean and lowers the sd.
        """
        columns: dict[str, object] = {"target": list(self.targets)}
        for name, values in (
            ("mean_difference", self.mean_differences),
            ("sd_difference", self.sd_differences),
            ("sd_ratio", self.sd_ratios),
        ):
            columns |= summarise(values, self.weights, self.level).columns(name)
        for name, event in (
            ("p_mean_rises", self.mean_differences > 0),
            ("p_sd_falls", self.sd_differences < 0),
        ):
            columns[name] = np.average(event, axis=0, weights=self.weights)
        return pd.DataFrame(columns)

    def plot(self) -> Figure:
        """Return a figure: the change of mean and sd of each target."""
        from momentdag.effects.figures import draw_contrast

        return draw_contrast(self)

    def _headline(self) -> str:
        if not self.targets:
            return f"{self._said()}; no targets"
        mean, sd = (
            np.ravel(summarise(values[:, :1], self.weights, self.level))
            for values in (self.mean_differences, self.sd_differences)
        )
        n_more = len(self.targets) - 1
        more = f"; {text.count(n_more, 'target')} more" if n_more else ""
        return (
            f"{self._said()}: mean of {self.targets[0]} changes by {text.interval(mean)}, "
            f"sd by {text.interval(sd)}{more}"
        )

    def _said(self) -> str:
        """Return both interventions as far as they differ."""
        same = {name for name, value in self.do.items() if self.reference.get(name) == value}
        first, second = (
            text.settings({name: value for name, value in do.items() if name not in same})
            for do in (self.do, self.reference)
        )
        held = f" with {text.count(len(same), 'variable')} held" if same else ""
        return f"{first} against {second}{held}"

    def _write(self, to: Writer) -> str:
        covered = "graph and function" if self.uncertainty == "both" else self.uncertainty
        title = f"{self._said()}; {self.level:.0%} intervals cover {covered} uncertainty"
        return to.block(title, [to.table(self.to_frame())])


def contrast(
    estimator: FittedEstimator,
    do: Mapping[str, float],
    reference: Mapping[str, float],
    targets: Sequence[str] | None = None,
    *,
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> Contrast:
    """Compare two interventions in the same posterior samples, with the same noise.

    What both share cancels, so a difference is far more certain than its two sides; where neither
    intervention has an effect it is exactly zero.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    do, reference : mapping from name to number
        The variables each sets; an empty mapping is no intervention.
    targets : sequence of str, optional
        By default all variables that neither sets.
    uncertainty, level, monte_carlo
        As in `intervene`.

    Returns
    -------
    Contrast

    Raises
    ------
    OptionError
        If a name is unknown or a value is not one finite number.

    Examples
    --------
    With a fitted ``estimator``, setting ``z`` against leaving it alone::

        md.effects.contrast(estimator, do={"z": -1.0}, reference={}).to_frame()
    """
    inputs = read_world(estimator)
    settings, baseline = (_one_setting(inputs, given) for given in (do, reference))
    names = parse_targets(inputs, targets, settings.all_names + baseline.all_names)
    check_level(level)
    check_uncertainty(uncertainty)
    how = MonteCarlo() if monte_carlo is None else monte_carlo
    samples = draw_samples(how.rng, inputs, how.n_draws, how.n_rows, uncertainty)
    after = intervene_in(samples, inputs, settings, names)
    before = intervene_in(samples, inputs, baseline, names)
    return Contrast(
        inputs.show_settings(settings.to_frame()).iloc[0].to_dict(),
        inputs.show_settings(baseline.to_frame()).iloc[0].to_dict(),
        names,
        (after.means - before.means)[:, 0],
        (after.sds - before.sds)[:, 0],
        (after.sds / before.sds)[:, 0],
        after.weights,
        uncertainty,
        level,
        np.average(before.sds[:, 0], axis=0, weights=before.weights),
    )


def total_effect(
    estimator: FittedEstimator,
    cause: str,
    target: str,
    values: tuple[float, float] | None = None,
    *,
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> Contrast:
    """Contrast setting a cause to the second of two values with setting it to the first.

    Everything between cause and target responds. ``values`` are by default the 5 % and 95 %
    quantiles of the cause. The other options, the result and the errors are those of `contrast`.
    """
    low, high = _two_values(read_inputs(estimator), cause, values)
    return contrast(
        estimator,
        {cause: high},
        {cause: low},
        [target],
        uncertainty=uncertainty,
        level=level,
        monte_carlo=monte_carlo,
    )


def direct_effect(
    estimator: FittedEstimator,
    cause: str,
    target: str,
    values: tuple[float, float] | None = None,
    *,
    hold: Mapping[str, float] | None = None,
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> Contrast:
    """Contrast two values of a cause with other variables held fixed: a controlled direct effect.

    ``hold`` maps variables to the values they are held at; by default every other variable is held
    at its median, or the nearest value that it has, so that only the edge from cause to target can
    act. Otherwise as `total_effect`.
    """
    inputs = read_world(estimator)
    low, high = _two_values(inputs, cause, values)
    if hold is None:
        others = [name for name in inputs.names if name not in (cause, target)]
        hold = {name: inputs.typical(name) for name in others}
    for name, role in ((cause, "cause"), (target, "target")):
        if name in hold:
            raise OptionError(f"hold names the {role} {name!r}. Hold other variables only.")
    return contrast(
        estimator,
        {**hold, cause: high},
        {**hold, cause: low},
        [target],
        uncertainty=uncertainty,
        level=level,
        monte_carlo=monte_carlo,
    )


def _one_setting(inputs: EffectInputs, given: Mapping[str, float]) -> Settings:
    settings = parse_do(inputs, given)
    if len(settings) > 1:
        raise OptionError(f"Expected one value for each variable of a contrast; got {given!r}.")
    return settings


def _two_values(
    inputs: EffectInputs, cause: str, values: tuple[float, float] | None
) -> tuple[float, float]:
    inputs.column(cause, "cause")
    if values is None and inputs.observed.kinds.get(cause) == "category":
        levels = list(categories_of(inputs.observed)[cause])
        raise OptionError(f"{cause!r} is a category: name the two levels to compare of {levels}.")
    if values is None and inputs.observed.kinds.get(cause) == "binary":
        low, high = inputs.summary.loc[cause, ["min", "max"]]
        return float(low), float(high)
    if values is None:
        low, high = inputs.summary.loc[cause, ["q05", "q95"]]
        return float(low), float(high)
    if isinstance(values, str) or len(values) != 2:
        raise OptionError(f"Expected two values of the cause; got {values!r}.")
    return values[0], values[1]
