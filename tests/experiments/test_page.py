"""The page and its figures, from records written by hand."""

from dataclasses import replace

import pytest

from momentdag.experiments import EXPERIMENTS
from momentdag.experiments.figures import draw_figure
from momentdag.experiments.page import write_page
from momentdag.experiments.store import Record, Store, write_record

POOR = "ConvergenceWarning: The draws may not describe the posterior well: x1 -> x2; ask for more."


@pytest.fixture
def experiment():
    sparse = EXPERIMENTS["fig-sparse"]
    views = tuple(replace(view, cases=view.cases[:1]) for view in sparse.views)
    return replace(sparse, views=views, methods=("evidence", "mc3", "empty"), quick=())


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "work", quick=False)


@pytest.fixture
def keep(experiment, store):
    """Keep a run of a method with the given rate of SHD."""
    (case,) = experiment.cases

    def kept(method, number, rate=0.25, **more):
        keys = [metric.key for view in experiment.views for metric in view.metrics]
        record = Record(case.name, method, number, dict.fromkeys(keys, rate), **more)
        write_record(store.path(case, method, number), record, store.settings(case, method))

    return kept


@pytest.fixture
def page(experiment, store, tmp_path):
    """Write the page and return its text."""
    return lambda: write_page((experiment,), store, tmp_path).read_text(encoding="utf-8")


def test_our_own_engine_is_not_spared_what_others_are_told(keep, page):
    keep("evidence", 0)
    keep("evidence", 1, warnings=["DataWarning: few rows", POOR])
    keep("mc3", 0, status="chains mix poorly", warnings=["ConvergenceWarning: MC3: mix poorly; x"])
    text = page()
    said = "runs warn that they may not have converged; set"
    assert (
        f"- Evidence on sparse-5: 1 of 2 {said} 1, for example: The draws may not describe the "
        "posterior well: x1 -> x2\n"
    ) in text
    assert f"- MC3 on sparse-5: 1 of 1 {said} 0, for example: mix poorly\n" in text
    assert "few rows" not in text


def test_what_is_missing_is_named(keep, page):
    for number in range(3):
        keep("evidence", number)
        keep("empty", number)
    keep("mc3", 0)
    keep("mc3", 1, status="failed", reason="why")
    text = page()
    assert "Still missing, of 3 sets for each case and method:\n\n- MC3: sparse-5 (1 of 3)" in text
    assert "- Evidence:" not in text
    keep("mc3", 1)
    keep("mc3", 2)
    assert "Not complete" not in page()


def test_cells_are_mean_and_sd_over_sets(keep, page):
    keep("evidence", 0, 0.25)
    keep("evidence", 1, 0.75)
    assert "| Evidence | 0.500 ± 0.354 | 0.50 ± 0.35 | 2 |" in page()


def test_the_empty_graph_is_a_dashed_line(keep, experiment, store):
    keep("evidence", 0)
    without = draw_figure(experiment, store)
    assert without == draw_figure(experiment, store)
    assert b"stroke-dasharray" not in without
    keep("empty", 0)
    assert b"stroke-dasharray" in draw_figure(experiment, store)
