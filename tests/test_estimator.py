import pickle
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

import momentdag as md
from momentdag.errors import DataError, DataWarning, KnowledgeError, OptionError

pytestmark = pytest.mark.filterwarnings(
    # Tiny numbers of draws are poor on purpose here; test_poor_draws_are_reported looks at it.
    "ignore:The draws may not describe:sklearn.exceptions.ConvergenceWarning"
)

QUICK = {"n_starts": 1, "n_kicks": 0, "n_chains": 2, "n_inducing": 10, "noise": "gaussian"}


@pytest.fixture(scope="module")
def simulation():
    return md.simulate.preset("sparse-5", np.random.default_rng(42))


@pytest.fixture(scope="module")
def fitted(simulation):
    return md.MomentDAG(n_draws=400, random_state=0).fit(simulation.data)


@pytest.fixture(scope="module")
def quick(simulation):
    return md.MomentDAG(n_draws=100, random_state=0, engine_options=QUICK).fit(simulation.data)


@pytest.mark.slow
def test_scikit_learn_accepts_it_as_an_estimator():
    # About what an estimator is, not how well it fits: few inducing rows, few draws.
    options = {**QUICK, "n_inducing": 5, "n_worlds": 5}
    estimator = md.MomentDAG(n_draws=20, engine_options=options, random_state=0)
    with warnings.catch_warnings():
        # The checks fit tiny random tables, of which momentdag rightly warns.
        warnings.simplefilter("ignore")
        results = check_estimator(
            estimator,
            on_fail="raise",
            on_skip=None,
            expected_failed_checks={
                "check_dtype_object": "a cell that is no number is a DataError naming its column"
            },
        )
    assert sum(result["status"] == "passed" for result in results) > 30


def test_graphs_carry_names_and_probabilities(simulation, quick):
    assert isinstance(quick.posterior_, md.Posterior)
    assert quick.posterior_.names == tuple(simulation.data.columns)
    for graph, moment in (
        (quick.mean_graph_, "mean"),
        (quick.variance_graph_, "variance"),
        (quick.union_graph_, "either"),
    ):
        assert set(graph.nodes) == set(simulation.data.columns)
        assert nx.is_directed_acyclic_graph(graph)
        for cause, effect, attributes in graph.edges(data=True):
            assert attributes["probability"] == quick.posterior_.edge_probability(
                cause, effect, moment
            )
    assert set(quick.mean_graph_.edges) | set(quick.variance_graph_.edges) == set(
        quick.union_graph_.edges
    )
    assert quick.posterior_.provenance.seed == 0
    assert quick.status_ == "complete"


def test_frames_of_every_kind_give_the_same_answer(simulation):
    def mean_graphs(table):
        estimator = md.MomentDAG(n_draws=100, random_state=0, engine_options=QUICK)
        return estimator.fit(table).posterior_.mean_graphs

    data = simulation.data.iloc[:150, :2]
    expected = mean_graphs(data)
    for other in (pl.from_pandas(data), data.to_numpy()):
        np.testing.assert_array_equal(mean_graphs(other), expected)


@pytest.mark.slow
def test_held_out_score_prefers_the_right_model(simulation, fitted):
    new = simulation.sample(np.random.default_rng(7), 400)
    score = fitted.score(new)
    assert np.isfinite(score)
    assert score == pytest.approx(fitted.score_samples(new).mean())
    homoscedastic = md.MomentDAG(
        n_draws=100, random_state=0, engine_options={"family": "gp_homoscedastic"}
    ).fit(simulation.data)
    # The data are heteroscedastic: the truth is worth tenths of a nat in every row.
    assert score > homoscedastic.score(new) + 0.1
    truth = sum(
        -np.log(simulation.mechanisms.moments(new.to_numpy())[1][:, j])
        - 0.5
        * (
            (new.to_numpy()[:, j] - simulation.mechanisms.moments(new.to_numpy())[0][:, j])
            / simulation.mechanisms.moments(new.to_numpy())[1][:, j]
        )
        ** 2
        - 0.5 * np.log(2 * np.pi)
        for j in range(5)
    ).mean()
    # Nothing beats the true density on average; 400 rows leave an error of about 0.05.
    assert truth - 0.6 < score < truth + 0.1


