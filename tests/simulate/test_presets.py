import numpy as np
import pytest

from momentdag.errors import OptionError
from momentdag.simulate.presets import preset, preset_descriptions, presets

EXPECTED_EDGES = {
    "sparse-5": (5, 5),
    "sparse-10": (20, 20),
    "sparse-20": (40, 40),
    "sparse-50": (100, 100),
    "dense-10": (40, 40),
    "dense-20": (80, 80),
    "anm-5": (5, 0),
    "anm-10": (20, 0),
    "anm-20": (40, 0),
    "anm-50": (100, 0),
    "hnm-5": (5, 5),
    "hnm-10": (20, 20),
    "hnm-20": (40, 40),
    "hnm-50": (100, 100),
    "laplace-5": (5, 5),
    "laplace-10": (20, 20),
    "student-5": (5, 5),
    "student-10": (20, 20),
    "sergio-10": (9, 9),
    "sergio-20": (19, 19),
    "sergio-50": (49, 49),
    "sergio-adiabatic-10": (9, 9),
    "sergio-adiabatic-20": (19, 19),
    "sergio-adiabatic-50": (49, 49),
    "literal-5": (5, 5),
}


def test_every_experiment_has_its_presets() -> None:
    assert set(presets()) == {*EXPECTED_EDGES, "linear-anm-2", "linear-anm-3", "linear-anm-4"}
    assert list(preset_descriptions()) == list(presets())


@pytest.mark.parametrize("name", EXPECTED_EDGES)
def test_edge_counts_are_those_of_the_paper(name: str) -> None:
    graph = preset(name, np.random.default_rng(0), n_samples=3).graph
    assert graph.n_variables == int(name.rsplit("-", 1)[1])
    assert (graph.mean_graph.sum(), graph.variance_graph.sum()) == EXPECTED_EDGES[name]


@pytest.mark.parametrize("name", ["hnm-10", "laplace-10", "student-10"])
def test_hnm_presets_share_one_graph(name: str) -> None:
    graph = preset(name, np.random.default_rng(1), n_samples=3).graph
    assert np.array_equal(graph.mean_graph, graph.variance_graph)


@pytest.mark.parametrize(
    ("name", "noise"),
    [("sparse-5", "gaussian"), ("laplace-5", "laplace"), ("student-5", "student_t3")],
)
def test_noise_of_presets(name: str, noise: str) -> None:
    assert preset(name, np.random.default_rng(2), n_samples=3).noise == noise


def test_default_is_500_rows() -> None:
    assert preset("sparse-5", np.random.default_rng(3)).data.shape == (500, 5)


def test_refuses_unknown_names_and_sizes() -> None:
    with pytest.raises(OptionError, match=r"preset among .*'sparse-5'.*got 'sparse-7'"):
        preset("sparse-7", np.random.default_rng(0))
    with pytest.raises(OptionError, match="n_samples"):
        preset("sparse-5", np.random.default_rng(0), n_samples=1)
