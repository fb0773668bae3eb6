"""What the answers need of a fitted estimator, whichever engine fitted it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from momentdag.effects.alignment import Alignment
from momentdag.effects.targets import Target, find_target
from momentdag.engines.protocol import FitResult, FittedModel
from momentdag.errors import OptionError, did_you_mean
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior
from momentdag.table import Observed

__all__ = ["EffectInputs", "FittedEstimator", "consensus_pair", "read_inputs", "read_world"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class FittedEstimator(Protocol):
    """A fitted `momentdag.MomentDAG`, as far as answers look at it."""

    result_: FitResult
    posterior_: Posterior
    scm_: FittedModel | None
    mean_graph_: nx.DiGraph[Any]
    variance_graph_: nx.DiGraph[Any]

    def world_check(self) -> pd.DataFrame:
        """Return whether the model reproduces the columns it was fitted to."""

    def world_alignment(self) -> Mapping[int, Alignment]:
        """Return by what columns of the modelled world are moved to reproduce the data."""


class EffectInputs(NamedTuple):
    """The parts of a fit that answer questions about interventions."""

    posterior: Posterior
    model: FittedModel
    observed: Observed
    alignment: Mapping[int, Alignment] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in the order of the data's columns."""
        return self.posterior.names

    @property
    def summary(self) -> pd.DataFrame:
        """In the units of the file. Index variable; min, q05, median, q95, max, mean, sd."""
        return self.observed.shown

    def column(self, name: str, argument: str) -> int:
        """Return the column of a variable; ``argument`` is where the user named it.

        Raises
        ------
        OptionError
            If there is no such variable.
        """
        if name not in self.names:
            raise OptionError(
                f"Unknown variable {name!r} in {argument}.{did_you_mean(name, self.names)} "
                f"Use {list(self.names)}."
            )
        return self.names.index(name)

    def target(self, name: str) -> Target:
        """Return what a target refers to: a variable, or a level of a category ("machine=M2").

        Raises
        ------
        OptionError
            If there is no such variable or level.
        """
        return find_target(self.names, self.observed, name)

    def number(self, name: str) -> int:
        """Return the column of a target that has a mean and a variance: no category.

        Raises
        ------
        OptionError
            If there is no such variable, or it is a category.
        """
        column = self.column(name, "target")
        if self.observed.kinds.get(name) == "category":
            raise OptionError(
                f"{name!r} is a category, which has no mean and no variance. Ask `intervene` for "
                "the probabilities of its levels."
            )
        return column

    def code(self, name: str, value: Any) -> Any:
        """Return a level of text as its code; what is no text is returned as it is.

        Raises
        ------
        OptionError
            If the variable has no such level.
        """
        labels = self.observed.labels.get(name)
        if labels is None or not isinstance(value, str | bool | np.bool_):
            return value
        for code, label in enumerate(labels):
            if str(value).casefold() == label.casefold():
                return float(code)
        raise OptionError(
            f"{name!r} has no level {str(value)!r}.{did_you_mean(value, labels)} "
            f"Use {list(labels)}."
        )

    def typical(self, name: str) -> float:
        """Return a value in the middle of a variable, one that it has where it takes few values."""
        median = float(self.summary.loc[name, "median"])
        levels = self.levels(name)
        return median if levels is None else float(levels[np.abs(levels - median).argmin()])

    def spell(self, name: str, value: float) -> str:
        """Return a value in the units of the file as text: the name of a level where it has one."""
        labels = self.observed.labels.get(name)
        if labels is not None and float(value).is_integer() and 0 <= value < len(labels):
            return labels[int(value)]
        return f"{value:.4g}"

    def show_settings(self, settings: pd.DataFrame) -> pd.DataFrame:
        """Return settings in the units of the file with the names of levels for their codes."""
        shown = settings.copy()
        for name in shown.columns:
            if name in self.observed.labels:
                shown[name] = [
                    value if isinstance(value, str) else self.spell(name, value)
                    for value in shown[name]
                ]
        return shown

    def levels(self, name: str) -> FloatArray | None:
        """Return the distinct values of a variable on a grid, in the units of the file."""
        levels = self.observed.levels.get(name)
        return None if levels is None else self.to_file(name, levels)

    def to_file(self, name: str, values: FloatArray) -> FloatArray:
        """Return values of a variable in the units of the file."""
        return np.exp(values) if name in self.observed.log_columns else values

    def to_fit(self, name: str, values: FloatArray) -> FloatArray:
        """Return values of a variable on the scale it was fitted on.

        Raises
        ------
        OptionError
            If it was fitted as a logarithm and a value is not positive.
        """
        if name not in self.observed.log_columns:
            return values
        if not (values > 0).all():
            raise OptionError(
                f"{name!r} was fitted as a logarithm, so it takes positive values; got "
                f"{float(values.min()):g}."
            )
        return np.log(values)


def read_inputs(estimator: FittedEstimator) -> EffectInputs:
    """Return posterior, mechanisms and what is known of the columns of a fitted estimator.

    Raises
    ------
    NotFittedError
        If it is not fitted.
    OptionError
        If its family has no mechanisms.
    """
    check_is_fitted(estimator, "posterior_")
    if estimator.scm_ is None:
        raise OptionError(
            "This fit has no mechanisms: the linear family computes evidence only.",
            fit_with={"engine_options": {"family": "gp"}},
        )
    return EffectInputs(estimator.posterior_, estimator.scm_, estimator.result_.observed)


def read_world(estimator: FittedEstimator) -> EffectInputs:
    """Return the same for simulating: with what makes the modelled world reproduce the data."""
    return read_inputs(estimator)._replace(alignment=estimator.world_alignment())


def consensus_pair(estimator: FittedEstimator) -> MomentGraph:
    """Return the consensus of a fitted estimator, which obeys hard knowledge, as one value."""
    return MomentGraph.from_edges(
        estimator.posterior_.names, estimator.mean_graph_.edges, estimator.variance_graph_.edges
    )
