"""The page and its figures, from records written by hand."""

from dataclasses import replace
from xml.etree import ElementTree

import pandas as pd
import pytest
from studies.case import Outcome
from studies.figures import draw_figure
from studies.page import benchmark_page, paper_page, write_pages
from studies.registry import STUDIES
from studies.store import Store

POOR = "ConvergenceWarning: The draws may not describe the posterior well: x1 -> x2; ask for more."


@pytest.fixture
def study():
    sparse = STUDIES["fig-sparse"]
    views = tuple(replace(view, cases=view.cases[:1]) for view in sparse.views)
    return replace(sparse, views=views, methods=("evidence", "mc3", "empty"), quick=())


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


@pytest.fixture
def keep(study, store):
    """Keep a run of a method with the given rate of SHD."""
    (case,) = study.cases

    def kept(method, number, rate=0.25, status="complete", warnings=()):
        keys = [metric.key for view in study.views for metric in view.metrics]
        outcome = Outcome(dict.fromkeys(keys, rate), 1.0, status, tuple(warnings))
        store.add(case, store.record(case, method, number, outcome))

    return kept


@pytest.fixture
def page(study, store):
    """Return the page's text, with usual spaces."""
    return lambda: paper_page([study], store).replace("\u00a0", " ")


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
    keep("mc3", 1, status="failed: why")
    text = page()
    assert "**Failed:** MC3 on sparse-5, set 1: why" in text
    assert "Still missing, of 3 sets for each case and method:\n\n- MC3: sparse-5 (1 of 3)" in text
    assert "- Evidence:" not in text
    keep("mc3", 1)
    keep("mc3", 2)
    assert "Not complete" not in page()


def test_cells_are_mean_and_sd_over_sets(keep, page):
    keep("evidence", 0, 0.25)
    keep("evidence", 1, 0.75)
    assert "| Evidence | 0.500 ± 0.354 | 0.50 ± 0.35 | 2 |" in page()


def test_the_empty_graph_is_a_dashed_line(keep, study, store):
    keep("evidence", 0)
    without = draw_figure(study, store)
    assert without == draw_figure(study, store)
    assert "stroke-dasharray" not in without
    keep("empty", 0)
    assert "stroke-dasharray" in draw_figure(study, store)


def test_a_figure_is_well_formed_and_bars_are_as_high_as_they_say(keep, study, store):
    keep("evidence", 0, 0.2)
    keep("mc3", 0, 0.4)
    root = ElementTree.fromstring(draw_figure(study, store))
    panels = root.findall("{*}g")
    assert len(panels) == 4
    for panel in panels:
        low, high = (float(bar.get("height")) for bar in panel.findall("{*}rect"))
        assert high == pytest.approx(2 * low, abs=0.11)  # tenths of a pixel
    assert "MC3" in [text.text for text in root.findall("{*}text")]


def test_the_pages_have_every_study(complete, tmp_path):
    in_paper = [study for study in STUDIES.values() if study.kind == "paper"]
    methods = ["varsort", "evidence-linear"]
    assert complete(in_paper, tmp_path / "results", n_sets=1, methods=methods) == 0
    folder = tmp_path / "docs"
    paths = write_pages(Store(tmp_path / "results", quick=True), folder)
    assert all(path.parent == folder for path in paths)
    page = (folder / "reproduction.md").read_text(encoding="utf-8").replace("\u00a0", " ")
    for study in in_paper:
        assert f"`{study.name}`" in page
        assert study.about in page
        for view in study.views:
            assert f"**{view.title}**" in page
            for row, cells in view.printed.items():
                assert f"| paper: {row} | {' | '.join(cells)} |" in page
        assert (folder / f"{study.name}.svg").exists() == study.is_figure
        assert (f"]({study.name}.svg)" in page) == study.is_figure
    assert "## Where our numbers differ" in page
    assert "## What the paper does not state" in page
    assert "## Every number beside the paper's" in page
    assert "**quick** run" in page
    assert "**Not complete.**" in page  # two methods of eight
    assert "- MC3: sparse-5, " in page
    assert "- VarSort: " not in page
    assert "- Every method: sachs-log-100-told-25, " in page
    runs = pd.read_csv(folder / "runs.csv")
    assert (runs["status"] == "complete").all()
    varsort = runs.query("case == 'sparse-5' and method == 'varsort'")
    assert f"| VarSort | {varsort['shd_mean'].item():.2f} |" in page
    others = (folder / "benchmarks.md").read_text(encoding="utf-8")
    assert all(f"`{s.name}`" in others for s in STUDIES.values() if s.kind == "benchmark")


def test_benchmarks_without_runs_are_named(store):
    text = benchmark_page([STUDIES["real"], STUDIES["knowledge"]], store)
    assert "## Not measured yet\n\n- `real`: " in text
    assert "## Knowledge" not in text
