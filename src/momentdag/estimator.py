"""`MomentDAG`: the scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from momentdag.answers import Answers
from momentdag.engines.evidence.engine import EvidenceEngine
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.protocol import Engine, FitRequest, FitResult
from momentdag.engines.regimes import RegimeModel
from momentdag.errors import DataError, OptionError, quote
from momentdag.estimator_inputs import check_counts, read_dataset, read_rows, remember_columns
from momentdag.graph import Selection
from momentdag.knowledge import CompiledKnowledge, Knowledge
from momentdag.knowledge.tables import compile_for_table
from momentdag.progress import ProgressBar
from momentdag.seeds import Seed, seed_of
from momentdag.table.checks import check_variances
from momentdag.table.experimental import take_columns

if TYPE_CHECKING:
    from momentdag.effects.alignment import Alignment
    from momentdag.effects.world import World

__all__ = ["MomentDAG"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class MomentDAG(Answers, BaseEstimator):  # type: ignore[misc]
    """Learn from a table who moves the mean of whom and who moves its variance.

    The model is X_j = m_j(mean parents) + v_j(variance parents) E_j with independent noises of
    mean 0 and variance 1; the fit is a posterior over pairs of graphs with one shared order.

    Parameters
    ----------
    engine : {"evidence", "variational"}
        How the posterior is computed: from the marginal likelihoods of nonparametric functions,
        or by the published variational algorithm (JAX).
    knowledge : Knowledge or None
        Prior knowledge, by column name.
    n_draws : int
        Number of graph pairs to draw.
    n_jobs : int
        Number of processes, -1 for all cores; the result does not depend on it.
    random_state : int, numpy RandomState or Generator, or None
        With an int, fits on one machine are bit-for-bit identical.
    verbose : bool
        Show a progress bar on standard error.
    engine_options : dict or None
        Options of the engine, see `momentdag.engines.evidence.options.EvidenceOptions` and
        `momentdag.engines.variational.options.VariationalOptions`.
    kinds : dict or None
        Kinds of columns, by name, that are not to be guessed: "continuous", "ordered", "count",
        "binary", "category", "time", or "identifier" for one to leave out.
    missing : {"auto", "impute", "drop", "refuse"}
        What to do about missing cells: leave out their rows, or draw them from the model. "auto"
        leaves out rows where that costs less than 5 % of them.

    Attributes
    ----------
    posterior_ : Posterior
    mean_graph_, variance_graph_, union_graph_ : networkx.DiGraph
        The consensus pair and its union; every edge carries ``probability=``.
    best_graph_ : MomentGraph
        The most probable pair that the search visited or that was drawn.
    scm_ : fitted mechanisms, or None for the linear family
    status_ : str
        "complete", or a sentence saying what cut the fit short.
    details_ : dict
        Diagnostics of the engine.
    summary_ : DataFrame
        min, q05, median, q95, max, mean and sd of each column; effects stay within this range.
    knowledge_ : CompiledKnowledge
        The knowledge as matrices over the columns.
    result_ : FitResult
        All of the above as the engine returned it.
    recipe_ : Recipe or None
        What was done to the columns of the table; None if a `Dataset` was fitted.
    account_ : tuple of dict
        The same for people: column, kind, action and why.
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
        kinds: dict[str, Any] | None = None,
        missing: Literal["auto", "impute", "drop", "refuse"] = "auto",
    ) -> None:
        self.engine = engine
        self.knowledge = knowledge
        self.n_draws = n_draws
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.engine_options = engine_options
        self.kinds = kinds
        self.missing = missing

    def fit(
        self,
        X: Any,
        y: object = None,
        *,
        regime: Any = None,
        interventions: Any = None,
        reference: object = None,
    ) -> MomentDAG:
        """Learn the posterior from a table.

        Parameters
        ----------
        X : table, shape (n_samples, n_variables)
            A pandas or polars frame, an array, or a `Dataset`. Names are kept. Columns may hold
            numbers, text, booleans or dates, and cells may be missing; `momentdag.check` tells
            what is done about it.
        y : ignored
        regime : str, or sequence of length n_samples, optional
            Under which regime (batch, drug, month) each row was taken: a column of ``X``, which is
            then no variable, or the labels. What each regime changes is inferred, see
            `Posterior.targets`; `Knowledge` may speak of a regime as "batch=april".
        interventions : str, or values for each row, optional
            What an experimenter set in each row: a column of ``X`` with the name of a variable,
            several with commas between them, or nothing; the same as a sequence; or booleans of
            the shape of ``X``. A value that was set says nothing about its causes.
        reference : object, optional
            The regime that others are compared with; by default the one with most rows.

        Raises
        ------
        DataError, KnowledgeError, OptionError
            If the table, the knowledge, a statement on the rows or an option cannot be used.
        MissingExtraError
            If the engine is "variational" and that extra is not installed.

        Warns
        -----
        ConvergenceWarning
            If the chains disagree; the message says what to change.
        DataWarning
            If something in the table was changed, or should be looked at.
        """
        request = self.prepare(X, regime=regime, interventions=interventions, reference=reference)
        if not self.verbose:
            return self.run(request)
        with ProgressBar() as bar:
            return self.run(replace(request, progress=bar))

    def prepare(
        self,
        X: Any,
        *,
        regime: Any = None,
        interventions: Any = None,
        reference: object = None,
    ) -> FitRequest:
        """Check table, knowledge and options, each once, and return the request for `run`.

        Raises
        ------
        DataError, KnowledgeError, OptionError
            As from `fit`.
        """
        engine = self.build_engine()
        check_counts(self)
        knowledge = Knowledge() if self.knowledge is None else self.knowledge
        if not isinstance(knowledge, Knowledge):
            raise OptionError(f"Expected knowledge to be a Knowledge; got {type(knowledge)}.")
        X, stated = take_columns(X, regime, interventions, reference)
        dataset = read_dataset(self, X, stated)
        check_variances(dataset.names, dataset.scale)
        engine.check(dataset)
        left_out = {} if self.recipe_ is None else self.recipe_.left_out
        regimes = None if dataset.experiment is None else dataset.experiment.regimes
        nodes = () if regimes is None else regimes.nodes
        seed = seed_of(self.random_state)
        return FitRequest(
            dataset,
            compile_for_table(knowledge, dataset.names, dataset.roots, left_out, nodes),
            int(self.n_draws),
            np.random.default_rng(seed),
            seed,
            int(self.n_jobs),
        )

    def run(self, request: FitRequest) -> MomentDAG:
        """Fit the request that `prepare` returned, or a copy with another progress or checkpoint.

        Warns
        -----
        ConvergenceWarning
            As from `fit`.
        """
        result = self.build_engine().fit(request)
        recipe = getattr(self, "recipe_", None)
        logs = () if recipe is None else recipe.log_columns
        if logs:  # answers then speak the units of the file
            result = replace(result, observed=request.dataset.observe(logs))
        self.adopt(result, request.knowledge)
        if self.status_ != "complete":
            warnings.warn(f"The fit was {self.status_}.", ConvergenceWarning, stacklevel=3)
        elif (diagnostics := self.posterior_.diagnostics()).is_poor:
            warnings.warn(diagnostics.message(), ConvergenceWarning, stacklevel=3)
        return self

    def adopt(self, result: FitResult, knowledge: CompiledKnowledge | None = None) -> MomentDAG:
        """Set the fitted attributes from a result, new or read from a run folder.

        Parameters
        ----------
        result : FitResult
        knowledge : CompiledKnowledge, optional
            The compiled knowledge of the fit, to save compiling it again.
        """
        posterior = result.posterior
        if not hasattr(self, "n_features_in_"):  # read from a folder: no table was validated
            remember_columns(self, posterior.names)
        self.result_ = result
        self._world: World | None = None
        self._views: dict[str, MomentDAG] = {}
        self.posterior_ = posterior
        self.summary_ = result.observed.summary
        self.scm_ = result.model
        self.best_graph_ = result.best_graph
        self.status_ = result.status
        self.details_ = dict(result.details)
        stated = Knowledge() if self.knowledge is None else self.knowledge
        if knowledge is None:
            targets = posterior.target_draws
            nodes = () if targets is None else targets.nodes
            knowledge = compile_for_table(stated, posterior.names, result.observed.roots, {}, nodes)
        # Graphs are about the variables; what is known of regimes has done its work.
        self.knowledge_ = knowledge.reordered(np.arange(posterior.n_variables))
        consensus = posterior.consensus(
            knowledge=self.knowledge_ if stated.strength == "hard" else None
        )
        self.mean_graph_ = self._labelled(consensus.to_networkx("mean"), "mean")
        self.variance_graph_ = self._labelled(consensus.to_networkx("variance"), "variance")
        self.union_graph_ = self._labelled(consensus.to_networkx("either"), "either")
        return self

    def build_engine(self) -> Engine:
        """Return the engine with its options checked.

        Raises
        ------
        OptionError
            If there is no such engine or option.
        """
        if self.engine == "evidence":
            return EvidenceEngine(EvidenceOptions.from_mapping(self.engine_options))
        if self.engine == "variational":
            # An extra, and JAX is slow to load.
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

    def in_regime(self, regime: str) -> MomentDAG:
        """Return the fit as it answers in one regime; without this, answers are of the reference.

        Mechanisms, world check, effects and levers are then those of the regime. Posterior and
        graphs are the same.

        Raises
        ------
        OptionError
            If the fit had no regimes, or not this one.
        """
        check_is_fitted(self, "posterior_")
        targets, model = self.posterior_.target_draws, self.scm_
        if targets is None:
            raise OptionError("This fit had no regimes. State them: fit(X, regime=...).")
        code = targets.code(regime)
        if not isinstance(model, RegimeModel):
            raise OptionError(
                "Expected a fit with mechanisms; the linear family has closed-form evidence only.",
                fit_with={"engine_options": {"family": "gp"}},
            )
        if regime not in self._views:
            observed = self.result_.observed_in[regime]
            result = replace(self.result_, model=model.at(code), observed=observed)
            view = clone(self)
            for name in ("recipe_", "account_", "n_features_in_", "feature_names_in_"):
                if hasattr(self, name):
                    setattr(view, name, getattr(self, name))
            self._views[regime] = view.adopt(result, self.knowledge_)
        return self._views[regime]

    def world_check(self) -> pd.DataFrame:
        """Return whether the model reproduces the data: the first thing to look at after a fit.

        Rows are drawn from the model without intervention and compared with the columns it was
        fitted to, on the scale they were fitted on.

        Returns
        -------
        DataFrame
            One row for each column: column, kind, observed_mean, modelled_mean, observed_sd,
            modelled_sd (of the codes of a category); quantile_gap, the largest difference of the
            5 %, 50 % and 95 % quantiles in observed sds; correlation_gap, the largest error of a
            correlation, and correlated_with, that with which other column; outside_data, the share
            of drawn rows that left the region of the data; shifted_by and noise_times, what was
            added to the mean and what the noise was multiplied by to reproduce the column; verdict:
            "fine", "weak" (roughly, or only so moved) or "do not use" (mean off by more than 0.2 sd
            or sd by more than 20 % all the same).

        Raises
        ------
        OptionError
            If the family has no mechanisms.
        """
        return self._check_world().check.copy()

    def world_alignment(self) -> Mapping[int, Alignment]:
        """Return by what columns of the modelled world are moved to reproduce the data.

        Keys are columns. See `momentdag.effects.alignment`; the table of `world_check` has the same
        numbers.
        """
        return dict(self._check_world().alignment)

    def _check_world(self) -> World:
        # Answers are built on the estimator, and are loaded only when they are asked for.
        from momentdag.effects.inputs import read_inputs
        from momentdag.effects.world import check_world

        inputs = read_inputs(self)
        if self._world is None:
            self._world = check_world(inputs)
        return self._world

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log density of each row under the posterior mixture, shape (n,).

        Graphs are averaged over the draws and mean functions integrated out; log standard
        deviations enter at their posterior mean. Densities are in the units of the data.
        """
        check_is_fitted(self, "posterior_")
        if self.scm_ is None:
            raise OptionError(
                "Expected a fit with mechanisms; the linear family has closed-form evidence only.",
                fit_with={"engine_options": {"family": "gp"}},
            )
        names, values = read_rows(self, X)
        if names != self.posterior_.names:
            raise DataError(
                f"Expected the columns {list(self.posterior_.names)}; got {list(names)}."
            )
        return self.scm_.log_density(values, self.posterior_)

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log density per row, for comparing fits on held-out data."""
        return float(np.mean(self.score_samples(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags
