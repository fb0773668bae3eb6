"""What the effects need of a fitted estimator, whichever engine made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from momentdag.engines.protocol import FittedModel
from momentdag.errors import OptionError
from momentdag.posterior import Posterior

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Fitted", "read_fit"]


class Fitted(NamedTuple):
    """The parts of a fit that answer questions about interventions."""

    posterior: Posterior
    model: FittedModel
    summary: pd.DataFrame  # index variable; min, q05, median, q95, max, mean, sd

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in the order of the data's columns."""
        return self.posterior.names

    def column(self, name: str, what: str) -> int:
        """Return the column of a variable; ``what`` says in the error where it was named.

        Raises
        ------
        OptionError
            If there is no such variable.
        """
        if name not in self.names:
            raise OptionError(
                f"Expected {what} to name variables among {list(self.names)}; got {name!r}."
            )
        return self.names.index(name)


def read_fit(estimator: MomentDAG) -> Fitted:
    """Take from an estimator what effects need.

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
            "Expected a fit with mechanisms; the linear family has closed-form evidence only. "
            "Use engine_options={'family': 'gp'}."
        )
    return Fitted(estimator.posterior_, estimator.scm_, estimator.summary_)
