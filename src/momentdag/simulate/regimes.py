"""Rows under several regimes: what an experiment or a change did to which mechanism, with truth.

In a regime some mechanisms are changed, all others stay:

    hard      X_j is drawn by the experimenter and listens to no parent,
    mean      X_j = m_j + a s_j + exp(v_j) E_j          s_j the sd of X_j without any change,
    variance  X_j = m_j + a exp(v_j) E_j,
    noise     E_j has another shape, of skewness a, and the same mean and variance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import pandas as pd

from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate.equations import StructuralEquations
from momentdag.simulate.noise import draw_noise, noise_std
from momentdag.simulate.options import FloatArray, check_choice, check_count, check_finite
from momentdag.simulate.simulation import Simulation

__all__ = ["Change", "ChangeKind", "RegimeSimulation", "draw_changes", "regimes"]

ChangeKind = Literal["hard", "mean", "variance", "noise"]
"""What an intervention does to a variable's mechanism."""

_USUAL = {"hard": 0.0, "mean": 1.5, "variance": 2.5, "noise": 2.0}


@dataclass(frozen=True)
class Change:
    """What one regime does to one variable.

    Parameters
    ----------
    variable : str
    kind : {"hard", "mean", "variance", "noise"}
    amount : float or None
        "hard": centre of the values that are set, in sds from the mean of the column; "mean": what
        is added, in sds of the column; "variance": the factor on the sd of the noise; "noise": the
        skewness of the noise. None takes 0, 1.5, 2.5 and 2.
    spread : float
        Of hard interventions: sd of the values that are set, in sds of the column.

    Raises
    ------
    OptionError
        If a value is outside its choices or range.

    Examples
    --------
    >>> Change("x1", "variance").amount
    2.5
    """

    variable: str
    kind: ChangeKind
    amount: float | None = None
    spread: float = 1.0

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, get_args(ChangeKind))
        amount = _USUAL[self.kind] if self.amount is None else float(self.amount)
        positive = self.kind in ("variance", "noise")
        if not np.isfinite(amount) or (positive and amount <= 0):
            least = "a number > 0" if positive else "a finite number"
            raise OptionError(
                f"Expected the amount of a {self.kind!r} change as {least}; got {self.amount!r}."
            )
        if not np.isfinite(self.spread) or self.spread < 0:
            raise OptionError(f"Expected spread as a finite number >= 0; got {self.spread!r}.")
        object.__setattr__(self, "amount", amount)

    @property
    def size(self) -> float:
        """The amount, with its default filled in."""
        return float(_USUAL[self.kind] if self.amount is None else self.amount)


@dataclass(frozen=True, eq=False, repr=False)
class RegimeSimulation:
    """Rows under a reference regime and others, and what each of these changed.

    Parameters
    ----------
    data : DataFrame, shape (n_samples, n_variables + 1)
        The variables, and a column ``regime``.
    graph : MomentGraph
        The true graphs of the reference.
    targets : DataFrame
        One row for each regime but the reference, and variable: regime, variable, and whether its
        mean, its variance, the shape of its noise was changed, and whether it was set. A variable
        that was set has a new mean and a new variance.
    set_cells : DataFrame of bool, shape (n_samples, n_variables)
        The cells that were set.
    reference : str
    changes : mapping from regime to tuple of Change

    Examples
    --------
    >>> from momentdag.simulate import mean_variance_hnm
    >>> base = mean_variance_hnm(np.random.default_rng(0), n_variables=3, edges_per_node=1)
    >>> table = regimes(np.random.default_rng(1), base, {"drug": [Change("x2", "mean")]}, 50)
    >>> table.data["regime"].value_counts().to_dict()
    {'reference': 50, 'drug': 50}
    >>> table.targets.query("mean")[["regime", "variable"]].values.tolist()
    [['drug', 'x2']]
    """

    data: pd.DataFrame
    graph: MomentGraph
    targets: pd.DataFrame
    set_cells: pd.DataFrame
    reference: str
    changes: Mapping[str, tuple[Change, ...]]
    _base: Simulation = field(repr=False)

    def sample(self, rng: np.random.Generator, regime: str, n: int) -> pd.DataFrame:
        """Draw ``n`` new rows under one regime, without the column that names it.

        Two calls with equally seeded generators share their noise.

        Raises
        ------
        OptionError
            If there is no such regime, or ``n`` is not a whole number of at least 1.
        """
        check_choice("regime", regime, [self.reference, *self.changes])
        check_count("n", n, 1)
        values = _draw(rng, self._base, self.changes.get(regime, ()), n)
        return pd.DataFrame(values, columns=pd.Index(self.graph.names))

    def __repr__(self) -> str:
        return (
            f"RegimeSimulation({len(self.data)} rows, {self.graph.n_variables} variables, "
            f"{len(self.changes)} regimes besides {self.reference!r})"
        )


