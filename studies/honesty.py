"""Whether probabilities are right as often as they say: in the model class, outside, real data."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from momentdag.datasets import load_light_tunnel, load_sachs
from momentdag.graph import MomentGraph
from momentdag.simulate import Misspecification, misspecified, misspecified_families
from studies.case import FIRST_SEED, FitCase, Task
from studies.honesty_measures import (
    CLIP,
    TRUTH,
    measure,
    measure_by_moment,
    parts,
    parts_by_moment,
)
from studies.honesty_tables import Scope, direction_table, edge_table, reliability_curves
from studies.real import N_TUNNEL_ROWS, SHARED_DATA, tunnel_copy
from studies.sachs import accepted_network
from studies.simulated import draw_preset
from studies.study import Metric, Study, View

__all__ = ["HONESTY", "draw_misspecified", "draw_pair", "in_class", "outside", "published_pairs"]

PairSet = Literal["SIM", "SIM_G"]

_N_SETS = 40  # of each simulation
_PAIRS = SHARED_DATA / "development_pairs.npz"
_N_PAIRS = 100  # of each kind
_MOMENTS_KNOWN = ("post_nonlinear", "skewness", "multiplicative", "mixture")
_METHODS = ("evidence", "evidence-plain", "evidence-bootstrap", "mc3", "dds")


def in_class(name: str) -> FitCase:
    """Return a preset, whose data the model describes, as a case.

    Examples
    --------
    >>> in_class("sparse-5").name
    'honesty-sparse-5'
    """
    return FitCase(
        name=f"honesty-{name}",
        group=name,
        n_variables=int(name.rpartition("-")[2]),
        table="honesty",
        max_sets=_N_SETS,
        draw=partial(_draw_in_class, name),
        measure=measure_by_moment,
        measure_parts=parts_by_moment,
    )


def outside(family: Misspecification, n_variables: int) -> FitCase:
    """Return a family of `momentdag.simulate.misspecified` as a case.

    Examples
    --------
    >>> outside("skewness", 2).name, outside("skewness", 2).group
    ('honesty-skewness-2', 'skewness, d = 2')
    """
    known = family in _MOMENTS_KNOWN
    return FitCase(
        name=f"honesty-{family}-{n_variables}",
        group=f"{family}, d = {n_variables}",
        n_variables=n_variables,
        table="honesty",
        max_sets=_N_SETS,
        draw=partial(draw_misspecified, family, n_variables),
        measure=measure_by_moment if known else measure,
        measure_parts=parts_by_moment if known else parts,
    )


def published_pairs(kind: PairSet, path: Path = _PAIRS) -> FitCase:
    """Return the pairs of a published benchmark as a case, which has no sets without its file.

    Examples
    --------
    >>> published_pairs("SIM_G", Path("missing.npz")).max_sets
    0
    """
    return FitCase(
        name=f"honesty-pairs-{kind}",
        group=f"pairs {kind}",
        n_variables=2,
        table="honesty",
        max_sets=_N_PAIRS if path.is_file() else 0,
        draw=partial(draw_pair, kind, path),
        measure=measure,
        measure_parts=parts,
    )


def _draw_in_class(name: str, number: int) -> Task:
    task = draw_preset(name, number)
    return task._replace(truths={TRUTH: task.truths["simulated"]})


def draw_misspecified(family: Misspecification, n_variables: int, number: int) -> Task:
    """Draw a data set of a family, 1 000 rows."""
    rng = np.random.default_rng(FIRST_SEED + number)
    simulation = misspecified(rng, family, n_variables)
    truths = {TRUTH: simulation.graph}
    return Task(simulation.data, truths, simulation=simulation, number=number)


def draw_pair(kind: PairSet, path: Path, number: int) -> Task:
    """Return a pair with columns x and y, and which of them is the cause."""
    with np.load(path) as stored:
        values, direction = stored[kind][number], stored[f"{kind}_truth"][number]
    edge = ("x", "y") if direction == 1 else ("y", "x")
    truth = MomentGraph.from_edges("xy", mean=[edge], variance=[edge])
    table = pd.DataFrame(values.astype(np.float64), columns=["x", "y"])
    return Task(table, {TRUTH: truth}, number=number)


def _draw_sachs(number: int) -> Task:
    return Task(pd.DataFrame(np.log(load_sachs().data)), {TRUTH: accepted_network("17")})


def _draw_tunnel(variant: Literal["core", "full"], n_rows: int, number: int) -> Task:
    reference = load_light_tunnel(variant, path=tunnel_copy())
    union = reference.union_graph
    assert union is not None
    truth = MomentGraph.from_frames(union, union)  # of which moment is not asked
    return Task(reference.data.iloc[:n_rows], {TRUTH: truth})


def _real(name: str, group: str, n_variables: int, draw: partial[Task]) -> FitCase:
    return FitCase(
        name=f"honesty-{name}",
        group=group,
        n_variables=n_variables,
        table="honesty",
        max_sets=1,
        draw=draw,
        measure=measure,
        measure_parts=parts,
    )


_IN_CLASS = (in_class("sparse-5"), in_class("sparse-10"))
_OUTSIDE = {d: tuple(outside(family, d) for family in misspecified_families()) for d in (2, 5)}
_ALL_OUTSIDE = (*_OUTSIDE[2], *_OUTSIDE[5])
_PAIR_CASES = (published_pairs("SIM"), published_pairs("SIM_G"))
_SACHS = _real("sachs", "Sachs, log", 11, partial(_draw_sachs))
_CORE = _real("tunnel-core", "light tunnel, core", 11, partial(_draw_tunnel, "core", N_TUNNEL_ROWS))
_FULL = _real("tunnel-full", "light tunnel, full", 20, partial(_draw_tunnel, "full", 10_000))
_CASES = (*_IN_CLASS, *_ALL_OUTSIDE, *_PAIR_CASES, _SACHS, _CORE, _FULL)
_SCOPES = (
    Scope("in the class, together", _IN_CLASS),
    Scope("outside, d = 2, together", _OUTSIDE[2]),
    Scope("outside, d = 5, together", _OUTSIDE[5]),
    Scope("outside, together", _ALL_OUTSIDE),
    Scope("pairs, together", _PAIR_CASES),
)
_BY_MOMENT = (
    *_IN_CLASS,
    *(case for case in _ALL_OUTSIDE if case.measure is measure_by_moment),
)
_WHERE_PAIRS_ARE = (
    ""
    if _PAIRS.is_file()
    else " The pairs are skipped: there is no file ../shared/data/development_pairs.npz beside "
    "this checkout."
)


def _curves(title: str, curve: Literal["direction", "union"], cases: tuple[FitCase, ...]) -> View:
    things = "true links" if curve == "direction" else "ordered pairs of variables"
    return View(
        title,
        cases,
        methods=_METHODS,
        note=f"Mean probability in the bin: share that is right (number of {things}).",
        make=partial(reliability_curves, curve=curve),
    )


HONESTY = Study(
    name="honesty",
    title="Honest probabilities",
    shows="how sure methods are of edges and directions and how often right, outside the model too",
    views=(
        View(
            "Directions: stated / right / log loss",
            _CASES,
            (Metric("n_links", "links"),),
            methods=_METHODS,
            note=(
                "Of every pair of variables with an edge in the truth: stated is the probability "
                "of the likelier direction, P(x -> y) / (P(x -> y) + P(y -> x)) in the union of "
                "both graphs, so that the probability of no edge is ignored; right, how often it "
                "is the true one; log loss, that of the true direction, probabilities clipped to "
                f"[{CLIP}, {1 - CLIP}]. Always saying 1/2 has .69." + _WHERE_PAIRS_ARE
            ),
            make=partial(direction_table, scopes=_SCOPES),
        ),
        View(
            "Edges of the union: log loss / Brier score / calibration error",
            _CASES,
            (Metric("log_loss_union", "log loss"), Metric("brier_union", "Brier score")),
            methods=_METHODS,
            note=(
                "Of all ordered pairs of variables; probabilities are clipped as above in the log "
                "loss. Base rate: the log loss of always saying the share that are edges."
            ),
            make=partial(edge_table, scopes=_SCOPES),
        ),
        View(
            "Edges of each graph: log loss / Brier score / calibration error",
            _BY_MOMENT,
            (Metric("log_loss_mean", "log loss"), Metric("log_loss_variance", "log loss")),
            methods=_METHODS,
            note="Where the truth says which moment an edge moves.",
            make=partial(edge_table, scopes=_SCOPES[:1], curves=("mean", "variance")),
        ),
        _curves("Reliability of directions, in the model class", "direction", _IN_CLASS),
        _curves("Reliability of directions, outside", "direction", _ALL_OUTSIDE),
        _curves("Reliability of directions, pairs", "direction", _PAIR_CASES),
        _curves("Reliability of edges, in the model class", "union", _IN_CLASS),
        _curves("Reliability of edges, outside", "union", _ALL_OUTSIDE),
        View(
            "Real data",
            (_SACHS, _CORE, _FULL),
            (
                Metric("auroc_union", "AUROC of edges", "higher"),
                Metric("log_loss_union", "log loss", "lower"),
                Metric("brier_union", "Brier score", "lower", digits=3),
                Metric("n_links", "links", digits=0),
                Metric("n_turned", "surely turned round", "lower", digits=0),
                Metric("seconds", "seconds", digits=0),
            ),
            methods=_METHODS,
            rows="cases",
            note="Surely turned round: links whose reversal has a probability above .95.",
        ),
    ),
    methods=_METHODS,
    about=(
        "In the class: 500 rows of the presets; outside: 1 000 rows of each family of "
        f"`simulate.misspecified`, one broken assumption each; {_N_SETS} sets of each. Pairs: "
        "the simulated pairs SIM and SIM-G of Mooij et al. (2016), of which the repository has no "
        "copy. Sachs: 853 cells against the network of 17 edges; light tunnel: 1 500 rows of the "
        "core, or 10 000 of all 20 columns. Bootstrap: the plain engine, refitted to ten tables of "
        "rows drawn with replacement. MC3 and DDS have one graph, which stands for both moments."
    ),
    quick=(
        *("honesty-sparse-5", "honesty-skewness-2", "honesty-hidden_cause-2"),
        *("honesty-mixture-5", "honesty-pairs-SIM"),
    ),
    on_request=(_FULL.name,),
    n_sets=_N_PAIRS,  # simulations stop at their own number
)
