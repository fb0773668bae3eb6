import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from momentdag.datasets import load_light_tunnel
from momentdag.engines.evidence.engine import EvidenceEngine
from momentdag.engines.evidence.options import EvidenceOptions
from momentdag.engines.protocol import FitRequest, silent
from momentdag.errors import OptionError
from momentdag.knowledge import Knowledge
from momentdag.metrics import shd
from momentdag.simulate import linear_anm, preset
from momentdag.table import Dataset

QUICK = {"n_starts": 1, "n_kicks": 0, "n_inducing": 15, "noise": "gaussian"}


def fit(data, *, seed=0, n_draws=200, n_jobs=1, knowledge=None, progress=silent, **options):
    names = getattr(data, "columns", [f"x{j + 1}" for j in range(data.shape[1])])
    dataset = Dataset(np.asarray(data), tuple(names))  # quiet about outliers, unlike from_table
    known = (Knowledge() if knowledge is None else knowledge).compile(dataset.names)
    rng = np.random.default_rng(seed)
    return EvidenceEngine(EvidenceOptions(**options)).fit(
        FitRequest(dataset, known, n_draws, rng, seed, n_jobs, progress)
    )


@pytest.fixture(scope="module")
def five():
    return preset("sparse-5", np.random.default_rng(42))


@pytest.fixture(scope="module")
def five_fit(five):
    return fit(five.data)


def test_recovers_both_graphs(five, five_fit):
    consensus = five_fit.posterior.consensus()
    # Each graph has five edges; an engine that guessed would miss about as many.
    assert shd(consensus.mean_frame, five.graph.mean_frame) <= 1
    assert shd(consensus.variance_frame, five.graph.variance_frame) <= 1


@pytest.mark.slow
def test_recovers_both_graphs_of_simulated_data():
    errors = []
    for seed in range(6):
        simulation = preset("sparse-5", np.random.default_rng(1000 + seed))
        posterior = fit(simulation.data).posterior
        consensus = posterior.consensus()
        errors.append(
            [
                shd(consensus.mean_frame, simulation.graph.mean_frame),
                shd(consensus.variance_frame, simulation.graph.variance_frame),
            ]
        )
    mean_error, variance_error = np.mean(errors, axis=0)
    # Each graph has five edges; an engine that guessed would miss about as many.
    assert mean_error <= 1.0
    assert variance_error <= 1.5


def test_finds_at_least_the_score_of_the_truth(five, five_fit):
    true_names = five.graph
    model = five_fit.model
    total = {
        which: sum(model.mechanism(graph, name).fit.log_evidence for name in graph.names)
        for which, graph in (("found", five_fit.best_graph), ("truth", true_names))
    }
    # The prior may cost an edge a few nats; five is the margin the design asks for.
    assert total["found"] >= total["truth"] - 5


@pytest.fixture(scope="module", params=[QUICK, pytest.param({}, marks=pytest.mark.slow)])
def effort(request):
    return request.param


@pytest.fixture(scope="module")
def alone(five, effort):
    return fit(five.data, **effort)


def test_same_seed_same_bits_whatever_the_number_of_jobs(five, effort, alone):
    parallel = fit(five.data, n_jobs=2, **effort)
    for field in ("mean_graphs", "variance_graphs", "log_posterior"):
        np.testing.assert_array_equal(
            getattr(parallel.posterior, field), getattr(alone.posterior, field)
        )


def test_column_order_and_units_do_not_matter(five, effort, alone):
    shuffled = five.data[["x3", "x1", "x5", "x2", "x4"]].copy()
    shuffled["x1"] = shuffled["x1"] * 1000 - 7
    shuffled["x4"] = shuffled["x4"] / 3 + 1e4
    other = fit(shuffled, **effort)
    for moment in ("mean", "variance"):
        a = alone.posterior.edge_probabilities(moment)
        b = other.posterior.edge_probabilities(moment).loc[a.index, a.columns]
        pd.testing.assert_frame_equal(a, b)


@pytest.mark.slow
def test_columns_without_names_may_be_permuted_too(five, five_fit):
    order = [2, 0, 4, 1, 3]
    other = fit(five.data.to_numpy()[:, order])
    a = five_fit.posterior.edge_probabilities("mean").to_numpy()
    b = other.posterior.edge_probabilities("mean").to_numpy()
    np.testing.assert_array_equal(b, a[np.ix_(order, order)])


