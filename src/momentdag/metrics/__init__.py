"""Metrics of graphs, posteriors over graphs and benchmarks: structure, ranking, calibration.

Every function takes arrays, labelled DataFrames and networkx graphs; **row causes column**. Two
labelled inputs are matched by name, whatever the order of their columns; different sets of names
are an error. If one of the two has no labels, they are matched by position.
"""

from momentdag.metrics.calibration import (
    brier_score,
    expected_calibration_error,
    reliability_table,
)
from momentdag.metrics.distributions import (
    GraphKey,
    graph_distribution,
    kl_divergence,
    total_variation,
)
from momentdag.metrics.draws import PairDraws, expected_f1, expected_shd
from momentdag.metrics.ranking import auprc, auroc
from momentdag.metrics.sortability import r2_sortability, varsortability
from momentdag.metrics.structure import f1, precision, recall, shd, shd_rate, sid

__all__ = [
    "GraphKey",
    "PairDraws",
    "auprc",
    "auroc",
    "brier_score",
    "expected_calibration_error",
    "expected_f1",
    "expected_shd",
    "f1",
    "graph_distribution",
    "kl_divergence",
    "precision",
    "r2_sortability",
    "recall",
    "reliability_table",
    "shd",
    "shd_rate",
    "sid",
    "total_variation",
    "varsortability",
]
