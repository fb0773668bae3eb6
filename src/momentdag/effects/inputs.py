"""What the answers need of a fitted estimator, whichever engine fitted it."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from momentdag.engines.protocol import FitResult, FittedModel
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior
from momentdag.table import Observed

__all__ = ["EffectInputs", "FittedEstimator", "consensus_pair", "read_inputs"]

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


class EffectInputs(NamedTuple):
    """The parts of a fit that answer questions about interventions."""

    posterior: Posterior
    model: FittedModel
    observed: Observed

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
            raise OptionError(f"Unknown variable {name!r} in {argument}. Use {list(self.names)}.")
        return self.names.index(name)

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


def consensus_pair(estimator: FittedEstimator) -> MomentGraph:
    """Return the consensus of a fitted estimator, which obeys hard knowledge, as one value."""
    return MomentGraph.from_edges(
        estimator.posterior_.names, estimator.mean_graph_.edges, estimator.variance_graph_.edges
    )
