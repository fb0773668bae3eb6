"""Choosing kernels, input scale and detail by evidence."""

import numpy as np
import pytest

from momentdag.engines.evidence.local.features import Kernel
from momentdag.engines.evidence.local.hyperparameters import (
    Hyperparameters,
    choose_hyperparameters,
    hyperparameters_of,
    make_scorer,
)
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.problem import pose_problem
from momentdag.engines.evidence.search.structure_search import search_quickly, tune_kernels
from momentdag.engines.standardise import standardise
from momentdag.knowledge import Knowledge
from momentdag.table import Dataset

LIKED = Kernel("rbf", 0.7, linear=0.25)


def liking(gain_of_fine):
    """Return evidences by which another kernel is best next to fine features than next to usual."""

    def evidence_of_each(each):
        for one in each:
            fine = one.features == "fine"
            yield gain_of_fine * fine + 5.0 * ((one.mean_kernel == LIKED) == fine)

    return evidence_of_each


@pytest.mark.parametrize(("gain", "worth", "taken"), [(50, 40, True), (50, 60, False)])
def test_fine_features_must_be_worth_it_and_have_kernels_of_their_own(gain, worth, taken):
    chosen = choose_hyperparameters(liking(gain), worth)
    assert chosen.features == ("fine" if taken else "usual")
    assert (chosen.mean_kernel == LIKED) == taken
    # Unless asked for, they are not even looked at.
    assert choose_hyperparameters(liking(gain)).features == "usual"


@pytest.mark.parametrize("inputs", ["values", "ranks"])
@pytest.mark.parametrize("features", ["usual", "fine"])
def test_a_scorer_tells_what_it_was_made_with(inputs, features):
    values = np.random.default_rng(0).normal(size=(60, 3))
    made_with = Hyperparameters(inputs, mean_kernel=LIKED, features=features)
    scorer = make_scorer(values, values, np.arange(0, 60, 4), made_with, EvidenceOptions())
    assert hyperparameters_of(scorer) == made_with


def test_fine_features_add_rows_and_functions_and_are_always_the_same():
    values = np.random.default_rng(0).normal(size=(300, 3))
    rows = np.arange(5, 300, 10)

    def features(which):
        scorer = make_scorer(
            values, values, rows, Hyperparameters(features=which), EvidenceOptions()
        )
        return scorer.mean_features

    usual, fine, again = features("usual"), features("fine"), features("fine")
    assert np.array_equal(usual.inducing_rows, rows)
    assert len(np.unique(fine.inducing_rows)) == 160
    assert np.isin(rows, fine.inducing_rows).all()
    assert np.array_equal(fine.inducing_rows, again.inducing_rows)
    assert fine(0b11).functions.shape[1] > 2 * usual(0b11).functions.shape[1]
    few = make_scorer(
        values[:50], values[:50], np.arange(40), Hyperparameters(features="fine"), EvidenceOptions()
    )
    assert len(few.mean_features.inducing_rows) == 50


@pytest.mark.parametrize(
    ("noise", "options", "features"),
    [(1e-4, {}, "fine"), (1.0, {}, "usual"), (1e-4, {"n_inducing": 40}, "usual")],
)
def test_a_mean_next_to_no_noise_asks_for_fine_features(noise, options, features):
    rng = np.random.default_rng(3)
    a, b, e = rng.normal(size=(3, 250))
    effect = np.sin(2 * a) * np.cos(b) + noise * e
    dataset = Dataset(np.column_stack([a, b, effect]), ["a", "b", "effect"])
    table = standardise(dataset)
    knowledge = Knowledge().compile(dataset.names).reordered(table.columns)
    options = EvidenceOptions(**options)
    problem = pose_problem(np.random.default_rng(1), table.values, knowledge, options)
    found = search_quickly(
        problem, [{} for _ in range(3)], np.random.default_rng(2), 1, lambda *done: None
    )
    assert tune_kernels(found, 1).problem.hyperparameters.features == features
