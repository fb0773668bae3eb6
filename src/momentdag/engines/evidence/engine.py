"""The evidence engine: what a fit does, in order.

A quick search with default kernels; hyper-parameters by evidence at the graph it found; the full
search from several starts; and then either every graph pair (up to four variables) or Markov
chains from the best pairs. A pilot of the chains that climbs well above its starts sends the
search back once more from where it went. Of a long table a random subset of rows decides the
graphs; the functions are then fitted to all rows, when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from momentdag.data import Dataset
from momentdag.engines.evidence.exact import MAX_VARIABLES
from momentdag.engines.evidence.finding import (
    Found,
    find_again,
    find_quickly,
    find_thoroughly,
    tune,
)
from momentdag.engines.evidence.keeping import Kept
from momentdag.engines.evidence.model import EvidenceModel
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.prior import GraphPrior, adjacency
from momentdag.engines.evidence.problem import Evidences, Problem
from momentdag.engines.evidence.refit import AllRows
from momentdag.engines.evidence.sampling import Draws, draw_by_chains, draw_exactly
from momentdag.engines.evidence.score import LocalScorer
from momentdag.engines.protocol import Checkpoint, Fit, Forgetful, Progress
from momentdag.errors import OptionError
from momentdag.graph import BoolArray, MomentGraph
from momentdag.knowledge import Knowledge
from momentdag.parallel import shared
from momentdag.posterior import Posterior, Provenance

__all__ = ["EvidenceEngine", "canonical_columns", "dequantise"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_SURPRISING = 8.0  # nats by which chains must beat their starts to send the search back
_MAX_RETURNS = 3
_PILOT_DRAWS = 20


def canonical_columns(dataset: Dataset) -> npt.NDArray[np.intp]:
    """Return an order of the columns that depends on their contents, not on their places.

    Columns are sorted by their standardised fourth and absolute third moments, which units do not
    change; rounding keeps noise in the last digits from swapping two of them.
    """
    z = dataset.standardised
    fourth = np.round((z**4).mean(axis=0), 6)
    third = np.round(np.abs((z**3).mean(axis=0)), 6)
    return np.lexsort((np.array(dataset.names), third, fourth)).astype(np.intp)


def dequantise(rng: np.random.Generator, values: FloatArray) -> FloatArray:
    """Spread tied values uniformly over the gap each of them stands for.

    A density for a continuous variable can be made arbitrarily large at values that repeat, and a
    flexible one would spend itself on the grid of the instrument. Columns in which at least half
    of the rows repeat a value are therefore jittered within half the distance to the neighbouring
    values; others are left as they are, and so is a table that has no rounded column.
    """
    spread = values
    for j in range(values.shape[1]):
        distinct, which = np.unique(values[:, j], return_inverse=True)
        u = rng.random(len(values)) - 0.5
        if len(distinct) > len(values) / 2:
            continue
        if spread is values:
            spread = values.copy()
        gaps = np.diff(distinct)
        below = np.concatenate([gaps[:1], gaps])[which]
        above = np.concatenate([gaps, gaps[-1:]])[which]
        spread[:, j] += u * np.where(u < 0, below, above)
    return spread


@dataclass(frozen=True)
class EvidenceEngine:
    """The default engine.

    Parameters
    ----------
    options : EvidenceOptions
    """

    options: EvidenceOptions = field(default_factory=EvidenceOptions)

    def fit(
        self,
        dataset: Dataset,
        knowledge: Knowledge,
        n_draws: int,
        n_jobs: int,
        rng: np.random.Generator,
        progress: Progress,
        checkpoint: Checkpoint | None = None,
    ) -> Fit:
        """Return the posterior over graph pairs given the data.

        The same generator gives the same bits whatever ``n_jobs`` is, and columns in another
        order or other units give the same answer. A fit that goes on from a ``checkpoint`` ends
        with the same bits, too.
        """
        options = self.options
        if options.method == "exact" and dataset.n_variables > MAX_VARIABLES:
            raise OptionError(
                f"Expected at most {MAX_VARIABLES} variables for method='exact'; got "
                f"{dataset.n_variables}. Use method='chain'."
            )
        row_rng, *stage_rngs, table_rng = rng.spawn(5)
        columns = canonical_columns(dataset)
        problem = self._problem(dataset, columns, knowledge, row_rng)
        kept = Kept(Forgetful() if checkpoint is None else checkpoint)
        run = _Run(problem, n_draws, n_jobs, progress, kept)
        # One thread inside: sums then do not depend on how many cores there are.
        with threadpool_limits(1), shared(problem.values, problem.targets):
            status = "complete"
            try:
                run.work(stage_rngs)
            except KeyboardInterrupt:
                if not options.return_partial or run.found is None:
                    raise
                status = f"interrupted during {run.stage}; the result so far is returned"
                run.keep_what_there_is()
        rows = None
        if len(problem.values) < dataset.n_samples:
            rows = AllRows(*self._standardised(table_rng, dataset.standardised[:, columns]))
        return self._package(dataset, columns, rows, run, status)

    def _standardised(
        self, rng: np.random.Generator, values: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return standardised columns (n, d) as causes and as effects."""
        # Rounded far below what the model resolves, so that other units, whose standardised
        # values differ in the last bits, give the same bits from here on.
        values = np.round(values, 8)
        # As an effect a rounded column is spread out; as a cause it stays as it was measured.
        if self.options.dequantise and self.options.family != "linear":
            return values, dequantise(rng, values)
        return values, values

    def _problem(
        self,
        dataset: Dataset,
        columns: npt.NDArray[np.intp],
        knowledge: Knowledge,
        rng: np.random.Generator,
    ) -> Problem:
        options = self.options
        rows = np.arange(dataset.n_samples)
        if dataset.n_samples > options.max_rows:
            rows = np.sort(rng.choice(rows, options.max_rows, replace=False))
        chosen = dataset.standardised[np.ix_(rows, columns)]
        values, targets = self._standardised(rng, chosen)
        n_inducing = options.n_inducing
        if n_inducing is None:
            n_inducing = min(max(40, len(values) // 20), 80)
        n_inducing = min(n_inducing, len(values))
        inducing_rows = np.sort(rng.choice(len(values), n_inducing, replace=False))
        names = tuple(dataset.names[i] for i in columns)
        known = knowledge.compile(names)
        prior = GraphPrior(known, options.family == "gp")
        only_variance = known.required_variance | (known.required_either & known.forbidden_mean)
        if not prior.with_variance_graph and only_variance.any():
            raise OptionError(
                f"Expected no required variance edge with family={options.family!r}, which has no "
                "variance graph. Use family='gp'."
            )
        # To begin with, one edge a variable, or half of all there could be.
        expected = min(len(names), len(names) * (len(names) - 1) / 4)
        rates = (expected, expected)
        return Problem(values, targets, inducing_rows, options, prior, rates)

    def _package(
        self,
        dataset: Dataset,
        columns: npt.NDArray[np.intp],
        rows: AllRows | None,
        run: _Run,
        status: str,
    ) -> Fit:
        back = np.argsort(columns)

        def restore(graphs: BoolArray) -> BoolArray:
            return graphs[..., back, :][..., :, back]

        assert run.found is not None
        assert run.draws is not None
        problem, draws = run.found.problem, run.draws
        options = {
            **self.options.to_dict(),
            "hyperparameters": asdict(problem.hyperparameters),
            "exact": run.details.get("method") == "exact",
            "n_samples": dataset.n_samples,
            "n_samples_for_structure": len(problem.values),
        }
        posterior = Posterior(
            dataset.names,
            restore(draws.mean_graphs),
            restore(draws.variance_graphs),
            Provenance("evidence", options, dataset.fingerprint, status=status),
            log_posterior=draws.log_posterior,
            chains=draws.chains,
        )
        scorer = problem.search().scorer
        model = None
        if isinstance(scorer, LocalScorer):
            model = EvidenceModel(dataset, columns, scorer, rows=rows)
        if draws.gain >= 0:
            top = int(np.argmax(draws.log_posterior))
            best_pair = draws.mean_graphs[top], draws.variance_graphs[top]
        else:
            best_pair = adjacency(run.found.best.parents)
        best = MomentGraph(dataset.names, *map(restore, best_pair))
        return Fit(posterior, model, best, status, run.details)


class _Run:
    """One fit in progress: what has been found so far."""

    def __init__(
        self, problem: Problem, n_draws: int, n_jobs: int, progress: Progress, kept: Kept
    ) -> None:
        self.problem = problem
        self.n_draws = n_draws
        self.n_jobs = n_jobs
        self._progress = progress
        self._kept = kept
        self.stage = ""
        self.found: Found | None = None
        self.draws: Draws | None = None
        self._finished: dict[int, Draws] = {}
        self.details: dict[str, Any] = {}

    def _tick(self, done: int, total: int) -> None:
        self._kept.now_and_then()
        self._progress(self.stage, done, total)

    def _begin(self, stage: str) -> None:
        self.stage = stage
        self._progress(stage, 0, 1)

    def _find(self, key: str, evidences: Evidences, find: Callable[[], Found]) -> Found:
        """Return what a stage found, from the checkpoint if it ended before."""
        found = self._kept.found(key, self.problem)
        if found is None:
            self._kept.watch(key, evidences)
            found = find()
            self._kept.keep_found(key, found)
        return found

    def work(self, rngs: list[np.random.Generator]) -> None:
        """Go through the stages; what is finished stays, should the next be interrupted."""
        quick_rng, search_rng, draw_rng = rngs
        problem, options = self.problem, self.problem.options
        self._begin("the first search")
        new: Evidences = [{} for _ in range(problem.n_variables)]
        first = self.found = self._find(
            "first search",
            new,
            lambda: find_quickly(problem, new, quick_rng, self.n_jobs, self._tick),
        )
        self._begin("the choice of hyper-parameters")
        tuned = self._find("hyper-parameters", new, lambda: tune(first, self.n_jobs))
        self._begin("the order search")
        self.found = self._find(
            "order search",
            tuned.evidences,
            lambda: find_thoroughly(tuned, search_rng, self.n_jobs, self._tick),
        )
        self.details["start_scores"] = [float(result.score) for result in self.found.optima]
        if options.method == "exact" or (
            options.method == "auto" and problem.n_variables <= MAX_VARIABLES
        ):
            self._begin("the enumeration")
            self.details["method"] = "exact"
            self.draws = draw_exactly(self.found, draw_rng, self.n_draws)
            return
        self.details["method"] = "chain"
        memory: Evidences = [{} for _ in range(problem.n_variables)]
        for k, pilot_rng in enumerate(draw_rng.spawn(_MAX_RETURNS)):
            if not self._try_pilot(k, pilot_rng, memory):
                break
        self._begin("the Markov chains")
        self._finished.update(self._kept.chains(options.n_chains))
        self._kept.watch("chains", memory)
        self.draws = draw_by_chains(
            self.found,
            draw_rng,
            self.n_draws,
            self.n_jobs,
            self._tick,
            self._finished,
            memory,
            self._kept.keep_chain,
        )
        self.details["chain_gain"] = self.draws.gain

    def _try_pilot(self, k: int, rng: np.random.Generator, memory: Evidences) -> bool:
        """Run short chains; search again if they climb well above their starts and say so."""
        assert self.found is not None
        self._begin("a pilot of the Markov chains")
        chain_rng, again_rng = rng.spawn(2)
        n_pilot = min(self.n_draws, _PILOT_DRAWS * self.problem.options.n_chains)
        pilot = self._kept.draws(f"pilot {k}")
        if pilot is None:
            self._kept.watch(f"pilot {k}", memory)
            pilot = draw_by_chains(
                self.found, chain_rng, n_pilot, self.n_jobs, self._tick, {}, memory
            )
            self._kept.keep_draws(f"pilot {k}", pilot)
        self.details["pilot_gain"] = pilot.gain
        if pilot.gain < _SURPRISING:
            return False
        self._begin("the order search, again from where the pilot went")
        options = self.problem.options
        # As many climbs as a start of the search makes, here side by side.
        orders = pilot.best_orders(self.problem.knowledge.precedes, 1 + options.n_kicks)
        found = self.found
        self.found = self._find(
            f"order search after pilot {k}",
            found.evidences,
            lambda: find_again(found, orders, again_rng, self.n_jobs, self._tick),
        )
        return True

    def keep_what_there_is(self) -> None:
        """After an interruption: finished chains, else the best pair as the only draw."""
        assert self.found is not None
        if self._finished:
            self.draws = Draws.joined([self._finished[k] for k in sorted(self._finished)])
        else:
            self.draws = Draws.single(self.found.best.parents, self.found.best.score)
