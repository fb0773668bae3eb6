"""A posterior as an archive of packed bits, names and provenance; see `momentdag.storage.archive`.

Loading never executes code, and checks sizes, a checksum, types and shapes before a number is used.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from momentdag.errors import StorageError, quote
from momentdag.posterior.container import Posterior, unpack
from momentdag.posterior.doubt import ModelDoubt
from momentdag.posterior.provenance import Provenance
from momentdag.posterior.targets import take_targets
from momentdag.storage.archive import read_archive, write_archive
from momentdag.storage.budget import BUDGET
from momentdag.storage.state import State, take_array, take_names

__all__ = ["load", "save"]

_KIND = "posterior"
_VERSION = 2  # version 1 had a compressed npz inside a zip


def save(posterior: Posterior, path: str | os.PathLike[str]) -> None:
    """Write ``posterior`` to ``path`` atomically, unless it is too large to be read again."""
    _check_size(posterior.n_draws, len(posterior.names))
    arrays: dict[str, Any] = {
        "mean_bits": posterior._mean_bits,
        "variance_bits": posterior._variance_bits,
        "log_posterior": posterior.log_posterior,
        "chains": posterior.chains,
    }
    content: dict[str, Any] = {
        "names": list(posterior.names),
        "n_draws": posterior.n_draws,
        "provenance": posterior.provenance.to_dict(),
    }
    if posterior.doubt is not None:
        doubt = posterior.doubt
        arrays |= {"plain": doubt.plain, "misfit": doubt.misfit}
        content["world_searches"] = [doubt.n_searched, doubt.n_outside, doubt.recent_outside]
    if posterior.target_draws is not None:
        content["targets"], bits = posterior.target_draws.to_state()
        arrays |= bits
    given = {name: array for name, array in arrays.items() if array is not None}
    write_archive(path, _KIND, content, given, _VERSION)


def load(path: str | os.PathLike[str]) -> Posterior:
    """Read a posterior, or raise `StorageError` saying what is wrong with the file."""
    state = read_archive(path, _KIND, _VERSION)
    try:
        return _decode(state)
    except StorageError as error:
        raise StorageError(f"{path}: {error}") from error
    except Exception as error:  # a forged entry may be anything
        raise StorageError(f"{path} is not an intact momentdag posterior: {error}.") from error


def _check_size(n_draws: int, d: int) -> None:
    if n_draws * d * d > BUDGET.graph_entries:
        raise StorageError(
            f"{n_draws} draws of {d} variables exceed the limit on size; with so many variables "
            f"at most {BUDGET.graph_entries // (d * d)} draws are stored."
        )


def _decode(state: State) -> Posterior:
    content, arrays = state
    names, n_draws = take_names(content), content["n_draws"]
    if type(n_draws) is not int or n_draws < 1:
        raise StorageError(f"Expected a positive number of draws; got {quote(n_draws)}.")
    d = len(names)
    _check_size(n_draws, d)
    n_bytes = -(-d * d // 8)
    expected: dict[str, tuple[type[np.generic], tuple[int, ...]]] = {
        "mean_bits": (np.uint8, (n_draws, n_bytes)),
        "variance_bits": (np.uint8, (n_draws, n_bytes)),
        "log_posterior": (np.float64, (n_draws,)),
        "chains": (np.int32, (n_draws,)),
    }
    doubted = "world_searches" in content  # older files have none of it
    if doubted:
        expected |= {"plain": (np.float64, (3, d, d)), "misfit": (np.float64, (d,))}
    targets = None
    if "targets" in content:
        targets = take_targets(content["targets"], arrays, n_draws, d)
    if unexpected := sorted(set(arrays) - set(expected) - {"target_bits"}):
        raise StorageError(f"Unexpected array {quote(unexpected[0])}.")
    optional = {"log_posterior", "chains"} - set(arrays)
    checked = {
        name: take_array(arrays, name, *kind)
        for name, kind in expected.items()
        if name not in optional
    }
    return Posterior(
        names,
        unpack(checked["mean_bits"], d),
        unpack(checked["variance_bits"], d),
        Provenance(**content["provenance"]),
        log_posterior=checked.get("log_posterior"),
        chains=checked.get("chains"),
        doubt=_decode_doubt(content["world_searches"], checked) if doubted else None,
        target_draws=targets,
    )


def _decode_doubt(searches: Any, arrays: Mapping[str, Any]) -> ModelDoubt:
    if not isinstance(searches, list) or [type(value) for value in searches] != [int, int, float]:
        raise StorageError(f"Expected counts of searches in worlds; got {quote(searches)}.")
    return ModelDoubt(arrays["plain"], arrays["misfit"], *searches)
