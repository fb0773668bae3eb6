"""The consensus as a distributional regression that people know, with its held-out log score.

Each variable is regressed on its causes as a GAMLSS does: the mean on those in the mean graph, the
logarithm of the sd on those in the variance graph,

    y_i = x_i'b + exp(z_i'c) e_i,   e_i ~ N(0, 1),

by alternating until the likelihood stands still (Aitkin 1987; Smyth 1989): weighted least squares
for b given the sds, and for c a Gamma regression with logarithmic link of the squared residuals,
whose score equations are those of the normal likelihood. Binary variables are logistic regressions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import statsmodels.api as sm
from scipy.special import expit, logsumexp
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

from momentdag.display import text
from momentdag.display.printable import Printable, Writer
from momentdag.effects.export.formulas import to_formulas
from momentdag.effects.inputs import EffectInputs, FittedEstimator, consensus_pair, read_inputs
from momentdag.effects.rows import read_rows
from momentdag.engines.protocol import AnyMechanism, as_continuous, as_discrete
from momentdag.errors import DataError, OptionError
from momentdag.posterior.monte_carlo import evenly_spaced

__all__ = ["FittedFormulas", "fit_formulas"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_ROUNDS, _TOLERANCE = 50, 1e-8
_N_KNOTS = 4  # of a smooth term: three basis functions beside the straight line
_LEAST_SMOOTH = 8  # distinct values for a smooth term
_N_DRAWS = 50
_LEAST_VARIANCE = 1e-10  # of a squared residual, as a share of the variance


class _Design(NamedTuple):
    """Terms of a regression and their values in rows."""

    terms: tuple[str, ...]
    values: FloatArray  # (n, n_terms), the intercept first


@dataclass(frozen=True, eq=False, repr=False)
class FittedFormulas(Printable):
    """Regressions of every variable on its causes, held against the model on other rows.

    Parameters
    ----------
    table : DataFrame
        See `to_frame`.
    coefficients : DataFrame
        Columns variable, part ("mean", "log sd" or "log odds"), term, estimate, standard_error.
    """

    table: pd.DataFrame
    coefficients: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each variable.

        Columns: variable; formula; family; log_score, the mean log density of the regression per
        held-out row; our_log_score, that of the model; difference, ours minus theirs, with its
        standard_error. Variables whose kind the regression does not have (counts, ordered levels,
        categories) have no log_score.
        """
        return self.table.copy()

    def _headline(self) -> str:
        compared = self.table["difference"].dropna()
        said = f"regressions of {text.count(len(self.table), 'variable')}"
        if compared.empty:
            return f"{said}, none with a log score"
        gap = float(compared.sum())
        return (
            f"{said}; held-out log score per row {text.number(abs(gap))} "
            f"{'below' if gap > 0 else 'above'} that of the model"
        )

    def _write(self, to: Writer) -> str:
        parts = [to.table(self.table), to.table(self.coefficients, full="coefficients")]
        return to.block("Distributional regressions of the consensus", parts)


def fit_formulas(
    estimator: FittedEstimator, train: object, test: object, *, smooth: bool = False
) -> FittedFormulas:
    """Fit the consensus as distributional regressions and compare their held-out log scores.

    Parameters
    ----------
    estimator : MomentDAG
        Fitted to ``train``.
    train, test : DataFrame
        Complete rows in the units of the file: those of the fit, and others.
    smooth : bool
        Let numbers act by natural cubic splines rather than by straight lines.

    Returns
    -------
    FittedFormulas

    Raises
    ------
    DataError
        If rows are incomplete, or there are fewer than twice as many as terms.

    Examples
    --------
    With a model fitted to the frame ``train``::

        md.effects.export.fit_formulas(model, train, test, smooth=True).to_frame()
    """
    inputs = read_inputs(estimator)
    graph = consensus_pair(estimator)
    fitted, held_out = (read_rows(estimator, inputs, rows).values for rows in (train, test))
    lines = dict(zip(graph.order, to_formulas(estimator, smooth=smooth).splitlines(), strict=True))
    ours = _our_scores(inputs, held_out)
    mechanisms = inputs.model.mean_functions(graph)
    rows, coefficients = [], []
    for j, name in enumerate(inputs.names):
        row: dict[str, object] = {"variable": name, "formula": lines[name], "family": "none"}
        kind = inputs.observed.kinds.get(name, "continuous")
        is_normal = not mechanisms[name].is_discrete
        scores = np.full(len(held_out), np.nan)
        if is_normal or kind == "binary":
            parents = (graph.parents(name, moment) for moment in ("mean", "variance"))
            designs = [_designs(inputs, fitted, held_out, causes, smooth) for causes in parents]
            if len(fitted) < 2 * sum(len(design.terms) for design, _ in designs):
                raise DataError(f"Expected more rows to regress {name!r}; got {len(fitted)}.")
            regress = _normal if is_normal else _logistic
            parts, scores = regress(fitted[:, j], held_out[:, j], *designs)
            row["family"] = "normal" if is_normal else "bernoulli"
            coefficients += [{"variable": name, **part} for part in parts]
        gap = ours[j] - scores
        row |= {
            "log_score": scores.mean(),
            "our_log_score": ours[j].mean(),
            "difference": gap.mean(),
            "standard_error": gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan,
        }
        rows.append(row)
    return FittedFormulas(pd.DataFrame(rows), pd.DataFrame(coefficients))


