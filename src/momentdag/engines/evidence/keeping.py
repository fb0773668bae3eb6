"""What a fit keeps on its way: stages that have ended, and evidences computed so far.

Evidences are facts about the data. A stage that is run again with those it had computed before
takes the same path to the same end, only faster; so they are kept now and then while a stage runs,
and a fit killed at any moment loses little.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.family import Parents
from momentdag.engines.evidence.features import Kernel
from momentdag.engines.evidence.finding import Found
from momentdag.engines.evidence.orders import OrderResult
from momentdag.engines.evidence.problem import Evidences, Problem
from momentdag.engines.evidence.sampling import Draws
from momentdag.engines.evidence.scoring import Hyperparameters
from momentdag.engines.protocol import Checkpoint

__all__ = ["Kept"]

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
Words: TypeAlias = npt.NDArray[np.uint64]

_SECONDS_BETWEEN = 20.0
_WORD = 64


class Kept:
    """Stages of one fit in a checkpoint, encoded as plain values and arrays."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._stage = ""
        self._watched: Evidences = []
        self._n_kept = 0
        self._kept_at = time.monotonic()

    def watch(self, stage: str, evidences: Evidences) -> None:
        """Fill in what a former run of ``stage`` had computed, and keep what is added."""
        before = self._checkpoint.load(_so_far(stage))
        if before is not None:
            for known, more in zip(evidences, _read_evidences(before[1]), strict=True):
                known.update(more)
        self._stage, self._watched = stage, evidences
        self._n_kept = sum(map(len, evidences))

    def now_and_then(self) -> None:
        """Keep the evidences of the running stage if the last time was long ago."""
        now = time.monotonic()
        if now - self._kept_at < _SECONDS_BETWEEN:
            return
        self._kept_at = now
        n_known = sum(map(len, self._watched))
        if n_known > self._n_kept:
            self._checkpoint.save(_so_far(self._stage), {}, _evidence_arrays(self._watched))
            self._n_kept = n_known

    def found(self, stage: str, problem: Problem) -> Found | None:
        """Return what ``stage`` found, or None if it did not end."""
        kept = self._checkpoint.load(stage)
        return None if kept is None else _read_found(*kept, problem)

    def keep_found(self, stage: str, found: Found) -> None:
        """Keep what a stage found."""
        self._checkpoint.save(stage, *_write_found(found))

    def draws(self, stage: str) -> Draws | None:
        """Return the draws of ``stage``, or None if it did not end."""
        kept = self._checkpoint.load(stage)
        if kept is None:
            return None
        content, arrays = kept
        return Draws(
            arrays["mean_graphs"],
            arrays["variance_graphs"],
            arrays["log_posterior"],
            arrays["chains"],
            content["start"],
        )

    def keep_draws(self, stage: str, draws: Draws) -> None:
        """Keep draws."""
        arrays = {
            "mean_graphs": draws.mean_graphs,
            "variance_graphs": draws.variance_graphs,
            "log_posterior": draws.log_posterior,
            "chains": draws.chains,
        }
        self._checkpoint.save(stage, {"start": draws.start}, arrays)

    def chains(self, n_chains: int) -> dict[int, Draws]:
        """Return the chains that ended."""
        kept = {k: self.draws(_chain(k)) for k in range(n_chains)}
        return {k: draws for k, draws in kept.items() if draws is not None}

    def keep_chain(self, k: int, draws: Draws) -> None:
        """Keep a chain that has ended."""
        self.keep_draws(_chain(k), draws)


def _so_far(stage: str) -> str:
    return f"{stage}, evidences so far"


def _chain(k: int) -> str:
    return f"chain {k}"


def _write_masks(masks: list[int], n_words: int) -> Words:
    return np.array(
        [[(mask >> (_WORD * w)) & (2**_WORD - 1) for w in range(n_words)] for mask in masks],
        dtype=np.uint64,
    ).reshape(len(masks), n_words)


def _read_masks(words: Words) -> list[int]:
    return [sum(int(word) << (_WORD * w) for w, word in enumerate(row)) for row in words.tolist()]


def _evidence_arrays(evidences: Evidences) -> Arrays:
    n_words = -(-len(evidences) // _WORD)
    pairs = [own for known in evidences for own in known]
    return {
        "evidence_counts": np.array([len(known) for known in evidences]),
        "evidence_mean": _write_masks([own.mean for own in pairs], n_words),
        "evidence_variance": _write_masks([own.variance for own in pairs], n_words),
        "evidence": np.array([value for known in evidences for value in known.values()]),
    }


def _read_evidences(arrays: Mapping[str, npt.NDArray[Any]]) -> Evidences:
    pairs = map(
        Parents, _read_masks(arrays["evidence_mean"]), _read_masks(arrays["evidence_variance"])
    )
    entries = iter(zip(pairs, arrays["evidence"].tolist(), strict=True))
    counts = arrays["evidence_counts"].tolist()
    return [{own: value for _, (own, value) in zip(range(n), entries)} for n in counts]  # noqa: B905


def _write_found(found: Found) -> tuple[dict[str, Any], Arrays]:
    problem = found.problem
    n_words = -(-problem.n_variables // _WORD)
    content = {
        "rates": list(problem.rates),
        "hyperparameters": asdict(problem.hyperparameters),
        "has_candidates": problem.candidates is not None,
    }
    pairs = [own for result in found.optima for own in result.parents]
    arrays = _evidence_arrays(found.evidences) | {
        "candidates": _write_masks(list(problem.candidates or ()), n_words),
        "scores": np.array([result.score for result in found.optima]),
        "orders": np.array([result.order for result in found.optima], dtype=np.int64),
        "mean_parents": _write_masks([own.mean for own in pairs], n_words),
        "variance_parents": _write_masks([own.variance for own in pairs], n_words),
    }
    return content, arrays


def _read_found(
    content: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], problem: Problem
) -> Found:
    stored = content["hyperparameters"]
    hyperparameters = Hyperparameters(
        stored["inputs"],
        Kernel(**stored["mean_kernel"]),
        Kernel(**stored["variance_kernel"]),
        stored["features"],
    )
    candidates = tuple(_read_masks(arrays["candidates"])) if content["has_candidates"] else None
    mean, variance = content["rates"]
    problem = replace(
        problem,
        rates=(mean, variance),
        hyperparameters=hyperparameters,
        candidates=candidates,
    )
    pairs = [
        Parents(*own)
        for own in zip(
            _read_masks(arrays["mean_parents"]),
            _read_masks(arrays["variance_parents"]),
            strict=True,
        )
    ]
    d = problem.n_variables
    optima = tuple(
        OrderResult(score, tuple(order), tuple(pairs[k * d : (k + 1) * d]))
        for k, (score, order) in enumerate(
            zip(arrays["scores"].tolist(), arrays["orders"].tolist(), strict=True)
        )
    )
    return Found(problem, optima, _read_evidences(arrays))
