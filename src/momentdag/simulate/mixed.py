"""Tables with columns of several kinds and known graphs, as ordinary tables have them.

| kind       | as an effect                                   | as a cause                |
| ---------- | ---------------------------------------------- | ------------------------- |
| continuous | m(x) + exp(v(x)) E                             | standardised value        |
| ordered    | the same, cut into 5 levels                    | standardised level        |
| count      | Poisson or negative binomial of mean exp(m(x)) | standardised log(1 + x)   |
| binary     | logistic in f(x)                               | one effect for each level |
| category   | softmax of f(x), levels 'a', 'b', 'c'          | one effect for each level |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentdag.errors import OptionError
from momentdag.graph import BoolArray, MomentGraph
from momentdag.simulate.kinds import SCALED_KINDS, Kind, check_kind, decode, encode
from momentdag.simulate.mixed_model import MixedOptions, draw_mechanisms
from momentdag.simulate.options import FloatArray, check_choice, check_count
from momentdag.simulate.simulation import Simulation

__all__ = ["MixedSimulation", "PairMoment", "mixed", "mixed_from_graph", "mixed_pair"]

PairMoment = Literal["mean", "variance", "both"]
"""Which moment of the effect the cause of a pair moves."""

_MAX_PARENTS = 3  # more would share the signal among effects too weak to be seen in 800 rows


@dataclass(frozen=True, eq=False, repr=False)
class MixedSimulation(Simulation):
    """A simulated table whose columns have kinds.

    As `Simulation`, with these differences: ``data`` has floats, whole numbers, booleans and text;
    ``conditional_mean`` and ``conditional_std`` are NaN for categories; ``do`` takes values as they
    stand in the table (``do={"x2": "b"}``).

    Parameters
    ----------
    kinds : mapping from name to Kind
    boolean : bool
        Binary columns are False and True.

    Examples
    --------
    >>> import numpy as np
    >>> simulation = mixed_pair(np.random.default_rng(0), "category", "count")
    >>> simulation.kinds
    {'x': 'category', 'y': 'count'}
    >>> simulation.intervene(np.random.default_rng(1), do={"x": "b"}, n=2)["x"].tolist()
    ['b', 'b']
    """

    kinds: Mapping[str, Kind]
    boolean: bool

    def intervene(
        self, rng: np.random.Generator, do: Mapping[str, npt.ArrayLike], n: int
    ) -> pd.DataFrame:
        """Draw ``n`` rows from the same mechanisms with some variables set from outside.

        Parameters
        ----------
        rng : numpy.random.Generator
        do : mapping from name to value or array of shape (n,)
            Values as they stand in the table: one for all rows, or one for each. Far outside the
            data a continuous or count cause has the effect that it has at its edge.
        n : int
            Number of rows.

        Returns
        -------
        DataFrame, shape (n, n_variables)

        Raises
        ------
        OptionError
            If ``do`` names an unknown variable or holds a value that its kind cannot have, or
            ``n`` is not a whole number of at least 1.
        """
        check_count("n", n, 1)
        fixed = {self._column(name): encode(name, self.kinds[name], do[name], n) for name in do}
        return _write(self.mechanisms.draw(rng, n, fixed), self.kinds, self.boolean)

    def varsortability(self) -> float:
        """Return how well marginal variances sort the variables causally (0.5 is chance).

        Raises
        ------
        OptionError
            If there is a category, which has no variance.
        """
        from momentdag.metrics.sortability import varsortability

        return varsortability(self._numbers(), self.graph.union_graph)

    def r2_sortability(self) -> float:
        """Return how well the R² of each variable on all others sorts them (0.5 is chance).

        Raises
        ------
        OptionError
            If there is a category, which has no variance.
        """
        from momentdag.metrics.sortability import r2_sortability

        return r2_sortability(self._numbers(), self.graph.union_graph)

    def _numbers(self) -> FloatArray:
        texts = [name for name, kind in self.kinds.items() if kind == "category"]
        if texts:
            raise OptionError(
                f"Expected numbers in every column; {texts} are categories, which have no variance "
                "to sort by."
            )
        numbers: FloatArray = self.data.to_numpy(dtype=np.float64)
        return numbers


def mixed(
    rng: np.random.Generator,
    n_samples: int = 800,
    *,
    kinds: Sequence[Kind] | None = None,
    n_variables: int | None = None,
    share_continuous: float = 0.5,
    n_edges: int | None = None,
    n_variance_edges: int | None = None,
    options: MixedOptions | None = None,
) -> MixedSimulation:
    """Simulate a table with columns of several kinds and a random pair of graphs.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_samples : int
        Rows of the table; at least 2.
    kinds : sequence of Kind, optional
        The kinds of the columns ``x1 .. xd``. Otherwise they are drawn.
    n_variables : int, optional
        Number of columns if kinds are drawn; default 6.
    share_continuous : float
        Share of continuous columns if kinds are drawn, rounded; the others have any other kind
        with equal probability.
    n_edges : int, optional
        Edges of the mean graph, placed uniformly on a random order; as many as fit if no variable
        has more than three mean parents. Default: the number of columns.
    n_variance_edges : int, optional
        Edges of the variance graph, likewise, on the same order. Only continuous, ordered and
        count columns have variance parents: the mean of the others sets their variance. Default:
        half the number of columns.
    options : MixedOptions, optional
        Strength and shape of the mechanisms.

    Returns
    -------
    MixedSimulation

    Raises
    ------
    OptionError
        If an option is outside its choices or range.

    Notes
    -----
    The variance graph of a count says what moves its dispersion alpha in the variance
    ``mu + alpha mu²``; its mean parents move its variance too, through mu.

    Examples
    --------
    >>> import numpy as np
    >>> simulation = mixed(np.random.default_rng(0), kinds=["continuous", "binary", "category"])
    >>> simulation
    Simulation(800 rows, 3 variables, 3 mean edges, 1 variance edges, gaussian noise)
    >>> sorted(simulation.data["x3"].unique())
    ['a', 'b', 'c']
    """
    kinds = _draw_kinds(rng, n_variables, share_continuous) if kinds is None else tuple(kinds)
    d = len(kinds)
    check_count("the number of kinds", d, 1)
    if n_variables is not None and n_variables != d:
        raise OptionError(f"Expected n_variables as the {d} kinds, or left out; got {n_variables}.")
    for kind in kinds:
        check_kind("kinds", kind)
    n_edges = d if n_edges is None else n_edges
    n_variance_edges = d // 2 if n_variance_edges is None else n_variance_edges
    check_count("n_edges", n_edges, 0)
    check_count("n_variance_edges", n_variance_edges, 0)
    order = rng.permutation(d)
    forward = np.zeros((d, d), dtype=bool)
    forward[np.ix_(order, order)] = np.triu(np.ones((d, d), dtype=bool), k=1)
    scaled = np.array([kind in SCALED_KINDS for kind in kinds])
    graph = MomentGraph(
        tuple(f"x{i + 1}" for i in range(d)),
        _draw_edges(rng, forward, n_edges),
        _draw_edges(rng, forward & scaled, n_variance_edges),
    )
    return _simulate(rng, graph, order.tolist(), kinds, n_samples, options)


def mixed_from_graph(
    rng: np.random.Generator,
    graph: MomentGraph,
    kinds: Mapping[str, Kind],
    n_samples: int = 800,
    *,
    options: MixedOptions | None = None,
) -> MixedSimulation:
    """Simulate a table with columns of several kinds on a given pair of graphs.

    Parameters
    ----------
    rng : numpy.random.Generator
    graph : MomentGraph
    kinds : mapping from name to Kind
        One for each variable of the graph.
    n_samples : int
        Rows of the table; at least 2.
    options : MixedOptions, optional
        Strength and shape of the mechanisms.

    Returns
    -------
    MixedSimulation

    Raises
    ------
    OptionError
        If an option is outside its choices or range, or a binary variable or a category has
        variance parents.

    Examples
    --------
    >>> import numpy as np
    >>> graph = MomentGraph.from_edges(["dose", "site"], mean=[("dose", "site")])
    >>> kinds = {"dose": "continuous", "site": "category"}
    >>> mixed_from_graph(np.random.default_rng(0), graph, kinds, n_samples=20).data.shape
    (20, 2)
    """
    if set(kinds) != set(graph.names):
        raise OptionError(f"Expected kinds of {list(graph.names)}; got kinds of {list(kinds)}.")
    for name in graph.names:
        check_kind(f"kinds[{name!r}]", kinds[name])
        if kinds[name] not in SCALED_KINDS and graph.parents(name, "variance"):
            raise OptionError(
                f"Expected variance parents of {', '.join(SCALED_KINDS)} variables only; "
                f"{name!r} is {kinds[name]}, so its mean sets its variance."
            )
    order = [graph.index(name) for name in graph.order]
    in_columns = tuple(kinds[name] for name in graph.names)
    return _simulate(rng, graph, order, in_columns, n_samples, options)


def mixed_pair(
    rng: np.random.Generator,
    cause_kind: Kind,
    effect_kind: Kind,
    n_samples: int = 800,
    *,
    moment: PairMoment = "mean",
    reverse: bool = False,
    options: MixedOptions | None = None,
) -> MixedSimulation:
    """Simulate a table of two columns ``x`` and ``y``, of any two kinds, with x the cause.

    A continuous cause is normal, uniform, a mixture of two normals or skew; functions are monotone
    or not (``MixedOptions.shape``).

    Parameters
    ----------
    rng : numpy.random.Generator
    cause_kind, effect_kind : Kind
    n_samples : int
        Rows of the table; at least 2.
    moment : {"mean", "variance", "both"}
        What the cause moves; "mean" only, if the effect is binary or a category.
    reverse : bool
        Make y the cause: the columns stay ``x, y``, and ``cause_kind`` is the kind of y.
    options : MixedOptions, optional
        Strength and shape of the mechanisms.

    Returns
    -------
    MixedSimulation

    Raises
    ------
    OptionError
        If an option is outside its choices or range.

    Examples
    --------
    >>> import numpy as np
    >>> simulation = mixed_pair(np.random.default_rng(0), "continuous", "binary")
    >>> simulation.graph.edges("mean"), simulation.data.dtypes.astype(str).tolist()
    ([('x', 'y')], ['float64', 'int64'])
    """
    check_kind("cause_kind", cause_kind)
    check_kind("effect_kind", effect_kind)
    check_choice("moment", moment, get_args(PairMoment))
    cause, effect = ("y", "x") if reverse else ("x", "y")
    edge = [(cause, effect)]
    graph = MomentGraph.from_edges(
        ["x", "y"],
        mean=[] if moment == "variance" else edge,
        variance=[] if moment == "mean" else edge,
    )
    kinds: dict[str, Kind] = {cause: cause_kind, effect: effect_kind}
    return mixed_from_graph(rng, graph, kinds, n_samples, options=options)


def _simulate(
    rng: np.random.Generator,
    graph: MomentGraph,
    order: Sequence[int],
    kinds: Sequence[Kind],
    n_samples: int,
    options: MixedOptions | None,
) -> MixedSimulation:
    check_count("n_samples", n_samples, 2)
    options = MixedOptions() if options is None else options
    mechanisms = draw_mechanisms(rng, graph, order, kinds, options)
    values = mechanisms.draw(rng, n_samples, {})
    mean, std = mechanisms.moments(values)
    kind_of = dict(zip(graph.names, kinds, strict=True))
    columns = pd.Index(graph.names)
    return MixedSimulation(
        data=_write(values, kind_of, options.boolean),
        graph=graph,
        order=tuple(graph.names[j] for j in order),
        conditional_mean=pd.DataFrame(mean, columns=columns),
        conditional_std=pd.DataFrame(std, columns=columns),
        noise=options.noise,
        mechanisms=mechanisms,
        kinds=kind_of,
        boolean=options.boolean,
    )


def _write(values: FloatArray, kinds: Mapping[str, Kind], boolean: bool) -> pd.DataFrame:
    return pd.DataFrame(
        {
            name: decode(kind, values[:, j], boolean=boolean)
            for j, (name, kind) in enumerate(kinds.items())
        }
    )


def _draw_kinds(
    rng: np.random.Generator, n_variables: int | None, share_continuous: float
) -> tuple[Kind, ...]:
    n_variables = 6 if n_variables is None else n_variables
    check_count("n_variables", n_variables, 1)
    if not 0 <= share_continuous <= 1:
        raise OptionError(f"Expected share_continuous in [0, 1]; got {share_continuous!r}.")
    n_continuous = round(share_continuous * n_variables)
    kinds, others = get_args(Kind), get_args(Kind)[1:]
    drawn = [others[int(i)] for i in rng.integers(len(others), size=n_variables - n_continuous)]
    drawn += [kinds[0]] * n_continuous
    return tuple(drawn[int(i)] for i in rng.permutation(n_variables))


def _draw_edges(rng: np.random.Generator, possible: BoolArray, n_edges: int) -> BoolArray:
    """Draw edges one after the other, none into a variable that has three parents."""
    adjacency = np.zeros_like(possible)
    for cause, effect in rng.permutation(np.argwhere(possible)):
        if adjacency.sum() == n_edges:
            break
        if adjacency[:, effect].sum() < _MAX_PARENTS:
            adjacency[cause, effect] = True
    return adjacency
