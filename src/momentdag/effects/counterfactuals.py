"""What a row would have been, had some of its variables been set.

The three steps of Pearl (2009) in each posterior sample: *abduction* of the row's noises, *action*
on the graphs, *prediction* with the same noises (see `abduction`). What the intervention does not
reach stays exactly as it was observed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.display import text
from momentdag.display.printable import Printable, Writer
from momentdag.effects.abduction import abduct, has_cells, replay
from momentdag.effects.inputs import EffectInputs, FittedEstimator, read_world
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.posterior_samples import MonteCarlo, PosteriorSample, draw_samples
from momentdag.effects.propagation import moved_by
from momentdag.effects.rows import describe_rows, read_rows
from momentdag.effects.settings import Do, Settings, parse_do
from momentdag.effects.targets import named_levels
from momentdag.effects.trust import Trust, judge
from momentdag.errors import OptionError

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["Counterfactual", "counterfactual"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_IN_CELLS = 16  # noises drawn for each row in each sample, where a row leaves them undetermined


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(Printable):
    """Rows as they would have been.

    Parameters
    ----------
    do : dict of str to str
        What was set, for display.
    observed : DataFrame, shape (n, d)
        The rows as they were, in the units of the file.
    targets : tuple of str
        The variables that were not set.
    values : float array, shape (n_draws, n, n_targets)
        What they would have been, one drawn answer after the other; codes of a category.
    levels : mapping from name to mapping from level to code
        Of the targets that hold text: categories and binary columns.
    level : float
    sds : dict of str to float
        Standard deviations of the columns in the data.
    trust : Trust or None
        How far the answer can be trusted.

    Examples
    --------
    >>> observed = pd.DataFrame({"x": [1.0], "y": [3.0]})
    >>> values = np.array([[[5.0]], [[5.5]], [[6.0]]])  # three draws, one row, one target
    >>> answer = Counterfactual({"x": "2"}, observed, ("y",), values, {}, 0.5)
    >>> answer
    Counterfactual(1 row with x = 2: y of row 0 3 -> 5.5; 50% intervals)
    >>> print(answer)
    1 row as if with x = 2; 50% intervals
    <BLANKLINE>
    row  variable  observed  counterfactual  low  high
      0  y                3             5.5    5     6
    """

    do: dict[str, str]
    observed: pd.DataFrame
    targets: tuple[str, ...]
    values: FloatArray
    levels: dict[str, dict[str, float]]
    level: float
    sds: dict[str, float] = field(default_factory=dict)
    trust: Trust | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each row and target.

        Columns: row, its label in the index; variable; observed; counterfactual, the posterior
        mean; low and high. Of text ``counterfactual`` is the most probable level, and a
        column probability has its probability.
        """
        weights = np.full(len(self.values), 1 / len(self.values))
        summary = summarise(self.values, weights, self.level)
        records: list[dict[str, Any]] = []
        for i, label in enumerate(self.observed.index):
            for t, name in enumerate(self.targets):
                record = {"row": label, "variable": name, "observed": self.observed[name].iloc[i]}
                if name in self.levels:
                    codes = self.levels[name]
                    shares = {
                        text: float(np.mean(self.values[:, i, t] == code))
                        for text, code in codes.items()
                    }
                    best = max(shares, key=shares.__getitem__)
                    record |= {"counterfactual": best, "probability": shares[best]}
                else:
                    record |= {
                        "counterfactual": float(summary.mean[i, t]),
                        "low": float(summary.low[i, t]),
                        "high": float(summary.high[i, t]),
                    }
                records.append(record)
        order = ["row", "variable", "observed", "counterfactual", "low", "high", "probability"]
        frame = pd.DataFrame(records)
        return frame[[name for name in order if name in frame]]

    def plot(self) -> Figure:
        """Return a figure: each variable as it was and as it would have been."""
        from momentdag.effects.figures import draw_counterfactual

        return draw_counterfactual(self)

    def _headline(self) -> str:
        frame = self.to_frame()
        if frame.empty:
            return f"{text.count(len(self.observed), 'row')} with {text.settings(self.do)}"
        first = frame.iloc[0]
        more = f"; {text.count(len(frame) - 1, 'value')} more" if len(frame) > 1 else ""
        return (
            f"{text.count(len(self.observed), 'row')} with {text.settings(self.do)}: "
            f"{first['variable']} of row {first['row']} {text.number(first['observed'])} -> "
            f"{text.number(first['counterfactual'])}{more}; {self.level:.0%} intervals"
        )

    def _write(self, to: Writer) -> str:
        doubt = "" if self.trust is None else self.trust.message()
        notes = to.sentence(doubt) if doubt else ""
        title = (
            f"{text.count(len(self.observed), 'row')} as if with {text.settings(self.do)}; "
            f"{self.level:.0%} intervals"
        )
        return to.block(title, [to.table(self.to_frame()), notes])