def test_few_variables_are_enumerated():
    simulation = linear_anm(np.random.default_rng(0), 3, None, 300)
    result = fit(simulation.data, family="linear", n_draws=1000)
    assert result.details["method"] == "exact"
    assert result.posterior.provenance.options["exact"] is True
    assert not result.posterior.variance_graphs.any()
    sampled = fit(simulation.data, family="linear", n_draws=4000, method="chain", thinning=20)
    difference = np.abs(
        result.posterior.edge_probabilities("mean") - sampled.posterior.edge_probabilities("mean")
    )
    # 4 000 thinned draws: standard error below 0.01.
    assert difference.to_numpy().max() < 0.04
    with pytest.raises(OptionError, match=r"at most 4 variables.*'method': 'chain'"):
        fit(preset("sparse-5", np.random.default_rng(0)).data, method="exact")


def test_homoscedastic_family_has_no_variance_edges():
    simulation = preset("anm-5", np.random.default_rng(1))
    result = fit(simulation.data, family="gp_homoscedastic", **QUICK)
    assert not result.posterior.variance_graphs.any()
    assert shd(result.posterior.consensus().mean_frame, simulation.graph.mean_frame) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["flexible", "student", "gaussian"])
def test_every_noise_family_runs_and_says_so(noise):
    simulation = preset("student-5", np.random.default_rng(3))
    result = fit(simulation.data, **{**QUICK, "noise": noise})
    assert result.posterior.provenance.options["noise"] == noise
    assert np.isfinite(result.posterior.log_posterior).all()


@st.composite
def knowledge_of_five(draw):
    names = ["x1", "x2", "x3", "x4", "x5"]
    order = draw(st.permutations(names))
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    moment = st.sampled_from(["mean", "variance", "both"])
    before = draw(st.lists(st.sampled_from(pairs), max_size=3, unique=True))
    required = draw(
        st.lists(st.tuples(st.sampled_from(pairs), moment), max_size=2, unique_by=lambda r: r[0])
    )
    needed = {pair for pair, _ in required}
    forbidden = draw(
        st.lists(
            st.tuples(st.sampled_from(names), st.sampled_from(names), moment).filter(
                lambda f: f[0] != f[1] and (f[0], f[1]) not in needed
            ),
            max_size=3,
            unique_by=lambda f: f[:2],
        )
    )
    return Knowledge(
        order=before,
        required=[(*pair, which) for pair, which in required],
        forbidden=forbidden,
    )


@pytest.mark.slow
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(knowledge=knowledge_of_five())
@example(knowledge=Knowledge(order=[("x4", "x5")], required=[("x1", "x4", "mean")]))
def test_hard_knowledge_holds_in_every_draw(five, knowledge):
    result = fit(five.data.iloc[:60], knowledge=knowledge, n_draws=60, n_chains=2, **QUICK)
    compiled = knowledge.compile(five.data.columns)
    posterior = result.posterior
    assert compiled.allows(posterior.mean_graphs, posterior.variance_graphs).all()
    assert compiled.allows(result.best_graph.mean_graph, result.best_graph.variance_graph)


def test_interruption_gives_a_flagged_result_only_if_asked(five):
    def interrupt_in(stage):
        def progress(current, done, total):
            if current == stage and done > 0:
                raise KeyboardInterrupt

        return progress

    partial = fit(
        five.data, progress=interrupt_in("the draws in worlds"), return_partial=True, **QUICK
    )
    assert "interrupted during the draws in worlds" in partial.status
    assert partial.posterior.provenance.status == partial.status
    assert partial.posterior.n_draws >= 1
    with pytest.raises(KeyboardInterrupt):
        fit(five.data, progress=interrupt_in("the Markov chains"), posterior="plain", **QUICK)
    with pytest.raises(KeyboardInterrupt):
        fit(five.data, progress=interrupt_in("the first search"), return_partial=True, **QUICK)


