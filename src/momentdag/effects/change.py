"""What changed between two regimes: a target's mean and sd, split by changed mechanism and moment.

Between two regimes some mechanisms differ, each in its mean part, in its spread part or in both.
With S a set of such parts, let Y_S be the target in a world whose parts in S are those of the later
regime and all others those of the earlier one. The share of a part in the change of f(Y), f the
mean or the sd, is its Shapley value: what it adds to f(Y_S), averaged over the orders in which the
parts could have changed. Shares add up to f(Y_all) - f(Y_none) in every draw.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import factorial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.display import text
from momentdag.display.printable import Printable, Writer
from momentdag.effects.inputs import FittedEstimator, read_inputs
from momentdag.effects.intervals import check_level, summarise
from momentdag.effects.posterior_samples import MonteCarlo, PosteriorSample, draw_samples
from momentdag.effects.propagation import ancestors_of, propagate
from momentdag.effects.settings import Settings
from momentdag.engines.protocol import AnyMechanism, Mechanism, as_continuous
from momentdag.engines.regimes import HeldFunctions, RegimeModel
from momentdag.errors import OptionError
from momentdag.graph import TargetedGraph

__all__ = ["AttributedChange", "Part", "attribute_change", "shapley_values"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
PartName: TypeAlias = Literal["mean", "spread"]

_EXACT_PARTS = 6  # 64 worlds; with more parts, random orders are averaged
_N_ORDERS = 16
_USUAL = MonteCarlo(n_draws=100, n_rows=256)


class Part(NamedTuple):
    """One part of a variable's mechanism."""

    variable: str
    part: PartName


