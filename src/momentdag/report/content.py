"""Everything the page shows, gathered from a fit and its data as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from momentdag.data import Dataset
from momentdag.errors import DataError
from momentdag.knowledge import Knowledge
from momentdag.posterior import Posterior
from momentdag.posterior.queries import EdgeChoice
from momentdag.report.assumptions import Assumption, judge_assumptions
from momentdag.report.audit import Audit, audit_knowledge
from momentdag.report.checks import (
    CriticismContent,
    ScreeningContent,
    criticise_fit,
    screen_data,
)
from momentdag.report.convergence import Convergence, check_convergence
from momentdag.report.draws import PackedDraws, pack_draws
from momentdag.report.picture import SHOWN, Picture, draw_picture
from momentdag.report.variables import Effort, VariableContent, describe_variables

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["ReportContent", "gather"]

_N_STRONGEST = 6
_LIKELY = 0.5
_MOST_CHECKED = 2_000  # rows


@dataclass(frozen=True)
class ReportContent:
    """What the page is made of; see the modules that make the parts.

    Parameters
    ----------
    title : str
    names : tuple of str
    n_samples : int
    n_rows_shown : int
        Rows of the data that the file holds.
    provenance : dict
    picture : Picture
    edges : list of dict
        The table of edges: cause, effect, mean, variance, only, error, consensus.
    strongest : dict
        The likely edges of each kind, at most six.
    draws : PackedDraws
    variables : list of VariableContent
    screening : ScreeningContent or None
    criticism : CriticismContent or None
    convergence : Convergence
    audit : Audit or None
    assumptions : list of Assumption
    has_mechanisms : bool
    """

    title: str
    names: tuple[str, ...]
    n_samples: int
    n_rows_shown: int
    provenance: dict[str, Any]
    picture: Picture
    edges: list[dict[str, Any]]
    strongest: dict[str, list[dict[str, Any]]]
    draws: PackedDraws
    variables: list[VariableContent]
    screening: ScreeningContent | None
    criticism: CriticismContent | None
    convergence: Convergence
    audit: Audit | None
    assumptions: list[Assumption]
    has_mechanisms: bool


def gather(
    estimator: MomentDAG,
    dataset: Dataset,
    title: str,
    knowledge: Knowledge | None,
    effort: Effort,
) -> ReportContent:
    """Work out everything the page shows."""
    posterior = estimator.posterior_
    checked = _rows_to_check(dataset)
    shown = _rows_to_show(checked.n_samples, effort.n_shown)
    convergence = check_convergence(posterior)
    screened = screen_data(checked, estimator.knowledge)
    criticised = criticise_fit(estimator, checked, shown)
    assumptions = judge_assumptions(
        dataset,
        convergence,
        None if screened is None else screened[0],
        None if criticised is None else criticised[0],
    )
    audit = None
    if knowledge is not None and knowledge.statements():
        audit = audit_knowledge(posterior, knowledge, used=knowledge == estimator.knowledge)
    choices: tuple[EdgeChoice, ...] = ("mean", "variance", "variance_only")
    return ReportContent(
        title=title,
        names=posterior.names,
        n_samples=dataset.n_samples,
        n_rows_shown=len(shown),
        provenance=posterior.provenance.to_dict(),
        picture=draw_picture(estimator),
        edges=_edge_rows(estimator),
        strongest={choice: _strongest(posterior, choice) for choice in choices},
        draws=pack_draws(posterior),
        variables=describe_variables(estimator, checked.values, shown, effort),
        screening=None if screened is None else screened[1],
        criticism=None if criticised is None else criticised[1],
        convergence=convergence,
        audit=audit,
        assumptions=assumptions,
        has_mechanisms=estimator.scm_ is not None,
    )


def _rows_to_check(dataset: Dataset) -> Dataset:
    """Return the table, or a random part of a long one: a page must not take longer than a fit."""
    if dataset.n_samples <= _MOST_CHECKED:
        return dataset
    rows = _rows_to_show(dataset.n_samples, _MOST_CHECKED)
    try:
        return Dataset(dataset.values[rows], dataset.names)
    except DataError:  # a column that hardly ever moves does not move in these rows
        return dataset


def _rows_to_show(n_samples: int, n_shown: int) -> Any:
    if n_samples <= n_shown:
        return np.arange(n_samples)
    return np.sort(np.random.default_rng(0).choice(n_samples, n_shown, replace=False))


def _strongest(posterior: Posterior, choice: EdgeChoice) -> list[dict[str, Any]]:
    table = posterior.edge_table(choice, min_probability=_LIKELY).head(_N_STRONGEST)
    rows: list[dict[str, Any]] = table[["cause", "effect", "probability"]].to_dict("records")
    return rows


def _edge_rows(estimator: MomentDAG) -> list[dict[str, Any]]:
    """Return a row for each pair with an edge worth showing, the surest first."""
    posterior = estimator.posterior_
    table = posterior.edge_table(min_probability=SHOWN)
    errors = table.groupby(["cause", "effect"], sort=False)["standard_error"].max()
    tables = {
        "mean": posterior.edge_probabilities("mean"),
        "variance": posterior.edge_probabilities("variance"),
        "only": posterior.edge_probabilities("variance_only"),
    }
    rows = []
    for (cause, effect), error in errors.items():
        graphs = {"mean": estimator.mean_graph_, "spread": estimator.variance_graph_}
        kept = [word for word, graph in graphs.items() if graph.has_edge(cause, effect)]
        found = {key: float(at.loc[cause, effect]) for key, at in tables.items()}
        rows.append(
            {
                "cause": cause,
                "effect": effect,
                **found,
                "error": float(error),
                "consensus": " and ".join(kept),
            }
        )
    return sorted(rows, key=lambda row: -max(row["mean"], row["variance"]))
