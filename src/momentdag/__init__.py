"""momentdag: who moves the mean of whom, and who moves its variance.

Importing this package computes nothing; the parts below are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from momentdag._version import __version__

if TYPE_CHECKING:
    from momentdag import (
        baselines,
        datasets,
        effects,
        metrics,
        parallel,
        report,
        runs,
        screening,
        simulate,
        stability,
    )
    from momentdag.errors import MomentdagError
    from momentdag.estimator import MomentDAG
    from momentdag.graph import MomentGraph
    from momentdag.knowledge import Knowledge
    from momentdag.posterior import Posterior
    from momentdag.table import Dataset, Recipe, check

__all__ = [
    "Dataset",
    "Knowledge",
    "MomentDAG",
    "MomentGraph",
    "MomentdagError",
    "Posterior",
    "Recipe",
    "__version__",
    "baselines",
    "check",
    "datasets",
    "effects",
    "metrics",
    "parallel",
    "report",
    "runs",
    "screening",
    "simulate",
    "stability",
]

_HOMES = {
    "Dataset": "momentdag.table",
    "Knowledge": "momentdag.knowledge",
    "MomentDAG": "momentdag.estimator",
    "MomentGraph": "momentdag.graph",
    "MomentdagError": "momentdag.errors",
    "Posterior": "momentdag.posterior",
    "Recipe": "momentdag.table",
    "check": "momentdag.table",
}
_SUBPACKAGES = (
    "baselines",
    "datasets",
    "effects",
    "metrics",
    "parallel",
    "report",
    "runs",
    "screening",
    "simulate",
    "stability",
)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _SUBPACKAGES:
        return importlib.import_module(f"momentdag.{name}")
    raise AttributeError(f"module 'momentdag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