@pytest.mark.parametrize("options", [QUICK, pytest.param({}, marks=pytest.mark.slow)])
def test_score_keeps_units(simulation, options):
    data = simulation.data.iloc[:, :3]
    scaled = data.assign(x1=data["x1"] * 10)
    one, other = (
        md.MomentDAG(n_draws=100, random_state=0, engine_options=options).fit(each)
        for each in (data, scaled)
    )
    assert other.score(scaled) == pytest.approx(one.score(data) - np.log(10))


def test_score_checks_columns(simulation, quick):
    with pytest.raises((DataError, ValueError), match=r"feature names|columns"):
        quick.score(simulation.data.rename(columns={"x1": "y"}))
    with pytest.raises(DataError, match="'x2'"):
        quick.score(simulation.data.assign(x2=np.nan))


def test_a_dataset_may_be_fitted_and_scored(simulation):
    frame = simulation.data[["x1", "x2"]]
    dataset = md.Dataset(frame.to_numpy(), tuple(frame.columns))
    fitted = md.MomentDAG(n_draws=30, random_state=0, engine_options=QUICK).fit(dataset)
    assert list(fitted.feature_names_in_) == list(frame.columns)
    assert fitted.score(dataset) == fitted.score(frame)


@pytest.mark.slow
def test_works_in_grid_search_and_clones_and_pickles(simulation, fitted):
    search = GridSearchCV(
        md.MomentDAG(n_draws=30, random_state=0, engine_options=QUICK),
        {"engine_options": [QUICK, {**QUICK, "family": "gp_homoscedastic"}]},
        cv=2,
    )
    search.fit(simulation.data)
    assert search.best_params_["engine_options"] == QUICK
    assert clone(fitted).get_params()["n_draws"] == 400
    again = pickle.loads(pickle.dumps(fitted))
    assert again.score(simulation.data) == fitted.score(simulation.data)


def test_knowledge_is_obeyed_and_checked(simulation):
    knowledge = md.Knowledge(forbidden=[("x1", "x2"), ("x2", "x1")], order=[("x5", "x1")])
    fitted = md.MomentDAG(
        knowledge=knowledge, n_draws=50, random_state=0, engine_options=QUICK
    ).fit(simulation.data[["x1", "x2", "x5"]])
    assert fitted.posterior_.edge_probability("x1", "x2") == 0
    assert fitted.posterior_.path_probability("x1", "x5") == 0
    with pytest.raises(KnowledgeError, match="'x9'"):
        md.MomentDAG(knowledge=md.Knowledge(order=[("x9", "x1")])).fit(simulation.data)


def test_linear_family_has_a_posterior_but_no_mechanisms():
    simulation = md.simulate.preset("linear-anm-3", np.random.default_rng(0))
    fitted = md.MomentDAG(n_draws=200, random_state=0, engine_options={"family": "linear"}).fit(
        simulation.data
    )
    assert fitted.scm_ is None
    with pytest.raises(OptionError, match="'family': 'gp'"):
        fitted.score(simulation.data)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "oracle"}, "engine among"),
        ({"n_draws": 0}, "n_draws"),
        ({"n_draws": 2.5}, "n_draws"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "x"}, "random_state"),
        ({"knowledge": {"order": []}}, "knowledge"),
        ({"engine_options": {"nois": "gaussian"}}, "'nois'"),
    ],
)
def test_bad_options_are_refused(simulation, options, message):
    with pytest.raises(OptionError, match=message):
        md.MomentDAG(**options).fit(simulation.data)


