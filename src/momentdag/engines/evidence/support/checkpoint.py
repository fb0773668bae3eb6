"""The stages of a fit as a checkpoint keeps them: those that ended, and evidences computed so far.

Evidences are facts about the data. A stage that is run again with those it had computed before
takes the same path to the same end, only faster; so they are saved now and then while a stage runs,
and a fit killed at any moment loses little.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.features import Kernel
from momentdag.engines.evidence.local.hyperparameters import Hyperparameters
from momentdag.engines.evidence.local.protocol import Evidences, Parents, ScoreCounts
from momentdag.engines.evidence.problem import Problem
from momentdag.engines.evidence.sampling.draws import Draws
from momentdag.engines.evidence.search.orders import OrderResult
from momentdag.engines.evidence.search.starts import SearchResult
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.bitmasks import from_words, to_words
from momentdag.engines.protocol import Checkpoint
from momentdag.posterior import ModelDoubt

__all__ = ["StageCheckpoint"]

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]


class StageCheckpoint:
    """Stages of one fit in a checkpoint, encoded as plain values and arrays.

    Parameters
    ----------
    checkpoint : Checkpoint
    counts : ScoreCounts
        Of the fit; a resumed one goes on from those of the stages that ended.
    seconds_between_saves : float
        Least time between two saves of the evidences of a running stage.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        counts: ScoreCounts,
        seconds_between_saves: float = TUNING.seconds_between_saves,
    ) -> None:
        self._checkpoint = checkpoint
        self._counts = counts
        self._seconds_between_saves = seconds_between_saves
        self._stage = ""
        self._evidences: Evidences = []
        self._n_saved = 0
        self._saved_at = time.monotonic()

    def watch(self, stage: str, evidences: Evidences) -> None:
        """Fill in what a former run of ``stage`` had computed, and save what is added."""
        before = self._load(_running(stage))
        if before is not None:
            for known, more in zip(evidences, _decode_evidences(before[1]), strict=True):
                known.update(more)
        self._stage, self._evidences = stage, evidences
        self._n_saved = sum(map(len, evidences))

    def save_if_due(self) -> None:
        """Save the evidences of the running stage if the last time was long ago."""
        now = time.monotonic()
        if now - self._saved_at < self._seconds_between_saves:
            return
        self._saved_at = now
        n_known = sum(map(len, self._evidences))
        if n_known > self._n_saved:
            arrays = _encode_evidences(self._evidences)
            self._save(_running(self._stage), {}, arrays)
            self._n_saved = n_known

    def load_search(self, stage: str, problem: Problem) -> SearchResult | None:
        """Return the result of ``stage``, or None if it did not end."""
        stored = self._load(stage)
        return None if stored is None else _decode_search(*stored, problem)

    def save_search(self, stage: str, result: SearchResult) -> None:
        """Save the result of a stage."""
        self._save(stage, *_encode_search(result))

    def load_draws(self, stage: str) -> Draws | None:
        """Return the draws of ``stage``, or None if it did not end."""
        stored = self._load(stage)
        if stored is None:
            return None
        content, arrays = stored
        return Draws(
            arrays["mean_graphs"],
            arrays["variance_graphs"],
            arrays["log_posterior"],
            arrays["chains"],
            content["start"],
            tuple(content["acceptance_rates"]),
        )

    def load_details(self, stage: str) -> dict[str, Any]:
        """Return the details that were saved with the draws of ``stage``."""
        stored = self._load(stage)
        return {} if stored is None else dict(stored[0].get("details", {}))

    def load_doubt(self, stage: str) -> ModelDoubt | None:
        """Return the doubt about the model that was saved with the draws of ``stage``."""
        stored = self._load(stage)
        if stored is None or "world_searches" not in stored[0]:
            return None
        content, arrays = stored
        return ModelDoubt(arrays["plain"], arrays["misfit"], *content["world_searches"])

    def save_draws(
        self,
        stage: str,
        draws: Draws,
        details: Mapping[str, Any] | None = None,
        doubt: ModelDoubt | None = None,
    ) -> None:
        """Save draws, and what else is known of their stage."""
        content: dict[str, Any] = {
            "start": draws.start,
            "acceptance_rates": list(draws.acceptance_rates),
            "details": dict(details or {}),
        }
        arrays = {
            "mean_graphs": draws.mean_graphs,
            "variance_graphs": draws.variance_graphs,
            "log_posterior": draws.log_posterior,
            "chains": draws.chains,
        }
        if doubt is not None:
            arrays |= {"plain": doubt.plain, "misfit": doubt.misfit}
            content["world_searches"] = [doubt.n_searched, doubt.n_outside, doubt.recent_outside]
        self._save(stage, content, arrays)

    def load_chains(self, n_chains: int) -> dict[int, Draws]:
        """Return the chains that ended, by number."""
        stored = {k: self.load_draws(_chain(k)) for k in range(n_chains)}
        return {k: draws for k, draws in stored.items() if draws is not None}

    def save_chain(self, k: int, draws: Draws) -> None:
        """Save a chain that has ended."""
        self.save_draws(_chain(k), draws)

    def _load(self, stage: str) -> tuple[Mapping[str, Any], Mapping[str, npt.NDArray[Any]]] | None:
        stored = self._checkpoint.load(stage)
        if stored is not None:
            self._counts.raise_to(ScoreCounts(**stored[0]["local_scores"]))
        return stored

    def _save(self, stage: str, content: Mapping[str, Any], arrays: Arrays) -> None:
        content = {**content, "local_scores": self._counts.to_dict()}
        self._checkpoint.save(stage, content, arrays)


