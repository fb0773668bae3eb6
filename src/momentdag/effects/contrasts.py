"""Differences between two interventions, paired over the same worlds and the same noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.effects.fitted import Fitted, read_fit
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.interventions import intervene_in
from momentdag.effects.settings import Settings, parse_do, parse_targets
from momentdag.effects.worlds import MonteCarlo, Uncertainty, check_uncertainty, draw_worlds
from momentdag.errors import OptionError

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Contrast", "contrast", "direct_effect", "total_effect"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contrast:
    """What changes from one intervention to another, in each world of the posterior.

    Parameters
    ----------
    do, reference : dict of str to float
        The two interventions; an empty one is the world as it is.
    targets : tuple of str
    mean_differences : float array, shape (n_worlds, n_targets)
        Mean under ``do`` minus mean under ``reference``.
    sd_differences, sd_ratios : float array, shape (n_worlds, n_targets)
        The same for the sd, as a difference and as a ratio.
    weights : float array, shape (n_worlds,)
    uncertainty : {"both", "graph", "function"}
    level : float
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

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each target.

        Columns: target; mean_difference, sd_difference and sd_ratio, each with _low and _high;
        p_mean_rises and p_sd_falls, the posterior probabilities that the intervention raises the
        mean and lowers the sd.
        """
        columns: dict[str, object] = {"target": list(self.targets)}
        for name, answer in (
            ("mean_difference", self.mean_differences),
            ("sd_difference", self.sd_differences),
            ("sd_ratio", self.sd_ratios),
        ):
            summary = summarise(answer, self.weights, self.level)
            for suffix, part in zip(("", "_low", "_high"), summary, strict=True):
                columns[name + suffix] = part
        for name, holds in (
            ("p_mean_rises", self.mean_differences > 0),
            ("p_sd_falls", self.sd_differences < 0),
        ):
            columns[name] = np.average(holds, axis=0, weights=self.weights)
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        return f"Contrast(do {dict(self.do)} against {dict(self.reference)}, {self.uncertainty})"


def contrast(
    estimator: MomentDAG,
    do: Mapping[str, float],
    reference: Mapping[str, float],
    targets: Sequence[str] | None = None,
    *,
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> Contrast:
    """Compare two interventions in the same worlds, with the same noise.

    Differences are far more certain than the two answers on their own: where the interventions
    have no effect they are exactly zero.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    do, reference : mapping from name to number
        What is set in either; an empty mapping is the world as it is.
    targets : sequence of str, optional
        By default all variables that neither of the two sets.
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
    >>> import momentdag as md, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(-2, 2, 300)
    >>> y = 5 + np.exp(0.5 * z) * rng.normal(size=300)
    >>> est = md.MomentDAG(n_draws=100, random_state=0).fit(pd.DataFrame({"z": z, "y": y}))
    >>> frame = md.effects.contrast(est, do={"z": -1.0}, reference={"z": 1.0}).to_frame()
    >>> print(frame[["target", "p_sd_falls"]].to_string(index=False))
    target  p_sd_falls
         y         1.0
    """
    fitted = read_fit(estimator)
    pair = [_one_setting(fitted, given) for given in (do, reference)]
    set_by_either = Settings(pair[0].names + pair[1].names, (), np.zeros((1, 0)))
    wanted = parse_targets(fitted, targets, set_by_either)
    check_level(level)
    check_uncertainty(uncertainty)
    how = MonteCarlo() if monte_carlo is None else monte_carlo
    worlds = draw_worlds(how.rng, fitted, how.n_draws, how.n_rows, uncertainty)
    there, here = (intervene_in(worlds, fitted, settings, wanted) for settings in pair)
    return Contrast(
        dict(zip(pair[0].names, pair[0].values[0].tolist(), strict=True)),
        dict(zip(pair[1].names, pair[1].values[0].tolist(), strict=True)),
        wanted,
        (there.means - here.means)[:, 0],
        (there.sds - here.sds)[:, 0],
        (there.sds / here.sds)[:, 0],
        there.weights,
        uncertainty,
        level,
    )


def total_effect(
    estimator: MomentDAG,
    cause: str,
    target: str,
    values: tuple[float, float] | None = None,
    *,
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> Contrast:
    """Contrast setting a cause to the second of two values with setting it to the first.

    All that lies between cause and target responds. ``values`` are by default the 5 % and 95 %
    quantiles of the cause. The other options, the result and the errors are those of `contrast`.
    """
    low, high = _two_values(read_fit(estimator), cause, values)
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
    estimator: MomentDAG,
    cause: str,
    target: str,
    values: tuple[float, float] | None = None,
    *,
    hold: Mapping[str, float] | None = None,
    uncertainty: Uncertainty = "both",
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> Contrast:
    """Contrast two values of a cause while other variables are held: a controlled direct effect.

    ``hold`` says which and where; by default every other variable is held at its median, so that
    only the edge from cause to target is left. Otherwise as `total_effect`.
    """
    fitted = read_fit(estimator)
    low, high = _two_values(fitted, cause, values)
    if hold is None:
        others = [name for name in fitted.names if name not in (cause, target)]
        hold = {name: float(fitted.summary.loc[name, "median"]) for name in others}
    for name, role in ((cause, "cause"), (target, "target")):
        if name in hold:
            raise OptionError(f"Expected to hold other variables than the {role}; got {name!r}.")
    return contrast(
        estimator,
        {**hold, cause: high},
        {**hold, cause: low},
        [target],
        uncertainty=uncertainty,
        level=level,
        monte_carlo=monte_carlo,
    )


def _one_setting(fitted: Fitted, given: Mapping[str, float]) -> Settings:
    settings = parse_do(fitted, given)
    if len(settings) > 1:
        raise OptionError(f"Expected one value for each variable of a contrast; got {given!r}.")
    return settings


def _two_values(
    fitted: Fitted, cause: str, values: tuple[float, float] | None
) -> tuple[float, float]:
    fitted.column(cause, "cause")
    if values is None:
        low, high = fitted.summary.loc[cause, ["q05", "q95"]]
        return float(low), float(high)
    if isinstance(values, str) or len(values) != 2:
        raise OptionError(f"Expected two values of the cause; got {values!r}.")
    return values[0], values[1]
