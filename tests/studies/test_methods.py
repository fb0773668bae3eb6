import numpy as np
import pytest
from studies.case import Task, fit_task
from studies.methods import EMPTY, METHODS, find_method

from momentdag.errors import OptionError
from momentdag.simulate import preset

FAST = ["varsort", "mc3", "evidence-linear"]


@pytest.fixture(scope="module")
def data():
    return preset("linear-anm-3", np.random.default_rng(1)).data


def run(name, data, orderings=()):
    method = METHODS[name]
    return fit_task(
        method, Task(data, {}, orderings), 0, n_draws=50, options={**method.options, **method.quick}
    )


@pytest.mark.parametrize("name", list(METHODS))
def test_settings_are_options_that_the_method_has(name):
    # Built, not run: an option that was renamed would be refused here.
    method = METHODS[name]
    method.check(method.options)
    method.check({**method.options, **method.quick})
    with pytest.raises(OptionError, match="n_startz"):
        method.check({"n_startz": 1})


@pytest.mark.parametrize("name", list(METHODS))
def test_a_method_has_a_version_that_a_person_raises(name):
    assert METHODS[name].version >= 1


@pytest.mark.parametrize("name", FAST)
def test_a_method_gives_draws_seconds_and_status(data, name):
    fitted, outcome = run(name, data)
    assert fitted.posterior.names == tuple(data.columns)
    assert outcome.seconds > 0
    assert outcome.status  # "complete", or what was cut short
    assert fitted.posterior.provenance.seed == 0
    again, _ = run(name, data)
    assert np.array_equal(fitted.posterior.mean_graphs, again.posterior.mean_graphs)


@pytest.mark.parametrize("name", FAST)
def test_orderings_are_obeyed(data, name):
    first, *_, last = data.columns
    for order in ((first, last), (last, first)):
        fitted, _ = run(name, data, (order,))
        assert fitted.posterior.path_probability(order[1], order[0]) == 0


def test_the_empty_graph_has_no_edge(data):
    posterior = run(EMPTY, data)[0].posterior
    assert posterior.names == tuple(data.columns)
    assert posterior.n_draws == 1
    assert not (posterior.mean_graphs | posterior.variance_graphs).any()


def test_unknown_methods_are_refused():
    with pytest.raises(OptionError, match="ges"):
        find_method("ges")
