import json
from dataclasses import replace

import pytest

from momentdag.engines.variational.options import VariationalOptions
from momentdag.errors import OptionError


def test_defaults_are_valid_and_plain():
    options = VariationalOptions()
    assert VariationalOptions.from_mapping(json.loads(json.dumps(options.to_dict()))) == options
    assert VariationalOptions.from_mapping(None) == options


def test_the_published_setting_is_the_papers():
    options = VariationalOptions.published()
    assert (options.updates, options.gradient, options.n_graphs) == ("published", "relaxed", 1)
    assert (options.order_prior, options.order_margin) == ("none", 1.5)
    assert (options.optimizer, options.edge_space, options.tuning) == ("lbfgs_all", "ranks", "grid")
    assert not any((options.shifting, options.resampling, options.warm_up_steps))
    assert options.n_restarts == 1


@pytest.mark.parametrize("change", [{"gradient": "score"}, {"warm_up_steps": 10}])
def test_lbfgs_over_everything_needs_relaxed_draws_from_the_first_step(change):
    with pytest.raises(OptionError, match="lbfgs_all"):
        replace(VariationalOptions.published(), **change)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("updates", "newton"),
        ("optimizer", "sgd"),
        ("gradient", "exact"),
        ("order_prior", None),
        ("return_partial", "yes"),
        ("n_hidden", 0),
        ("n_hidden", 8.0),
        ("n_restarts", True),
        ("batch_size", 0),
        ("max_steps", None),
        ("learning_rate", 0.0),
        ("graph_rate", float("inf")),
        ("edge_temperature", float("nan")),
        ("kl_weight", -1.0),
        ("kl_weight", True),
        ("order_margin", -0.5),
        ("edge_probability", 1.0),
        ("edge_probability", "0.1"),
        ("edge_space", "places"),
        ("tuning", True),
        ("tuning_seed", -1),
        ("returned", "first"),
        ("patience", 0),
        ("inner_tolerance", -1e-3),
        ("inner_patience", 0),
        ("penalty_weight", float("nan")),
        ("variance_edge_temperature", 0.0),
        ("initial_edge_probability", 0.0),
        ("initial_score_spread", -0.1),
    ],
)
def test_values_out_of_range_are_refused_by_name(name, value):
    with pytest.raises(OptionError, match=name):
        VariationalOptions(**{name: value})


def test_unknown_options_are_refused():
    with pytest.raises(OptionError, match="n_hiden"):
        VariationalOptions.from_mapping({"n_hiden": 8})