def counterfactual(
    estimator: FittedEstimator,
    rows: object,
    do: Do,
    *,
    targets: Sequence[str] | None = None,
    level: float = 0.9,
    monte_carlo: MonteCarlo | None = None,
) -> Counterfactual:
    """Say what rows would have been, had some of their variables been set.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    rows : Series, mapping or DataFrame
        One row or several, complete, in the units of the file.
    do : mapping or frame
        One value (or a function of the observed value, such as a `Shift`) for each variable; a
        frame with as many rows as ``rows`` has one setting for each.
    targets : sequence of str, optional
        By default all variables that are not set.
    level : float
        Probability of the intervals, over graphs, functions, and the noise within its cell where
        a variable takes few values.
    monte_carlo : MonteCarlo, optional

    Returns
    -------
    Counterfactual

    Raises
    ------
    OptionError
        If a name is unknown, or a variable is set to several values.
    DataError
        If a row is incomplete or holds a value that its variable cannot have.

    Examples
    --------
    With a fitted ``estimator`` and the row of a part that failed::

        md.effects.counterfactual(estimator, parts.loc[7], do={"stress": -1.0}).to_frame()
    """
    inputs = read_world(estimator)
    check_level(level)
    settings = parse_do(inputs, do)
    if not settings.all_names:
        raise OptionError("Expected something to set in do; it is empty.")
    given = read_rows(estimator, inputs, rows)
    if len(settings) not in (1, len(given.values)):
        raise OptionError(
            f"Expected one setting, or one for each of the {len(given.values)} rows; got "
            f"{len(settings)}."
        )
    names = _parse_targets(inputs, targets, settings)
    how = MonteCarlo() if monte_carlo is None else monte_carlo
    sample_rng, noise_rng = how.rng.spawn(2)
    samples = draw_samples(sample_rng, inputs, how.n_draws, how.n_rows, "both")
    any_cells = any(has_cells(samples[0], j) for j in range(len(inputs.names)))
    repeats = _IN_CELLS if any_cells else 1
    factual = np.tile(given.values, (repeats, 1))
    columns = [inputs.names.index(name) for name in names]
    drawn = []
    for sample in samples:
        values = _imagine(noise_rng, sample, settings, factual)
        shown = np.column_stack([_show(sample, j, values[:, j]) for j in columns])
        drawn.append(shown.reshape(repeats, len(given.values), len(columns)))
    text = inputs.show_settings(settings.to_frame())
    return Counterfactual(
        {name: _say(text[name]) for name in settings.all_names},
        describe_rows(estimator, inputs, given.values, given.index),
        names,
        np.concatenate(drawn),
        {name: dict(codes) for name, codes in named_levels(inputs.observed).items()},
        level,
        {str(name): float(sd) for name, sd in inputs.summary["sd"].items()},
        judge(estimator, names),
    )


def _parse_targets(
    inputs: EffectInputs, targets: Sequence[str] | None, settings: Settings
) -> tuple[str, ...]:
    if isinstance(targets, str):
        raise OptionError(f"Expected targets as a list of names; got {targets!r}.")
    if targets is None:
        targets = [name for name in inputs.names if name not in settings.all_names]
    for name in targets:
        inputs.column(name, "targets")
        if name in settings.all_names:
            raise OptionError(f"Expected targets that are not set; {name!r} is.")
    if not targets:
        raise OptionError("Expected at least one target; every variable is set.")
    return tuple(targets)


def _imagine(
    rng: np.random.Generator, sample: PosteriorSample, settings: Settings, factual: FloatArray
) -> FloatArray:
    """Return rows (n, d) with variables set and what follows from it computed anew."""
    moving = moved_by(sample.graph.union_graph, settings)
    changed = factual.copy()
    for k, j in enumerate(settings.columns):
        changed[:, j] = np.resize(settings.values[:, k], len(factual))
    noise = np.zeros_like(factual)
    for column in np.flatnonzero(moving):
        noise[:, column] = abduct(rng, sample, int(column), factual)
    return replay(sample, noise, changed, moving, settings.changes)


def _show(sample: PosteriorSample, column: int, values: FloatArray) -> FloatArray:
    """Return values of a variable in the units of the file."""
    view = sample.view(column)
    return values if view is None else view.show(values)


def _say(column: pd.Series) -> str:
    texts = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in column]
    return texts[0] if len(set(texts)) == 1 else "row by row"
