"""A case: numbered data sets of one kind, and the measures that apply to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior

__all__ = ["FIRST_SEED", "Case", "Task"]

FIRST_SEED = 20260


class Task(NamedTuple):
    """One data set: what a method is given, and what its answer is held against.

    Attributes
    ----------
    data : DataFrame, shape (n_samples, n_variables)
    truths : mapping from name to MomentGraph
        Never shown to a method.
    orderings : tuple of (first, second)
        What a method is told: ``first`` comes before ``second``.
    """

    data: pd.DataFrame
    truths: Mapping[str, MomentGraph]
    orderings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Case:
    """A family of data sets, numbered from 0, with the measures that apply to them.

    Parameters
    ----------
    name : str
        Its results are kept under this name, and shared by all experiments that have the case.
    group : str
        Columns of a table or ticks of a figure that it belongs to, such as "d = 5".
    n_variables : int
    draw : callable, number -> Task
    measure : callable, (Task, Posterior) -> mapping from measure to number
    module : str
        The module that draws and measures: if its code changes, so do the results.
    variant : str
        Said after the method's name in a row of a table, such as "+ 25 %".
    """

    name: str
    group: str
    n_variables: int
    draw: Callable[[int], Task]
    measure: Callable[[Task, Posterior], dict[str, float]]
    module: str
    variant: str = ""