def test_drawn_functions_scatter_around_the_fitted_ones(five, five_fit):
    model, graph = five_fit.model, five_fit.best_graph
    effect = next(name for name in graph.names if graph.parents(name, "mean"))
    rng = np.random.default_rng(0)
    values = five.data.to_numpy()
    fitted, _ = model.moments(values, graph, effect)
    drawn = np.array(
        [model.draw_functions(rng, graph)[effect].moments(values)[0] for _ in range(400)]
    )
    # 400 draws: the mean of the draws is known to a twentieth of their spread; all in the data's
    # own units, of which the effect's sd is some two.
    spread = drawn.std(axis=0)
    assert np.abs((drawn.mean(axis=0) - fitted) / spread).max() < 0.3
    assert 0.02 < np.median(spread) / five.data[effect].std() < 0.5


def test_conditional_moments_are_near_the_truth(five, five_fit):
    for name in five.graph.names:
        mean, sd = five_fit.model.moments(five.data.to_numpy(), five.graph, name)
        true_mean, true_sd = five.conditional_mean[name], five.conditional_std[name]
        # 500 rows of a nonlinear function: errors well inside the noise.
        assert np.sqrt(np.mean((mean - true_mean) ** 2 / true_sd**2)) < 0.5
        assert np.median(np.abs(np.log(sd / true_sd))) < 0.25


def test_a_family_without_variance_graph_refuses_required_variance_edges():
    simulation = linear_anm(np.random.default_rng(0), 3, None, 100)
    knowledge = Knowledge(required=[("x1", "x2", "variance")])
    for family in ("linear", "gp_homoscedastic"):
        with pytest.raises(OptionError, match=r"no variance graph.*'family': 'gp'"):
            fit(simulation.data, knowledge=knowledge, family=family)


def test_an_edge_required_in_either_graph_goes_where_it_belongs():
    rng = np.random.default_rng(0)
    cause = rng.normal(size=300)
    table = pd.DataFrame({"x": cause, "y": np.exp(0.7 * cause) * rng.normal(size=300)})
    result = fit(table, knowledge=Knowledge(required=[("x", "y")]), method="chain", **QUICK)
    assert result.posterior.edge_probability("x", "y", "either") == 1
    assert result.best_graph.has_edge("x", "y", "variance")
    assert result.posterior.edge_probability("x", "y", "mean") < 0.5


def test_tiers_roots_and_sinks_hold_in_every_draw(five):
    knowledge = Knowledge(tiers=[["x5"], ["x3", "x4"], ["x1", "x2"]], roots=["x4"], sinks=["x1"])
    posterior = fit(five.data, knowledge=knowledge, n_draws=60, **QUICK).posterior
    compiled = knowledge.compile(five.data.columns)
    assert compiled.allows(posterior.mean_graphs, posterior.variance_graphs).all()


def test_many_rows_are_thinned_for_the_structure(five):
    many = five.sample(np.random.default_rng(1), 3000)
    result = fit(many, max_rows=300, n_draws=50, **QUICK)
    assert result.model.scorer.columns.shape == (5, 300)
    assert result.posterior.n_draws == 50


@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_instrument_s_grid_does_not_decide_directions(light_tunnel_file, number):
    tunnel = load_light_tunnel(path=light_tunnel_file).data.iloc[:1500]
    actuator, sensor = f"pol_{number}", f"angle_{number}"
    result = fit(tunnel[[actuator, sensor]], n_draws=200)
    # The experimenters set the polariser; its angle is measured, in whole counts.
    # The noise's shape follows the cause, so that worlds doubt the model; a grid that decided
    # would turn the arrow round.
    assert result.posterior.edge_probability(actuator, sensor) > 0.7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": "cauchy"}, "noise among"),
        ({"family": "spline"}, "family among"),
        ({"n_starts": 0}, "n_starts"),
        ({"thinning": 0}, "thinning"),
        ({"n_inducing": 2.5}, "n_inducing"),
        ({"method": "magic"}, "method among"),
    ],
)
def test_options_outside_their_range_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        EvidenceOptions(**options)


def test_unknown_options_are_refused_with_the_known_ones():
    with pytest.raises(OptionError, match=r"n_kicks.*'n_kick'"):
        EvidenceOptions.from_mapping({"n_kick": 3})
