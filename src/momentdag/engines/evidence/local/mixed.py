"""Local scores of a table with columns of several kinds: each variable has its own likelihood.

| kind | score |
|---|---|
| continuous, time | `location_scale`, a density; where values pile up, see `piles` |
| ordered, many levels | the same seen through its grid, see `cells` |
| ordered, few levels; binary | `cumulative` |
| ordered, neither few nor many | both, averaged |
| count | `negative_binomial`, averaged with `cumulative` where levels are few |
| category | `multinomial` |

Every one of them is the probability (or density) of the observed column with respect to one fixed
measure, so factorisations of the same table in any direction can be compared.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.engines.evidence.local.cells import Cells, find_cells
from momentdag.engines.evidence.local.cumulative import CumulativeFit, CumulativeModel
from momentdag.engines.evidence.local.features import Basis, FeatureMap
from momentdag.engines.evidence.local.levels import (
    LEVELS,
    GroupedRows,
    missing_price,
    relevant_places,
)
from momentdag.engines.evidence.local.location_scale import LocalFit, LocalScorer, NoiseFamily
from momentdag.engines.evidence.local.multinomial import MultinomialFit, MultinomialModel
from momentdag.engines.evidence.local.negative_binomial import (
    NegativeBinomialFit,
    NegativeBinomialModel,
)
from momentdag.engines.evidence.local.piles import coarse_levels
from momentdag.engines.evidence.local.protocol import Parents
from momentdag.engines.evidence.support.bitmasks import members
from momentdag.engines.evidence.support.cache import BudgetedCache
from momentdag.engines.standardise import ColumnUnits
from momentdag.table import Kind

__all__ = [
    "FEW_LEVELS",
    "MANY_LEVELS",
    "LevelFit",
    "LevelModel",
    "MixedScorer",
    "has_variance_parents",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
LevelFit: TypeAlias = CumulativeFit | MultinomialFit | NegativeBinomialFit
LevelModel: TypeAlias = CumulativeModel | MultinomialModel | NegativeBinomialModel

FEW_LEVELS = 12
"""Up to this many levels the thresholds between them are free: a rating is no measurement."""
_MANY_DIFFERENT = 0.7
"""Share of different rows beyond which it does not pay to look for those that are alike."""
_CACHED_KEYS = 256  # parent sets whose rows are remembered
MANY_LEVELS = 24
"""Beyond this many, values are measurements that were rounded, whose distances mean something."""


def has_variance_parents(kind: Kind) -> bool:
    """Tell whether the spread of such a variable can have causes of its own."""
    return kind not in ("binary", "category")


class MixedScorer(LocalScorer):
    """Scores of every variable of one standardised table with columns of several kinds.

    Parameters
    ----------
    values : float array, shape (n, d)
        Standardised columns.
    mean_features, variance_features : FeatureMap
    noise : {"flexible", "gaussian", "student"}
    units : ColumnUnits
        With the kinds of the columns, and where counts stand on their scale.
    """

    def __init__(
        self,
        values: FloatArray,
        mean_features: FeatureMap,
        variance_features: FeatureMap,
        noise: NoiseFamily,
        units: ColumnUnits,
    ) -> None:
        self.units = units
        self.levels: dict[int, FloatArray] = {}  # standardised, of variables with level models
        self.level_models: dict[int, tuple[LevelModel, ...]] = {}
        self._codes: dict[int, npt.NDArray[np.intp]] = {}  # of variables with few values
        self._keys: BudgetedCache[int, npt.NDArray[np.intp] | None] = BudgetedCache(_CACHED_KEYS)
        cells: dict[int, Cells] = {}
        self.coarse: dict[int, CumulativeModel] = {}  # of continuous variables with piles
        for j, kind in enumerate(units.kinds or ("continuous",) * values.shape[1]):
            column = values[:, j]
            if kind in ("continuous", "time"):
                codes = coarse_levels(column)
                if codes is not None:
                    self.coarse[j] = CumulativeModel(codes, LEVELS)
                continue
            levels, codes = np.unique(column, return_inverse=True)
            self._codes[j] = codes.reshape(-1)
            if len(levels) == 1:  # in these rows it never moves
                continue
            models: list[LevelModel] = []
            if kind == "category":
                models.append(MultinomialModel(codes, LEVELS))
            elif len(levels) <= (FEW_LEVELS if kind == "count" else MANY_LEVELS):
                models.append(CumulativeModel(codes, LEVELS))
            if kind == "count":
                counts = np.round(np.expm1(units.location[j] + units.scale[j] * column))
                models.append(NegativeBinomialModel(counts, LEVELS))
            if models:
                self.levels[j], self.level_models[j] = levels, tuple(models)
            if kind == "ordered" and len(levels) > FEW_LEVELS:
                cells[j] = find_cells(column)
        super().__init__(values, mean_features, variance_features, noise, cells=cells)

    def fit(self, variable: int, parents: Parents) -> Any:
        """Score one variable given its parents, see `LocalScorer.fit`.

        Where several likelihoods are averaged, what comes back is the best one's fit with the
        average as its evidence. A continuous variable whose values pile up has the evidence of its
        coarse levels and functions of its own.
        """
        if variable not in self.level_models:
            fit = super().fit(variable, parents)
            if variable in self.coarse and np.isfinite(fit.log_evidence):
                coarse = self._fit_levels(self.coarse[variable], parents, None)
                fit = fit._replace(log_evidence=coarse.log_evidence, coarse=coarse)
            return fit
        rows = self._alike(variable, parents.union)
        fits: list[Any] = [
            self._fit_levels(model, parents, rows) for model in self.level_models[variable]
        ]
        if variable in self.cells:
            fits.append(super().fit(variable, parents))
        else:
            failed = not any(np.isfinite(fit.log_evidence) for fit in fits)
            self.counts.add(converged=all(fit.converged for fit in fits), failed=failed)
        best = max(fits, key=lambda fit: fit.log_evidence)
        if len(fits) == 1:
            return best
        total = np.logaddexp.reduce([fit.log_evidence for fit in fits]) - np.log(len(fits))
        return best._replace(log_evidence=float(total))

    def _alike(self, variable: int, parents: int) -> GroupedRows | None:
        """Return the rows that are alike in a variable and its parents, if these are many."""
        if not parents:
            return None
        keys = self._keys.get(parents, lambda: self._keys_of(parents))
        if keys is None:
            return None
        own = self._codes[variable]
        rows = GroupedRows.of(keys * (own.max() + 1) + own)
        return rows if len(rows.first) < _MANY_DIFFERENT * len(own) else None

    def _keys_of(self, parents: int) -> npt.NDArray[np.intp] | None:
        """Return a number for each different row of the parents, (n,); None for too many."""
        keys = np.zeros(self.columns.shape[1], dtype=np.intp)
        for i in members(parents):
            if i not in self._codes:
                return None
            codes = self._codes[i]
            _, keys = np.unique(keys * (codes.max() + 1) + codes, return_inverse=True)
            keys = keys.reshape(-1)
        return keys if keys.max() < _MANY_DIFFERENT * len(keys) else None

    def _fit_levels(
        self, model: LevelModel, parents: Parents, rows: GroupedRows | None
    ) -> LevelFit:
        mean = self.mean_features(parents.mean)
        missing = 0.0
        fit: LevelFit
        try:
            if isinstance(model, MultinomialModel):
                if parents.variance:
                    raise ValueError("A category has no variance parents.")
                fit = model.fit(mean, rows)
            else:
                scale = self.variance_features(parents.variance)
                if isinstance(model, CumulativeModel):
                    fit = model.fit(mean, scale, rows)
                else:
                    fit = model.fit(mean, scale)
                missing = self._missing_price(model, parents.variance, scale, fit.scale_information)
        except np.linalg.LinAlgError:
            return model.empty._replace(log_evidence=-np.inf, converged=False)
        missing += self._missing_price(model, parents.mean, mean, fit.information)
        return fit._replace(log_evidence=fit.log_evidence - missing)

    def _missing_price(
        self, model: LevelModel, mask: int, basis: Basis, information: FloatArray
    ) -> float:
        places = relevant_places(basis.variances, LEVELS, model.max_functions)
        n_parents = mask.bit_count()
        return missing_price(basis.variances[places], information, n_parents, LEVELS)

    def model_of(self, variable: int, fit: LevelFit) -> LevelModel:
        """Return the model that a fit of one variable came from."""
        models = {type(model.empty): model for model in self.level_models[variable]}
        return models[type(fit)]

    def screen(
        self,
        variable: int,
        fit: Any,
        parents: Parents,
        mean_additions: list[int],
        variance_additions: list[int],
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Estimate the evidence gained by each addition, see `LocalScorer.screen`."""
        model: Any
        if not isinstance(fit, LocalFit):
            model = self.model_of(variable, fit)
        elif fit.coarse is not None:
            model, fit = self.coarse[variable], fit.coarse
        else:
            return super().screen(variable, fit, parents, mean_additions, variance_additions)
        mean_gains = {
            i: model.screen_mean(fit, *self.mean_features(1 << i)) for i in mean_additions
        }
        variance_gains = {}
        if not isinstance(model, MultinomialModel):
            variance_gains = {
                i: model.screen_scale(fit, *self.variance_features(1 << i))
                for i in variance_additions
            }
        return mean_gains, variance_gains