@pytest.mark.filterwarnings("default")
def test_poor_draws_are_reported(simulation):
    options = {**QUICK, "posterior": "plain"}
    with pytest.warns(ConvergenceWarning, match="n_draws"):
        md.MomentDAG(n_draws=12, random_state=0, engine_options=options).fit(
            simulation.data.iloc[:60]
        )


def test_not_fitted():
    with pytest.raises(NotFittedError):
        md.MomentDAG().score(pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]}))


def test_verbose_shows_progress_on_standard_error(simulation, capsys):
    options = {**QUICK, "method": "chain"}
    md.MomentDAG(n_draws=40, random_state=0, verbose=True, engine_options=options).fit(
        simulation.data[["x1", "x2"]]
    )
    captured = capsys.readouterr()
    assert "the draws in worlds" in captured.err
    assert captured.out == ""


def messy_table(n=120):
    rng = np.random.default_rng(0)
    dose = rng.uniform(1, 3, n)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "dose": dose,
            "when": pd.date_range("2020-01-01", periods=n, freq="17min"),
            "response": np.sin(2 * dose) + 0.2 * rng.normal(size=n),
        }
    )


def messy_fit(**options):
    estimator = md.MomentDAG(n_draws=30, random_state=0, engine_options=QUICK, **options)
    with pytest.warns(DataWarning, match="Left out: 'id'"):
        return estimator.fit(messy_table())


class TestOrdinaryTables:
    def test_what_was_done_is_said_and_kept(self):
        fitted = messy_fit()
        assert fitted.posterior_.names == ("dose", "when", "response")
        assert fitted.recipe_.column("id").action == "leave out"
        assert {row["column"] for row in fitted.account_} == set(messy_table().columns)
        assert fitted.result_.observed.kinds["when"] == "time"
        # Columns of dates are never effects.
        assert fitted.posterior_.edge_probability("dose", "when") == 0
        assert fitted.posterior_.edge_probability("response", "when") == 0

    def test_new_rows_are_prepared_by_the_same_recipe(self):
        fitted = messy_fit()
        scores = fitted.score_samples(messy_table())
        np.testing.assert_array_equal(fitted.score_samples(messy_table().iloc[50:]), scores[50:])
        holed = messy_table().assign(dose=np.nan)
        with pytest.raises(DataError, match=r"missing values .*'dose'"):
            fitted.score_samples(holed)

    def test_kinds_and_missing_cells_are_stated(self):
        estimator = md.MomentDAG(kinds={"id": "continuous"}, missing="drop")
        table = messy_table()
        table.loc[:39, "dose"] = np.nan
        with pytest.warns(DataWarning, match="these rows are left out"):
            request = estimator.prepare(table)
        assert request.dataset.names[0] == "id"
        assert request.dataset.n_samples == 80
        with pytest.warns(DataWarning, match="the fit imputes them"):
            assert md.MomentDAG().prepare(table).dataset.has_missing
        with pytest.raises(DataError, match="no missing values"):
            md.MomentDAG(missing="refuse").prepare(table)
        with pytest.raises(OptionError, match="'never'"):
            md.MomentDAG(missing="never").prepare(table)
        with pytest.raises(OptionError, match="'nobody'"):
            md.MomentDAG(kinds={"nobody": "count"}).prepare(table)

    def test_knowledge_of_a_column_that_was_left_out(self):
        knowledge = md.Knowledge(order=[("id", "dose")])
        with (
            pytest.warns(DataWarning, match="Left out"),
            pytest.raises(KnowledgeError, match=r"'id', in .*was left out"),
        ):
            md.MomentDAG(knowledge=knowledge).prepare(messy_table())

    def test_clean_tables_are_not_mentioned(self, simulation):
        # Warnings are errors in this suite.
        request = md.MomentDAG().prepare(simulation.data)
        assert request.dataset == md.Dataset.from_table(simulation.data)
