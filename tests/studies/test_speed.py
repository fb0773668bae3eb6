"""Local scores and fits are timed in Gram products."""

from dataclasses import replace

import pytest
from studies.methods import METHODS
from studies.registry import STUDIES
from studies.speed import score_case
from studies.store import Store
from studies.tables import view_table


@pytest.mark.parametrize("default_kernels", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_score_takes_some_gram_products(tmp_path, default_kernels):
    case = score_case(500, default_kernels=default_kernels)
    store, study = Store(tmp_path), STUDIES["speed"]
    for method in ("evidence-gaussian", "evidence"):
        outcome = case.run(METHODS[method], 0, 1, METHODS[method].options)
        assert len(outcome.parts) >= 5  # of ten variables, those with parents
        assert all(1 < part["score"] < 500 for part in outcome.parts)
        store.add(case, store.record(case, method, 0, outcome))
    view = study.views[2 if default_kernels else 0]
    table = view_table(study, replace(view, cases=(case,)), store)
    score = f"{outcome.measures['score']:.1f}"
    assert any(cell.split()[0] == score for cell in table.rows[-1])


@pytest.mark.slow
def test_the_variational_engine_is_timed_twice(tmp_path, complete):
    study = STUDIES["variational-speed"]
    assert complete([study], tmp_path) == 0
    (run,) = Store(tmp_path, quick=True).records(study.cases[0], "variational-twice")
    assert run.measures["second_seconds"] < run.measures["first_seconds"] < run.seconds
    assert run.measures["n_steps"] <= 3000
