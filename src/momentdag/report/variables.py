"""What the page shows of each variable: range, parents, curves, levers, variance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from momentdag.effects import LeverRanking, MonteCarlo, decompose_variance, levers
from momentdag.effects.inputs import consensus_pair
from momentdag.posterior import Posterior
from momentdag.report.curves import Curve, draw_mechanisms, parent_curves
from momentdag.report.doubt import Misfit, misfit_of
from momentdag.report.levels import Form, form_of, level_shares, names_of_levels
from momentdag.report.whatif_grids import WhatIfEffort
from momentdag.table import Observed

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["Effort", "Part", "VariableContent", "describe_variables"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_N_PARENT_SETS = 3
_MIN_CAUSE = 0.1  # least probability of a path from a lever to its target
_MAX_LEVERS = 8
_N_SETTINGS = 5
_LEAST_SHARE = 0.005  # of the variance, to be listed


@dataclass(frozen=True)
class Effort:
    """How much is computed: enough for a dozen variables, bounded for fifty.

    Parameters
    ----------
    n_draws : int
        Draws for curves, levers and decompositions.
    n_rows : int
        Noise rows in each draw.
    n_shown : int
        Rows of the data behind the curves.
    n_lever_searches : int
        Levers searched over all targets together; targets with the most probable variance parents
        first.
    n_parts : int
        Causes among which variance is decomposed, over all targets together, in the same order.
    what_if : WhatIfEffort
    """

    n_draws: int = 40
    n_rows: int = 128
    n_shown: int = 300
    n_lever_searches: int = 30
    n_parts: int = 60
    what_if: WhatIfEffort = field(default_factory=WhatIfEffort)


@dataclass(frozen=True)
class Part:
    """A share of a variable's variance: "own noise", or through the mean or scale from a cause."""

    part: str
    cause: str
    share: float


@dataclass(frozen=True)
class VariableContent:
    """Everything about one variable.

    Parameters
    ----------
    summary : dict
        min, median, max, mean, sd in the data's units.
    kind : str or None
        Of the column; None if it is not known.
    form : {"mean", "probability", "shares"}
        What the curves show: the mean and the spread, the probability of the higher of two values,
        or the probability of each level.
    label : str
        The title of the axis of the mean.
    step : float or None
        The smallest distance of two values of a variable that was fitted as a discrete one, on the
        scale of the curves: its rows are shown as they are.
    levels : list of dict
        Of categories and binary columns: level, and its share of the rows.
    notes : list of str
        What there is not to be seen of a variable of this kind, and why.
    parent_sets : list of dict
        The most probable pairs of parent sets: mean, variance, probability.
    curves : list of Curve
        Against each parent in the consensus pair.
    has_causes : bool
        Whether any other variable that can be set is a probable cause, direct or not.
    levers : list of dict or None
        Rows of `effects.levers` that change something, best first; None if not computed.
    n_idle : int
        Levers left out because they change next to nothing.
    tolerance : str or None
        Largest change of the mean allowed to a lever.
    recommendation : str or None
        What to set, in a sentence.
    parts : list of Part or None
        Where the variance comes from; None if not computed.
    misfit : Misfit or None
        How far its rows speak against the model; None if not measured.
    is_log : bool
        Whether it is the logarithm of what the file holds; curves are of the logarithm.
    """

    summary: dict[str, float]
    kind: str | None
    form: Form
    label: str
    step: float | None
    levels: list[dict[str, Any]]
    notes: list[str]
    parent_sets: list[dict[str, Any]]
    curves: list[Curve]
    has_causes: bool
    levers: list[dict[str, Any]] | None
    n_idle: int
    tolerance: str | None
    recommendation: str | None
    parts: list[Part] | None
    misfit: Misfit | None
    is_log: bool


def describe_variables(
    estimator: MomentDAG, values: FloatArray, shown: npt.NDArray[np.intp], effort: Effort
) -> list[VariableContent]:
    """Describe every variable, in the order of the columns.

    Parameters
    ----------
    estimator : MomentDAG
    values : float array, shape (n_samples, d)
    shown : int array
        The rows to show behind curves.
    effort : Effort
    """
    posterior = estimator.posterior_
    causes = _likely_causes(posterior)
    candidates, decomposed = _within_budget(estimator, causes, effort)
    curves = _curves(estimator, values, shown, effort)
    observed = estimator.result_.observed
    forms, discrete = _forms(estimator)
    described = []
    for j, name in enumerate(posterior.names):
        ranking = None
        if candidates.get(name):
            ranking = levers(
                estimator,
                name,
                candidates=candidates[name],
                n_settings=_N_SETTINGS,
                monte_carlo=MonteCarlo(effort.n_draws, effort.n_rows),
            )
        described.append(
            VariableContent(
                {k: float(v) for k, v in estimator.summary_.loc[name].items()},
                observed.kinds.get(name),
                forms[name],
                _label(observed, name, forms[name]),
                _step(observed, name, forms[name]) if name in discrete else None,
                _levels(observed, name, values[:, j]),
                _notes(name, forms[name]),
                _parent_sets(estimator, name),
                curves[name],
                any(observed.kinds.get(cause) != "time" for cause in causes[name]),
                *_lever_content(ranking),
                _parts(estimator, name, forms[name], effort) if name in decomposed else None,
                misfit_of(posterior, name),
                name in observed.log_columns,
            )
        )
    return described


