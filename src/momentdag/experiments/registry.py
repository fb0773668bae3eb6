"""Every experiment, by its name on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from momentdag.experiments import (
    fig_anm,
    fig_dense,
    fig_hnm,
    fig_nongaussian,
    fig_sergio,
    fig_sparse,
    table_mek_erk,
    table_posterior,
    table_runtime,
    table_sachs,
    table_varsort,
)
from momentdag.experiments.experiment import Experiment

__all__ = ["EXPERIMENTS"]

_IN_ORDER = (
    fig_sparse,
    fig_sergio,
    fig_dense,
    table_posterior,
    fig_nongaussian,
    table_sachs,
    table_runtime,
    table_mek_erk,
    fig_anm,
    fig_hnm,
    table_varsort,
)

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {module.EXPERIMENT.name: module.EXPERIMENT for module in _IN_ORDER}
)
