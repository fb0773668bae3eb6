"""Which experiment to make next: expected information about who moves a target, by moment.

An experiment sets X_j to a low and to a high value, in n/2 rows each, and looks at the target: at
the difference D of its means and at the log ratio R of its sds. In a draw s of the posterior these
have known distributions,

    D ~ N(μ_s(high) - μ_s(low), 2 (σ_s(high)² + σ_s(low)²) / n),
    R ~ N(log σ_s(high) / σ_s(low), 2 / n),

and in it X_j moves the mean of the target, or does not; likewise its spread. What D is expected to
tell of the first is the mutual information

    I = H(p) - E H(p | D),     p the probability that X_j moves the mean,

which is computed by quadrature over the mixture of all draws; and so for R and the spread. It is
never more than H(p), what is open today: an experiment about what is known tells nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import logsumexp, xlogy

from momentdag.display import text
from momentdag.display.printable import Printable, Writer
from momentdag.effects.inputs import EffectInputs, FittedEstimator, read_world
from momentdag.effects.posterior_samples import MonteCarlo, PosteriorSample, draw_samples
from momentdag.effects.propagation import propagate
from momentdag.effects.settings import Settings, parse_do
from momentdag.errors import ExtrapolationWarning, OptionError
from momentdag.graph import reachability

__all__ = ["ExperimentPlan", "information", "next_experiment"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

_USUAL = MonteCarlo(n_draws=100, n_rows=256)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
_ROUNDING = 1e-12  # bits
_WORTHWHILE = 0.9  # share of the gain of the longest experiment that a shorter one must have
_SETTLED = 0.05  # bits that are not worth an experiment


@dataclass(frozen=True, eq=False, repr=False)
class ExperimentPlan(Printable):
    """Experiments on one target, the most informative first.

    Parameters
    ----------
    target : str
    table : DataFrame
        A row for each variable that could be set and number of rows: variable, low, high (the two
        values, in the units of the file), rows (both together), open (bits that are open about it
        today), mean_gain and spread_gain (expected bits about whether it moves the mean, and the
        spread), gain (their sum) and gain_per_100_rows.
    """

    target: str
    table: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    @property
    def best(self) -> pd.Series | None:
        """The recommended experiment; None if nothing is left that one would tell.

        The variable with the largest gain, in the fewest rows that have nine tenths of it.
        """
        top = self.table.iloc[0]
        if top["gain"] < _SETTLED:
            return None
        own = self.table[self.table["variable"] == top["variable"]]
        enough = own[own["gain"] >= _WORTHWHILE * own["gain"].max()]
        return enough.sort_values("rows").iloc[0]

    def describe(self) -> str:
        """Say what to do next in a sentence."""
        best = self.best
        if best is None:
            return (
                f"No experiment on {self.target} is expected to tell {_SETTLED:g} bits: who moves "
                "it is settled, or cannot be told in so few rows."
            )
        moment = "mean" if best["mean_gain"] >= best["spread_gain"] else "spread"
        half = int(best["rows"]) // 2
        return (
            f"Set {best['variable']} to {best['low']:.4g} and to {best['high']:.4g}, in {half} "
            f"rows each: {best['gain']:.2f} bits of the {best['open']:.2f} that are open about it, "
            f"mostly on whether it moves the {moment} of {self.target}."
        )

    def _headline(self) -> str:
        best = self.best
        if best is None:
            return f"no experiment on {self.target!r} is expected to tell {_SETTLED:g} bits"
        values = " or ".join(text.number(best[end]) for end in ("low", "high"))
        return (
            f"set {best['variable']} to {values}, {best['rows']} rows: {best['gain']:.2f} of "
            f"{best['open']:.2f} bits about {self.target!r}"
        )

    def _write(self, to: Writer) -> str:
        title = f"What to set next to learn about {self.target}"
        return to.block(title, [to.sentence(self.describe()), to.table(self.table)])


def next_experiment(
    estimator: FittedEstimator,
    *,
    target: str,
    candidates: Sequence[str] | None = None,
    levels: Mapping[str, tuple[float, float]] | None = None,
    n_rows: Sequence[int] = (20, 50, 100, 200),
    monte_carlo: MonteCarlo = _USUAL,
) -> ExperimentPlan:
    """Return which variable to set, to which two values and in how many rows.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted.
    target : str
        No category.
    candidates : sequence of str, optional
        Variables that could be set; by default all others but categories.
    levels : mapping from name to (low, high), optional
        The values to set, in the units of the file; by default the 5 % and the 95 % quantile.
    n_rows : sequence of int
        Numbers of rows to compare.
    monte_carlo : MonteCarlo

    Raises
    ------
    OptionError
        If a name is unknown or no number, two levels are equal, or a number of rows is below 4.

    Examples
    --------
    >>> import momentdag as md
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=150)
    >>> table = pd.DataFrame({"x": x, "y": x + rng.normal(size=150)})
    >>> options = {"noise": "gaussian"}
    >>> est = md.MomentDAG(n_draws=400, random_state=0, engine_options=options).fit(table)
    >>> plan = next_experiment(est, target="y")  # x -> y or y -> x: a linear pair does not tell
    >>> plan.best["variable"], bool(plan.best["mean_gain"] > 0.5)
    ('x', True)
    """
    inputs = read_world(estimator)
    column = inputs.number(target)
    for n in n_rows:
        if not isinstance(n, int | np.integer) or n < 4:
            raise OptionError(f"Expected n_rows of whole numbers >= 4; got {n!r}.")
    if not len(n_rows):
        raise OptionError("Expected at least one number of rows; got none.")
    samples = draw_samples(monte_carlo.rng, inputs, monte_carlo.n_draws, monte_carlo.n_rows, "both")
    weights = np.array([sample.weight for sample in samples])
    rows = []
    for name in _candidates(inputs, target, candidates):
        low, high = _levels(inputs, name, {} if levels is None else levels)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)
            settings = parse_do(inputs, {name: [low, high]})
        moves = np.array([_moves(sample, inputs.names.index(name), column) for sample in samples])
        moments = np.array([_moments(sample, settings, column) for sample in samples])
        for n in n_rows:
            gains = _gains(moments, moves, weights, int(n))
            rows.append([name, low, high, int(n), *gains])
    if not rows:
        raise OptionError("Expected at least one variable to set; there is none.")
    names = ["variable", "low", "high", "rows", "open", "mean_gain", "spread_gain"]
    table = pd.DataFrame(rows, columns=names)
    table["gain"] = table["mean_gain"] + table["spread_gain"]
    table["gain_per_100_rows"] = 100 * table["gain"] / table["rows"]
    table = table.sort_values(["gain", "rows"], ascending=[False, True], kind="stable")
    return ExperimentPlan(target, table.reset_index(drop=True))


def information(
    centres: FloatArray, sds: FloatArray, holds: BoolArray, weights: FloatArray
) -> float:
    """Return what an outcome is expected to tell about a hypothesis, in bits.

    Parameters
    ----------
    centres, sds : float array, shape (n_draws,)
        Of the normal distribution of the outcome in each draw.
    holds : bool array, shape (n_draws,)
        Whether the hypothesis holds there.
    weights : float array, shape (n_draws,)
        Shares of the posterior.

    Examples
    --------
    >>> far = information(np.array([0.0, 9.0]), np.ones(2), np.array([False, True]), np.ones(2) / 2)
    >>> round(far, 3)
    1.0
    """
    p = float(weights[holds].sum())
    if not 0 < p < 1:
        return 0.0
    outcomes = centres[:, None] + sds[:, None] * _NODES  # (n_draws, n_nodes)
    gaps = (outcomes[..., None] - centres) / sds
    log_density = np.log(weights) - 0.5 * gaps**2 - np.log(sds)
    given = np.exp(logsumexp(log_density[..., holds], axis=-1) - logsumexp(log_density, axis=-1))
    left = _entropy(np.clip(given, 0.0, 1.0)) @ (_WEIGHTS / _WEIGHTS.sum())
    gain = float(_entropy(np.array(p)) - weights @ left)
    return gain if gain > _ROUNDING else 0.0


def _entropy(p: FloatArray) -> FloatArray:
    return np.asarray(-(xlogy(p, p) + xlogy(1 - p, 1 - p)) / np.log(2))


def _gains(
    moments: FloatArray, moves: BoolArray, weights: FloatArray, n: int
) -> tuple[float, float, float]:
    """Return the open bits, and what n rows tell about the mean and about the spread."""
    (low_mean, low_sd), (high_mean, high_sd) = moments[:, 0].T, moments[:, 1].T
    mean_sd = np.sqrt(2 * (low_sd**2 + high_sd**2) / n)
    log_ratio = np.log(high_sd / low_sd)
    opened = sum(float(_entropy(np.array(weights[own].sum()))) for own in moves.T)
    return (
        opened,
        information(high_mean - low_mean, mean_sd, moves[:, 0], weights),
        information(log_ratio, np.full(len(weights), np.sqrt(2 / n)), moves[:, 1], weights),
    )


def _moves(sample: PosteriorSample, cause: int, target: int) -> tuple[bool, bool]:
    """Return whether a variable is, or reaches, a mean or a variance parent of the target."""
    graph = sample.graph
    reached = reachability(graph.union_graph)[cause].copy()
    reached[cause] = True
    mean = bool((reached & graph.mean_graph[:, target]).any())
    # What moves a mean parent's spread or level moves the spread of what it passes on, too; here
    # only the scale of the target's own noise is meant.
    return mean, bool((reached & graph.variance_graph[:, target]).any())


def _moments(sample: PosteriorSample, settings: Settings, target: int) -> FloatArray:
    """Return mean and sd of the target at both values, (2, 2)."""
    mean, variance = propagate(sample, settings, [target]).moments()
    return np.column_stack([mean[:, 0], np.sqrt(np.maximum(variance[:, 0], 1e-300))])


def _candidates(inputs: EffectInputs, target: str, candidates: Sequence[str] | None) -> list[str]:
    if candidates is None:
        kinds = inputs.observed.kinds
        return [name for name in inputs.names if name != target and kinds.get(name) != "category"]
    if isinstance(candidates, str):
        raise OptionError(f"Expected candidates as a list of names; got {candidates!r}.")
    for name in candidates:
        inputs.number(name)
        if name == target:
            raise OptionError(f"Expected candidates other than the target {target!r}.")
    return list(candidates)


def _levels(
    inputs: EffectInputs, name: str, levels: Mapping[str, tuple[float, float]]
) -> tuple[float, float]:
    if name in levels:
        low, high = (float(value) for value in levels[name])
    else:
        low, high = (float(inputs.summary.loc[name, key]) for key in ("q05", "q95"))
        grid = inputs.levels(name)
        if grid is not None:
            low, high = (float(grid[np.abs(grid - value).argmin()]) for value in (low, high))
            if low == high:
                low, high = float(grid[0]), float(grid[-1])
    if not low < high:
        raise OptionError(f"Expected two rising levels of {name!r}; got {low:g} and {high:g}.")
    return low, high
