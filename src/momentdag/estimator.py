"""`MomentDAG`: the scikit-learn estimator."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from momentdag.data import Dataset
from momentdag.data.checks import check_finite, check_variances
from momentdag.data.tables import read_table
from momentdag.engines.evidence.engine import EvidenceEngine
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.protocol import Checkpoint, Engine, Fit, Progress, silent
from momentdag.errors import DataError, OptionError, quote
from momentdag.graph import Selection
from momentdag.knowledge import Knowledge
from momentdag.progress import ProgressBar
from momentdag.seeds import Seed, seed_of

__all__ = ["MomentDAG"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class MomentDAG(BaseEstimator):  # type: ignore[misc]
    """Learn from a table who moves the mean of whom and who moves its variance.

    The model is X_j = m_j(mean parents) + v_j(variance parents) E_j with independent noises of
    mean 0 and variance 1; the fit is a posterior over pairs of graphs with one shared order.

    Parameters
    ----------
    engine : {"evidence", "variational"}
        How the posterior is found: by marginal likelihoods of free functions, or by the published
        variational algorithm (JAX).
    knowledge : Knowledge or None
        What is known beforehand, by column name.
    n_draws : int
        Graph pairs to draw.
    n_jobs : int
        Processes; the result does not depend on it. -1 takes all cores.
    random_state : int, numpy RandomState or Generator, or None
        An int makes the fit repeatable to the bit on one machine.
    verbose : bool
        Show a progress bar on standard error.
    engine_options : dict or None
        Options of the engine, see `momentdag.engines.evidence.options.EvidenceOptions` and
        `momentdag.engines.variational.options.VariationalOptions`.

    Attributes
    ----------
    posterior_ : Posterior
    mean_graph_, variance_graph_, union_graph_ : networkx.DiGraph
        The consensus pair and its union; every edge carries ``probability=``.
    best_graph_ : MomentGraph
        The most probable pair met by the search or drawn.
    scm_ : fitted mechanisms, or None for the linear family
    status_ : str
        "complete", or a sentence saying what cut the fit short.
    details_ : dict
        Diagnostics of the engine.
    summary_ : DataFrame
        min, q05, median, q95, max, mean and sd of each column: the range that effects keep to.
    n_features_in_, feature_names_in_
        As in every scikit-learn estimator.

    Examples
    --------
    >>> import momentdag as md, numpy as np
    >>> simulation = md.simulate.preset("sparse-5", np.random.default_rng(3))
    >>> estimator = md.MomentDAG(n_draws=200, random_state=0).fit(simulation.data)
    >>> sorted(estimator.mean_graph_.edges) == sorted(simulation.graph.edges("mean"))
    True
    """

    def __init__(
        self,
        engine: Literal["evidence", "variational"] = "evidence",
        knowledge: Knowledge | None = None,
        n_draws: int = 2000,
        n_jobs: int = 1,
        random_state: Seed = None,
        verbose: bool = False,
        engine_options: dict[str, Any] | None = None,
    ) -> None:
        self.engine = engine
        self.knowledge = knowledge
        self.n_draws = n_draws
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.engine_options = engine_options

    def fit(self, X: Any, y: object = None) -> MomentDAG:
        """Learn the posterior from a table.

        Parameters
        ----------
        X : table, shape (n_samples, n_variables)
            A pandas or polars frame, an array, or a `Dataset`. Names are kept.
        y : ignored

        Raises
        ------
        DataError, KnowledgeError, OptionError
            If the table, the knowledge or an option cannot be used.

        Warns
        -----
        ConvergenceWarning
            If the chains disagree; the message says what to change.
        """
        return self._fit(X)

    def _fit(
        self, X: Any, checkpoint: Checkpoint | None = None, progress: Progress | None = None
    ) -> MomentDAG:
        """Fit, going on from a checkpoint and reporting to ``progress`` if there are any."""
        engine = self._engine()
        for name in ("n_draws", "n_jobs"):
            value = getattr(self, name)
            all_cores = name == "n_jobs" and value == -1
            if not all_cores and (not isinstance(value, int | np.integer) or value < 1):
                also = " or -1" if name == "n_jobs" else ""
                raise OptionError(
                    f"Expected {name} to be a positive integer{also}; got {quote(value)}."
                )
        try:
            frame = X.to_frame() if isinstance(X, Dataset) else X
            validate_data(self, frame, skip_check_array=True)
        except TypeError as error:  # labels of several types, which scikit-learn refuses
            raise DataError(f"Expected names of columns as text; {error}") from error
        dataset = Dataset.from_table(X, min_variables=2)
        check_variances(dataset.names, dataset.scale)
        self.n_features_in_ = dataset.n_variables
        knowledge = Knowledge() if self.knowledge is None else self.knowledge
        if not isinstance(knowledge, Knowledge):
            raise OptionError(f"Expected knowledge to be a Knowledge; got {type(knowledge)}.")
        knowledge.check(dataset.names)
        seed = seed_of(self.random_state)
        rng = np.random.default_rng(seed)
        bar: AbstractContextManager[Progress] = nullcontext(
            silent if progress is None else progress
        )
        if self.verbose and progress is None:
            bar = ProgressBar()
        with bar as report:
            fit = engine.fit(
                dataset, knowledge, int(self.n_draws), self.n_jobs, rng, report, checkpoint
            )
        self._accept(replace(fit, posterior=fit.posterior.with_seed(seed)), _summary(dataset))
        if self.status_ != "complete":
            warnings.warn(f"The fit was {self.status_}.", ConvergenceWarning, stacklevel=3)
        elif (diagnostics := self.posterior_.diagnostics()).is_poor:
            warnings.warn(diagnostics.message(), ConvergenceWarning, stacklevel=3)
        return self

    def _accept(self, fit: Fit, summary: pd.DataFrame) -> None:
        """Become the estimator that ``fit`` makes, be it new or read from a run folder."""
        self.posterior_ = fit.posterior
        self.summary_ = summary
        self.scm_ = fit.model
        self.best_graph_ = fit.best
        self.status_ = fit.status
        self.details_ = dict(fit.details)
        knowledge = self.knowledge
        hard = knowledge is not None and knowledge.strength == "hard"
        consensus = self.posterior_.consensus(knowledge=knowledge if hard else None)
        self.mean_graph_ = self._labelled(consensus.to_networkx("mean"), "mean")
        self.variance_graph_ = self._labelled(consensus.to_networkx("variance"), "variance")
        self.union_graph_ = self._labelled(consensus.to_networkx("either"), "either")

    def _engine(self) -> Engine:
        if self.engine == "evidence":
            return EvidenceEngine(EvidenceOptions.from_mapping(self.engine_options))
        if self.engine == "variational":
            # Imported here: JAX is loaded for those who ask for it only.
            from momentdag.engines.variational.engine import VariationalEngine
            from momentdag.engines.variational.options import VariationalOptions

            return VariationalEngine(VariationalOptions.from_mapping(self.engine_options))
        raise OptionError(
            f"Expected engine among ['evidence', 'variational']; got {quote(self.engine)}."
        )

    def _labelled(self, graph: nx.DiGraph[Any], moment: Selection) -> nx.DiGraph[Any]:
        probabilities = self.posterior_.edge_probabilities(moment)
        for cause, effect in graph.edges:
            graph.edges[cause, effect]["probability"] = float(probabilities.loc[cause, effect])
        return graph

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log density of each row under the posterior mixture, shape (n,).

        Graphs are averaged over the draws and mean functions integrated out; log standard
        deviations enter at their posterior mean. Units are the data's own.
        """
        check_is_fitted(self, "posterior_")
        if self.scm_ is None:
            raise OptionError(
                "Expected a family with mechanisms; the linear family has closed-form evidence "
                "only. Use engine_options={'family': 'gp'}."
            )
        if isinstance(X, Dataset):
            names, values = X.names, X.values
        else:
            validate_data(self, X, reset=False, skip_check_array=True)
            table = read_table(X)
            names, values = table.names, table.values
            check_finite(names, values)
        if names != self.posterior_.names:
            raise DataError(
                f"Expected the columns {list(self.posterior_.names)}; got {list(names)}."
            )
        return self.scm_.log_density(values, self.posterior_)

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log density per row, so that held-out data can compare fits."""
        return float(np.mean(self.score_samples(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _summary(dataset: Dataset) -> pd.DataFrame:
    """Return range, quantiles, mean and sd of each column (index: its name)."""
    values = dataset.values
    quantiles = np.quantile(values, [0, 0.05, 0.5, 0.95, 1], axis=0)
    table = np.vstack([quantiles, values.mean(axis=0), values.std(axis=0)]).T
    columns = ["min", "q05", "median", "q95", "max", "mean", "sd"]
    return pd.DataFrame(table, index=pd.Index(dataset.names, name="variable"), columns=columns)
