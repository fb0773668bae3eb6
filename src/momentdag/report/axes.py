"""The values a cause can be set to on the page, and those at which outcomes are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects.inputs import EffectInputs
from momentdag.report.levels import spell_level

__all__ = ["Axis", "make_axis"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_MAX_LEVELS = 12
_DIGITS = 3  # of the range of a slider, whose values the command line is given, too


@dataclass(frozen=True, eq=False)
class Axis:
    """One cause.

    Parameters
    ----------
    name : str
    kind : {"line", "grid", "levels"}
        A number; one that takes many values, none between them; one of few levels, each computed.
    nodes : float array, shape (k,)
        Where outcomes are computed, on the scale of the fit, rising.
    shown : float array, shape (k,)
        The same in the units of the file.
    labels : tuple of str
        Levels by their names; empty for the other kinds.
    steps : tuple of float
        The values of a "grid", in the units of the file.
    is_log : bool
        Whether it was fitted as a logarithm, and is interpolated as one.
    """

    name: str
    kind: Literal["line", "grid", "levels"]
    nodes: FloatArray
    shown: FloatArray
    labels: tuple[str, ...]
    steps: tuple[float, ...]
    is_log: bool

    @property
    def positions(self) -> FloatArray:
        """Where the nodes stand for interpolation: levels at whole numbers."""
        return np.arange(len(self.nodes), dtype=np.float64) if self.labels else self.nodes

    def coarse(self, n: int) -> Axis:
        """Return the axis with about ``n`` of its nodes; levels keep all."""
        if self.labels or len(self.nodes) <= n:
            return self
        kept = np.unique(np.linspace(0, len(self.nodes) - 1, n).round().astype(int))
        return Axis(
            self.name, self.kind, self.nodes[kept], self.shown[kept], (), self.steps, self.is_log
        )

    def fine(self, n: int) -> FloatArray:
        """Return positions between the nodes, at most ``n``, at which the cause can be set."""
        if self.labels:
            return self.positions
        if self.steps:
            steps = np.array(self.steps)
            return np.log(steps) if self.is_log else steps
        return np.linspace(self.nodes[0], self.nodes[-1], n)

    def fitted(self, position: float) -> float:
        """Return the value at a position on the scale of the fit."""
        return float(self.nodes[int(position)]) if self.labels else float(position)

    def in_file(self, position: float) -> float:
        """Return the value at a position in the units of the file; the place of a level."""
        if self.labels:
            return float(int(position))
        return float(np.exp(position)) if self.is_log else float(position)

    def spell(self, position: float) -> str:
        """Return the value at a position as text."""
        if self.labels:
            return self.labels[int(position)]
        if self.is_log or self.steps:
            return f"{self.in_file(position):.4g}"
        return f"{position:.{max(0, _decimals(float(np.ptp(self.nodes))))}f}"


def make_axis(inputs: EffectInputs, name: str, n_nodes: int) -> Axis | None:
    """Return the axis of a cause: the central 90 % of a number, all of few levels.

    None if there are fewer than two values to set it to.
    """
    is_log = name in inputs.observed.log_columns
    levels = inputs.levels(name)
    low, high = (float(inputs.summary.loc[name, q]) for q in ("q05", "q95"))
    if levels is not None and (len(levels) <= _MAX_LEVELS or name in inputs.observed.labels):
        shown = levels[:_MAX_LEVELS]
        labels = tuple(spell_level(inputs.observed, name, float(value)) for value in shown)
        steps: tuple[float, ...] = ()
    else:
        if not low < high:
            low, high = (float(inputs.summary.loc[name, q]) for q in ("min", "max"))
        labels, steps = (), ()
        if levels is None:
            ends = inputs.to_fit(name, _short(low, high))
            shown = inputs.to_file(name, np.linspace(ends[0], ends[1], n_nodes))
        else:
            inside = levels[(levels >= low) & (levels <= high)]
            # Back from a logarithm 48 is 48.00000000000001.
            steps = tuple(float(f"{value:.10g}") for value in inside)
            kept = np.unique(np.linspace(0, len(inside) - 1, n_nodes).round().astype(int))
            shown = inside[kept]
    if len(shown) < 2:
        return None
    kind: Literal["line", "grid", "levels"] = "levels" if labels else "grid" if steps else "line"
    return Axis(name, kind, inputs.to_fit(name, shown), shown, labels, steps, is_log)


def _short(low: float, high: float) -> FloatArray:
    """Return ends with few digits within the range, as a slider shows them."""
    unit = 10.0 ** -_decimals(high - low)
    ends = np.array([np.ceil(low / unit), np.floor(high / unit)]) * unit
    return ends if ends[0] < ends[1] else np.array([low, high])


def _decimals(span: float) -> int:
    """Return how many decimals tell values of a range apart; negative of a large one."""
    return _DIGITS - 1 - int(np.floor(np.log10(max(span, np.finfo(float).tiny))))
