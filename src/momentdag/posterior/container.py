"""`Posterior`: labelled draws of graph pairs, kept as packed bits, with their provenance."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag._version import __version__
from momentdag.errors import GraphError
from momentdag.graph import BoolArray, MomentGraph, Selection, is_acyclic

__all__ = ["Posterior", "Provenance"]


@dataclass(frozen=True)
class Provenance:
    """Where a posterior comes from: enough to make it again.

    Parameters
    ----------
    engine : str
        Name of the engine or baseline.
    options : mapping
        Every option of the engine, as plain JSON values.
    data_hash : str
        Fingerprint of the data (`momentdag.data.Dataset.fingerprint`).
    seed : int or None
        The seed the draws were made with.
    version : str
        Version of momentdag.
    status : str
        A sentence: "complete", or what went wrong.
    """

    engine: str
    options: Mapping[str, Any] = field(default_factory=dict)
    data_hash: str = ""
    seed: int | None = None
    version: str = __version__
    status: str = "complete"

    def to_dict(self) -> dict[str, Any]:
        """Return the provenance as plain JSON values."""
        return asdict(self)


class Posterior:
    """Draws of (mean graph, variance graph) pairs over named variables.

    Parameters
    ----------
    names : sequence of str
        One name for each variable.
    mean_graphs, variance_graphs : bool array, shape (n_draws, d, d)
        Row is the cause, column the effect; the union of each pair must be acyclic.
    provenance : Provenance
    log_posterior : float array, shape (n_draws,), optional
        Unnormalised log posterior of each draw.
    chains : int array, shape (n_draws,), optional
        The chain each draw came from, in the order drawn; for diagnostics.

    Raises
    ------
    GraphError
        If shapes disagree or a draw is cyclic.

    Examples
    --------
    >>> import numpy as np
    >>> mean = np.array([[[0, 1], [0, 0]], [[0, 0], [0, 0]]], dtype=bool)
    >>> posterior = Posterior(["a", "b"], mean, np.zeros_like(mean), Provenance("by hand"))
    >>> posterior.edge_probability("a", "b", "mean")
    0.5
    """

    def __init__(
        self,
        names: Sequence[str],
        mean_graphs: npt.ArrayLike,
        variance_graphs: npt.ArrayLike,
        provenance: Provenance,
        *,
        log_posterior: npt.ArrayLike | None = None,
        chains: npt.ArrayLike | None = None,
    ) -> None:
        self.names = tuple(str(name) for name in names)
        self.provenance = provenance
        d = len(self.names)
        if len(set(self.names)) < d:
            raise GraphError(f"Expected unique variable names; got {list(self.names)}.")
        pair = []
        for what, graphs in (("mean_graphs", mean_graphs), ("variance_graphs", variance_graphs)):
            array = np.asarray(graphs, dtype=bool)
            if array.ndim != 3 or array.shape[1:] != (d, d) or len(array) == 0:
                raise GraphError(
                    f"Expected {what} of shape (n_draws, {d}, {d}) with at least one draw; "
                    f"got {array.shape}."
                )
            pair.append(array)
        if len(pair[0]) != len(pair[1]):
            raise GraphError(
                f"Expected as many mean as variance graphs; got {len(pair[0])} and {len(pair[1])}."
            )
        acyclic = is_acyclic(pair[0] | pair[1])
        if not acyclic.all():
            first = int(np.flatnonzero(~acyclic)[0])
            raise GraphError(f"Expected every drawn pair to be acyclic; draw {first} is not.")
        self.n_draws = len(pair[0])
        self._mean_bits, self._variance_bits = (
            np.packbits(graphs.reshape(self.n_draws, -1), axis=1) for graphs in pair
        )
        self.log_posterior = self._per_draw(log_posterior, np.float64, "log_posterior")
        self.chains = self._per_draw(chains, np.int32, "chains")

    def _per_draw(self, values: npt.ArrayLike | None, dtype: Any, what: str) -> Any:
        if values is None:
            return None
        array = np.array(values, dtype=dtype)
        if array.shape != (self.n_draws,):
            raise GraphError(f"Expected {what} of shape ({self.n_draws},); got {array.shape}.")
        array.setflags(write=False)
        return array

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_bytes(self) -> int:
        """Memory the draws take."""
        arrays = (self._mean_bits, self._variance_bits, self.log_posterior, self.chains)
        return sum(array.nbytes for array in arrays if array is not None)

    def _unpack(self, bits: npt.NDArray[np.uint8]) -> BoolArray:
        d = self.n_variables
        return np.unpackbits(bits, axis=1, count=d * d).reshape(-1, d, d).astype(bool)

    @property
    def mean_graphs(self) -> BoolArray:
        """Drawn mean graphs, shape (n_draws, d, d)."""
        return self._unpack(self._mean_bits)

    @property
    def variance_graphs(self) -> BoolArray:
        """Drawn variance graphs, shape (n_draws, d, d)."""
        return self._unpack(self._variance_bits)

    def graphs(self, moment: Selection = "either") -> BoolArray:
        """Return, for each draw, the edges that ``moment`` selects, shape (n_draws, d, d)."""
        match moment:
            case "mean":
                return self.mean_graphs
            case "variance":
                return self.variance_graphs
            case "either":
                return self._unpack(self._mean_bits | self._variance_bits)
            case "both":
                return self._unpack(self._mean_bits & self._variance_bits)
        raise GraphError(f"Expected a moment among {get_args(Selection)}; got {moment!r}.")

    def draw(self, which: int) -> MomentGraph:
        """Return one draw as a `MomentGraph`."""
        rows = slice(which, which + 1) if which >= 0 else slice(which, which + 1 or None)
        return MomentGraph(
            self.names,
            self._unpack(self._mean_bits[rows])[0],
            self._unpack(self._variance_bits[rows])[0],
        )

    def __len__(self) -> int:
        return self.n_draws

    def __iter__(self) -> Iterator[MomentGraph]:
        return (self.draw(i) for i in range(self.n_draws))

    def index(self, name: str) -> int:
        """Return the position of a variable."""
        try:
            return self.names.index(name)
        except ValueError:
            raise GraphError(
                f"Expected a variable among {list(self.names)}; got {name!r}."
            ) from None

    def edge_probabilities(self, moment: Selection = "either") -> pd.DataFrame:
        """Return the posterior probability of every edge (index cause, columns effect)."""
        return pd.DataFrame(
            self.graphs(moment).mean(axis=0),
            index=pd.Index(self.names, name="cause"),
            columns=pd.Index(self.names, name="effect"),
        )

    def edge_probability(self, cause: str, effect: str, moment: Selection = "either") -> float:
        """Return the posterior probability of one edge."""
        return float(self.graphs(moment)[:, self.index(cause), self.index(effect)].mean())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the posterior to one file (a zip of JSON and npz); see `load`."""
        from momentdag.posterior.storage import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Posterior:
        """Read a posterior that `save` wrote; nothing in the file is ever executed.

        Raises
        ------
        StorageError
            If the file is missing, truncated, foreign, altered or from a newer version.
        """
        from momentdag.posterior.storage import load

        return load(path)

    def __repr__(self) -> str:
        return (
            f"Posterior({self.n_draws} draws of graph pairs over {self.n_variables} variables, "
            f"engine {self.provenance.engine!r})"
        )
