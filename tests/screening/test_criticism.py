import warnings
from copy import copy

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError

from momentdag import MomentDAG, MomentGraph, simulate
from momentdag.errors import DataError, DataWarning, GraphError, OptionError
from momentdag.screening import criticise

GRAPH = MomentGraph.from_edges(
    ["a", "b", "y"], mean=[("a", "b"), ("a", "y")], variance=[("b", "y")]
)


def data(noise, n=400):
    simulation = simulate.mean_variance_hnm_from_graph(
        np.random.default_rng(0), GRAPH, n, noise=noise
    )
    return simulation.data


def fit(table, **options):
    with warnings.catch_warnings():
        # t(3) has cells far out, and says so.
        warnings.simplefilter("ignore", DataWarning)
        return MomentDAG(
            n_draws=200, random_state=0, engine_options={"n_starts": 1, **options}
        ).fit(table)


class PointEstimates:
    """Mechanisms whose functions do not vary between draws, as those of the variational engine."""

    def __init__(self, model):
        self.mean_functions = model.mean_functions

    def draw_functions(self, rng, graph):
        return self.mean_functions(graph)


@pytest.fixture(scope="module")
def gaussian():
    table = data("gaussian")
    return fit(table), table


@pytest.fixture(scope="module")
def quiet(gaussian):
    return criticise(*gaussian)


@pytest.fixture(scope="module")
def heavy():
    table = data("student_t3")
    return fit(table, noise="gaussian"), table


@pytest.fixture(scope="module")
def loud(heavy):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return criticise(*heavy)


def test_it_stays_quiet_on_gaussian_noise(quiet):
    assert quiet.is_quiet, quiet.describe()
    assert quiet.non_gaussian == ()
    assert "there is no evidence against the model" in str(quiet)


def test_it_flags_heavy_tails_and_says_what_to_try(loud):
    # Normal noise bends some of the tails into variance edges; it cannot hide all of them.
    assert set(loud.non_gaussian) >= {"a", "y"}
    text = loud.describe()
    assert "y: residuals are not Gaussian (heavy tails" in text
    assert 'Try engine_options={"noise": "student"}' in text
    assert "does not cover this variable" in text
    assert loud.to_frame().loc["y", "excess_kurtosis"] > 1


@pytest.mark.filterwarnings("ignore::momentdag.errors.DataWarning")
def test_noise_that_matches_the_residuals_is_reported(heavy):
    criticism = criticise(fit(heavy[1]), heavy[1], n_draws=20)
    assert criticism.non_gaussian == ("a", "b", "y")
    assert criticism.variables["p_noise"].min() > 0.05
    assert "The flexible noise of this fit matches the shape" in criticism.describe()


def test_residuals_and_transforms_are_what_they_say(quiet, gaussian):
    estimator, table = gaussian
    mean, sd = estimator.scm_.moments(table.to_numpy(), estimator.best_graph_, "y")
    residuals = quiet.residuals
    assert residuals.seen
    np.testing.assert_allclose(residuals.standardised["y"], (table["y"] - mean) / sd)
    # Noise is Gaussian and chosen flexible, so the transform is close to the normal one.
    np.testing.assert_allclose(
        residuals.pit["y"], stats.norm.cdf(residuals.standardised["y"]), atol=0.1
    )
    assert stats.kstest(residuals.pit["y"], "uniform").pvalue > 0.05


def test_every_column_that_is_not_an_effect_is_tested(quiet):
    pairs = set(quiet.dependence[["variable", "other", "moment"]].itertuples(index=False))
    assert ("y", "a", "mean") in pairs
    assert ("y", "b", "variance") in pairs
    assert ("y", "(fitted mean)", "variance") in pairs
    assert not any(row.variable == "a" and row.other == "y" for row in pairs)
    roles = quiet.dependence.set_index(["variable", "other", "moment"])["role"]
    assert roles["y", "b", "variance"] == "parent"
    assert roles["y", "b", "mean"] == "non-parent"


def test_a_missing_edge_shows(gaussian):
    estimator, table = gaussian
    lacking = MomentGraph.from_edges(GRAPH.names, mean=[("a", "b")], variance=[("b", "y")])
    criticism = criticise(estimator, table, graph=lacking, n_draws=20)
    row = criticism.dependence.query("variable == 'y' and other == 'a' and moment == 'mean'")
    assert row["p_value"].item() < 1e-6
    assert row["probability"].item() > 0.9
    assert "y: the residual still changes with a (p < 0.001), which is not a mean cause" in str(
        criticism
    )


