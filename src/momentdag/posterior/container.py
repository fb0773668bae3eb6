"""`Posterior`: labelled draws of graph pairs, kept as packed bits, with their provenance."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.display.printable import Printable, Writer
from momentdag.errors import GraphError, OptionError, did_you_mean, quote
from momentdag.graph import (
    BoolArray,
    MomentGraph,
    Selection,
    TargetedGraph,
    as_stack,
    is_acyclic,
    select_edges,
)
from momentdag.knowledge import CompiledKnowledge, Knowledge
from momentdag.posterior import doubt, queries, spread, summaries
from momentdag.posterior.consensus import Objective, consensus
from momentdag.posterior.diagnostics import Diagnostics, diagnose
from momentdag.posterior.doubt import ModelDoubt
from momentdag.posterior.monte_carlo import standard_error
from momentdag.posterior.provenance import Provenance
from momentdag.posterior.queries import Edge, EdgeChoice, Moment
from momentdag.posterior.targets import TargetDraws
from momentdag.readonly import ReadOnlyArrays

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["Posterior", "Provenance", "unpack"]


def unpack(bits: npt.NDArray[np.uint8], n_variables: int) -> BoolArray:
    """Return packed graphs, shape (n_draws, n_bytes), as matrices, shape (n_draws, d, d)."""
    flags = np.unpackbits(bits, axis=1, count=n_variables * n_variables)
    return flags.view(np.bool_).reshape(len(bits), n_variables, n_variables)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Posterior(Printable, ReadOnlyArrays):
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
    doubt : ModelDoubt, optional
        What the model alone says, where draws come from worlds of reweighted rows.
    target_draws : TargetDraws, optional
        What each regime changes, of a fit with regimes.

    Raises
    ------
    GraphError
        If shapes disagree, an entry is neither 0 nor 1, or a draw is cyclic.

    Notes
    -----
    A draw takes one bit for each possible edge. `mean_graphs`, `variance_graphs` and `graphs`
    unpack the matrices at each call: store the result before a loop.

    Examples
    --------
    >>> import numpy as np
    >>> mean = np.array([[[0, 1], [0, 0]], [[0, 0], [0, 0]]], dtype=bool)
    >>> posterior = Posterior(["a", "b"], mean, np.zeros_like(mean), Provenance("by hand"))
    >>> posterior.edge_probability("a", "b", "mean")
    0.5
    """

    names: tuple[str, ...]
    provenance: Provenance
    n_draws: int
    log_posterior: npt.NDArray[np.float64] | None
    chains: npt.NDArray[np.int32] | None
    doubt: ModelDoubt | None
    target_draws: TargetDraws | None
    _mean_bits: npt.NDArray[np.uint8]
    _variance_bits: npt.NDArray[np.uint8]

    def __init__(
        self,
        names: Sequence[str],
        mean_graphs: npt.ArrayLike,
        variance_graphs: npt.ArrayLike,
        provenance: Provenance,
        *,
        log_posterior: npt.ArrayLike | None = None,
        chains: npt.ArrayLike | None = None,
        doubt: ModelDoubt | None = None,
        target_draws: TargetDraws | None = None,
    ) -> None:
        labels = tuple(str(name) for name in names)
        d = len(labels)
        if len(set(labels)) < d:
            raise GraphError(f"Expected unique variable names; got {list(labels)}.")
        pair = []
        for what, graphs in (("mean_graphs", mean_graphs), ("variance_graphs", variance_graphs)):
            array = as_stack(graphs, what=what)
            if array.shape[1:] != (d, d):
                raise GraphError(
                    f"Expected {what} of shape (n_draws, {d}, {d}), as there are {d} names; got "
                    f"{array.shape}."
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
        if doubt is not None and doubt.n_variables != d:
            raise GraphError(f"Expected doubt about {d} variables; got {doubt.n_variables}.")
        n_draws = len(pair[0])
        if target_draws is not None:
            target_draws.check(n_draws, d)
        mean_bits, variance_bits = (
            np.packbits(graphs.reshape(n_draws, -1), axis=1) for graphs in pair
        )
        self.__setstate__(
            {
                "names": labels,
                "provenance": provenance,
                "n_draws": n_draws,
                "log_posterior": _per_draw(log_posterior, np.float64, n_draws, "log_posterior"),
                "chains": _per_draw(chains, np.int32, n_draws, "chains"),
                "doubt": doubt,
                "target_draws": target_draws,
                "_mean_bits": mean_bits,
                "_variance_bits": variance_bits,
            }
        )

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_bytes(self) -> int:
        """Memory used by the draws."""
        arrays = (self._mean_bits, self._variance_bits, self.log_posterior, self.chains)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def mean_graphs(self) -> BoolArray:
        """Drawn mean graphs, shape (n_draws, d, d)."""
        return self.graphs("mean")

    @property
    def variance_graphs(self) -> BoolArray:
        """Drawn variance graphs, shape (n_draws, d, d)."""
        return self.graphs("variance")

    def graphs(self, moment: Selection = "either") -> BoolArray:
        """Return, for each draw, the edges that ``moment`` selects, shape (n_draws, d, d)."""
        bits = select_edges(self._mean_bits, self._variance_bits, moment)
        return unpack(bits, self.n_variables)

    def draw(self, which: int) -> MomentGraph:
        """Return one draw as a `MomentGraph`; a negative number counts from the end.

        Raises
        ------
        GraphError
            If there is no such draw.
        """
        if not -self.n_draws <= which < self.n_draws:
            raise GraphError(f"Expected a draw from 0 to {self.n_draws - 1}; got {which}.")
        mean_graph, variance_graph = unpack(
            np.stack([self._mean_bits[which], self._variance_bits[which]]), self.n_variables
        )
        targets = self.target_draws
        if targets is None:
            return MomentGraph(self.names, mean_graph, variance_graph)
        return TargetedGraph(
            names=self.names,
            mean_graph=mean_graph,
            variance_graph=variance_graph,
            regimes=targets.nodes,
            mean_targets=targets.mean[which],
            variance_targets=targets.variance[which],
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
                f"{did_you_mean(name, self.names)}"
            ) from None

    def edge_probabilities(self, moment: EdgeChoice = "either") -> pd.DataFrame:
        """Return the probability of every edge (index cause, columns effect).

        ``moment`` is "mean", "variance", "either", "both", "mean_only" (in the mean graph and not
        in the variance graph) or "variance_only".
        """
        return queries.edge_probabilities(self, moment)

    def edge_probability(self, cause: str, effect: str, moment: EdgeChoice = "either") -> float:
        """Return the probability of one edge."""
        return queries.edge_probability(self, cause, effect, moment)

    def targets(self, regime: str | None = None) -> pd.DataFrame:
        """Return which variables each regime changes: regime, variable, mean, variance.

        The last two are the probabilities that the mean, and that the variance, of the variable
        given its causes is another one than in the reference regime.

        Parameters
        ----------
        regime : str, optional
            The column of the regimes, or one of the regimes; all by default.

        Raises
        ------
        OptionError
            If the fit had no regimes, or not this one.
        """
        drawn = self.target_draws
        if drawn is None:
            raise OptionError("This fit had no regimes. State them: fit(X, regime=...).")
        table = drawn.table(self.names)
        if regime is None or regime == drawn.column:
            return table
        if regime not in drawn.levels:
            raise OptionError(
                f"Expected {quote(drawn.column)}, or one of its regimes {list(drawn.levels)}, "
                f"which are compared with {quote(drawn.reference)}; got {quote(regime)}."
            )
        return table[table["regime"] == regime].reset_index(drop=True)

    def path_probability(self, cause: str, effect: str, moment: EdgeChoice = "either") -> float:
        """Return the probability of a directed path of edges that ``moment`` selects."""
        return queries.path_probability(self, cause, effect, moment)

    def ancestor_probabilities(self, moment: EdgeChoice = "either") -> pd.DataFrame:
        """Return the probability of a path for every pair (index cause, columns effect)."""
        return queries.ancestor_probabilities(self, moment)

    def variance_only_causes(self) -> pd.DataFrame:
        """Return the probability that a variable moves only the spread of another.

        It has a path to it, but neither is one of its mean parents nor reaches one; see
        `momentdag.posterior.spread`. Index cause, columns effect.
        """
        return spread.variance_only_causes(self)

    def influence_probability(self, cause: str, effect: str, on: Moment) -> float:
        """Return the probability that ``cause`` is, or reaches, a parent of ``effect`` in ``on``.

        See `momentdag.posterior.queries.influence_probability`.
        """
        return queries.influence_probability(self, cause, effect, on)

    def plain_edge_probabilities(self, moment: EdgeChoice = "either") -> pd.DataFrame:
        """Return what the model alone says: edge probabilities given the rows as they are.

        Raises
        ------
        OptionError
            If the draws do not come from worlds of reweighted rows.
        """
        return doubt.plain_edge_probabilities(self, moment)

    def disagreement(self, least: float = 0.05) -> pd.DataFrame:
        """Return edges whose probability differs from the plain one: where the model is in doubt.

        See `momentdag.posterior.doubt.disagreement`.
        """
        return doubt.disagreement(self, least)

    def misfit(self) -> pd.DataFrame:
        """Return, for each variable, how far its rows speak against the model's form.

        See `momentdag.posterior.doubt.misfit`.
        """
        return doubt.misfit(self)

    def subgraph_probability(self, edges: Iterable[Edge]) -> float:
        """Return the probability that all edges, (cause, effect, moment), are present at once."""
        return queries.subgraph_probability(self, edges)

    def probability(self, predicate: Callable[[MomentGraph], bool]) -> float:
        """Return the probability that a predicate of the graph pair holds.

        The predicate is evaluated once for each distinct drawn pair.
        """
        return float(queries.holds(self, predicate).mean())

    def standard_error(self, predicate: Callable[[MomentGraph], bool]) -> float:
        """Return the Monte Carlo standard error of `probability`, allowing for correlated draws."""
        return float(standard_error(queries.holds(self, predicate), self.chains))

    def edge_table(
        self, moment: EdgeChoice | None = None, min_probability: float = 0.0
    ) -> pd.DataFrame:
        """Return cause, effect, moment, probability, standard_error of edges, likeliest first."""
        return summaries.edge_table(self, moment, min_probability)

    def parent_sets(self, name: str) -> pd.DataFrame:
        """Return the drawn mean and variance parents of a variable with their probabilities."""
        return summaries.parent_sets(self, name)

    def most_probable_pairs(self, k: int = 10) -> pd.DataFrame:
        """Return the ``k`` pairs drawn most often: graph, probability, standard_error."""
        return summaries.most_probable_pairs(self, k)

    def map_graph(self) -> MomentGraph:
        """Return the drawn pair of largest log posterior or, without one, drawn most often."""
        return summaries.map_graph(self)

    def consensus(
        self,
        objective: Objective = "shd",
        threshold: float | None = None,
        knowledge: Knowledge | CompiledKnowledge | None = None,
    ) -> MomentGraph:
        """Return the jointly acyclic pair that represents all draws best.

        By default the pair of smallest expected SHD; see `momentdag.posterior.consensus.consensus`.
        """
        return consensus(self, objective, threshold, knowledge)

    def diagnostics(self) -> Diagnostics:
        """Return R-hat, effective sample sizes and the agreement of the chains."""
        return diagnose(self)

    def distinct_pairs(self) -> Iterator[tuple[MomentGraph, float]]:
        """Yield each distinct drawn pair with its share of the draws, most frequent first."""
        pairs = queries.distinct_pairs(self)
        shares = np.bincount(pairs.which) / self.n_draws
        for k in np.argsort(-shares, kind="stable"):
            yield self.draw(int(pairs.first[k])), float(shares[k])

    def with_seed(self, seed: int) -> Posterior:
        """Return the same draws with the seed they were made with in their provenance."""
        return Posterior(
            self.names,
            self.mean_graphs,
            self.variance_graphs,
            replace(self.provenance, seed=seed),
            log_posterior=self.log_posterior,
            chains=self.chains,
            doubt=self.doubt,
            target_draws=self.target_draws,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the posterior to one file, an archive of JSON and arrays; see `load`."""
        from momentdag.posterior.storage import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Posterior:
        """Read a posterior that `save` wrote; nothing in the file is ever executed.

        Raises
        ------
        StorageError
            If the file is missing, damaged, altered, of another kind or of another version's
            format.
        """
        from momentdag.posterior.storage import load

        return load(path)

    def plot_edges(self) -> Figure:
        """Return a figure of all edge probabilities, those of both graphs side by side."""
        from momentdag.display.edges import draw_edges

        tables = {moment: self.edge_probabilities(moment) for moment in ("mean", "variance")}
        return draw_edges(tables, "How probable is each edge?")

    def _headline(self) -> str:
        return (
            f"{self.n_draws} draws of graph pairs over {self.n_variables} variables, "
            f"engine {self.provenance.engine!r}"
        )

    def _write(self, to: Writer) -> str:
        edges = to.table(self.edge_table(min_probability=0.05), full="edge_table()")
        return to.block(self._headline(), [edges])


def _per_draw(values: npt.ArrayLike | None, dtype: Any, n_draws: int, what: str) -> Any:
    if values is None:
        return None
    array = np.array(values, dtype=dtype)
    if array.shape != (n_draws,):
        raise GraphError(f"Expected {what} of shape ({n_draws},); got {array.shape}.")
    return array
