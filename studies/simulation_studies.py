"""Benchmarks on simulated data, from the accuracy of graphs to a quick look."""

from __future__ import annotations

from dataclasses import replace

from momentdag.simulate import presets
from studies.calibration import calibration_table, pooled_reliability_table
from studies.paper_tables import DISTANCES
from studies.recovery import N_NEW_ROWS, recovery
from studies.simulated import GRAPHS, simulated
from studies.store import Store
from studies.study import Metric, Study, View
from studies.tables import Table, mean_sd

__all__ = ["SIMULATION_STUDIES"]

_BOTH = ("mean", "variance")
_ALL = {name: recovery(name) for name in presets()}
_CASES = tuple(_ALL.values())
_USUAL = tuple(
    f"recovery-{name}"
    for name in (
        *("sparse-5", "sparse-10", "dense-10", "sparse-20"),
        *("literal-5", "anm-5", "laplace-5", "student-5"),
    )
)
_ON_REQUEST = tuple(case.name for case in _CASES if case.name not in _USUAL)
_TWO = (_ALL["sparse-5"], _ALL["sparse-10"])
_QUICK = (_ALL["sparse-5"].name,)
_POOLED = replace(_ALL["sparse-5"], name="recovery-sparse-5-and-10", max_sets=0)
_CALIBRATED = (*_TWO, _POOLED)

_RECOVERY = (
    *(Metric(f"shd_{label}", f"SHD {label}", "lower") for label, _ in GRAPHS),
    *(Metric(f"expected_shd_{label}", f"E-SHD {label}", "lower") for label in _BOTH),
    *(Metric(f"f1_{label}", f"F1 {label}", "higher") for label, _ in GRAPHS),
    Metric("n_edges_variance", "variance edges", digits=1),
)
_UNITS = (Metric("seconds", "seconds", digits=1), Metric("gram_units", "Gram products", digits=0))

_ACCURACY = Study(
    name="accuracy",
    title="Accuracy on simulated data",
    shows="SHD and F1 of both graphs and their union, evidence engine, every kind of simulation",
    views=(
        View("Recovery of the graphs", _CASES, _RECOVERY, rows="cases"),
        View(
            "What flexible noise costs",
            (_ALL["sparse-5"],),
            _RECOVERY,
            rows="cases",
            methods=("evidence", "evidence-gaussian"),
        ),
    ),
    methods=("evidence",),
    about=(
        "500 rows, default settings. SHD, F1 and the number of edges are those of the consensus "
        "pair; E-SHD is averaged over draws."
    ),
    quick=_QUICK,
    on_request=_ON_REQUEST,
)
_ORDER_SEARCH = Study(
    name="order-search",
    title="Search and chains",
    shows="whether the search finds an order as good as the true one, and chains mix",
    views=(
        View(
            "Search and chains on simulated data",
            _CASES,
            (
                Metric("order_found", "order found", "higher", summary="share"),
                Metric("order_gap", "worst gap", "higher", digits=1, summary="smallest"),
                Metric("is_poor", "poor chains", "lower", summary="share"),
                *_UNITS,
            ),
            rows="cases",
        ),
    ),
    methods=("evidence",),
    about=(
        "The runs of `accuracy`. The best pair of the search is compared with the best pair under "
        "the true order, both scored by evidence plus edge prior with the kernels the fit ended "
        "with and the edge rates of the pair it found; under the true order parents are sought "
        "among all predecessors, and the true pair counts if it scores higher. Order found: sets "
        "whose gap is at most 5 nats. Poor chains: sets whose diagnostics warn. Other work on the "
        "machine and pauses (of some sets of sparse-10) count in the times; `speed` measures them "
        "alone."
    ),
    quick=_QUICK,
    on_request=_ON_REQUEST,
)
_CALIBRATION = Study(
    name="calibration",
    title="Calibration of edge probabilities",
    shows="whether edges are as frequent as their probabilities say, 50 sets of two simulations",
    views=(
        View(
            "Calibration, sparse-5 and sparse-10 together",
            _CALIBRATED,
            tuple(Metric(f"brier_{moment}", "Brier score", "lower") for moment in _BOTH),
            make=calibration_table,
        ),
        View(
            "Reliability",
            _CALIBRATED,
            note=(
                "Pairs of variables by the probability of the edge; the share of edges is that of "
                "pairs whose edge exists."
            ),
            make=pooled_reliability_table,
        ),
    ),
    methods=("evidence",),
    about="The runs of `accuracy` and more of the same.",
    quick=_QUICK,
    n_sets=50,
)
_ENGINES = Study(
    name="engines",
    title="Both engines on the same data",
    shows="expected SHD, F1 and density of new rows, evidence and variational engine",
    views=(
        View(
            "Both engines",
            _TWO,
            (
                *(Metric(f"expected_shd_{moment}", f"E-SHD {moment}", "lower") for moment in _BOTH),
                *(Metric(f"f1_{moment}", f"F1 {moment}", "higher") for moment in _BOTH),
                Metric("score", "score", "higher"),
                Metric("seconds", "seconds", digits=1),
            ),
            rows="cases",
            note=(
                "The paper prints an E-SHD of 2.34 and 3.33 for sparse-5, 15.5 and 19.3 for "
                "sparse-10, on its own draw of such data."
            ),
        ),
    ),
    methods=("evidence", "variational", "variational-relaxed", "variational-alternating"),
    about=(
        f"500 rows. Score: log density of one of {N_NEW_ROWS} new rows. *Relaxed gradients* "
        "changes nothing but the gradients of edges and order to the published ones; *near the "
        "paper* is algorithm 1 from one start. Other work on the machine and pauses of long runs "
        "count in the seconds."
    ),
    quick=_QUICK,
)
_LOOKS = tuple(recovery(name, "look") for name in _ALL)
_LOOK = Study(
    name="look",
    title="A quick look",
    shows="speed and accuracy of a few fits on this machine, measured anew each time",
    views=(
        View(
            "Fits on this machine",
            _LOOKS,
            (
                *_UNITS,
                *(Metric(f"expected_shd_{moment}", f"E-SHD {moment}", "lower") for moment in _BOTH),
                *(Metric(f"expected_f1_{moment}", f"F1 {moment}", "higher") for moment in _BOTH),
                Metric("is_poor", "poor chains", "lower", summary="share"),
            ),
            rows="cases",
        ),
    ),
    methods=("evidence", "variational"),
    about="A look, not a study: on no page.",
    quick=("look-sparse-5",),
    on_request=(
        *(case.name for case in _LOOKS if case.group not in ("sparse-5", "sparse-10")),
        "variational",
    ),
    kind="look",
    n_sets=1,
)


