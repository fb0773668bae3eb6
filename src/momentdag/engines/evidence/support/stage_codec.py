"""Stages of a fit as plain values and arrays, and back.

What is read back may have been damaged or forged, so every shape, range and choice is checked; a
stage that fails is begun again. No check can tell a false number in its range from a true one:
checkpoints are as trusted as the table beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from itertools import islice
from typing import Any, TypeAlias, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.features import Kernel
from momentdag.engines.evidence.local.hyperparameters import Hyperparameters
from momentdag.engines.evidence.local.protocol import Evidences, Parents, ScoreCounts
from momentdag.engines.evidence.problem import Problem
from momentdag.engines.evidence.sampling.draws import Draws
from momentdag.engines.evidence.search.orders import OrderResult
from momentdag.engines.evidence.search.starts import SearchResult
from momentdag.engines.evidence.support.bitmasks import from_words, to_words
from momentdag.errors import StorageError, quote
from momentdag.graph import is_acyclic
from momentdag.storage.state import take_array

__all__ = [
    "decode_counts",
    "decode_draws",
    "decode_evidences",
    "decode_search",
    "encode_draws",
    "encode_evidences",
    "encode_search",
]

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
Stored: TypeAlias = Mapping[str, npt.NDArray[Any]]

_WORD = 64


def decode_counts(content: Mapping[str, Any]) -> ScoreCounts:
    """Return the counts of local scores."""
    stored = content["local_scores"]
    names = {item.name for item in fields(ScoreCounts)}
    if not isinstance(stored, dict) or stored.keys() != names:
        raise StorageError("the counts of scores are not those of this version")
    if not all(type(count) is int and 0 <= count < 2**53 for count in stored.values()):
        raise StorageError(f"the counts of scores are {quote(stored)}")
    return ScoreCounts(**stored)


def encode_evidences(evidences: Evidences) -> Arrays:
    """Return the evidences of each variable as arrays."""
    pairs = [parents for known in evidences for parents in known]
    return {
        "evidence_counts": np.array([len(known) for known in evidences], dtype=np.int64),
        "evidence": np.array(
            [value for known in evidences for value in known.values()], dtype=np.float64
        ),
        **_encode_parents("evidence_", pairs, len(evidences)),
    }


def decode_evidences(arrays: Stored, n_variables: int) -> Evidences:
    """Return what `encode_evidences` was given."""
    counts = take_array(arrays, "evidence_counts", np.int64, (n_variables,))
    values = take_array(arrays, "evidence", np.float64, (None,))
    if (counts < 0).any() or counts.sum() != len(values):
        raise StorageError("the numbers of evidences do not add up")
    if not (values < np.inf).all():  # minus infinity is that of a failed fit
        raise StorageError("an evidence is not a number")
    owners = np.repeat(np.arange(n_variables), counts)
    pairs = _decode_parents("evidence_", arrays, n_variables, owners)
    entries = iter(zip(pairs, values.tolist(), strict=True))
    return [dict(islice(entries, n)) for n in counts.tolist()]


def encode_search(result: SearchResult) -> tuple[dict[str, Any], Arrays]:
    """Return the result of a search as values and arrays."""
    problem, optima = result.problem, result.optima
    d = problem.n_variables
    content = {
        "rates": list(problem.rates),
        "hyperparameters": asdict(problem.hyperparameters),
        "has_candidates": problem.candidates is not None,
    }
    pairs = [parents for optimum in optima for parents in optimum.parents]
    arrays = {
        **encode_evidences(result.evidences),
        **_encode_parents("parents_", pairs, d),
        "candidates": to_words(problem.candidates or (), d),
        "scores": np.array([optimum.score for optimum in optima]),
        "orders": np.array([optimum.order for optimum in optima], dtype=np.int64),
    }
    return content, arrays


def decode_search(content: Mapping[str, Any], arrays: Stored, problem: Problem) -> SearchResult:
    """Return what `encode_search` was given, for the problem of the same fit."""
    d = problem.n_variables
    orders = take_array(arrays, "orders", np.int64, (None, d))
    scores = take_array(arrays, "scores", np.float64, (len(orders),))
    if not len(orders) or not np.isfinite(scores).all():
        raise StorageError("expected the finite score of at least one order")
    if (np.sort(orders, axis=1) != np.arange(d)).any():
        raise StorageError("an order does not hold each variable once")
    places = np.argsort(orders, axis=1)
    owners = np.tile(np.arange(d), len(orders))
    pairs = _decode_parents("parents_", arrays, d, owners)
    for k, (owner, pair) in enumerate(zip(owners.tolist(), pairs, strict=True)):
        before = sum(1 << i for i in range(d) if places[k // d, i] < places[k // d, owner])
        if (pair.mean | pair.variance) & ~before:
            raise StorageError("a parent stands behind its child")
    rates = content["rates"]
    if not isinstance(rates, list) or len(rates) != 2 or not all(map(_is_positive, rates)):
        raise StorageError(f"expected two positive rates; got {quote(rates)}")
    problem = replace(
        problem,
        rates=(float(rates[0]), float(rates[1])),
        hyperparameters=_decode_hyperparameters(content["hyperparameters"]),
        candidates=_decode_candidates(arrays, d) if content["has_candidates"] is True else None,
    )
    rest = iter(pairs)
    optima = tuple(
        OrderResult(score, tuple(order), tuple(islice(rest, d)))
        for score, order in zip(scores.tolist(), orders.tolist(), strict=True)
    )
    return SearchResult(problem, optima, decode_evidences(arrays, d))


def encode_draws(draws: Draws) -> tuple[dict[str, Any], Arrays]:
    """Return draws as values and arrays."""
    content = {"start": draws.start, "acceptance_rates": list(draws.acceptance_rates)}
    arrays = {
        "mean_graphs": draws.mean_graphs,
        "variance_graphs": draws.variance_graphs,
        "log_posterior": draws.log_posterior,
        "chains": draws.chains,
    }
    return content, arrays


def decode_draws(
    content: Mapping[str, Any], arrays: Stored, problem: Problem, n_draws: int
) -> Draws:
    """Return what `encode_draws` was given: ``n_draws`` pairs that obey the knowledge."""
    d, knowledge = problem.n_variables, problem.knowledge
    mean = take_array(arrays, "mean_graphs", np.bool_, (n_draws, d, d))
    variance = take_array(arrays, "variance_graphs", np.bool_, (n_draws, d, d))
    log_posterior = take_array(arrays, "log_posterior", np.float64, (n_draws,))
    chains = take_array(arrays, "chains", np.int32, (n_draws,))
    if not is_acyclic(mean | variance).all():
        raise StorageError("a draw is cyclic")
    forbidden = (mean & knowledge.forbidden_mean) | (variance & knowledge.forbidden_variance)
    if forbidden.any():
        raise StorageError("a draw has a forbidden edge")
    if not np.isfinite(log_posterior).all() or (chains < 0).any():
        raise StorageError("the log posterior or the chain of a draw is no number")
    start, rates = content["start"], content["acceptance_rates"]
    if type(start) is not float or not start < math.inf:
        raise StorageError(f"expected the score of a start; got {quote(start)}")
    if not isinstance(rates, list) or not all(_is_number(r) and 0 <= r <= 1 for r in rates):
        raise StorageError(f"expected acceptance rates; got {quote(rates)}")
    return Draws(mean, variance, log_posterior, chains, start, tuple(rates))


def _encode_parents(prefix: str, pairs: list[Parents], n_variables: int) -> Arrays:
    return {
        f"{prefix}mean": to_words((parents.mean for parents in pairs), n_variables),
        f"{prefix}variance": to_words((parents.variance for parents in pairs), n_variables),
    }


def _decode_parents(
    prefix: str, arrays: Stored, n_variables: int, owners: npt.NDArray[np.intp]
) -> list[Parents]:
    """Return the parents of each owner (n,)."""
    both = []
    for moment in ("mean", "variance"):
        masks = _decode_masks(arrays, f"{prefix}{moment}", len(owners), n_variables)
        if any(mask >> owner & 1 for mask, owner in zip(masks, owners.tolist(), strict=True)):
            raise StorageError("a variable is its own parent")
        both.append(masks)
    return [Parents(*pair) for pair in zip(*both, strict=True)]


def _decode_candidates(arrays: Stored, n_variables: int) -> tuple[int, ...]:
    return tuple(_decode_masks(arrays, "candidates", n_variables, n_variables))


def _decode_masks(arrays: Stored, name: str, n: int, n_variables: int) -> list[int]:
    words = take_array(arrays, name, np.uint64, (n, -(-n_variables // _WORD)))
    masks = from_words(words)
    if any(mask >> n_variables for mask in masks):
        raise StorageError(f"{name} name a variable that there is not")
    return masks


def _decode_hyperparameters(stored: Any) -> Hyperparameters:
    kernels = {}
    for name in ("mean_kernel", "variance_kernel"):
        kernel = _from_dict(Kernel, stored[name])
        numbers = (kernel.scale, kernel.bias, kernel.linear)
        sound = all(type(x) is float and (x == 0 or 1e-50 <= x <= 1e50) for x in numbers)
        if not sound or kernel.scale == 0:
            raise StorageError(f"expected a {name} of numbers; got {quote(stored[name])}")
        kernels[name] = kernel
    decoded: Hyperparameters = _from_dict(Hyperparameters, {**stored, **kernels})
    return decoded


def _from_dict(kind: type[Any], stored: Any) -> Any:
    """Return a dataclass from exactly its fields, closed choices checked."""
    if not isinstance(stored, dict) or stored.keys() != {item.name for item in fields(kind)}:
        raise StorageError(f"expected the fields of {kind.__name__}; got {quote(stored)}")
    for name, hint in get_type_hints(kind).items():
        choices = [choice for choice in get_args(hint) if isinstance(choice, str)]
        if choices and stored[name] not in choices:
            raise StorageError(f"expected {name} among {choices}; got {quote(stored[name])}")
    return kind(**stored)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0