def regimes(
    rng: np.random.Generator,
    simulation: Simulation,
    changes: Mapping[str, Sequence[Change]],
    n_samples: int = 300,
    *,
    reference: str = "reference",
) -> RegimeSimulation:
    """Draw rows under a reference regime and under regimes that change some mechanisms.

    Parameters
    ----------
    rng : numpy.random.Generator
    simulation : Simulation
        Made of structural equations: the mean-variance, heteroscedastic and additive noise models.
    changes : mapping from regime to sequence of Change
        A regime without changes is one, too.
    n_samples : int
        Rows of each regime.
    reference : str
        Name of the regime that changes nothing.

    Raises
    ------
    OptionError
        If a regime changes an unknown variable, or one in two ways that exclude each other; if the
        simulation has no structural equations.
    DataError
        If the drawn table is not finite.
    """
    names = simulation.graph.names
    check_count("n_samples", n_samples, 2)
    if not isinstance(simulation.mechanisms, StructuralEquations):
        raise OptionError(
            "Expected a simulation of structural equations, such as mean_variance_hnm; the "
            f"mechanisms of this one are {type(simulation.mechanisms).__name__}."
        )
    if reference in changes:
        raise OptionError(f"Expected no changes in the reference regime {reference!r}.")
    if "regime" in names:
        raise OptionError("Expected no variable named 'regime': the regimes stand in that column.")
    planned = {str(regime): tuple(each) for regime, each in changes.items()}
    for regime, each in planned.items():
        _check_changes(regime, each, names)
    tables, set_cells = [], []
    for regime, each in {reference: (), **planned}.items():
        table = pd.DataFrame(_draw(rng, simulation, each, n_samples), columns=pd.Index(names))
        tables.append(table.assign(regime=regime))
        hard = [change.variable for change in each if change.kind == "hard"]
        set_cells.append(np.tile(np.isin(names, hard), (n_samples, 1)))
    return RegimeSimulation(
        pd.concat(tables, ignore_index=True),
        simulation.graph,
        _truth(names, planned),
        pd.DataFrame(np.vstack(set_cells), columns=pd.Index(names)),
        reference,
        planned,
        simulation,
    )


def draw_changes(
    rng: np.random.Generator,
    names: Sequence[str],
    kinds: Mapping[str, Sequence[ChangeKind]],
    *,
    n_targets: int = 1,
) -> dict[str, tuple[Change, ...]]:
    """Draw which variables each regime changes, and by how much.

    A mean moves by 1 to 2 sds of the column, up or down; the sd of a noise is multiplied by 2 to 3
    or divided by it.

    Parameters
    ----------
    rng : numpy.random.Generator
    names : sequence of str
        The variables to choose from.
    kinds : mapping from regime to sequence of ChangeKind
        What is done to each target of the regime.
    n_targets : int
        Variables that a regime changes.

    Examples
    --------
    >>> changes = draw_changes(np.random.default_rng(0), ["a", "b"], {"drug": ["mean", "variance"]})
    >>> sorted(change.kind for change in changes["drug"])
    ['mean', 'variance']
    """
    check_count("n_targets", n_targets, 1)
    if n_targets > len(names):
        raise OptionError(f"Expected at most {len(names)} targets; got {n_targets}.")
    drawn: dict[str, tuple[Change, ...]] = {}
    for regime, wanted in kinds.items():
        changes = []
        for name in rng.choice(np.array(names, dtype=object), n_targets, replace=False):
            for kind in wanted:
                amount = None
                if kind == "mean":
                    amount = float(rng.choice([-1.0, 1.0]) * rng.uniform(1.0, 2.0))
                elif kind == "variance":
                    amount = float(rng.uniform(2.0, 3.0) ** rng.choice([-1.0, 1.0]))
                changes.append(Change(str(name), kind, amount))
        drawn[regime] = tuple(changes)
    return drawn


