"""Whose noise made a row unusual.

A value y of the target is as surprising as values at least as far from the usual are rare,

    s(y) = -log10 P(|Y - E Y| >= |y - E Y|),

so s = 3 means one row in a thousand; of a category, s(y) = -log10 P(Y = y). The target is a
function of independent noises, its own and those of its causes, which the row tells (see
`abduction`). With the noises in S as in the row and the others drawn anew, E[s | S] rises from its
usual value, for no S, to s(y) for all of them, and the Shapley values of that game say which noise
is how much of it (Budhathoki, Minorics, Bloebaum and Janzing 2022 have the idea). They add up, and
a cause of the spread alone has its share, too: where it is extreme, extreme values are likely. The
same game with E[Y | S] splits the distance y - E Y, in the units of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.display.printable import Printable, Writer
from momentdag.effects.inputs import FittedEstimator, read_world
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.noise_game import NoiseGame
from momentdag.effects.posterior_samples import MonteCarlo, draw_samples
from momentdag.effects.rows import describe_rows, read_rows
from momentdag.effects.trust import Trust, judge
from momentdag.errors import OptionError

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["AnomalyAttribution", "attribute_anomaly"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_N_DRAWS = 100
_N_ROWS = 128


@dataclass(frozen=True, eq=False, repr=False)
class AnomalyAttribution(Printable):
    """Which noises made the target of one row unusual.

    Parameters
    ----------
    target : str
    observed : object
        Its value in the row, in the units of the file.
    variables : tuple of str
        Those whose noise reaches the target in some draw, and the target.
    surprise : float array, shape (n_draws,)
        s(y) above its usual value, which is what is attributed.
    rarity : float array, shape (n_draws,)
        ``P(|Y - E Y| >= |y - E Y|)``, or ``P(Y = y)`` of a category.
    parts : float array, shape (n_draws, n_variables)
        What the noise of each variable contributes to ``surprise``; they add up.
    distances : float array, shape (n_draws, n_variables), or None
        The same of y - E Y, in the units of the file; None for a category.
    noises : float array, shape (n_draws, n_variables)
        Each variable's noise in the row, in standard deviations (as a normal one would have them).
    weights : float array, shape (n_draws,)
    level : float
    trust : Trust or None

    Examples
    --------
    >>> parts, distances = np.array([[2.0, 0.5]]), np.array([[4.0, 1.0]])
    >>> noises, one = np.array([[4.2, 0.3]]), np.ones(1)
    >>> answer = AnomalyAttribution(
    ...     "y", 9.0, ("x", "y"), one * 2.5, one * 1e-3, parts, distances, noises, one, 0.9
    ... )
    >>> answer.to_frame()[["variable", "share", "distance"]]
      variable  share  distance
    0        x    0.8       4.0
    1        y    0.2       1.0
    """

    target: str
    observed: object
    variables: tuple[str, ...]
    surprise: FloatArray
    rarity: FloatArray
    parts: FloatArray
    distances: FloatArray | None
    noises: FloatArray
    weights: FloatArray
    level: float
    trust: Trust | None = None

    @property
    def first(self) -> str:
        """The variable whose noise contributes most."""
        return str(self.to_frame()["variable"].iloc[0])

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each variable, the largest contribution first.

        Columns: variable; noise, how many standard deviations its noise is from 0 in the row;
        surprise, its contribution in powers of ten, with _low and _high; share of the whole, NaN
        where the row is no more unusual than most; for numbers distance, its contribution to
        y - E Y, with _low and _high; p_first, the posterior probability that it contributes most.
        """
        summary = summarise(self.parts, self.weights, self.level)
        total = float(np.average(self.surprise, weights=self.weights))
        columns: dict[str, object] = {
            "variable": list(self.variables),
            "noise": np.average(self.noises, axis=0, weights=self.weights),
            **summary.columns("surprise"),
            "share": summary.mean / total if total > 0 else np.full(len(self.variables), np.nan),
        }
        if self.distances is not None:
            columns |= summarise(self.distances, self.weights, self.level).columns("distance")
        first = self.parts.argmax(axis=1)
        columns["p_first"] = [
            float(np.average(first == k, weights=self.weights)) for k in range(len(self.variables))
        ]
        frame = pd.DataFrame(columns)
        return frame.sort_values("surprise", ascending=False, kind="stable", ignore_index=True)

    def summary(self) -> str:
        """Return the answer in two sentences."""
        rarity = float(np.average(self.rarity, weights=self.weights))
        often = f"in 1 of {1 / rarity:,.0f} rows" if rarity < 0.5 else "often"
        said = f"{self.observed:.4g}" if isinstance(self.observed, float) else f"{self.observed}"
        table = self.to_frame()
        best = table.iloc[0]
        sentence = f"{self.target} = {said}: a value this unusual happens {often}."
        if not best["share"] > 0:
            return f"{sentence} There is nothing to explain."
        whose = "its own noise" if best["variable"] == self.target else f"{best['variable']}"
        share = min(float(best["share"]), 1.0)
        return (
            f"{sentence} Most of it comes from {whose} ({share:.0%}; first with probability "
            f"{best['p_first']:.2f})."
        )

    def plot(self) -> Figure:
        """Return a figure: whose noise contributes how much."""
        from momentdag.effects.figures import draw_anomaly

        return draw_anomaly(self)

    def _headline(self) -> str:
        return self.summary()

    def _write(self, to: Writer) -> str:
        doubt = "" if self.trust is None else self.trust.message()
        notes = to.sentence(doubt) if doubt else ""
        return to.block(self.summary(), [to.table(self.to_frame()), notes])


