"""Stated against right: on posteriors made by hand, and pooled over runs made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from studies.case import Outcome, Task
from studies.fits import Bootstrap, Fitted, Request
from studies.honesty import HONESTY, draw_pair, outside, published_pairs
from studies.honesty_measures import (
    TRUTH,
    directions,
    log_loss,
    measure,
    measure_by_moment,
    parts,
    parts_by_moment,
)
from studies.honesty_tables import calibration_error, pooled_bins
from studies.methods import METHODS
from studies.runner import Selection, jobs_of
from studies.store import Store
from studies.tables import view_table

from momentdag.graph import MomentGraph
from momentdag.posterior import Posterior, Provenance
from momentdag.simulate import misspecified_families, preset

NAMES = ("a", "b", "c")
EDGES = [("a", "b"), ("b", "c")]
GRAPH = MomentGraph.from_edges(NAMES, mean=EDGES, variance=[("a", "b")])


def posterior(*draws):
    """Return draws of pairs, each given by its mean edges and its variance edges."""
    graphs = [MomentGraph.from_edges(NAMES, mean=m, variance=v) for m, v in draws]
    mean, variance = [g.mean_graph for g in graphs], [g.variance_graph for g in graphs]
    return Posterior(NAMES, mean, variance, Provenance("by hand"))


# Of ten draws, six have a -> b (two of them only in the variance), two b -> a, two neither;
# nine have c -> b, one b -> c.
DRAWS = posterior(
    *[([("a", "b"), ("c", "b")], [])] * 4,
    *[([("c", "b")], [("a", "b")])] * 2,
    *[([("b", "a"), ("c", "b")], [])] * 2,
    ([("c", "b")], []),
    ([("b", "c")], []),
)


def fitted(draws=DRAWS, truth=GRAPH):
    return Task(None, {TRUTH: truth}), Fitted(draws)


def test_directions_leave_out_that_there_may_be_no_edge():
    said = directions(DRAWS, GRAPH)
    assert said.p_true == pytest.approx([0.6 / 0.8, 0.1])
    assert said.stated == pytest.approx([0.75, 0.9])
    assert said.right.tolist() == [1.0, 0.0]
    assert said.turned == pytest.approx([0.2, 0.9])


def test_names_may_stand_in_another_order():
    other = GRAPH.reorder(("c", "a", "b"))
    assert sorted(directions(DRAWS, other).p_true) == pytest.approx([0.1, 0.75])


def test_where_nothing_is_said_it_is_half_right():
    nothing = posterior(([], []), ([("b", "a")], []), ([("a", "b")], []))
    said = directions(nothing, GRAPH)
    assert said.p_true.tolist() == said.stated.tolist() == said.right.tolist() == [0.5, 0.5]


def test_the_log_loss_is_clipped():
    p = np.array([0.5, 0.0, 1.0])
    expected = -(np.log(0.5) + np.log(0.001) + np.log(0.999)) / 3
    assert log_loss(p, np.array([1.0, 1.0, 1.0])) == pytest.approx(expected)
    assert log_loss(1 - p, np.zeros(3)) == pytest.approx(expected)


def test_measures_of_directions_and_of_the_union():
    measures = measure(*fitted())
    assert measures["n_links"] == 2
    assert measures["n_pairs"] == 6
    assert measures["stated"] == pytest.approx(0.825)
    assert measures["right"] == 0.5
    assert measures["log_loss_direction"] == pytest.approx(-np.log([0.75, 0.1]).mean())
    assert measures["brier_direction"] == pytest.approx((0.25**2 + 0.9**2) / 2)
    assert measures["n_turned"] == 0
    # a -> b .6, b -> c .1 exist; b -> a .2, c -> b .9, a -> c and c -> a 0 do not.
    errors = np.array([0.4, 0.9, 0.2, 0.9, 0.0, 0.0])
    assert measures["brier_union"] == pytest.approx(np.mean(errors**2))
    shares = 1 - np.clip(errors, 0.001, 0.999)
    assert measures["log_loss_union"] == pytest.approx(-np.log(shares).mean())
    assert measures["share_union"] == pytest.approx(2 / 6)
    assert measures["auroc_union"] == pytest.approx(5 / 8)  # 3 and 2 of the 4 others are below


def test_a_link_is_surely_turned_above_95_percent():
    measures = measure(*fitted(posterior(*[([("b", "a"), ("c", "b")], [])] * 3)))
    assert measures["n_turned"] == 2
    assert measures["right"] == 0
    assert measures["log_loss_direction"] == pytest.approx(-np.log(0.001))


def test_moments_are_measured_where_the_truth_has_them():
    measures = measure_by_moment(*fitted())
    assert measures["brier_variance"] == pytest.approx(0.8**2 / 6)  # a -> b has .2
    assert measures["brier_mean"] == pytest.approx((0.6**2 + 0.9**2 + 0.2**2 + 0.9**2) / 6)
    assert "brier_mean" not in measure(*fitted())
    assert {row["curve"] for row in parts_by_moment(*fitted())} == {0, 1, 2, 3}
    assert {row["curve"] for row in parts(*fitted())} == {0, 3}


def test_a_truth_without_edges_has_no_directions():
    measures = measure(*fitted(truth=MomentGraph.from_edges(NAMES)))
    assert measures["n_links"] == 0
    assert not {"stated", "right", "auroc_union"} & set(measures)
    assert {row["curve"] for row in parts(*fitted(truth=MomentGraph.from_edges(NAMES)))} == {0}


@pytest.fixture
def study():
    """The study with two cases and two methods."""
    kept = tuple(outside("skewness", d) for d in (2, 5))
    views = tuple(
        replace(view, cases=kept, methods=("evidence", "mc3"))
        for view in HONESTY.views
        if view.make is not None
    )
    return replace(HONESTY, views=views, quick=())


@pytest.fixture
def store(tmp_path, study):
    """Runs made by hand: two of the engine on one case, one on the other; one of MC3."""
    store = Store(tmp_path)
    tied = posterior(*(([first, ("b", "c")], []) for first in (("a", "b"), ("b", "a"))))
    for case, method, number, draws in (
        (study.cases[0], "evidence", 0, DRAWS),
        (study.cases[0], "evidence", 1, DRAWS),
        (study.cases[0], "mc3", 0, tied),
        (study.cases[1], "evidence", 0, tied),
    ):
        task, fit = fitted(draws)
        outcome = Outcome(
            measure_by_moment(task, fit), 1.0, parts=tuple(parts_by_moment(task, fit))
        )
        store.add(case, store.record(case, method, number, outcome))
    return Store(tmp_path)


def test_bins_are_pooled_over_runs(store, study):
    runs = store.records(study.cases[0], "evidence")
    bins = pooled_bins(runs, "direction")
    assert bins["n"].to_dict() == {0.7: 2, 0.9: 2}
    assert bins["frequency"].to_dict() == {0.7: 1, 0.9: 0}
    assert calibration_error(bins) == pytest.approx((0.25 + 0.9) / 2)
    edges = pooled_bins(runs, "union")
    assert edges["n"].sum() == 12
    assert edges.loc[0.1, "mean_probability"] == pytest.approx(0.1)
    # Half right: a tie counts in its bin as half a link that is right and half that is wrong.
    ties = pooled_bins(store.records(study.cases[0], "mc3"), "direction")
    assert ties["n"].to_dict() == {0.5: 1, 0.9: 1}
    assert ties["frequency"].to_dict() == {0.5: 0.5, 0.9: 1}


def test_tables_show_every_method_and_pool_the_cases(store, study):
    by_case, edges, by_moment, *curves = (view_table(study, view, store) for view in study.views)
    assert by_case.columns == ("", "sets", "links", "Evidence", "MC3")
    rows = {row[0]: row[1:] for row in by_case.rows}
    loss = -np.log([0.75, 0.1]).mean()
    assert rows["skewness, d = 2"][:3] == ("2", "4", f"0.82 / 0.50 / {loss:.2f}")
    assert rows["skewness, d = 2"][3] == "0.75 / 0.75 / 0.35 [1]"
    assert rows["skewness, d = 5"][3] == "·"
    assert rows["outside, d = 2, together"] != rows["outside, together"]
    assert "in the class, together" not in rows
    base = -(np.log(1 / 3) / 3 + 2 * np.log(2 / 3) / 3)
    assert {row[2] for row in edges.rows} == {f"{base:.3f}"}
    brier = measure(*fitted())["brier_union"]
    assert edges.rows[0][3].split(" / ")[1] == f"{brier:.3f}"
    assert [row[0] for row in by_moment.rows[:2]] == [
        "skewness, d = 2, mean",
        "skewness, d = 2, variance",
    ]
    assert curves[0].columns == ("probability", "Evidence", "MC3")
    assert curves[0].rows[0] == ("0.5 - 0.6", "0.50: 0.50 (1)", "0.50: 0.50 (1)")
    assert all(table.to_markdown() for table in (by_case, edges, by_moment, *curves))


def test_without_runs_there_is_no_table(tmp_path, study):
    assert {view_table(study, view, Store(tmp_path)) for view in study.views} == {None}


def test_every_family_is_a_case_in_two_sizes_and_the_rest_is_there():
    names = {case.name for case in HONESTY.cases}
    assert {f"honesty-{f}-{d}" for f in misspecified_families() for d in (2, 5)} <= names
    assert {"honesty-sparse-5", "honesty-sachs", "honesty-tunnel-core"} <= names
    jobs = jobs_of([HONESTY], Selection(), quick=False)
    assert "honesty-tunnel-full" not in {job.case.name for job in jobs}
    counts = {
        name: sum(job.case.name == name and job.method == "mc3" for job in jobs) for name in names
    }
    assert counts["honesty-lagged-5"] == counts["honesty-sparse-10"] == 40
    assert counts["honesty-sachs"] == 1


@pytest.mark.parametrize("name", ["honesty-skewness-2", "honesty-lagged-5", "honesty-sachs"])
def test_a_case_gives_every_metric_of_its_views(name):
    case = next(case for case in HONESTY.cases if case.name == name)
    task = case.draw(1)
    assert task.data.shape[1] == case.n_variables
    assert task.data.equals(case.draw(1).data)
    outcome = case.run(METHODS["mc3"], 1, 20, {})
    assert set(HONESTY.keys_for(case, "mc3")) <= set(outcome.measures)
    assert outcome.parts


def test_pairs_know_their_cause_and_are_left_out_without_their_file(tmp_path):
    path = tmp_path / "pairs.npz"
    values = np.arange(16, dtype=np.float32).reshape(2, 4, 2)
    np.savez(path, SIM=values, SIM_truth=np.array([1, -1], dtype=np.int8))
    first, second = (draw_pair("SIM", path, number) for number in (0, 1))
    assert first.truths[TRUTH].edges("either") == [("x", "y")]
    assert second.truths[TRUTH].edges("either") == [("y", "x")]
    assert first.data.to_numpy().tolist() == values[0].tolist()
    assert published_pairs("SIM", path).max_sets == 100
    missing = published_pairs("SIM", tmp_path / "none.npz")
    view = replace(HONESTY.views[0], cases=(missing,))
    assert jobs_of([replace(HONESTY, views=(view,), quick=())], Selection(), quick=False) == []


def test_the_pairs_beside_the_checkout_are_those_of_the_case(shared_data):
    path = shared_data / "development_pairs.npz"
    for kind in ("SIM", "SIM_G"):
        case = published_pairs(kind, path)
        task = case.draw(case.max_sets - 1)
        assert task.data.shape == (1000, 2)
        assert len(task.truths[TRUTH].edges("either")) == 1


def test_the_light_tunnel_is_held_against_its_wiring(light_tunnel_file):
    for name, shape, n_edges in (("core", (1500, 11), 16), ("full", (10_000, 20), 39)):
        case = next(case for case in HONESTY.cases if case.name == f"honesty-tunnel-{name}")
        task = case.draw(0)
        assert task.data.shape == shape
        assert len(task.truths[TRUTH].edges("either")) == n_edges


def test_a_bootstrap_pools_the_draws_of_its_refits():
    data = preset("linear-anm-2", np.random.default_rng(0), n_samples=60).data
    options = {"family": "linear", "posterior": "plain"}
    first, second = (Bootstrap(3)(Request(data, None, 5, 40, options)).posterior for _ in range(2))
    assert first.n_draws == 120
    assert first.provenance.options == {"pooled_over": "bootstrap", "n": 3}
    assert np.array_equal(first.mean_graphs, second.mean_graphs)