def _check_changes(regime: str, changes: Sequence[Change], names: tuple[str, ...]) -> None:
    kinds: dict[str, list[ChangeKind]] = {}
    for change in changes:
        if change.variable not in names:
            raise OptionError(
                f"Expected regime {regime!r} to change variables among {list(names)}; got "
                f"{change.variable!r}."
            )
        kinds.setdefault(change.variable, []).append(change.kind)
    for name, each in kinds.items():
        if len(set(each)) < len(each) or ("hard" in each and len(each) > 1):
            raise OptionError(
                f"Expected each variable to be set, or changed once in each way; regime "
                f"{regime!r} changes {name!r} by {each}."
            )


def _truth(names: tuple[str, ...], changes: Mapping[str, tuple[Change, ...]]) -> pd.DataFrame:
    rows = []
    for regime, each in changes.items():
        for name in names:
            kinds = {change.kind for change in each if change.variable == name}
            rows.append(
                {
                    "regime": regime,
                    "variable": name,
                    "mean": bool(kinds & {"mean", "hard"}),
                    "variance": bool(kinds & {"variance", "hard"}),
                    "noise_shape": "noise" in kinds,
                    "set": "hard" in kinds,
                }
            )
    columns = ["regime", "variable", "mean", "variance", "noise_shape", "set"]
    return pd.DataFrame(rows, columns=columns)


def _draw(
    rng: np.random.Generator, simulation: Simulation, changes: Sequence[Change], n: int
) -> FloatArray:
    """Draw rows under some changes, (n, d)."""
    model = simulation.mechanisms
    assert isinstance(model, StructuralEquations)
    names = simulation.graph.names
    mean, sd = simulation.data.mean().to_numpy(), simulation.data.std(ddof=0).to_numpy()
    by_column: dict[int, list[Change]] = {}
    for change in changes:
        by_column.setdefault(names.index(change.variable), []).append(change)
    # All noise first, for every column: regimes with one seed then share it.
    noise = draw_noise(rng, model.noise, (n, len(names)))
    uniforms = rng.standard_normal((n, len(names)))
    values = np.zeros_like(noise)
    for j in model.order:
        equation, own = model.equations[j], noise[:, j]
        shift, factor = 0.0, 1.0
        for change in by_column.get(j, []):
            if change.kind == "mean":
                shift = change.size * sd[j]
            elif change.kind == "variance":
                factor = change.size
            elif change.kind == "noise":
                own = noise_std(model.noise) * _skewed(rng, change.size, n)
        if any(change.kind == "hard" for change in by_column.get(j, [])):
            change = by_column[j][0]
            values[:, j] = mean[j] + sd[j] * (change.size + change.spread * uniforms[:, j])
        else:
            values[:, j] = equation.evaluate(values, factor * own) + shift
    check_finite(values, names, "Choose milder changes.")
    return values


def _skewed(rng: np.random.Generator, skewness: float, n: int) -> FloatArray:
    """Draw from a gamma density with mean 0, variance 1 and this skewness, (n,)."""
    shape = 4 / skewness**2
    return np.asarray((rng.gamma(shape, size=n) - shape) / np.sqrt(shape))
