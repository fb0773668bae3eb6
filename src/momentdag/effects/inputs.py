"""What the answers need of a fitted estimator, whichever engine fitted it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from momentdag.engines.protocol import FittedModel
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["EffectInputs", "consensus_pair", "read_inputs"]


class EffectInputs(NamedTuple):
    """The parts of a fit that answer questions about interventions."""

    posterior: Posterior
    model: FittedModel
    summary: pd.DataFrame  # index variable; min, q05, median, q95, max, mean, sd

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in the order of the data's columns."""
        return self.posterior.names

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


def read_inputs(estimator: MomentDAG) -> EffectInputs:
    """Return posterior, mechanisms and column summaries of a fitted estimator.

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
    return EffectInputs(estimator.posterior_, estimator.scm_, estimator.summary_)


def consensus_pair(estimator: MomentDAG) -> MomentGraph:
    """Return the consensus of a fitted estimator, which obeys hard knowledge, as one value."""
    return MomentGraph.from_edges(
        estimator.posterior_.names, estimator.mean_graph_.edges, estimator.variance_graph_.edges
    )
