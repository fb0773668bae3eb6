"""Fitted mechanisms in a file, whichever engine made them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from momentdag.engines.protocol import FittedModel
from momentdag.engines.storage import State
from momentdag.errors import StorageError, quote
from momentdag.runs.archive import read_archive, write_archive

__all__ = ["load_model", "save_model"]

# Imported when needed, as JAX comes with one of them. Each has `state` and `from_state`.
_STORAGE = {
    "evidence": "momentdag.engines.evidence.storage",
    "variational": "momentdag.engines.variational.storage",
}


def save_model(model: FittedModel, engine: str, path: Path) -> None:
    """Write the fitted model of an engine.

    Raises
    ------
    StorageError
        If the engine is unknown or the file cannot be written.
    """
    state: State = _storage(engine).state(model)
    write_archive(path, "mechanisms", {"engine": engine, **state.content}, state.arrays)


def load_model(engine: str, path: Path) -> FittedModel:
    """Read a fitted model; it gives the same bits as the one that was saved.

    Raises
    ------
    StorageError
        If the file is not an intact model of that engine.
    """
    content, arrays = read_archive(path, "mechanisms")
    if content.get("engine") != engine:
        raise StorageError(
            f"{path}: expected mechanisms of the engine {quote(engine)}; got "
            f"{quote(content.get('engine'))}."
        )
    try:
        model: FittedModel = _storage(engine).from_state(State(content, arrays))
    except StorageError as error:
        raise StorageError(f"{path}: {error}") from error
    return model


def _storage(engine: str) -> Any:
    if engine not in _STORAGE:
        raise StorageError(f"Expected an engine among {sorted(_STORAGE)}; got {quote(engine)}.")
    return importlib.import_module(_STORAGE[engine])
