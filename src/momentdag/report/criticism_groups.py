"""Findings of the criticism grouped by what is wrong, with what to try once for each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from momentdag.screening import Criticism
from momentdag.screening.checks import FITTED
from momentdag.screening.criticism_text import shape_of, suits_logarithm, suits_transform

__all__ = ["Finding", "FindingGroup", "group_findings"]

_LEVELS = ("binary", "category")


@dataclass(frozen=True)
class Finding:
    """What was found: of which variable, with which other one, and how strongly."""

    variable: str
    other: str
    detail: str
    p_value: float


@dataclass(frozen=True)
class FindingGroup:
    """Findings of one kind, the strongest first.

    Parameters
    ----------
    title : str
        What is wrong.
    meaning : str
        What that does to the answers.
    advice : list of str
        What to try; only what makes sense for the columns concerned.
    findings : list of Finding
    """

    title: str
    meaning: str
    advice: list[str]
    findings: list[Finding]


def group_findings(criticism: Criticism, log_columns: Sequence[str] = ()) -> list[FindingGroup]:
    """Return the findings, those about noise first.

    Parameters
    ----------
    criticism : Criticism
    log_columns : sequence of str
        Columns that are logarithms already.
    """
    dependence = criticism.dependence[criticism.dependence["p_value"] < criticism.level]
    with_fitted = dependence["other"] == FITTED
    is_parent = dependence["role"] == "parent"
    groups = [
        _shapes(criticism, log_columns),
        _noise(criticism),
        _scale(criticism, dependence[with_fitted], log_columns),
        _stiff(criticism, dependence[~with_fitted & is_parent]),
        _missing(criticism, dependence[~with_fitted & ~is_parent]),
        _pairs(criticism),
    ]
    return [group for group in groups if group.findings]


def _group(
    title: str, meaning: str, advice: Sequence[str | None], findings: list[Finding]
) -> FindingGroup:
    ranked = sorted(findings, key=lambda one: one.p_value)
    return FindingGroup(title, meaning, [text for text in advice if text], ranked)


def _shapes(criticism: Criticism, log_columns: Sequence[str]) -> FindingGroup:
    table = criticism.variables.loc[list(criticism.non_gaussian)]
    findings = [
        Finding(str(name), "", shape_of(row), float(row["p_gaussian"]))
        for name, row in table.iterrows()
    ]
    flexible = criticism.noise != "gaussian"
    covered = flexible and bool((table["p_noise"] >= criticism.level).all())
    meaning = (
        "Mean causes and variance causes can be told apart with certainty only if noise is "
        "Gaussian. "
    )
    if covered:
        meaning += (
            f"The {criticism.noise} noise of this fit matches these shapes and allows for it."
        )
    heavy = bool((table["excess_kurtosis"] > 0.5).any())
    families = [
        family
        for family in (["student"] if heavy else []) + ["flexible"]
        if family != criticism.noise
    ]
    advice = [
        f"Compare with another family of noise: {' or '.join(families)}." if families else None,
        *_transforms(criticism, [one.variable for one in findings], log_columns),
    ]
    return _group("Noise is not Gaussian", meaning, advice, findings)


def _noise(criticism: Criticism) -> FindingGroup:
    table = criticism.variables[criticism.variables["p_noise"] < criticism.level]
    findings = [Finding(str(name), "", "", float(row["p_noise"])) for name, row in table.iterrows()]
    discrete = [one.variable for one in findings if one.variable in criticism.residuals.discrete]
    rest = [one.variable for one in findings if one.variable not in discrete]
    return _group(
        "The fitted noise or probabilities do not match the rows",
        "Probabilities of edges into these variables are unreliable.",
        [
            f"Try another family of noise or a transform of {_listed(rest)}." if rest else None,
            *_other_kinds(criticism, discrete),
        ],
        findings,
    )


def _scale(criticism: Criticism, table: pd.DataFrame, log_columns: Sequence[str]) -> FindingGroup:
    findings = [Finding(row.variable, "", "", row.p_value) for row in table.itertuples()]
    names = [one.variable for one in findings]
    discrete = [name for name in names if name in criticism.residuals.discrete]
    rest = [name for name in names if name not in discrete]
    return _group(
        "The size of the residual changes with the fitted mean",
        "The variance functions of these variables miss something.",
        [*_transforms(criticism, rest, log_columns), *_other_kinds(criticism, discrete)],
        findings,
    )


def _stiff(criticism: Criticism, table: pd.DataFrame) -> FindingGroup:
    return _group(
        "The function of a known cause is too stiff",
        "The residual still changes with a variable that is a cause already.",
        ["Try more inducing rows (n_inducing)."],
        [
            Finding(row.variable, row.other, _moment(criticism, row), row.p_value)
            for row in table.itertuples()
        ],
    )


def _missing(criticism: Criticism, table: pd.DataFrame) -> FindingGroup:
    return _group(
        "An edge may be missing",
        "The residual still changes with a variable that is no cause in the consensus.",
        ["Look at the probability of the edge; if the order is known, state it."],
        [
            Finding(
                row.variable,
                row.other,
                f"{_moment(criticism, row)}, edge {row.probability:.2f}",
                row.p_value,
            )
            for row in table.itertuples()
        ],
    )


def _pairs(criticism: Criticism) -> FindingGroup:
    table = criticism.noise_pairs
    return _group(
        "Residuals move together",
        "A common cause may be unmeasured, or an edge missing or reversed.",
        ["Ask someone who knows the process what could move both; measure it if it can be."],
        [
            Finding(row.first, row.second, f"correlation {row.correlation:.2f}", row.p_value)
            for row in table[table["p_value"] < criticism.level].itertuples()
        ],
    )


def _moment(criticism: Criticism, row: Any) -> str:
    if _kind(criticism, row.variable) in _LEVELS and row.variable in criticism.residuals.discrete:
        return "probabilities"
    return "mean" if row.moment == "mean" else "spread"


def _kind(criticism: Criticism, name: str) -> str:
    dataset = criticism.residuals.dataset
    return dataset.kinds[dataset.index(name)]


def _transforms(
    criticism: Criticism, names: Sequence[str], log_columns: Sequence[str]
) -> list[str]:
    """Return advice about transforms for those columns that have any use for one."""
    free = [name for name in names if name not in log_columns]
    logarithms = [name for name in free if suits_logarithm(criticism, name)]
    others = [name for name in free if name not in logarithms and suits_transform(criticism, name)]
    advice = []
    if logarithms:
        advice.append(f"Try the logarithm of {_listed(logarithms)} (--transform NAME=log).")
    if others:
        advice.append(f"Try a transform (such as Yeo-Johnson) of {_listed(others)}.")
    return advice


def _other_kinds(criticism: Criticism, names: Sequence[str]) -> list[str]:
    """Return advice about kinds for discrete columns."""
    other = {"ordered": "count", "count": "ordered"}
    kinds = {name: _kind(criticism, name) for name in names}
    advice = []
    for kind, instead in other.items():
        of_kind = [name for name in names if kinds[name] == kind]
        if of_kind:
            advice.append(f'Try the kind "{instead}" or "continuous" for {_listed(of_kind)}.')
    rest = [name for name in names if kinds[name] in _LEVELS]
    if rest:
        advice.append(f"A cause of {_listed(rest)} may be missing.")
    return advice


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