@dataclass(frozen=True, eq=False, repr=False)
class AttributedChange(Printable):
    """By how much a target changed between two regimes, and what it is due to.

    Parameters
    ----------
    target, before, after : str
    parts : tuple of Part
        Those that changed in some draw.
    mean_shares, sd_shares : float array, shape (n_draws, n_parts)
        Shapley values, in the units of the target.
    changed : bool array, shape (n_draws, n_parts)
        Whether a part changed.
    observed_mean, observed_sd : float
        Changes of the observed mean and sd.
    level : float
    """

    target: str
    before: str
    after: str
    parts: tuple[Part, ...]
    mean_shares: FloatArray
    sd_shares: FloatArray
    changed: npt.NDArray[np.bool_]
    observed_mean: float
    observed_sd: float
    level: float

    @property
    def mean_change(self) -> FloatArray:
        """Modelled change of the mean in each draw, (n_draws,): the sum of the shares."""
        return np.asarray(self.mean_shares.sum(axis=1))

    @property
    def sd_change(self) -> FloatArray:
        """Modelled change of the sd in each draw, (n_draws,): the sum of the shares."""
        return np.asarray(self.sd_shares.sum(axis=1))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each part, largest first, the total and what was observed.

        Columns: variable, part ("mean" or "spread"), probability that it changed, mean, mean_low,
        mean_high (its share in the change of the mean), sd, sd_low, sd_high. The parts add up to
        the row "all changes"; the row "observed" has neither probability nor intervals.
        """
        n_draws = len(self.changed)
        weights = np.full(n_draws, 1 / n_draws)
        totals = (self.mean_change, self.sd_change)
        summaries = [
            summarise(np.column_stack([shares, total]), weights, self.level)
            for shares, total in zip((self.mean_shares, self.sd_shares), totals, strict=True)
        ]
        table = pd.DataFrame(
            {
                "variable": [*(part.variable for part in self.parts), "all changes"],
                "part": [*(part.part for part in self.parts), ""],
                "probability": [*self.changed.mean(axis=0), self.changed.any(axis=1).mean()],
                **summaries[0].columns("mean"),
                **summaries[1].columns("sd"),
            }
        )
        size = (table["mean"].abs() + table["sd"].abs()).to_numpy()[:-1]
        order = [*np.argsort(-size, kind="stable"), len(size)]
        observed = {
            "variable": "observed", "part": "", "mean": self.observed_mean, "sd": self.observed_sd
        }  # fmt: skip
        rows = [table.iloc[order], pd.DataFrame([observed], columns=table.columns)]
        return pd.concat([part.astype(object) for part in rows], ignore_index=True).astype(
            {name: np.float64 for name in table.columns if name not in ("variable", "part")}
        )

    def describe(self) -> str:
        """Say in a sentence what changed and what it is mostly due to."""
        table = self.to_frame().set_index("variable")
        total = table.loc["all changes"]
        parts = self.to_frame().iloc[:-2]
        said = []
        for moment, whose in (("mean", f"the mean of {self.target} changed"), ("sd", "its sd")):
            change = f"{whose} by {total[moment]:+.3g}"
            known = parts[parts[moment].abs() > 0.2 * max(abs(total[moment]), 1e-300)]
            known = known[known["probability"] > 0.5]
            known = known.reindex(known[moment].abs().sort_values(ascending=False).index)
            causes = [
                f"{row['part']} of {row['variable']} {row[moment]:+.3g}"
                for _, row in known.head(3).iterrows()
            ]
            low, high = total[f"{moment}_low"], total[f"{moment}_high"]
            unsure = low <= 0 <= high
            because = f" ({', '.join(causes)})" if causes and not unsure else ""
            said.append(f"{change}{', perhaps nothing' if unsure else because}")
        return f"From {self.before} to {self.after} {' and '.join(said)}."

    def _headline(self) -> str:
        table = self.to_frame()
        total = table.iloc[-2]
        mean, sd = (
            text.interval(total[[name, f"{name}_low", f"{name}_high"]]) for name in ("mean", "sd")
        )
        said = f"{self.target} from {self.before} to {self.after}: mean by {mean}, sd by {sd}"
        if not self.parts:
            return said
        return f"{said}; most from the {table['part'].iloc[0]} of {table['variable'].iloc[0]}"

    def _write(self, to: Writer) -> str:
        title = f"What changed {self.target} from {self.before} to {self.after}"
        return to.block(title, [to.sentence(self.describe()), to.table(self.to_frame())])


def attribute_change(
    estimator: FittedEstimator,
    before: str,
    after: str,
    target: str,
    *,
    level: float = 0.9,
    monte_carlo: MonteCarlo = _USUAL,
) -> AttributedChange:
    """Return by how much the mean and sd of a target changed, and what it is due to.

    The noise of a variable keeps its shape from regime to regime: what changes are means and
    spreads, which the causes of the target pass on.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted with regimes.
    before, after : str
        Two of them.
    target : str
        No category.
    level : float
        Probability of the intervals.
    monte_carlo : MonteCarlo

    Raises
    ------
    OptionError
        If the fit had no regimes or mechanisms, or a name is unknown.

    Examples
    --------
    >>> import momentdag as md
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> month = np.repeat(["march", "april"], 100)
    >>> x[100:] += 2.0  # what changed in April
    >>> table = pd.DataFrame({"x": x, "y": x + 0.5 * rng.normal(size=200), "month": month})
    >>> est = md.MomentDAG(
    ...     knowledge=md.Knowledge(order=[("x", "y")]), n_draws=50, random_state=0,
    ...     engine_options={"noise": "gaussian", "n_worlds": 50},
    ... ).fit(table, regime="month", reference="march")
    >>> change = attribute_change(est, "march", "april", "y")
    >>> change.to_frame().loc[0, ["variable", "part"]].tolist()
    ['x', 'mean']
    """
    check_level(level)
    inputs = read_inputs(estimator)
    model, targets = inputs.model, inputs.posterior.target_draws
    if targets is None or not isinstance(model, RegimeModel):
        raise OptionError("This fit had no regimes. State them: fit(X, regime=...).")
    codes = (targets.code(before), targets.code(after))
    if codes[0] == codes[1]:
        raise OptionError(f"Expected two different regimes; got {before!r} twice.")
    column = inputs.number(target)
    samples = draw_samples(monte_carlo.rng, inputs, monte_carlo.n_draws, monte_carlo.n_rows, "both")
    found = [_attribute(sample, codes, column) for sample in samples]
    parts = tuple(sorted({part for each in found for part in each}, key=_place(inputs.names)))
    shares = np.zeros((2, len(found), len(parts)))
    changed = np.zeros((len(found), len(parts)), dtype=bool)
    for k, each in enumerate(found):
        for part, value in each.items():
            shares[:, k, parts.index(part)] = value
            changed[k, parts.index(part)] = True
    observed = [estimator.result_.observed_in[name].shown.loc[target] for name in (before, after)]
    return AttributedChange(
        target,
        before,
        after,
        parts,
        shares[0],
        shares[1],
        changed,
        float(observed[1]["mean"] - observed[0]["mean"]),
        float(observed[1]["sd"] - observed[0]["sd"]),
        level,
    )


def shapley_values(
    players: tuple[Any, ...], value: Callable[[frozenset[Any]], FloatArray]
) -> dict[Any, FloatArray]:
    """Return the Shapley value of each player; they add up to value(all) - value(none).

    Exact for up to six players, else averaged over random orders.

    Parameters
    ----------
    players : tuple
    value : function
        From a set of players to an array.

    Examples
    --------
    >>> shares = shapley_values(("a", "b"), lambda who: np.array(float(len(who)) ** 2))
    >>> float(shares["a"]), float(shares["b"])
    (2.0, 2.0)
    """
    known: dict[frozenset[Any], FloatArray] = {}

    def at(who: frozenset[Any]) -> FloatArray:
        if who not in known:
            known[who] = value(who)
        return known[who]

    n = len(players)
    shares = {player: np.zeros_like(at(frozenset())) for player in players}
    if n <= _EXACT_PARTS:
        for player, others in _others(players):
            for size in range(n):
                weight = factorial(size) * factorial(n - size - 1) / factorial(n)
                for chosen in itertools.combinations(others, size):
                    who = frozenset(chosen)
                    shares[player] = shares[player] + weight * (at(who | {player}) - at(who))
        return shares
    rng = np.random.default_rng(0)
    orders = [rng.permutation(n) for _ in range(_N_ORDERS // 2)]
    for order in [*orders, *(order[::-1] for order in orders)]:
        who = frozenset()
        for k in order:
            larger = who | {players[k]}
            shares[players[k]] = shares[players[k]] + (at(larger) - at(who)) / _N_ORDERS
            who = larger
    return shares


def _others(players: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    for k, player in enumerate(players):
        yield player, (*players[:k], *players[k + 1 :])


def _place(names: tuple[str, ...]) -> Callable[[Part], tuple[int, str]]:
    return lambda part: (names.index(part.variable), part.part)


def _attribute(
    sample: PosteriorSample, codes: tuple[int, int], target: int
) -> dict[Part, FloatArray]:
    """Return each changed part's share in the changes of mean and sd, (2,), in one sample."""
    graph, functions = sample.graph, sample.mechanisms
    assert isinstance(graph, TargetedGraph)
    assert isinstance(functions, HeldFunctions)
    causes = ancestors_of(graph.union_graph, [target], ())
    parts = []
    for j in np.flatnonzero(causes):
        name = graph.names[j]
        moved = [
            any(graph_targets[code - 1, j] for code in codes if code)
            for graph_targets in (graph.mean_targets, graph.variance_targets)
        ]
        if functions[name].is_discrete and any(moved):
            moved = [True, False]  # one mechanism, whose mean sets its spread or goes with it
        named: tuple[PartName, ...] = ("mean", "spread")
        parts += [Part(name, part) for part, yes in zip(named, moved, strict=True) if yes]

    def value(who: frozenset[Part]) -> FloatArray:
        mechanisms = _World(functions.at(codes[0]), functions.at(codes[1]), who)
        world = replace(sample, mechanisms=mechanisms)
        mean, variance = propagate(world, Settings.none(), [target]).moments()
        return np.array([mean[0, 0], np.sqrt(variance[0, 0])])

    return shapley_values(tuple(parts), value)


