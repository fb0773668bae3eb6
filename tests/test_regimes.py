"""A fit with regimes, as its user sees it: targets, graphs, regimes' worlds, changes, folders."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import momentdag as md
from momentdag.cli.main import app
from momentdag.effects import MonteCarlo, attribute_change
from momentdag.effects.change import shapley_values
from momentdag.errors import DataError, DataWarning, KnowledgeError, OptionError
from momentdag.graph import TargetedGraph
from momentdag.knowledge.tables import compile_for_table
from momentdag.table import Dataset, with_experiment

QUICK = {"noise": "gaussian", "n_starts": 1, "n_kicks": 0, "n_worlds": 40}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SMALL = MonteCarlo(n_draws=20, n_rows=128)


@pytest.fixture(scope="module")
def table():
    """In April the oven is hotter; in May the thickness scatters more."""
    rng = np.random.default_rng(0)
    month = np.repeat(["march", "april", "may"], 70)
    oven = rng.normal(size=210) + 2.0 * (month == "april")
    spread = np.where(month == "may", 1.4, 0.4)
    thickness = np.sin(oven) + oven + spread * rng.normal(size=210)
    return pd.DataFrame({"oven": oven, "thickness": thickness, "month": month})


@pytest.fixture(scope="module")
def fitted(table):
    knowledge = md.Knowledge(order=[("oven", "thickness")])
    estimator = md.MomentDAG(knowledge=knowledge, n_draws=60, random_state=0, engine_options=QUICK)
    return estimator.fit(table, regime="month", reference="march")


@pytest.fixture(scope="module")
def folder(fitted, table, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run"
    return md.runs.save(fitted, path, table, regime="month")


def test_the_targets_are_found_with_their_moment(fitted):
    targets = fitted.posterior_.targets("month").set_index(["regime", "variable"])
    assert list(targets.columns) == ["mean", "variance"]
    assert targets.loc[("april", "oven"), "mean"] > 0.95
    assert targets.loc[("may", "thickness"), "variance"] > 0.95
    targets.loc[("april", "oven"), "mean"] = targets.loc[("may", "thickness"), "variance"] = 0
    assert targets.to_numpy().max() < 0.5
    assert fitted.posterior_.targets("may")["variable"].tolist() == ["oven", "thickness"]
    with pytest.raises(OptionError, match="compared with 'march'; got 'march'"):
        fitted.posterior_.targets("march")


def test_regimes_are_no_variables(fitted):
    assert fitted.posterior_.names == ("oven", "thickness")
    assert set(fitted.mean_graph_) == {"oven", "thickness"}
    assert fitted.knowledge_.names == ("oven", "thickness")
    assert fitted.feature_names_in_.tolist() == ["oven", "thickness"]
    assert fitted.world_check()["column"].tolist() == ["oven", "thickness"]
    graph = fitted.posterior_.draw(0)
    assert isinstance(graph, TargetedGraph)
    assert graph.with_regimes.names[2:] == ("month=april", "month=may")


def test_each_regime_has_its_own_world(fitted, table):
    for month in ("march", "may"):  # what is asked for below
        check = fitted.in_regime(month).world_check().set_index("column")
        rows = table[table["month"] == month]
        assert check.loc["oven", "observed_mean"] == pytest.approx(rows["oven"].mean())
        assert check.loc["thickness", "modelled_sd"] == pytest.approx(
            rows["thickness"].std(), rel=0.25
        )
    at = {"oven": 0.5}
    effects = {
        month: md.effects.intervene(fitted.in_regime(month), at, monte_carlo=SMALL).to_frame()
        for month in ("march", "may")
    }
    # The same oven gives the same mean and, in May, more than twice the spread.
    assert effects["may"]["sd"][0] > 2 * effects["march"]["sd"][0]
    assert effects["may"]["mean"][0] == pytest.approx(effects["march"]["mean"][0], abs=0.2)
    with pytest.raises(OptionError, match="among \\['march', 'april', 'may'\\]; got 'june'"):
        fitted.in_regime("june")


def test_rows_are_most_probable_in_their_own_regime(fitted, table):
    may = table.loc[table["month"] == "may", ["oven", "thickness"]]
    scores = {month: fitted.in_regime(month).score(may) for month in ("march", "april", "may")}
    assert max(scores, key=scores.__getitem__) == "may"
    assert fitted.score(may) == scores["march"]


def test_parts_of_a_change_add_up_and_name_what_changed(fitted, table):
    change = attribute_change(fitted, "march", "april", "thickness", monte_carlo=SMALL)
    frame = change.to_frame()
    assert frame.loc[0, ["variable", "part"]].tolist() == ["oven", "mean"]
    parts, total, observed = frame.iloc[:-2], frame.iloc[-2], frame.iloc[-1]
    for moment in ("mean", "sd"):
        assert parts[moment].sum() == pytest.approx(total[moment])
        assert observed[moment] == pytest.approx(total[moment], abs=0.35)
    means = table.groupby("month")["thickness"].mean()
    assert observed["mean"] == pytest.approx(means["april"] - means["march"])
    assert "the mean of thickness changed by +2" in change.describe()
    assert "mean of oven" in change.describe()
    may = attribute_change(fitted, "march", "may", "thickness", monte_carlo=SMALL).to_frame()
    assert may.loc[0, ["variable", "part"]].tolist() == ["thickness", "spread"]
    # There and back, in the same samples, is no change.
    back = attribute_change(fitted, "april", "march", "thickness", monte_carlo=SMALL)
    np.testing.assert_allclose(back.mean_change, -change.mean_change, atol=1e-9)


def test_shapley_values_of_a_game_known_by_hand():
    # v(S) = 6 if a and b are in S, plus 3 for c: a and b share what they make together.
    def value(who):
        return np.array(6.0 * ({"a", "b"} <= who) + 3.0 * ("c" in who))

    shares = shapley_values(("a", "b", "c"), value)
    assert {name: float(share) for name, share in shares.items()} == {"a": 3, "b": 3, "c": 3}
    many = tuple("abcdefgh")  # more than are enumerated
    approximate = shapley_values(many, value)
    assert sum(approximate.values()) == pytest.approx(9.0)
    assert approximate["c"] == pytest.approx(3.0)
    assert not any(approximate[name] for name in "defgh")


def test_what_cannot_be_asked_is_refused(fitted, table):
    with pytest.raises(OptionError, match="'march' twice"):
        attribute_change(fitted, "march", "march", "oven")
    plain = table[["oven", "thickness"]]
    linear = md.MomentDAG(n_draws=20, random_state=0, engine_options={"family": "linear"})
    with pytest.raises(OptionError, match="had no regimes"):
        linear.fit(plain).posterior_.targets()
    with pytest.raises(OptionError, match="had no regimes"):
        linear.in_regime("may")
    linear.fit(table, regime="month")
    assert linear.posterior_.targets()["variance"].max() == 0
    with pytest.raises(OptionError, match="a fit with mechanisms"):
        linear.in_regime("may")
    holes = table.copy()
    holes.loc[::5, "oven"] = np.nan
    imputing = md.MomentDAG(missing="impute")
    with (
        pytest.warns(DataWarning, match="the fit imputes them"),
        pytest.raises(OptionError, match="not imputed in tables with regimes"),
    ):
        imputing.fit(holes, regime="month")
    exact = md.MomentDAG(engine_options={"method": "exact"})
    with pytest.raises(OptionError, match="regimes among them"):
        exact.fit(table.assign(other=np.arange(210.0) ** 2), regime="month")
    with pytest.raises(DataError, match="regime among the columns"):
        linear.fit(table, regime="day")


def test_stated_targets_are_kept(table):
    stated = md.Knowledge(
        required=[("month=april", "thickness", "mean")],
        forbidden=[("month=april", "oven"), ("month=may", "oven")],
    )
    linear = md.MomentDAG(
        knowledge=stated, n_draws=20, random_state=0, engine_options={"family": "linear"}
    )
    targets = linear.fit(table, regime="month", reference="march").posterior_.targets()
    targets = targets.set_index(["regime", "variable"])["mean"]
    assert targets["april", "thickness"] == 1
    assert targets["april", "oven"] == targets["may", "oven"] == 0


def test_knowledge_that_gives_a_regime_a_cause_is_refused():
    for statement in ({"required": [("a", "r=x", "mean")]}, {"order": [("a", "r=x")]}):
        with pytest.raises(KnowledgeError, match="'a' stands before 'r=x'"):
            compile_for_table(md.Knowledge(**statement), ("a", "b"), (), {}, ("r=x",))
    soft = md.Knowledge(required=[("a", "b", "mean")], strength="soft")
    compiled = compile_for_table(soft, ("a", "b"), (), {}, ("r=x", "r=y"))
    assert compiled.forbidden_mean[:, 2:].sum() == 6
    assert compiled.precedes[2:, :2].all()
    np.testing.assert_allclose(compiled.log_odds_variance[2:, :2], -np.log(2))


def test_a_run_remembers_its_regimes(fitted, folder):
    back = md.runs.load(folder)
    pd.testing.assert_frame_equal(back.posterior_.targets(), fitted.posterior_.targets())
    one, two = (
        md.effects.intervene(each.in_regime("may"), {"oven": 1.0}, monte_carlo=SMALL).to_frame()
        for each in (fitted, back)
    )
    pd.testing.assert_frame_equal(one, two)
    data = md.runs.load_data(folder)
    assert data.experiment.regimes.levels == ("march", "april", "may")


@pytest.mark.slow
def test_the_report_says_what_changed(fitted, folder):
    back, data = md.runs.load(folder), md.runs.load_data(folder)
    page = md.report.write_report(back, data, folder.parent / "page.html").read_text()
    assert "What did each month change?" in page
    assert "spread of thickness" in page


def test_the_command_line_says_what_changed(folder):
    def run(*arguments):
        result = CliRunner().invoke(app, ["changed", str(folder), *arguments])
        return result.exit_code, result.output

    code, output = run("--json")
    assert code == 0
    assert {row["regime"] for row in json.loads(output)["targets"]} == {"april", "may"}
    asked = ["--after", "april", "--target", "thickness", "--worlds", "10"]
    code, output = run(*asked, "--json")
    assert code == 0
    assert json.loads(output)["parts"][0]["variable"] == "oven"
    assert "From march to april" in run(*asked)[1]
    assert "changes the variance" in run()[1]
    code, output = run("--target", "thickness")
    assert (code, "--after along with --target" in output) == (2, True)


def test_a_fit_on_the_command_line(table, tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "run"
    table.assign(what=["oven"] * 30 + [""] * 180).to_csv(path, index=False)
    options = ["--regime", "month", "--reference", "may", "--targets", "what", "--draws", "20"]
    quick = ["--option", "family=linear", "--no-report", "--json"]
    result = CliRunner().invoke(app, ["fit", str(path), "-o", str(out), *options, *quick])
    assert result.exit_code == 0, result.output
    data = md.runs.load_data(out)
    assert data.names == ("oven", "thickness")
    assert data.experiment.regimes.reference == "may"
    assert data.experiment.set_cells.sum() == 30
    refused = CliRunner().invoke(app, ["fit", str(path), "-o", str(out), "--regime", "day"])
    assert refused.exit_code == 2
    assert "--regime to name a column" in refused.output
    refused = CliRunner().invoke(app, ["fit", str(path), "-o", str(out), "--reference", "may"])
    assert refused.exit_code == 2


def test_directions_of_a_linear_gaussian_graph_follow_from_interventions():
    simulation = md.simulate.linear_anm(np.random.default_rng(1), 4, n_samples=300)
    names = list(simulation.graph.names)
    changes = {f"set {name}": [md.simulate.Change(name, "hard")] for name in names}
    rows = md.simulate.regimes(np.random.default_rng(0), simulation, changes, 100)
    linear = md.MomentDAG(n_draws=100, random_state=0, engine_options={"family": "linear"})
    # Cells may be given as booleans, as names in a column, or with the table itself.
    named = rows.set_cells.apply(lambda row: ",".join(row.index[row]), axis=1)
    data = with_experiment(Dataset.from_table(rows.data[names]), interventions=named)
    posteriors = [
        linear.fit(rows.data[names], interventions=rows.set_cells).posterior_,
        linear.fit(rows.data[names].assign(what=named), interventions="what").posterior_,
        linear.fit(data).posterior_,
    ]
    for posterior in posteriors:
        probability = posterior.edge_probabilities("mean").to_numpy()
        np.testing.assert_array_equal(probability > 0.5, simulation.graph.mean_graph)
    np.testing.assert_array_equal(posteriors[0].mean_graphs, posteriors[1].mean_graphs)
    alone = linear.fit(rows.data[names][:100]).posterior_.edge_probabilities("mean").to_numpy()
    truth = simulation.graph.mean_graph
    assert (alone[truth] < 0.95).any()  # what these rows cannot tell
