"""What every baseline promises, through the registry."""

import warnings
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import momentdag as md
from momentdag.baselines import METHODS, BaselineResult, MethodName
from momentdag.errors import DataError, KnowledgeError, OptionError
from momentdag.graph import is_acyclic

NAMES = ("dose", "age", "stress", "response")
BAYESIAN = {"dds", "mc3"}

# Small enough for a contract, which is not about accuracy.
QUICK = {
    "icdh": {"n_starts": 1, "n_hidden": 3, "max_steps": 20, "n_rounds": 1},
    "host": {"n_hidden": 3, "max_steps": 40},
    "dds": {"max_steps": 1000, "n_hidden": 4},
    "mc3": {"thinning": 5},
    "varsort": {},
    "skewscore": {"n_centres": 20, "n_hidden": 3, "max_steps": 40},
}
# What makes a method fail, and a word of what it then says.
HURRIED = {
    "icdh": ({"n_starts": 1, "max_penalty": 2.0, "max_steps": 1}, "raise max_penalty"),
    "host": ({"max_steps": 1}, "raise max_steps"),
    "dds": ({"max_steps": 1, "n_hidden": 4}, "raise max_steps"),
    "mc3": ({"thinning": 1}, "raise n_draws"),
    "varsort": ({}, "original units"),
    "skewscore": ({"n_centres": 20, "max_steps": 1}, "raise max_steps"),
}
# An option of each with a value it does not have.
WRONG = {
    "icdh": {"updates": "sometimes"},
    "host": {"alpha": 0.0},
    "dds": {"n_graphs": 0},
    "mc3": {"heat": -1.0},
    "varsort": {"criterion": "cv"},
    "skewscore": {"n_centres": 1},
}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age, stress, e1, e2 = rng.normal(size=(4, 150))
    dose = 1.5 * age + e1
    response = 2 * np.sin(dose) + np.exp(0.5 * stress) * e2
    return pd.DataFrame(dict(zip(NAMES, (dose, age, stress, 2 * response), strict=True)))


@pytest.fixture(params=get_args(MethodName))
def method(request: pytest.FixtureRequest) -> str:
    return request.param


def run(method, table, **arguments) -> BaselineResult:
    given = {"n_draws": 30, "random_state": 0, "options": QUICK[method], **arguments}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return md.baselines.fit(method, table, **given)


def test_registry_holds_every_method():
    assert tuple(METHODS) == get_args(MethodName)
    assert set(QUICK) == set(HURRIED) == set(WRONG) == set(METHODS)


def test_answers_come_in_the_common_container(method, table):
    result = run(method, table)
    posterior = result.posterior
    assert posterior.n_draws == (30 if method in BAYESIAN else 1)
    assert posterior.mean_graphs.shape == posterior.variance_graphs.shape
    assert posterior.names == result.graph.names == NAMES
    assert is_acyclic(posterior.graphs("either")).all()
    assert is_acyclic(result.graph.union_graph)
    assert result.method == posterior.provenance.engine == method
    assert result.status == posterior.provenance.status
    assert posterior.provenance.seed == 0
    # One graph stands for both moments.
    assert np.array_equal(posterior.mean_graphs, posterior.variance_graphs)
    assert np.array_equal(result.graph.mean_graph, result.graph.variance_graph)
    if method not in BAYESIAN:
        assert result.graph == posterior.draw(0)


def test_something_is_learned(method, table):
    """The strongest link is found by all, however hurried."""
    union = run(method, table).posterior.edge_probabilities("either")
    assert union.loc["age", "dose"] + union.loc["dose", "age"] > 0.5


def test_options_and_data_are_recorded(method, table):
    provenance = run(method, table).posterior.provenance
    expected = METHODS[method].options.read(QUICK[method])
    assert provenance.options == expected.to_dict()
    assert provenance.data_hash == md.Dataset.from_table(table).fingerprint


