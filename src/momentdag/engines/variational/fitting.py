"""The loop around algorithm 1: warm-up, chunks of steps, plateaus, and what each restart counts."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from momentdag.engines.protocol import Checkpoint, Progress
from momentdag.engines.variational.distribution import Temperatures, draw_noise
from momentdag.engines.variational.options import VariationalOptions
from momentdag.engines.variational.problem import (
    Penalties,
    Problem,
    Program,
    Rates,
    Settings,
    Weights,
)
from momentdag.engines.variational.training import (
    State,
    draw_steps,
    initial_states,
    objective_of,
    run_chunk,
)
from momentdag.errors import StorageError
from momentdag.storage.state import take_array

__all__ = ["Trained", "program_of", "settings_of", "shares_of", "train"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_logger = logging.getLogger(__name__)

_STAGE = "training"
_CHUNK_STEPS = 500
_CUT = 0.3
_WATCHED_PAIRS = 16  # graph pairs behind each report of the objective
_FINAL_PAIRS = 200  # graph pairs behind the comparison of restarts
_WATCHED_ROWS = 2000
_FINAL_ROWS = 10_000
_LBFGS_ROWS = 2000  # fewer, held for a whole phase, would be learnt by heart


@dataclass(frozen=True)
class Trained:
    """What training found.

    Parameters
    ----------
    weights : Weights
        Of all restarts: every array is led by an axis of length n_restarts.
    objectives : float array, shape (n_restarts,)
        Final objective of each restart, nats per row.
    shares : float array, shape (n_restarts,)
        Share of each restart in the posterior.
    n_steps : int
        Steps made, warm-up included.
    converged : bool
        False if the steps ran out first.
    interrupted : bool
        True if Ctrl-C ended it.
    trace : tuple of float
        Best objective among the restarts after each chunk.
    """

    weights: Weights
    objectives: FloatArray
    shares: FloatArray
    n_steps: int
    converged: bool
    interrupted: bool
    trace: tuple[float, ...]

    @property
    def spread(self) -> float:
        """Standard deviation of the restarts' objectives, nats per row."""
        return float(self.objectives.std())