def attribute_anomaly(
    estimator: FittedEstimator,
    row: object,
    target: str,
    *,
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> AnomalyAttribution:
    """Say whose noise made the target of a row unusual.

    The module's docstring has the definitions. What a variable merely passes on belongs to where
    it came from: the noise of a variable is what its own causes do not explain.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    row : Series, mapping or DataFrame with one row
        Complete, in the units of the file.
    target : str
    level : float
        Probability of the intervals, over graphs and functions.
    monte_carlo : MonteCarlo, optional
        By default 100 draws with 128 rows.

    Returns
    -------
    AnomalyAttribution

    Raises
    ------
    OptionError
        If the target is unknown, or several rows are given.
    DataError
        If the row is incomplete or holds a value that its variable cannot have.

    Examples
    --------
    With a fitted ``estimator`` and the row of a part that failed::

        print(md.effects.attribute_anomaly(estimator, parts.loc[7], "thickness").summary())
    """
    inputs = read_world(estimator)
    column = inputs.column(target, "target")
    check_level(level)
    given = read_rows(estimator, inputs, row)
    if len(given.values) != 1:
        raise OptionError(f"Expected one row; got {len(given.values)}. Ask about each in turn.")
    how = MonteCarlo(_N_DRAWS, _N_ROWS) if monte_carlo is None else monte_carlo
    sample_rng, noise_rng = how.rng.spawn(2)
    samples = draw_samples(sample_rng, inputs, how.n_draws, how.n_rows, "both")
    d = len(inputs.names)
    is_category = inputs.observed.kinds.get(target) == "category"
    parts, distances, noises = np.zeros((3, len(samples), d))
    surprise, rarity = np.zeros((2, len(samples)))
    for k, sample in enumerate(samples):
        game = NoiseGame.between(noise_rng, sample, given.values[0], column, is_category)
        parts[k], distances[k] = game.shapley(noise_rng)
        noises[k, game.players] = game.standard_noises()
        surprise[k], rarity[k] = parts[k].sum(), game.rarity
    involved = np.flatnonzero(parts.any(axis=0) | (np.arange(d) == column))
    observed = describe_rows(estimator, inputs, given.values, given.index)[target].iloc[0]
    return AnomalyAttribution(
        target,
        observed.item() if isinstance(observed, np.generic) else observed,
        tuple(inputs.names[j] for j in involved),
        surprise,
        rarity,
        parts[:, involved],
        None if is_category else distances[:, involved],
        noises[:, involved],
        np.array([sample.weight for sample in samples]),
        level,
        judge(estimator, [target]),
    )
