import pickle
import sys

import numpy as np
import pandas as pd
import pytest

from momentdag import MomentDAG, MomentGraph
from momentdag.effects.export import to_dowhy
from momentdag.errors import GraphError, MissingExtraError, OptionError

gcm = pytest.importorskip("dowhy.gcm")

TRUTH = MomentGraph.from_edges("xzy", mean=[("x", "y")], variance=[("z", "y")])


def table(n):
    x, z, e = np.random.default_rng(0).normal(size=(3, n))
    return pd.DataFrame({"x": x, "z": z, "y": np.sin(x) + np.exp(0.8 * z) * e})


@pytest.fixture(scope="module")
def estimator():
    options = {"n_starts": 1, "n_inducing": 20, "noise": "gaussian"}
    return MomentDAG(n_draws=100, random_state=0, engine_options=options).fit(table(4000))


@pytest.fixture(scope="module")
def model(estimator):
    return to_dowhy(estimator)


def test_dowhy_tells_the_variance_under_an_intervention(model):
    found = [
        gcm.interventional_samples(model, {"z": lambda _, to=to: to}, num_samples_to_draw=20_000)[
            "y"
        ].var()
        for to in (-1.0, 0.0, 1.0)
    ]
    # Var sin(x) + exp(1.6 z); the bound is the promise of the documentation.
    np.testing.assert_allclose(found, [0.634, 1.432, 5.385], rtol=0.15)


def test_drawn_rows_look_like_the_data(model, estimator):
    drawn = gcm.draw_samples(model, 4000)
    assert set(drawn.columns) == {"x", "z", "y"}
    # The sample sd of heavy-tailed y has a standard error of some 4 %.
    np.testing.assert_allclose(drawn[["x", "z", "y"]].std(), table(4000).std(), rtol=0.15)


def test_counterfactuals_keep_the_noise(model):
    seen = pd.DataFrame({"x": [0.5], "z": [0.0], "y": [2.0]})
    twin = gcm.counterfactual_samples(model, {"z": lambda _: 1.0}, observed_data=seen)
    same = gcm.counterfactual_samples(model, {"z": lambda _: 0.0}, observed_data=seen)
    assert same["y"].item() == pytest.approx(2.0)
    # The noise is (2 - sin 0.5) at sd 1, so sd e^0.8 stretches it; functions are learned.
    expected = np.sin(0.5) + np.exp(0.8) * (2 - np.sin(0.5))
    assert twin["y"].item() == pytest.approx(expected, rel=0.15)


def test_the_seed_settles_what_is_drawn(estimator):
    first, second = (gcm.draw_samples(to_dowhy(estimator, random_state=1), 5) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    other = gcm.draw_samples(to_dowhy(estimator, random_state=2), 5)
    assert not np.allclose(first, other[first.columns])


def test_another_graph_can_be_given(estimator):
    alone = to_dowhy(estimator, graph=MomentGraph.from_edges(["y", "x", "z"]))
    assert list(alone.graph.edges) == []
    assert len(gcm.draw_samples(alone, 10)) == 10
    with pytest.raises(GraphError, match="names"):
        to_dowhy(estimator, graph=MomentGraph.from_edges("ab"))


def test_the_model_can_be_sent_to_another_process(model):
    sent = pickle.loads(pickle.dumps(model.causal_mechanism("y")))
    parents = np.array([[0.0, 0.0]])
    noise = np.array([[1.0]])
    np.testing.assert_array_equal(
        sent.evaluate(parents, noise), model.causal_mechanism("y").evaluate(parents, noise)
    )


def test_it_is_fitted_and_refuses_to_be_fitted_again(model):
    with pytest.raises(OptionError, match="cannot be fitted again"):
        gcm.fit(model.clone(), table(50))


def test_a_family_without_mechanisms_is_refused():
    options = {"family": "linear", "n_starts": 1}
    linear = MomentDAG(n_draws=500, random_state=0, engine_options=options).fit(table(100))
    with pytest.raises(OptionError, match="linear family"):
        to_dowhy(linear)


def test_a_missing_package_is_named(estimator, monkeypatch):
    monkeypatch.setitem(sys.modules, "dowhy", None)
    with pytest.raises(MissingExtraError, match=r"needs dowhy; install momentdag\[dowhy\]"):
        to_dowhy(estimator)