def _running(stage: str) -> str:
    return f"{stage}, evidences so far"


def _chain(k: int) -> str:
    return f"chain {k}"


def _encode_parents(prefix: str, pairs: list[Parents], n_variables: int) -> Arrays:
    return {
        f"{prefix}mean": to_words((parents.mean for parents in pairs), n_variables),
        f"{prefix}variance": to_words((parents.variance for parents in pairs), n_variables),
    }


def _decode_parents(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> list[Parents]:
    masks = (from_words(arrays[f"{prefix}{moment}"]) for moment in ("mean", "variance"))
    return [Parents(*pair) for pair in zip(*masks, strict=True)]


def _encode_evidences(evidences: Evidences) -> Arrays:
    pairs = [parents for known in evidences for parents in known]
    return {
        "evidence_counts": np.array([len(known) for known in evidences]),
        "evidence": np.array([value for known in evidences for value in known.values()]),
        **_encode_parents("evidence_", pairs, len(evidences)),
    }


def _decode_evidences(arrays: Mapping[str, npt.NDArray[Any]]) -> Evidences:
    pairs = _decode_parents("evidence_", arrays)
    entries = iter(zip(pairs, arrays["evidence"].tolist(), strict=True))
    return [dict(islice(entries, n)) for n in arrays["evidence_counts"].tolist()]


def _encode_search(result: SearchResult) -> tuple[dict[str, Any], Arrays]:
    problem, optima = result.problem, result.optima
    d = problem.n_variables
    content = {
        "rates": list(problem.rates),
        "hyperparameters": asdict(problem.hyperparameters),
        "has_candidates": problem.candidates is not None,
    }
    pairs = [parents for optimum in optima for parents in optimum.parents]
    arrays = {
        **_encode_evidences(result.evidences),
        **_encode_parents("parents_", pairs, d),
        "candidates": to_words(problem.candidates or (), d),
        "scores": np.array([optimum.score for optimum in optima]),
        "orders": np.array([optimum.order for optimum in optima], dtype=np.int64),
    }
    return content, arrays


def _decode_search(
    content: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], problem: Problem
) -> SearchResult:
    stored = content["hyperparameters"]
    kernels = {name: Kernel(**stored[name]) for name in ("mean_kernel", "variance_kernel")}
    mean, variance = content["rates"]
    problem = replace(
        problem,
        rates=(mean, variance),
        hyperparameters=Hyperparameters(**{**stored, **kernels}),
        candidates=tuple(from_words(arrays["candidates"])) if content["has_candidates"] else None,
    )
    pairs = iter(_decode_parents("parents_", arrays))
    optima = tuple(
        OrderResult(score, tuple(order), tuple(islice(pairs, problem.n_variables)))
        for score, order in zip(arrays["scores"].tolist(), arrays["orders"].tolist(), strict=True)
    )
    return SearchResult(problem, optima, _decode_evidences(arrays))
