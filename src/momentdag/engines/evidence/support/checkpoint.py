"""The stages of a fit as a checkpoint keeps them: those that ended, and evidences computed so far.

Evidences are facts about the data. A stage that is run again with those it had computed before
takes the same path to the same end, only faster; so they are saved now and then while a stage runs,
and a fit killed at any moment loses little.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.protocol import Evidences
from momentdag.engines.evidence.problem import Problem
from momentdag.engines.evidence.sampling.draws import Draws
from momentdag.engines.evidence.search.starts import SearchResult
from momentdag.engines.evidence.search.tuning import TUNING
from momentdag.engines.evidence.support.stage_codec import (
    decode_counts,
    decode_draws,
    decode_evidences,
    decode_search,
    encode_draws,
    encode_evidences,
    encode_search,
)
from momentdag.engines.protocol import Checkpoint
from momentdag.errors import StorageError, quote
from momentdag.posterior import ModelDoubt
from momentdag.storage.state import take_array

__all__ = ["StageCheckpoint"]

T = TypeVar("T")
Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
Stored: TypeAlias = tuple[Mapping[str, Any], Arrays]

_logger = logging.getLogger(__name__)


class StageCheckpoint:
    """Stages of one fit in a checkpoint, encoded as plain values and arrays.

    Parameters
    ----------
    checkpoint : Checkpoint
    problem : Problem
        What is read must fit it. Its counts of scores go on from those of the stages that ended.
    seconds_between_saves : float
        Least time between two saves of the evidences of a running stage.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        problem: Problem,
        seconds_between_saves: float = TUNING.seconds_between_saves,
    ) -> None:
        self._checkpoint = checkpoint
        self._problem = problem
        self._seconds_between_saves = seconds_between_saves
        self._stage = ""
        self._evidences: Evidences = []
        self._n_saved = 0
        self._saved_at = time.monotonic()

    def watch(self, stage: str, evidences: Evidences) -> None:
        """Fill in what a former run of ``stage`` had computed, and save what is added."""
        d = self._problem.n_variables
        before = self._load(_running(stage), lambda stored: decode_evidences(stored[1], d))
        if before is not None:
            for known, more in zip(evidences, before, strict=True):
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
            arrays = encode_evidences(self._evidences)
            self._save(_running(self._stage), {}, arrays)
            self._n_saved = n_known

    def load_search(self, stage: str, problem: Problem) -> SearchResult | None:
        """Return the result of ``stage``, or None if it did not end."""
        return self._load(stage, lambda stored: decode_search(*stored, problem))

    def save_search(self, stage: str, result: SearchResult) -> None:
        """Save the result of a stage."""
        self._save(stage, *encode_search(result))

    def load_draws(self, stage: str, n_draws: int) -> tuple[Draws, dict[str, Any]] | None:
        """Return the draws of ``stage`` and the details saved with them, or None."""

        def decode(stored: Stored) -> tuple[Draws, dict[str, Any]]:
            content, arrays = stored
            if not isinstance(content["details"], dict):
                raise StorageError("the details are no object")
            return decode_draws(content, arrays, self._problem, n_draws), content["details"]

        return self._load(stage, decode)

    def load_doubt(self, stage: str) -> ModelDoubt | None:
        """Return the doubt about the model that was saved with the draws of ``stage``."""

        def decode(stored: Stored) -> ModelDoubt | None:
            content, arrays = stored
            if "world_searches" not in content:
                return None
            searches = content["world_searches"]
            if not isinstance(searches, list) or [*map(type, searches)] != [int, int, float]:
                raise StorageError(f"expected counts of searches in worlds; got {quote(searches)}")
            d = self._problem.n_variables - self._problem.prior.n_regimes
            plain = take_array(arrays, "plain", np.float64, (3, d, d))
            return ModelDoubt(plain, take_array(arrays, "misfit", np.float64, (d,)), *searches)

        return self._load(stage, decode)

    def save_draws(
        self,
        stage: str,
        draws: Draws,
        details: Mapping[str, Any] | None = None,
        doubt: ModelDoubt | None = None,
    ) -> None:
        """Save draws, and what else is known of their stage."""
        content, arrays = encode_draws(draws)
        content = {**content, "details": dict(details or {})}
        if doubt is not None:
            arrays |= {"plain": doubt.plain, "misfit": doubt.misfit}
            content["world_searches"] = [doubt.n_searched, doubt.n_outside, doubt.recent_outside]
        self._save(stage, content, arrays)

    def load_chains(self, shares: Sequence[int]) -> dict[int, Draws]:
        """Return the chains that ended, by number, each with its share of the draws."""
        stored = {k: self.load_draws(_chain(k), share) for k, share in enumerate(shares)}
        return {k: found[0] for k, found in stored.items() if found is not None}

    def save_chain(self, k: int, draws: Draws) -> None:
        """Save a chain that has ended."""
        self.save_draws(_chain(k), draws)

    def _load(self, stage: str, decode: Callable[[Stored], T]) -> T | None:
        """Return a stage if it is there and sound; one that is not is begun again."""
        stored = self._checkpoint.load(stage)
        if stored is None:
            return None
        try:
            counts = decode_counts(stored[0])
            decoded = decode(stored)
        except Exception as error:  # a forged entry may be anything
            what = str(error) if isinstance(error, StorageError) else type(error).__name__
            _logger.warning("The checkpoint of %s is discarded, it begins again: %s", stage, what)
            return None
        self._problem.counts.raise_to(counts)
        return decoded

    def _save(self, stage: str, content: Mapping[str, Any], arrays: Arrays) -> None:
        content = {**content, "local_scores": self._problem.counts.to_dict()}
        self._checkpoint.save(stage, content, arrays)


def _running(stage: str) -> str:
    return f"{stage}, evidences so far"


def _chain(k: int) -> str:
    return f"chain {k}"
