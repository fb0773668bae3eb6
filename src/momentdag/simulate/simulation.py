"""The result of every simulator: a table, its true graphs, and the mechanisms it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import OptionError, did_you_mean
from momentdag.graph import MomentGraph
from momentdag.simulate.options import FloatArray, check_count, check_finite

__all__ = ["Mechanisms", "Simulation"]

_REMEDY = "Choose smaller scales or milder interventions."


class Mechanisms(Protocol):
    """Mechanisms that can be sampled, with some variables set from outside."""

    def draw(
        self, rng: np.random.Generator, n_samples: int, fixed: Mapping[int, FloatArray]
    ) -> FloatArray:
        """Draw rows, shape (n_samples, d); ``fixed`` maps columns to values, shape (n_samples,)."""
        ...

    def moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the conditional mean and sd of each entry, or None if not in closed form."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A simulated table with its true graphs, moments and mechanisms.

    Parameters
    ----------
    data : DataFrame, shape (n_samples, n_variables)
        The observational table.
    graph : MomentGraph
        The true mean graph and variance graph.
    order : tuple of str
        One order that both graphs respect, causes first.
    conditional_mean, conditional_std : DataFrame or None, shape (n_samples, n_variables)
        The true mean and sd of each entry given the values of its parents in that row, the noise's
        own sd included. None where they have no closed form (the SERGIO differential equation).
    noise : str
        A description of the noise.
    mechanisms : Mechanisms
        The model that `sample` and `intervene` draw from.

    Examples
    --------
    >>> import numpy as np
    >>> from momentdag.simulate import mean_variance_hnm
    >>> simulation = mean_variance_hnm(np.random.default_rng(0), n_variables=5, edges_per_node=1)
    >>> simulation
    Simulation(500 rows, 5 variables, 5 mean edges, 5 variance edges, gaussian noise)
    >>> simulation.intervene(np.random.default_rng(1), do={"x2": 1.5}, n=3)["x2"].tolist()
    [1.5, 1.5, 1.5]
    """

    data: pd.DataFrame
    graph: MomentGraph
    order: tuple[str, ...]
    conditional_mean: pd.DataFrame | None
    conditional_std: pd.DataFrame | None
    noise: str
    mechanisms: Mechanisms

    @classmethod
    def from_values(
        cls,
        values: FloatArray,
        graph: MomentGraph,
        order: Sequence[int],
        noise: str,
        mechanisms: Mechanisms,
    ) -> Simulation:
        """Label a table, shape (n, d), and compute its true conditional moments.

        Raises
        ------
        DataError
            If the table is not finite.
        """
        check_finite(values, graph.names, _REMEDY)
        moments = mechanisms.moments(values)
        mean, std = (None, None) if moments is None else (_label(m, graph) for m in moments)
        return cls(
            data=_label(values, graph),
            graph=graph,
            order=tuple(graph.names[j] for j in order),
            conditional_mean=mean,
            conditional_std=std,
            noise=noise,
            mechanisms=mechanisms,
        )

    def sample(self, rng: np.random.Generator, n: int) -> pd.DataFrame:
        """Draw ``n`` new observational rows from the same mechanisms.

        Raises
        ------
        OptionError
            If ``n`` is not a whole number of at least 1.
        """
        return self.intervene(rng, {}, n)

    def intervene(
        self, rng: np.random.Generator, do: Mapping[str, npt.ArrayLike], n: int
    ) -> pd.DataFrame:
        """Draw ``n`` rows from the same mechanisms with some variables set from outside.

        Two calls with equally seeded generators share their noise: variables that the
        interventions do not reach come out equal, and differences of the others are paired.

        Parameters
        ----------
        rng : numpy.random.Generator
        do : mapping from name to float or float array of shape (n,)
            One value for all rows, or one for each.
        n : int
            Number of rows.

        Returns
        -------
        DataFrame, shape (n, n_variables)

        Raises
        ------
        OptionError
            If ``do`` names an unknown variable or holds a value that is not a finite number, or
            ``n`` is not a whole number of at least 1.
        DataError
            If the drawn table is not finite.
        """
        check_count("n", n, 1)
        fixed = {self._column(name): _setting(name, value, n) for name, value in do.items()}
        values = self.mechanisms.draw(rng, n, fixed)
        check_finite(values, self.graph.names, _REMEDY)
        return _label(values, self.graph)

    def varsortability(self) -> float:
        """Return how well marginal variances sort the variables causally (0.5 is chance)."""
        from momentdag.metrics.sortability import varsortability

        return varsortability(self.data.to_numpy(), self.graph.union_graph)

    def r2_sortability(self) -> float:
        """Return how well the R² of each variable on all others sorts them (0.5 is chance)."""
        from momentdag.metrics.sortability import r2_sortability

        return r2_sortability(self.data.to_numpy(), self.graph.union_graph)

    def _column(self, name: str) -> int:
        if name not in self.graph.names:
            raise OptionError(
                f"Expected do to name variables among {list(self.graph.names)}; got {name!r}."
                f"{did_you_mean(name, self.graph.names)}"
            )
        return self.graph.index(name)

    def __repr__(self) -> str:
        return (
            f"Simulation({len(self.data)} rows, {self.graph.n_variables} variables, "
            f"{int(self.graph.mean_graph.sum())} mean edges, "
            f"{int(self.graph.variance_graph.sum())} variance edges, {self.noise} noise)"
        )


def _label(values: FloatArray, graph: MomentGraph) -> pd.DataFrame:
    return pd.DataFrame(values, columns=pd.Index(graph.names))


def _setting(name: str, value: npt.ArrayLike, n: int) -> FloatArray:
    setting = np.asarray(value)
    if setting.dtype.kind not in "iuf":
        raise OptionError(f"Expected do[{name!r}] to be a number; got {value!r}.")
    if setting.shape not in {(), (n,)}:
        raise OptionError(
            f"Expected do[{name!r}] to be one number or {n} numbers, one for each row; got an "
            f"array of shape {setting.shape}."
        )
    if not np.isfinite(setting).all():
        raise OptionError(f"Expected do[{name!r}] to be finite; got {value!r}.")
    return np.broadcast_to(setting.astype(np.float64), (n,))