def program_of(
    options: VariationalOptions, problem: Problem, *, ordered: bool, projected: bool
) -> Program:
    """Return what the compiled program depends on."""
    n_samples = problem.values.shape[0]
    size = n_samples if options.batch_size is None else options.batch_size
    if options.optimizer == "lbfgs":
        size = max(size, _LBFGS_ROWS)
    steps: tuple[int, ...] = (options.mean_steps, options.variance_steps)
    if options.updates == "joint":
        steps = (sum(steps),)
    return Program(
        updates=options.updates,
        optimizer=options.optimizer,
        gradient=options.gradient,
        batch_size=None if size >= n_samples else size,
        n_graphs=options.n_graphs,
        n_rounds=max(1, _CHUNK_STEPS // sum(steps)),
        steps=steps,
        ordered=ordered,
        projected=projected,
        ranks=options.edge_space == "ranks",
    )


def settings_of(options: VariationalOptions, *, factor: float, warming_up: bool) -> Settings:
    """Return the numbers of the compiled program; ``factor`` multiplies learning rates."""
    graph_rate = 0.0 if warming_up else options.graph_rate * factor
    weight = options.penalty_weight
    kl_weight = weight * options.kl_weight
    return Settings(
        Rates(options.learning_rate * factor, graph_rate, graph_rate),
        Temperatures(
            options.edge_temperature,
            options.order_temperature,
            options.variance_edge_temperature,
        ),
        Penalties(
            kl_weight,
            kl_weight if options.order_prior == "uniform" else 0.0,
            weight * options.mean_l2,
            weight * options.variance_l2,
        ),
        options.inner_tolerance,
        options.inner_patience,
    )


class _Watch:
    """Evaluates the objective on the same graph noise and rows every time."""

    def __init__(
        self,
        rng: np.random.Generator,
        program: Program,
        problem: Problem,
        settings: Settings,
        *,
        n_pairs: int,
        n_rows: int,
    ) -> None:
        n_samples, d = problem.values.shape
        if n_samples > n_rows:
            rows = np.sort(rng.choice(n_samples, n_rows, replace=False))
            problem = problem._replace(values=problem.values[rows])
        # The divergence is spread over all rows, not only over those that are watched.
        share = problem.values.shape[0] / n_samples
        penalties = settings.penalties
        self._settings = settings._replace(
            penalties=penalties._replace(
                edges=penalties.edges * share, order=penalties.order * share
            )
        )
        # Whatever moves the weights, this is the same computation: one program serves all.
        self._program = replace(
            program,
            updates="joint",
            optimizer="adam",
            gradient="score",
            batch_size=None,
            n_graphs=1,
            n_rounds=1,
            steps=(1,),
            projected=False,
        )
        self._problem = problem
        self._noise = draw_noise(rng, d, (n_pairs,), ordered=program.ordered)

    def look(self, weights: Weights) -> FloatArray:
        """Return the objective of each restart, (r,)."""
        values = objective_of(self._program, self._problem, self._settings, self._noise, weights)
        return np.asarray(values, dtype=np.float64)


class _Best(NamedTuple):
    """The weights of each restart at its largest objective, and those objectives, (r,)."""

    weights: Weights
    objectives: Any

    def after(self, weights: Weights, objectives: FloatArray) -> _Best:
        """Return the better of what there was and what there is now, restart by restart."""
        better = objectives > np.asarray(self.objectives)
        kept: Weights = _choose(better, weights, self.weights)
        return _Best(kept, np.where(better, objectives, np.asarray(self.objectives)))


class _Course(NamedTuple):
    """How far training has come."""

    n_chunks: int = 0
    n_cuts: int = 0
    waited: int = 0
    best: float | None = None
    converged: bool = False
    trace: tuple[float, ...] = ()

    def after(self, now: float, options: VariationalOptions, *, warming_up: bool) -> _Course:
        """Return the course after a chunk that ended at objective ``now``."""
        course = self._replace(n_chunks=self.n_chunks + 1, trace=(*self.trace, now))
        if warming_up:
            return course
        improved = self.best is None or now > self.best + options.tolerance
        waited = 0 if improved else self.waited + 1
        best = now if self.best is None else max(now, self.best)
        if waited < options.patience:
            return course._replace(waited=waited, best=best)
        if self.n_cuts == options.n_cuts:
            return course._replace(best=best, converged=True)
        return course._replace(waited=0, best=best, n_cuts=self.n_cuts + 1)


_Reached: TypeAlias = tuple[State, _Best | None]


def train(
    rng: np.random.Generator,
    problem: Problem,
    options: VariationalOptions,
    progress: Progress,
    checkpoint: Checkpoint,
    *,
    ordered: bool = False,
    projected: bool = False,
) -> Trained:
    """Run algorithm 1 from several starts.

    Rates are cut when the best objective has not grown by ``tolerance`` for ``patience`` chunks;
    after ``n_cuts`` cuts that ends training. With a checkpoint, training that was killed goes on
    from its last chunk, and its result is bit-for-bit identical.
    """
    start_rng, watch_rng, step_rng = rng.spawn(3)
    program = program_of(options, problem, ordered=ordered, projected=projected)
    states = initial_states(
        start_rng,
        program,
        problem,
        options.n_restarts,
        options.n_hidden,
        shifting=options.shifting,
        edge_probability=options.initial_edge_probability,
        score_spread=options.initial_score_spread,
    )
    settings = settings_of(options, factor=1.0, warming_up=False)
    watch = _Watch(
        watch_rng, program, problem, settings, n_pairs=_WATCHED_PAIRS, n_rows=_WATCHED_ROWS
    )
    chunk_steps = program.n_rounds * sum(program.steps)
    best = None
    if options.returned == "best":
        best = _Best(states.weights, np.full(options.n_restarts, -np.inf))
    (states, best), course = _resume(checkpoint, (states, best), options)
    step_rng.spawn(course.n_chunks)  # each chunk has a generator of its own: skip those made
    interrupted = False
    progress("training", 0, options.max_steps)
    try:
        while (n_steps := course.n_chunks * chunk_steps) < options.max_steps:
            if course.converged:
                break
            warming_up = n_steps < options.warm_up_steps
            settings = settings_of(options, factor=_CUT**course.n_cuts, warming_up=warming_up)
            draws = draw_steps(step_rng.spawn(1)[0], program, problem, options.n_restarts)
            states = _finite(states, run_chunk(program, problem, settings, draws, states))
            seen = watch.look(states.weights)
            now = float(seen.max())
            best = None if best is None else best.after(states.weights, seen)
            course = course.after(now, options, warming_up=warming_up)
            _save(checkpoint, (states, best), course)
            total = max(options.max_steps, n_steps + chunk_steps)
            progress(f"training, objective {now:.3f}", n_steps + chunk_steps, total)
    except KeyboardInterrupt:
        if not options.return_partial:
            raise
        interrupted = True
    settings = settings_of(options, factor=1.0, warming_up=False)
    final = _Watch(watch_rng, program, problem, settings, n_pairs=_FINAL_PAIRS, n_rows=_FINAL_ROWS)
    weights = states.weights if best is None else best.weights
    objectives = final.look(weights)
    n_steps = course.n_chunks * chunk_steps
    if program.optimizer == "lbfgs_all":  # phases may have ended before their last step
        n_steps = int(np.asarray(states.memory).sum(axis=1).max())
    return Trained(
        weights,
        objectives,
        shares_of(objectives, problem.values.shape[0], options),
        n_steps,
        course.converged,
        interrupted,
        course.trace,
    )


def shares_of(objectives: FloatArray, n_samples: int, options: VariationalOptions) -> FloatArray:
    """Return the share of each restart in the posterior, (n_restarts,).

    With L_k the objective of restart k in nats of the whole sample, the mixture Σ_k w_k q_k has an
    objective of at least Σ_k w_k (L_k - λ log w_k); the w_k ∝ exp(L_k / λ) make it largest. It is
    exact where the restarts' graphs differ.
    """
    nats = n_samples * (objectives - objectives.max())
    weight = options.penalty_weight * options.kl_weight
    if options.restarts == "best" or weight == 0:
        return np.asarray(np.arange(len(nats)) == np.argmax(nats), dtype=np.float64)
    shares = np.exp(nats / weight)
    return np.asarray(shares / shares.sum())


def _save(checkpoint: Checkpoint, reached: _Reached, course: _Course) -> None:
    arrays = {f"leaf_{k}": np.asarray(leaf) for k, leaf in enumerate(jax.tree.leaves(reached))}
    checkpoint.save(_STAGE, course._asdict(), arrays)


def _resume(
    checkpoint: Checkpoint, start: _Reached, options: VariationalOptions
) -> tuple[_Reached, _Course]:
    """Return where a former run of the same fit stood, else the given start."""
    stored = checkpoint.load(_STAGE)
    if stored is None:
        return start, _Course()
    try:
        return _decode_states(stored[1], start), _decode_course(stored[0], options)
    except Exception as error:  # a forged entry may be anything
        what = str(error) if isinstance(error, StorageError) else type(error).__name__
        _logger.warning("The checkpoint of training is discarded, it begins again: %s", what)
        return start, _Course()


def _decode_states(arrays: Mapping[str, npt.NDArray[Any]], reached: _Reached) -> _Reached:
    """Return stored states, which are as the given ones in all but their numbers."""
    leaves = []
    for k, leaf in enumerate(jax.tree.leaves(reached)):
        start = np.asarray(leaf)
        array = take_array(arrays, f"leaf_{k}", start.dtype.type, start.shape)
        if not np.isfinite(array[np.isfinite(start)]).all():
            raise StorageError("a weight is not a number")
        leaves.append(array if array.dtype == np.float64 else jnp.asarray(array))
    if len(arrays) != len(leaves):
        raise StorageError("there are more arrays than the networks have")
    restored: _Reached = jax.tree.unflatten(jax.tree.structure(reached), leaves)
    return restored


def _decode_course(content: Mapping[str, Any], options: VariationalOptions) -> _Course:
    course = _Course(**{**content, "trace": tuple(content["trace"])})
    limits = (
        (course.n_chunks, options.max_steps),
        (course.n_cuts, options.n_cuts),
        (course.waited, options.patience),
    )
    if not all(type(count) is int and 0 <= count <= most for count, most in limits):
        raise StorageError("the course of training is out of range")
    numbers = (*course.trace, *(() if course.best is None else (course.best,)))
    if type(course.converged) is not bool or not all(type(x) is float for x in numbers):
        raise StorageError("the course of training is no course")
    if len(course.trace) != course.n_chunks:
        raise StorageError("the course of training has another length")
    return course


def _finite(before: State, after: State) -> State:
    """Return the new states, with the old one of every restart in which a number was lost."""
    lost: Any = False
    for part in jax.tree.leaves(after.weights):
        axes = tuple(range(1, part.ndim))
        lost = lost | ~np.isfinite(np.asarray(part)).all(axis=axes)
    if not np.any(lost):
        return after

    kept: State = _choose(lost, before, after)
    return kept


def _choose(first: Any, one: Any, other: Any) -> Any:
    """Return a tree like both, with the restarts of ``one`` where ``first`` (r,) says so."""

    def choose(one: Any, other: Any) -> Any:
        shape = (-1, *[1] * (np.ndim(other) - 1))
        return np.where(np.reshape(first, shape), np.asarray(one), np.asarray(other))

    return jax.tree.map(choose, one, other)