class _World(Mapping[str, AnyMechanism]):
    """The mechanisms of a world in which some parts are those of the later regime."""

    def __init__(
        self,
        before: Mapping[str, AnyMechanism],
        after: Mapping[str, AnyMechanism],
        changed: frozenset[Part],
    ) -> None:
        self._before = before
        self._after = after
        self._changed = changed
        self._made: dict[str, AnyMechanism] = {}

    def __getitem__(self, name: str) -> AnyMechanism:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> AnyMechanism:
        mean, spread = (Part(name, part) in self._changed for part in ("mean", "spread"))
        before, after = self._before[name], self._after[name]
        if before.is_discrete or mean == spread:
            return after if mean else before
        ends = (after, before) if mean else (before, after)
        return _Mixed(as_continuous(ends[0]), as_continuous(ends[1]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._before)

    def __len__(self) -> int:
        return len(self._before)


class _Mixed:
    """A mechanism with the mean of one regime and the spread of another; its noise is theirs."""

    is_discrete = False

    def __init__(self, mean_of: Mechanism, spread_of: Mechanism) -> None:
        self._mean_of = mean_of
        self._spread_of = spread_of

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mean_of, name)

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the conditional mean and sd at each row, ((n,), (n,))."""
        return self._mean_of.moments(values)[0], self._spread_of.moments(values)[1]
