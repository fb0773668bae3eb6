import numpy as np
import pytest

from momentdag.errors import OptionError
from momentdag.experiments.methods import EMPTY, METHODS, Engine, run
from momentdag.simulate import preset


@pytest.fixture(scope="module")
def data():
    return preset("linear-anm-3", np.random.default_rng(1)).data


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", list(METHODS))
def test_settings_are_options_that_the_method_has(name, quick):
    # Built, not run: an option that was renamed would be refused here.
    method = METHODS[name]
    if isinstance(method.fit, Engine):
        from momentdag.engines.evidence.options import EvidenceOptions
        from momentdag.engines.variational.options import VariationalOptions

        options = {"evidence": EvidenceOptions, "variational": VariationalOptions}
        options[method.fit.name].from_mapping(method.settings(quick=quick))
    elif name == EMPTY:
        assert method.settings(quick=quick) == {}
    else:
        from momentdag.baselines.registry import METHODS as BASELINES

        BASELINES[method.fit.name].options.read(method.settings(quick=quick))


@pytest.mark.parametrize("name", ["varsort", "mc3", "evidence-linear"])
def test_a_method_gives_draws_seconds_and_status(data, name):
    outcome = run(name, data, seed=0, n_draws=50, quick=True)
    assert outcome.posterior.names == tuple(data.columns)
    assert outcome.seconds > 0
    assert outcome.posterior.provenance.seed == 0
    again = run(name, data, seed=0, n_draws=50, quick=True)
    assert np.array_equal(outcome.posterior.mean_graphs, again.posterior.mean_graphs)


@pytest.mark.parametrize("name", ["varsort", "mc3", "evidence-linear"])
def test_orderings_are_obeyed(data, name):
    first, *_, last = data.columns
    for order in ((first, last), (last, first)):
        outcome = run(name, data, [order], seed=0, n_draws=50, quick=True)
        assert outcome.posterior.path_probability(order[1], order[0]) == 0


def test_the_empty_graph_has_no_edge(data):
    outcome = run(EMPTY, data, seed=0, n_draws=50, quick=False)
    posterior = outcome.posterior
    assert posterior.names == tuple(data.columns)
    assert posterior.n_draws == 1
    assert not (posterior.mean_graphs | posterior.variance_graphs).any()


def test_unknown_methods_are_refused(data):
    with pytest.raises(OptionError, match="ges"):
        run("ges", data, seed=0, n_draws=1, quick=True)
