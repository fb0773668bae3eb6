"""From data to a scorer: input scales, kernels, detail, and their choice by evidence.

Hyper-parameters are chosen for one data set by the evidence it gives them, at a graph found with
the defaults; nothing here ever sees a truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.features import FeatureMap, Kernel
from momentdag.engines.evidence.local.inputs import InputScale, LevelScale, RankScale
from momentdag.engines.evidence.local.linear import LinearScorer
from momentdag.engines.evidence.local.location_scale import LocalScorer
from momentdag.engines.evidence.local.mixed import MixedScorer
from momentdag.engines.evidence.local.piles import coarse_levels
from momentdag.engines.evidence.local.protocol import Parents, Scorer
from momentdag.engines.evidence.local.tuning import TUNING
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.standardise import ColumnUnits
from momentdag.table import Kind

__all__ = [
    "Hyperparameters",
    "choose_hyperparameters",
    "evidence_at",
    "hyperparameters_of",
    "make_scorer",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_KERNELS = (
    *(Kernel("network", scale, bias) for scale in (0.7, 1.5, 3.0) for bias in (0.03, 0.3, 2.0)),
    *(Kernel("network", scale, 0.3, linear=0.25) for scale in (0.7, 1.5, 3.0)),
    *(Kernel("rbf", scale, linear=0.25) for scale in (0.7, 1.2, 2.2)),
)
_DEFAULT_KERNEL = Kernel("network", 1.5, 0.3)


@dataclass(frozen=True)
class Hyperparameters:
    """What is fixed for all scores of one data set.

    Parameters
    ----------
    inputs : {"values", "ranks"}
        Whether causes enter the kernels standardised or as normal scores of their ranks. Means
        and variances are free functions, so a monotone map of an input keeps the model class.
    mean_kernel, variance_kernel : Kernel
    features : {"usual", "fine"}
        How closely functions are followed. Where noise nearly vanishes, what the usual features
        miss of a mean looks like noise whose spread depends on the causes of the mean; fine ones
        have more inducing rows and leave less out, and cost several times as much.
    """

    inputs: Literal["values", "ranks"] = "values"
    mean_kernel: Kernel = _DEFAULT_KERNEL
    variance_kernel: Kernel = _DEFAULT_KERNEL
    features: Literal["usual", "fine"] = "usual"


def make_scorer(
    values: FloatArray,
    targets: FloatArray,
    inducing_rows: npt.NDArray[np.intp],
    hyperparameters: Hyperparameters,
    options: EvidenceOptions,
    units: ColumnUnits | None = None,
) -> Scorer:
    """Return the scorer of standardised columns.

    Parameters
    ----------
    values, targets : float array, shape (n, d)
        The columns as causes and as effects. They differ only in runs of earlier versions.
    inducing_rows : int array, shape (M,)
    hyperparameters : Hyperparameters
    options : EvidenceOptions
    units : ColumnUnits, optional
        Of the columns, with their kinds; None for continuous ones.
    """
    if options.family == "linear":
        return LinearScorer(values)
    kinds = () if units is None else units.kinds
    detail = TUNING.mean_detail
    if hyperparameters.features == "fine":
        detail, inducing_rows = TUNING.fine_detail, _more_rows(inducing_rows, len(values))
    scales = _input_scales(values, hyperparameters.inputs == "ranks", kinds)
    mean_features = FeatureMap(values, hyperparameters.mean_kernel, inducing_rows, detail, scales)
    variance_features = FeatureMap(
        values, hyperparameters.variance_kernel, inducing_rows, TUNING.scale_detail, scales
    )
    smooth = set(kinds) <= {"continuous", "time"}
    if units is None or (smooth and all(coarse_levels(column) is None for column in targets.T)):
        return LocalScorer(targets, mean_features, variance_features, options.noise)
    return MixedScorer(targets, mean_features, variance_features, options.noise, units)


def _input_scales(
    values: FloatArray, ranks: bool, kinds: Sequence[Kind]
) -> tuple[InputScale, ...] | None:
    """Return how each column enters as a cause, or None if all do as they are."""
    if not ranks and "category" not in kinds:
        return None
    every = kinds or ["continuous"] * values.shape[1]
    return tuple(
        LevelScale.of(column) if kind == "category" else RankScale.of(column) if ranks else None
        for kind, column in zip(every, values.T, strict=True)
    )


def hyperparameters_of(scorer: LocalScorer) -> Hyperparameters:
    """Return the hyper-parameters that `make_scorer` made a scorer with."""
    features = scorer.mean_features
    return Hyperparameters(
        "ranks" if features.uses_ranks else "values",
        features.kernel,
        scorer.variance_features.kernel,
        "usual" if features.detail == TUNING.mean_detail else "fine",
    )


def _more_rows(rows: npt.NDArray[np.intp], n: int) -> npt.NDArray[np.intp]:
    """Add other rows of ``n``, always the same ones, up to the number that fine features take."""
    n_more = min(TUNING.fine_rows, n) - len(rows)
    if n_more <= 0:
        return rows
    others = np.setdiff1d(np.arange(n), rows)
    more = np.random.default_rng(rows).choice(others, n_more, replace=False)
    return np.sort(np.concatenate([rows, more]))


def evidence_at(scorer: Scorer, parents: tuple[Parents, ...]) -> float:
    """Return the log evidence of a graph pair, but for variables without parents."""
    return float(sum(scorer.fit(j, own).log_evidence for j, own in enumerate(parents) if own.union))


def choose_hyperparameters(
    evidence_of_each: Callable[[list[Hyperparameters]], Iterable[float]],
    fine_threshold: float = np.inf,
) -> Hyperparameters:
    """Return the hyper-parameters with the largest evidence.

    One coordinate after another: input scale, mean kernel, variance kernel, input scale again.
    Fine features are taken, and the others chosen again with them, if they gain more than
    ``fine_threshold`` nats.

    Examples
    --------
    >>> liked = Kernel("rbf", 0.7, linear=0.25)
    >>> chosen = choose_hyperparameters(lambda each: [h.mean_kernel == liked for h in each])
    >>> chosen.mean_kernel == liked, chosen.variance_kernel == liked
    (True, False)
    """
    known: dict[Hyperparameters, float] = {}
    input_scales: tuple[Literal["values", "ranks"], ...] = ("values", "ranks")

    def better(*candidates: Hyperparameters) -> Hyperparameters:
        # The incumbent comes first and so wins ties: nothing changes that does not matter.
        new = [candidate for candidate in dict.fromkeys(candidates) if candidate not in known]
        known.update(zip(new, evidence_of_each(new), strict=True))
        return max(candidates, key=known.__getitem__)

    def climb(best: Hyperparameters) -> Hyperparameters:
        best = better(best, *(replace(best, inputs=scale) for scale in input_scales))
        best = better(best, *(replace(best, mean_kernel=kernel) for kernel in _KERNELS))
        best = better(best, *(replace(best, variance_kernel=kernel) for kernel in _KERNELS))
        return better(best, *(replace(best, inputs=scale) for scale in input_scales))

    best = climb(Hyperparameters())
    if fine_threshold < np.inf:
        fine = replace(best, features="fine")
        if better(best, fine) == fine and known[fine] > known[best] + fine_threshold:
            return climb(fine)
    return best
