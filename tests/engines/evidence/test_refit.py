"""Functions of a long table: from all rows, by sums over chunks of them."""

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag.engines.evidence import refit as module
from momentdag.engines.evidence.local.hyperparameters import Hyperparameters, make_scorer
from momentdag.engines.evidence.model import EvidenceModel
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.evidence.refit import AllRows, chunks
from momentdag.engines.standardise import canonical_order, standardise
from momentdag.graph import MomentGraph

GRAPH = MomentGraph.from_edges(("a", "b", "y"), mean=[("a", "y")], variance=[("b", "y")])
N_FEW, N_MANY = 400, 12_000


def draw(n, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-2, 2, (2, n))
    y = 100 + 10 * (np.sin(2 * a) + np.exp(0.5 * b) * rng.normal(size=n))
    return pd.DataFrame({"a": a, "b": b, "y": y})


def models(noise):
    """Return the model of few rows, of few with functions from all, and of all rows."""
    dataset = md.Dataset.from_table(draw(N_MANY, 0))
    columns = canonical_order(dataset.standardised, dataset.names)
    z = np.round(dataset.standardised[:, columns], 8)
    units = standardise(dataset).units
    few = z[:: N_MANY // N_FEW]
    options = EvidenceOptions(noise=noise)

    def scorer(values):
        rows = np.arange(0, len(values), len(values) // 40)
        return make_scorer(values, values, rows, Hyperparameters(), options)

    of_few = scorer(few)
    return (
        EvidenceModel(units, columns, of_few),
        EvidenceModel(units, columns, of_few, rows=AllRows(z)),
        EvidenceModel(units, columns, scorer(z)),
    )


def errors(model):
    test = draw(2000, 1).to_numpy()
    mean, sd = model.moments(test, GRAPH, "y")
    off = mean - 100 - 10 * np.sin(2 * test[:, 0])
    return np.sqrt(np.mean(off**2)), np.sqrt(np.mean((np.log(sd / 10) - 0.5 * test[:, 1]) ** 2))


@pytest.mark.parametrize("noise", ["gaussian", "student", "flexible"])
def test_functions_are_as_good_as_those_of_a_fit_to_all_rows(noise):
    few, refitted, all_rows = map(errors, models(noise))
    # Thirty times the rows: an error of sampling falls fivefold; half is what nobody misses by.
    np.testing.assert_array_less(np.array(refitted), 0.5 * np.array(few))
    # The bases of few rows are not those of all; one percent of a scale is next to nothing.
    np.testing.assert_array_less(np.array(refitted), 1.5 * np.array(all_rows) + [0.05, 0.01])


def test_more_rows_leave_less_uncertainty():
    few, refitted, all_rows = (m.mechanism(GRAPH, "y") for m in models("gaussian"))
    at = np.zeros((1, 3))
    before, after, whole = (m.predict(at) for m in (few, refitted, all_rows))
    for part in ("mean_variance", "log_std_variance"):
        ratio = getattr(before, part)[0] / getattr(after, part)[0]
        # 30 if nothing but the rows mattered; the prior already knows something.
        assert 10 < ratio < 40
        # The same posterior up to the choice of bases.
        np.testing.assert_allclose(getattr(after, part), getattr(whole, part), rtol=0.5)


def test_chunks_change_nothing_but_the_last_bits(monkeypatch):
    _, model, _ = models("flexible")
    test = draw(500, 2).to_numpy()
    whole = model.moments(test, GRAPH, "y")
    monkeypatch.setattr(module, "CHUNK_ROWS", 77)
    model._mechanisms.clear()
    np.testing.assert_allclose(model.moments(test, GRAPH, "y"), whole, rtol=1e-7)


def test_chunks_cover_every_row_once():
    parts = [np.arange(50_000)[part] for part in chunks(50_000)]
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(50_000))
    assert max(map(len, parts)) == module.CHUNK_ROWS
    assert list(chunks(0)) == []


def test_the_model_comes_back_to_the_bit():
    _, model, _ = models("flexible")
    stored = model.to_state()
    assert "all_targets" not in stored.arrays  # stored once where they are the same
    found = EvidenceModel.from_state(stored)
    test = draw(100, 3).to_numpy()
    np.testing.assert_array_equal(model.moments(test, GRAPH, "y"), found.moments(test, GRAPH, "y"))


def test_a_fit_says_which_rows_it_used_and_scores_better_for_all_of_them():
    options = {"max_rows": 300, "n_inducing": 30, "n_starts": 1, "noise": "gaussian"}
    estimator = md.MomentDAG(n_draws=200, random_state=0, engine_options=options)
    estimator.fit(draw(6000, 0))
    used = estimator.posterior_.provenance.options
    assert (used["n_samples_for_structure"], used["n_samples"]) == (300, 6000)
    held_out = draw(20_000, 4)
    with_all = estimator.score(held_out)
    estimator.scm_.rows = None
    estimator.scm_._mechanisms.clear()
    # A gain of 0.01 nats a row is small next to the 0.1 or so that 300 rows leave to be gained.
    assert with_all > estimator.score(held_out) + 0.01
