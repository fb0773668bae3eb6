"""Everything the page shows, computed from a fit and its data as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from momentdag.effects.inputs import consensus_pair
from momentdag.errors import DataError
from momentdag.knowledge import Knowledge
from momentdag.posterior import Posterior
from momentdag.posterior.queries import EdgeChoice
from momentdag.report.assumptions import Assumption, judge_assumptions
from momentdag.report.audit import Audit, audit_knowledge
from momentdag.report.change import ChangeContent, describe_change
from momentdag.report.checks import (
    CriticismContent,
    ScreeningContent,
    criticise_fit,
    screen_data,
)
from momentdag.report.columns import Account, ColumnsContent, describe_columns
from momentdag.report.convergence import Convergence, check_convergence
from momentdag.report.doubt import DoubtContent, PlainEdges, gather_doubt
from momentdag.report.draws import PackedDraws, pack_draws
from momentdag.report.headline import Headline, write_headline
from momentdag.report.picture import MIN_PROBABILITY, Picture, draw_picture
from momentdag.report.variables import Effort, VariableContent, describe_variables
from momentdag.report.whatif import WhatIfContent, describe_what_if
from momentdag.report.world import WorldContent, check_model
from momentdag.table import Dataset
from momentdag.table.experimental import undisturbed_rows

if TYPE_CHECKING:
    from momentdag.estimator import MomentDAG

__all__ = ["ReportContent", "gather_content"]

_N_STRONGEST = 6
_LIKELY = 0.5
_MAX_CHECKED_ROWS = 2_000


@dataclass(frozen=True)
class ReportContent:
    """The content of the page; each part is documented in the module that computes it.

    Parameters
    ----------
    title : str
    headline : Headline
    names : tuple of str
    n_samples : int
    n_rows_shown : int
        Rows of the data in the file.
    provenance : dict
    picture : Picture
    world : WorldContent or None
        Whether the model reproduces the data; None without mechanisms.
    change : ChangeContent or None
        What each regime changed; None without regimes.
    whatif : WhatIfContent or None
        What happens to outcomes if causes are set; None without mechanisms or causes.
    columns : ColumnsContent
        What was done to each column.
    edges : list of dict
        The table of edges: cause, effect, mean, variance, only, error, consensus; under ``beside``
        for both moments the plain probability where it differs, and whether the edge is unsure.
    strongest : dict
        The likely edges of each graph, and who moves only the spread of whom, at most six each.
    draws : PackedDraws
    variables : list of VariableContent
    screening : ScreeningContent or None
    criticism : CriticismContent or None
    convergence : Convergence
    doubt : DoubtContent or None
        Where the model is sure and the rows are not; None without worlds.
    audit : Audit or None
    assumptions : list of Assumption
    has_mechanisms : bool
    """

    title: str
    headline: Headline
    names: tuple[str, ...]
    n_samples: int
    n_rows_shown: int
    provenance: dict[str, Any]
    picture: Picture
    world: WorldContent | None
    change: ChangeContent | None
    whatif: WhatIfContent | None
    columns: ColumnsContent
    edges: list[dict[str, Any]]
    strongest: dict[str, list[dict[str, Any]]]
    draws: PackedDraws
    variables: list[VariableContent]
    screening: ScreeningContent | None
    criticism: CriticismContent | None
    convergence: Convergence
    doubt: DoubtContent | None
    audit: Audit | None
    assumptions: list[Assumption]
    has_mechanisms: bool


def gather_content(
    estimator: MomentDAG,
    dataset: Dataset,
    title: str,
    knowledge: Knowledge | None,
    effort: Effort,
    account: Account | None = None,
    outcomes: Sequence[str] | None = None,
    run: str = "RUN",
) -> ReportContent:
    """Compute everything the page shows."""
    posterior = estimator.posterior_
    usual = undisturbed_rows(dataset)
    checked = _rows_to_check(usual)
    shown = _rows_to_show(checked.n_samples, effort.n_shown)
    consensus = consensus_pair(estimator)
    convergence = check_convergence(posterior)
    screened = criticised = None
    if not checked.has_missing:  # else there are hardly any complete rows to look at
        screened = screen_data(estimator, checked, consensus)
        # The whole table is known as that of the fit.
        whole = usual if usual.n_samples <= _MAX_CHECKED_ROWS else checked
        criticised = criticise_fit(estimator, whole, consensus, shown)
    assumptions = judge_assumptions(
        dataset,
        convergence,
        None if screened is None else screened[0],
        None if criticised is None else criticised[0],
    )
    audit = None
    if knowledge is not None and knowledge.statements():
        audit = audit_knowledge(posterior, knowledge, used=knowledge == estimator.knowledge)
    choices: tuple[EdgeChoice, ...] = ("mean", "variance")
    only = posterior.variance_only_causes()
    strongest: dict[str, list[dict[str, Any]]] = {
        **{choice: _strongest(posterior, choice) for choice in choices},
        "variance_only": _strongest_pairs(only),
    }
    world, doubt = check_model(estimator, usual), gather_doubt(posterior)
    whatif = describe_what_if(estimator, run, outcomes, effort.what_if)
    headline = write_headline(
        len(posterior.names),
        strongest,
        {c: len(posterior.edge_table(c, min_probability=_LIKELY)) for c in choices},
        None if world is None else world.grade,
        convergence.grade,
        doubt,
        0 if criticised is None else len(criticised[1].groups),
        whatif,
    )
    return ReportContent(
        title=title,
        headline=headline,
        names=posterior.names,
        n_samples=dataset.n_samples,
        n_rows_shown=len(shown),
        provenance=posterior.provenance.to_dict(),
        picture=draw_picture(estimator),
        world=world,
        change=describe_change(estimator),
        whatif=whatif,
        columns=describe_columns(estimator.result_.observed, dataset, account),
        edges=_edge_rows(estimator, only),
        strongest=strongest,
        draws=pack_draws(posterior),
        variables=describe_variables(estimator, checked.values, shown, effort),
        screening=None if screened is None else screened[1],
        criticism=None if criticised is None else criticised[1],
        convergence=convergence,
        doubt=doubt,
        audit=audit,
        assumptions=assumptions,
        has_mechanisms=estimator.scm_ is not None,
    )


def _rows_to_check(dataset: Dataset) -> Dataset:
    """Return the complete rows, or random ones of many: a page must not take longer than a fit.

    A table without enough complete rows is returned as it is.
    """
    rows = np.flatnonzero(~dataset.missing.any(axis=1))
    if len(rows) == dataset.n_samples <= _MAX_CHECKED_ROWS:
        return dataset
    rows = rows[_rows_to_show(len(rows), _MAX_CHECKED_ROWS)]
    try:
        return dataset.take_rows(rows)
    except DataError:  # a nearly constant column is constant in these rows
        return dataset


def _rows_to_show(n_samples: int, n_shown: int) -> Any:
    if n_samples <= n_shown:
        return np.arange(n_samples)
    return np.sort(np.random.default_rng(0).choice(n_samples, n_shown, replace=False))


def _strongest(posterior: Posterior, choice: EdgeChoice) -> list[dict[str, Any]]:
    table = posterior.edge_table(choice, min_probability=_LIKELY).head(_N_STRONGEST)
    plain = PlainEdges(posterior)
    rows: list[dict[str, Any]] = table[["cause", "effect", "probability"]].to_dict("records")
    return [
        {**row, **plain.beside(row["cause"], row["effect"], choice, row["probability"])}
        for row in rows
    ]


def _strongest_pairs(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the likely pairs of a table of probabilities, most probable first."""
    likely = table.stack()
    likely = likely[likely >= _LIKELY].sort_values(ascending=False, kind="stable")
    return [
        {"cause": str(cause), "effect": str(effect), "probability": float(probability)}
        for (cause, effect), probability in likely.head(_N_STRONGEST).items()
    ]


def _edge_rows(estimator: MomentDAG, only: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a row for each pair of variables with an edge worth showing, most probable first."""
    posterior = estimator.posterior_
    likely = posterior.edge_table(min_probability=MIN_PROBABILITY)
    errors = likely.groupby(["cause", "effect"], sort=False)["standard_error"].max()
    tables = {
        "mean": posterior.edge_probabilities("mean"),
        "variance": posterior.edge_probabilities("variance"),
        "only": only,
    }
    graphs = {"mean": estimator.mean_graph_, "spread": estimator.variance_graph_}
    plain = PlainEdges(posterior)
    rows = []
    for (cause, effect), error in errors.items():
        consensus = [moment for moment, graph in graphs.items() if graph.has_edge(cause, effect)]
        probabilities = {key: float(table.loc[cause, effect]) for key, table in tables.items()}
        rows.append(
            {
                "cause": cause,
                "effect": effect,
                **probabilities,
                "beside": {
                    moment: plain.beside(cause, effect, moment, probabilities[moment])
                    for moment in ("mean", "variance")
                },
                "error": float(error),
                "consensus": " and ".join(consensus),
            }
        )
    return sorted(rows, key=lambda row: -max(row["mean"], row["variance"]))