def test_a_missing_variance_edge_shows(gaussian):
    estimator, table = gaussian
    lacking = MomentGraph.from_edges(GRAPH.names, mean=[("a", "b"), ("a", "y")])
    criticism = criticise(estimator, table, graph=lacking, n_draws=20)
    assert "y: the size of its residual still changes with b" in str(criticism)


def test_a_hidden_common_cause_shows():
    rng = np.random.default_rng(0)
    hidden, x, y = rng.normal(size=(3, 300))
    table = pd.DataFrame({"x": hidden + 0.5 * x, "y": hidden + 0.5 * y})
    empty = MomentGraph.from_edges(["x", "y"])
    estimator = fit(table, noise="gaussian")
    criticism = criticise(estimator, table, graph=empty, n_draws=20)
    assert criticism.noise_pairs["p_value"].item() < 1e-6
    assert "A common cause may be unmeasured" in str(criticism)


def test_the_leave_one_out_score_is_below_that_of_the_fit(quiet, gaussian):
    estimator, table = gaussian
    own = estimator.score(table)
    # Leaving out one of 400 rows costs about the number of effective coefficients over 400.
    assert own - 0.3 < quiet.log_score < own
    assert "leave-one-out (functions re-weighted" in str(quiet)
    np.testing.assert_allclose(
        quiet.scores["y"].score.mean(), quiet.variables.loc["y", "log_score"]
    )


def test_new_rows_are_scored_as_new_rows(gaussian):
    estimator, _ = gaussian
    simulation = simulate.mean_variance_hnm_from_graph(np.random.default_rng(0), GRAPH, 400)
    new = simulation.sample(np.random.default_rng(9), 300)
    criticism = criticise(estimator, new)
    assert not criticism.residuals.seen
    assert "on new rows" in str(criticism)
    # Graph and log standard deviation vary in the one, the mean is integrated in the other.
    assert criticism.log_score == pytest.approx(estimator.score(new), abs=0.1)


def test_pictures_hold_every_panel(quiet):
    figure = quiet.figure("y")
    titles = [note.text for note in figure.layout.annotations]
    assert titles[:3] == ["normal QQ", "fitted noise (flat if right)", "scale-location"]
    assert sorted(titles[3:]) == ["mean parent", "variance parent"]
    labels = [axis.title.text for axis in figure.select_xaxes()]
    assert labels == ["normal quantile", "PIT", "fitted mean", "a", "b"]
    assert figure.layout.title.text == "Residuals of y"
    # Every row in every panel, next to the diagonal of the QQ plot.
    assert [len(trace.x) for trace in figure.data] == [2, *[400] * 5]
    assert quiet.quantiles("y")["residual"].is_monotonic_increasing
    assert (quiet.scale_location("y")["root_size"] >= 0).all()


def test_point_estimates_leave_no_row_out(gaussian):
    estimator, table = gaussian
    point_estimate = copy(estimator)
    point_estimate.scm_ = PointEstimates(estimator.scm_)
    criticism = criticise(point_estimate, table, n_draws=20)
    assert "functions are point estimates" in str(criticism)
    assert (criticism.variables["n_influential"] == 0).all()


@pytest.mark.slow  # compiles the variational engine
def test_the_variational_engine_is_criticised_too():
    table = data("gaussian", 200)
    options = {"max_steps": 60, "warm_up_steps": 20, "n_restarts": 1, "n_hidden": 8}
    with warnings.catch_warnings():
        # So short a training does not converge, and says so.
        warnings.simplefilter("ignore")
        estimator = MomentDAG(
            engine="variational", n_draws=50, random_state=0, engine_options=options
        ).fit(table)
    criticism = criticise(estimator, table)
    assert "functions are point estimates" in str(criticism)
    assert criticism.noise == "gaussian"


def test_what_cannot_be_criticised(gaussian):
    estimator, table = gaussian
    with pytest.raises(NotFittedError):
        criticise(MomentDAG(), table)
    with pytest.raises(DataError, match=r"Expected the columns \['a', 'b', 'y'\]"):
        criticise(estimator, table.rename(columns={"y": "z"}))
    with pytest.raises(GraphError, match="names"):
        criticise(estimator, table, graph=MomentGraph.from_edges("xyz"))
    with pytest.raises(OptionError, match="level"):
        criticise(estimator, table, level=0)