def test_one_seed_gives_one_answer(method, table):
    first, second = (run(method, table, random_state=3) for _ in range(2))
    assert np.array_equal(first.posterior.mean_graphs, second.posterior.mean_graphs)
    assert first.details == second.details
    by_generator = [run(method, table, random_state=np.random.default_rng(5)) for _ in range(2)]
    assert by_generator[0].posterior.provenance.seed == by_generator[1].posterior.provenance.seed


@pytest.mark.parametrize("sampler", sorted(BAYESIAN))
def test_another_seed_gives_other_draws(sampler, table):
    first, second = (run(sampler, table, random_state=seed) for seed in (0, 1))
    assert not np.array_equal(first.posterior.mean_graphs, second.posterior.mean_graphs)


def test_hard_knowledge_is_obeyed_in_every_draw(method, table):
    knowledge = md.Knowledge(
        order=[("dose", "age")],
        required=[("stress", "response")],
        forbidden=[("age", "response"), ("dose", "response", "variance")],
    )
    result = run(method, table, knowledge=knowledge)
    known = knowledge.compile(NAMES)
    posterior = result.posterior
    assert known.allows(posterior.mean_graphs, posterior.variance_graphs).all()
    assert known.allows(result.graph.mean_graph, result.graph.variance_graph)


@pytest.mark.parametrize(
    "knowledge",
    [
        md.Knowledge(order=[("dose", "age")], strength="soft"),
        md.Knowledge(edge_priors={("dose", "age"): 0.3}),
    ],
)
def test_knowledge_that_cannot_be_obeyed_is_refused(method, table, knowledge):
    with pytest.raises(KnowledgeError, match="which the baselines cannot use"):
        run(method, table, knowledge=knowledge)


def test_unknown_columns_in_knowledge_are_refused(method, table):
    with pytest.raises(KnowledgeError, match="'weight'"):
        run(method, table, knowledge=md.Knowledge(order=[("weight", "age")]))


def test_trouble_is_a_status_and_a_warning(method, table):
    options, remedy = HURRIED[method]
    data = md.Dataset.from_table(table)
    standardised = md.Dataset(data.standardised, NAMES)
    with pytest.warns(ConvergenceWarning, match=METHODS[method].title):
        result = md.baselines.fit(method, standardised, n_draws=30, random_state=0, options=options)
    assert remedy in result.status
    assert result.posterior.provenance.status == result.status
    assert is_acyclic(result.posterior.graphs("either")).all()


def test_wrong_options_are_refused(method, table):
    with pytest.raises(OptionError, match=next(iter(WRONG[method]))):
        run(method, table, options=WRONG[method])
    with pytest.raises(OptionError, match="got 'n_hiden'"):
        run(method, table, options={"n_hiden": 3})
    other = METHODS["host" if method == "icdh" else "icdh"].options()
    with pytest.raises(OptionError, match="mapping or"):
        run(method, table, options=other)


def test_options_may_be_the_methods_own_value(method, table):
    own = METHODS[method].options(**QUICK[method])
    assert run(method, table, options=own).posterior.provenance.options == own.to_dict()


def test_wrong_arguments_are_refused(table):
    with pytest.raises(OptionError, match="got 'lingam'"):
        md.baselines.fit("lingam", table)
    with pytest.raises(OptionError, match="n_draws"):
        md.baselines.fit("varsort", table, n_draws=0)
    with pytest.raises(OptionError, match="random_state"):
        md.baselines.fit("varsort", table, random_state=-1)
    with pytest.raises(OptionError, match="to be a Knowledge"):
        md.baselines.fit("varsort", table, knowledge={"order": []})
    with pytest.raises(DataError):
        md.baselines.fit("varsort", table[["dose"]])


def test_answers_can_be_saved_and_compared(method, table, tmp_path):
    result = run(method, table)
    result.posterior.save(tmp_path / "posterior.zip")
    loaded = md.Posterior.load(tmp_path / "posterior.zip")
    assert np.array_equal(loaded.mean_graphs, result.posterior.mean_graphs)
    truth = md.MomentGraph.from_edges(NAMES, mean=[("age", "dose"), ("dose", "response")])
    # Of six pairs, at most all are joined differently.
    assert 0 <= md.metrics.expected_shd(loaded, truth, moment="mean") <= 6
