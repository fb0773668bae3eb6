"""The first search: on some rows of a long table, and judged on all of them."""

import numpy as np
import pytest

from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.problem import pose_problem
from momentdag.engines.evidence.search.structure_search import (
    search_quickly,
    search_thoroughly,
    tune_kernels,
)
from momentdag.engines.standardise import standardise
from momentdag.knowledge import Knowledge
from momentdag.simulate import linear_anm
from momentdag.table import Dataset


def problem_with(n_samples, n_variables=5):
    simulation = linear_anm(np.random.default_rng(0), n_variables, 1, n_samples)
    dataset = Dataset.from_table(simulation.data)
    table = standardise(dataset)
    knowledge = Knowledge().compile(dataset.names).reordered(table.columns)
    options = EvidenceOptions(family="linear")
    return pose_problem(np.random.default_rng(1), table.values, knowledge, options)


@pytest.mark.parametrize("n_samples", [400, 3000])
def test_the_first_search_is_scored_on_all_rows(n_samples):
    problem = problem_with(n_samples)
    evidences = [{} for _ in range(problem.n_variables)]
    found = search_quickly(
        problem, evidences, np.random.default_rng(2), 1, lambda done, total: None
    )
    assert len(found.problem.values) == n_samples
    search = found.problem.search()
    for j, own in enumerate(found.best.parents):
        # Whatever is handed on as known is what all rows say.
        assert found.evidences[j][own] == search.log_evidence(j, own)
    assert tune_kernels(found, 1) is found  # the linear family has no kernels


@pytest.mark.slow
def test_many_variables_have_more_starts_wherever_they_run():
    problem = problem_with(300, 16)
    found = []
    for n_jobs in (1, 2):
        first = search_quickly(
            problem, [{} for _ in range(16)], np.random.default_rng(2), n_jobs, lambda *done: None
        )
        assert len(first.optima) == 2
        again = search_thoroughly(first, np.random.default_rng(3), n_jobs, lambda *done: None)
        assert len(again.optima) == 4
        found.append(again)
    assert found[0].optima == found[1].optima
    assert found[0].evidences == found[1].evidences


def test_fewer_rows_are_rows_of_the_table():
    problem = problem_with(600)
    fewer = problem.with_fewer_rows(np.random.default_rng(3), 200)
    assert fewer.values.shape == (200, problem.n_variables)
    assert {tuple(row) for row in fewer.values} <= {tuple(row) for row in problem.values}
    assert fewer.inducing_rows.max() < 200