def _our_scores(inputs: EffectInputs, values: FloatArray) -> list[FloatArray]:
    """Return the log density of each variable given its causes, averaged over draws, (n,) each."""
    rng = np.random.default_rng(0)
    draws = [
        inputs.model.draw_functions(rng, inputs.posterior.draw(int(k)))
        for k in evenly_spaced(inputs.posterior.n_draws, min(_N_DRAWS, inputs.posterior.n_draws))
    ]
    return [
        logsumexp([_log_density(one[name], values, j) for one in draws], axis=0)
        - np.log(len(draws))
        for j, name in enumerate(inputs.names)
    ]


def _log_density(mechanism: AnyMechanism, values: FloatArray, column: int) -> FloatArray:
    discrete = as_discrete(mechanism)
    if discrete is not None:
        return discrete.log_masses(values, values[:, column])
    continuous = as_continuous(mechanism)
    mean, sd = continuous.moments(values)
    return continuous.noise_log_density((values[:, column] - mean) / sd) - np.log(sd)


def _designs(
    inputs: EffectInputs,
    fitted: FloatArray,
    held_out: FloatArray,
    causes: Sequence[str],
    smooth: bool,
) -> tuple[_Design, _Design]:
    """Return the same terms in the rows of the fit and in others."""
    terms, columns = ["intercept"], [(np.ones(len(fitted)), np.ones(len(held_out)))]
    for name in causes:
        j = inputs.names.index(name)
        pair = fitted[:, j], held_out[:, j]
        distinct = np.unique(pair[0])
        if inputs.observed.kinds.get(name) == "category":
            for level in distinct[1:]:
                terms.append(f"{name}[{inputs.spell(name, float(level))}]")
                columns.append(((pair[0] == level) * 1.0, (pair[1] == level) * 1.0))
            continue
        terms.append(name)
        columns.append(pair)
        if smooth and len(distinct) >= _LEAST_SMOOTH:
            knots = np.unique(np.quantile(pair[0], np.linspace(0.05, 0.95, _N_KNOTS + 1)))
            for k in range(len(knots) - 2):
                terms.append(f"{name}, spline {k + 1}")
                columns.append((_spline(pair[0], knots, k), _spline(pair[1], knots, k)))
    first, second = (np.column_stack(part) for part in zip(*columns, strict=True))
    return _Design(tuple(terms), first), _Design(tuple(terms), second)


def _spline(x: FloatArray, knots: FloatArray, k: int) -> FloatArray:
    """Return a function of the natural cubic basis, straight beyond the outer knots."""
    last, before = knots[-1], knots[-2]

    def cubed(knot: float) -> FloatArray:
        return np.asarray(np.maximum(x - knot, 0.0) ** 3)

    bend = cubed(knots[k]) - cubed(before) * (last - knots[k]) / (last - before)
    bend += cubed(last) * (before - knots[k]) / (last - before)
    return np.asarray(bend / (last - knots[0]) ** 2)


def _normal(
    y: FloatArray,
    y_new: FloatArray,
    mean: tuple[_Design, _Design],
    spread: tuple[_Design, _Design],
) -> tuple[list[dict[str, object]], FloatArray]:
    """Return the coefficients of a location-scale regression, and its scores on other rows."""
    variance = np.full(len(y), y.var())
    floor = _LEAST_VARIANCE * y.var()
    before = -np.inf
    for _ in range(_ROUNDS):
        location = sm.WLS(y, mean[0].values, weights=1 / variance).fit()
        squares = np.maximum((y - location.fittedvalues) ** 2, floor)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of steps on the way
            scale = sm.GLM(
                squares, spread[0].values, family=sm.families.Gamma(sm.families.links.Log())
            ).fit(scale=2.0)  # a squared normal has twice its squared mean as variance
        variance = np.maximum(scale.fittedvalues, floor)
        now = float(_normal_scores(y, location.fittedvalues, variance).mean())
        if abs(now - before) < _TOLERANCE:
            break
        before = now
    parts = [
        {"part": "mean", "term": t, "estimate": b, "standard_error": s}
        for t, b, s in zip(mean[0].terms, location.params, location.bse, strict=True)
    ]
    parts += [
        {"part": "log sd", "term": t, "estimate": b / 2, "standard_error": s / 2}
        for t, b, s in zip(spread[0].terms, scale.params, scale.bse, strict=True)
    ]
    fitted = mean[1].values @ location.params
    variance = np.maximum(np.exp(spread[1].values @ scale.params), floor)
    return parts, _normal_scores(y_new, fitted, variance)


def _normal_scores(y: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    return np.asarray(-0.5 * (np.log(2 * np.pi * variance) + (y - mean) ** 2 / variance))


def _logistic(
    y: FloatArray,
    y_new: FloatArray,
    mean: tuple[_Design, _Design],
    spread: tuple[_Design, _Design],
) -> tuple[list[dict[str, object]], FloatArray]:
    """Return the same of a logistic regression; a binary variable has no spread of its own."""
    high = y.max()
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerfectSeparationWarning)
        try:
            odds = sm.GLM((y == high) * 1.0, mean[0].values, family=sm.families.Binomial()).fit()
        except PerfectSeparationWarning:
            raise OptionError(
                "The causes of a binary variable separate its values perfectly, so that a logistic "
                "regression does not exist."
            ) from None
    parts: list[dict[str, object]] = [
        {"part": "log odds", "term": t, "estimate": b, "standard_error": s}
        for t, b, s in zip(mean[0].terms, odds.params, odds.bse, strict=True)
    ]
    p = np.clip(expit(mean[1].values @ odds.params), 1e-12, 1 - 1e-12)
    return parts, np.where(y_new == high, np.log(p), np.log(1 - p))