def _forms(estimator: MomentDAG) -> tuple[dict[str, Form], set[str]]:
    """Return what is shown of each variable, and which were fitted as discrete ones."""
    if estimator.scm_ is None:
        return dict.fromkeys(estimator.posterior_.names, "mean"), set()
    mechanisms = estimator.scm_.mean_functions(consensus_pair(estimator))
    observed = estimator.result_.observed
    forms = {name: form_of(observed, name, one) for name, one in mechanisms.items()}
    return forms, {name for name, one in mechanisms.items() if one.is_discrete}


def _label(observed: Observed, name: str, form: Form) -> str:
    if form == "shares":
        return f"P({name})"
    if form == "probability":
        return f"P({name} = {names_of_levels(observed, name)[-1]})"
    return f"mean of log {name}" if name in observed.log_columns else f"mean of {name}"


def _step(observed: Observed, name: str, form: Form) -> float | None:
    if form == "probability":
        return 1.0
    if observed.kinds.get(name) not in ("ordered", "count"):
        return None
    return float(np.diff(observed.levels[name]).min(initial=np.inf))


def _levels(observed: Observed, name: str, column: FloatArray) -> list[dict[str, Any]]:
    if observed.kinds.get(name) not in ("binary", "category"):
        return []
    shares = level_shares(observed.levels[name], column)
    names = names_of_levels(observed, name)
    return [{"level": n, "share": float(s)} for n, s in zip(names, shares, strict=True)]


def _notes(name: str, form: Form) -> list[str]:
    if form == "probability":
        return [
            f"{name} has two values, so its variance follows from its mean: p (1 - p). It has no "
            "spread of its own to show, and no lever can change its variance and keep its mean."
        ]
    if form == "shares":
        return [
            f"{name} is a category, which has no mean and no variance: causes move the "
            "probabilities of its levels. There is no spread to show, no variance to split, and "
            "there are no levers on it."
        ]
    return []


def _lever_content(
    ranking: LeverRanking | None,
) -> tuple[list[dict[str, Any]] | None, int, str | None, str | None]:
    if ranking is None:
        return None, 0, None, None
    table = ranking.to_frame()
    rows = table[table["has_effect"].astype(bool)].to_dict("records")
    return rows, len(table) - len(rows), ranking.tolerance_text, ranking.recommendation()


def _likely_causes(posterior: Posterior) -> dict[str, list[str]]:
    """Return the likely causes of each variable, direct or not, most probable first."""
    paths = posterior.ancestor_probabilities("either")
    causes = {}
    for name in posterior.names:
        ranked = paths[name].sort_values(ascending=False, kind="stable")
        causes[name] = [str(cause) for cause in ranked.index[ranked >= _MIN_CAUSE]]
    return causes


def _within_budget(
    estimator: MomentDAG, causes: Mapping[str, Sequence[str]], effort: Effort
) -> tuple[dict[str, list[str]], set[str]]:
    """Return the candidate levers of each target, and the targets whose variance is decomposed."""
    if estimator.scm_ is None:
        return {}, set()
    posterior = estimator.posterior_
    spread = posterior.edge_probabilities("variance").sum() + 1e-3 * (
        posterior.edge_probabilities("mean").sum()
    )
    candidates: dict[str, list[str]] = {}
    decomposed: set[str] = set()
    searches, parts = effort.n_lever_searches, effort.n_parts
    kinds = estimator.result_.observed.kinds
    for name in spread.sort_values(ascending=False, kind="stable").index:
        if kinds.get(name) == "category":
            continue
        # Nobody can set a date.
        settable = [cause for cause in causes[name] if kinds.get(cause) != "time"]
        likeliest = settable[:_MAX_LEVERS]
        if len(likeliest) <= searches and kinds.get(name) != "binary":
            candidates[name] = likeliest
            searches -= len(likeliest)
        if causes[name] and len(causes[name]) <= parts:
            decomposed.add(name)
            parts -= len(causes[name])
    return candidates, decomposed


def _parent_sets(estimator: MomentDAG, name: str) -> list[dict[str, Any]]:
    table = estimator.posterior_.parent_sets(name).head(_N_PARENT_SETS)
    return [
        {
            "mean": list(row.mean_parents),
            "variance": list(row.variance_parents),
            "probability": row.probability,
        }
        for row in table.itertuples()
    ]


def _curves(
    estimator: MomentDAG, values: FloatArray, shown: npt.NDArray[np.intp], effort: Effort
) -> dict[str, list[Curve]]:
    """Return the curves of each variable; none without parents or without mechanisms."""
    model, posterior = estimator.scm_, estimator.posterior_
    curves: dict[str, list[Curve]] = {name: [] for name in posterior.names}
    consensus = consensus_pair(estimator)
    if model is None or not consensus.edges():
        return curves
    mechanisms = model.mean_functions(consensus)
    draws = draw_mechanisms(np.random.default_rng(0), model, posterior, effort.n_draws)
    for name in posterior.names:
        if consensus.parents(name):
            drawn = [draw[name] for draw in draws]
            curves[name] = parent_curves(
                consensus,
                name,
                mechanisms[name],
                drawn,
                estimator.result_.observed,
                values,
                values[shown],
            )
    return curves


def _parts(estimator: MomentDAG, name: str, form: Form, effort: Effort) -> list[Part]:
    how = MonteCarlo(effort.n_draws, effort.n_rows)
    table = decompose_variance(estimator, name, monte_carlo=how).to_frame()
    parts = [
        Part(row.part, row.cause, row.share) for row in table.itertuples() if row.part != "total"
    ]
    if form == "probability":
        # E[p (1 - p)] is the noise of a binary variable: its scale is not moved by itself.
        own = sum(part.share for part in parts if part.part != "mean")
        means = [part for part in parts if part.part == "mean"]
        parts = [Part("own noise", name, own), *means]
    return [part for part in parts if part.share >= _LEAST_SHARE]
