"""The runs that are kept in the repository count for the present settings and versions."""

from pathlib import Path

import pandas as pd
import pytest
from studies.page import paper_page
from studies.registry import STUDIES, find_studies
from studies.runner import Selection, jobs_of
from studies.store import Store
from studies.study import case_method_pairs

RESULTS = Path(__file__).parents[2] / "studies" / "results"


@pytest.fixture(scope="module")
def store():
    return Store(RESULTS)


def has_run(store, job):
    runs = store.records(job.case, job.method)
    return any(run.number == job.number and not run.failed for run in runs)


def test_ten_sets_of_every_paper_study_up_to_twenty_variables_are_finished(store):
    jobs = jobs_of(find_studies(["all"]), Selection(n_sets=10, max_variables=20), quick=False)
    assert len(jobs) == 2250
    # Those of an earlier version count here until they are run again; the page says so.
    assert [job.key for job in jobs if not has_run(store, job)] == []
    page = paper_page(find_studies(["all"]), store)
    assert "2250 runs, 0 of them failed" in page
    n_old = sum(not store.is_finished(*job) for job in jobs)
    assert (f"{n_old} of them with an earlier version" in page) == (n_old > 0)


@pytest.mark.parametrize(
    ("name", "n_sets"), [("accuracy", 20), ("order-search", 20), ("knowledge", 10), ("real", 1)]
)
def test_benchmarks_are_finished(store, name, n_sets):
    jobs = jobs_of([STUDIES[name]], Selection(n_sets=n_sets), quick=False)
    assert jobs
    assert all(has_run(store, job) for job in jobs)


def test_every_line_belongs_to_a_study(store):
    pairs = case_method_pairs(STUDIES.values(), quick=False)
    known = {(case.name, method, store.settings(case, method)) for case, method in pairs}
    for path in sorted(RESULTS.glob("*.csv")):
        table = pd.read_csv(path)[["case", "method", "settings"]]
        assert set(table.itertuples(index=False, name=None)) <= known, path.name