def _knowledge_table(view: View, store: Store) -> Table | None:
    """Compare runs of the same data sets, without and with orderings given."""
    lines = []
    for name in _TOLD:
        plain, told = ({r.number: r for r in store.records(c, "evidence")} for c in _TOLD[name])
        pairs = [(plain[k], told[k]) for k in told if k in plain]
        pairs = [(a, b) for a, b in pairs if not (a.failed or b.failed)]
        if not pairs:
            continue
        shd = {
            moment: [[run.measures[f"shd_{moment}"] for run in pair] for pair in pairs]
            for moment in _BOTH
        }
        cells = [mean_sd(column) for m in _BOTH for column in zip(*shd[m], strict=True)]
        both = zip(*shd.values(), strict=True)
        change = [sum(after - before for before, after in moments) for moments in both]
        n_broken = sum(run.measures["n_broken"] for _, run in pairs)
        lines.append((name, str(len(pairs)), *cells, mean_sd(change), f"{n_broken:.0f}"))
    columns = (
        *("", "sets", "mean, without", "mean, with", "variance, without", "variance, with"),
        *("change of the sum", "broken"),
    )
    return Table(view.title, columns, tuple(lines), note=view.note) if lines else None


_TOLD = {name: (simulated(name), simulated(name, share=0.5)) for name in ("sparse-5", "sparse-10")}
_KNOWLEDGE = Study(
    name="knowledge",
    title="Knowledge of orderings",
    shows="expected SHD with half of the true orderings given, and without",
    views=(
        View(
            "Expected SHD without and with half of the orderings",
            tuple(case for pair in _TOLD.values() for case in pair),
            make=_knowledge_table,
            note="Broken: draws that contradict an ordering that was given.",
        ),
    ),
    methods=("evidence",),
    about=(
        "Half of all pairwise orderings of the true order are given as certain. Runs without are "
        "those of `fig-sparse`."
    ),
    quick=tuple(case.name for case in _TOLD["sparse-5"]),
    n_sets=10,
)
_POSTERIOR_QUALITY = Study(
    name="posterior-quality",
    title="Draws against the exact posterior",
    shows="total variation and KL of each way to draw, linear Gaussian data, beside the paper's",
    views=(DISTANCES,),
    methods=("evidence-linear", "evidence-linear-chain", "exact-draws"),
    about=(
        "Up to four variables the library enumerates every graph and draws systematically; "
        "Markov chains are what larger problems get. Independent draws from the exact posterior "
        "show how much of a distance the finite number of draws makes by itself."
    ),
    quick=tuple(case.name for case in DISTANCES.cases),
)

SIMULATION_STUDIES = {
    study.name: study
    for study in (
        *(_ACCURACY, _ORDER_SEARCH, _CALIBRATION, _ENGINES, _KNOWLEDGE, _POSTERIOR_QUALITY),
        _LOOK,
    )
}
