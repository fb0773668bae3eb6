"""What every simulator promises, through the registries of presets and of misspecified families."""

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import momentdag.simulate
from momentdag.errors import OptionError
from momentdag.graph import MomentGraph
from momentdag.simulate import (
    Simulation,
    misspecified,
    misspecified_families,
    preset,
    presets,
)
from momentdag.simulate.options import FloatArray

N_SAMPLES = 60
N_LARGE = 20_000


SIMULATORS: dict[str, Callable[..., Simulation]] = {
    **{name: partial(preset, name) for name in presets()},
    **{
        f"misspecified-{family}": partial(misspecified, family=family, n_variables=4)
        for family in misspecified_families()
    },
}
WITHOUT_MOMENTS = ("Langevin", "free", "gaussian")  # descriptions of the noise


@pytest.fixture(scope="module", params=list(SIMULATORS))
def simulation(request: pytest.FixtureRequest) -> Simulation:
    return SIMULATORS[request.param](np.random.default_rng(0), n_samples=N_SAMPLES)


def test_table_and_graph_fit_together(simulation: Simulation) -> None:
    data, graph = simulation.data, simulation.graph
    assert isinstance(graph, MomentGraph)
    assert tuple(data.columns) == graph.names == tuple(f"x{i + 1}" for i in range(data.shape[1]))
    assert len(data) == N_SAMPLES
    assert data.dtypes.eq(np.float64).all()
    assert np.isfinite(data.to_numpy()).all()
    assert (data.std() > 0).all()


def test_order_is_causal_for_both_graphs(simulation: Simulation) -> None:
    assert sorted(simulation.order) == sorted(simulation.graph.names)
    position = {name: i for i, name in enumerate(simulation.order)}
    assert all(position[cause] < position[effect] for cause, effect in simulation.graph.edges())


def test_conditional_moments_have_the_shape_of_the_data(simulation: Simulation) -> None:
    mean, std = simulation.conditional_mean, simulation.conditional_std
    assert (mean is None) == (std is None)
    if mean is None or std is None:
        assert simulation.noise in WITHOUT_MOMENTS
        return
    for moment in (mean, std):
        assert moment.shape == simulation.data.shape
        assert tuple(moment.columns) == simulation.graph.names
        assert np.isfinite(moment.to_numpy()).all()
    assert (std > 0).all(axis=None)
    # Residuals have variance 1; the median of a pooled t(3) or Gaussian sample of at least 120
    # squares is far from these bounds unless the sd is wrong by a factor.
    squares = ((simulation.data - mean) / std) ** 2
    assert 0.05 < squares.stack().median() < 1.0


def test_moments_depend_on_the_declared_parents_alone(simulation: Simulation) -> None:
    moments = simulation.mechanisms.moments(simulation.data.to_numpy())
    if moments is None:
        return
    graph = simulation.graph
    for cause in range(min(graph.n_variables, 10)):
        shifted = simulation.data.to_numpy(copy=True)
        # Shuffled, not shifted: in literal scaling a shift is lost in values of size 1e6.
        shifted[:, cause] = np.roll(shifted[:, cause], 7)
        changed = simulation.mechanisms.moments(shifted)
        assert changed is not None
        for before, after, adjacency in zip(
            moments, changed, (graph.mean_graph, graph.variance_graph), strict=True
        ):
            assert np.array_equal((before != after).any(axis=0), adjacency[cause])


def has_smaller(name: str) -> bool:
    """Tell whether a preset differs from another one, of five variables, by its size alone."""
    return name.endswith("-10") and name.replace("-10", "-5") in presets()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[pytest.mark.slow] * has_smaller(n))
        for n in presets()
        if "20" not in n and "50" not in n and not n.startswith("sergio-1")
    ],
)
def test_large_tables_have_the_declared_moments(name: str) -> None:
    """Left over after the declared mean and sd is noise that no other variable moves.

    The Langevin presets declare no moments; their leak is measured in `test_sergio`.
    """
    large = preset(name, np.random.default_rng(1), n_samples=N_LARGE)
    assert large.conditional_mean is not None
    assert large.conditional_std is not None
    noise = ((large.data - large.conditional_mean) / large.conditional_std).to_numpy()
    size = np.abs(noise)
    # Ranks, and their distance from the middle: bounded, so that sums of them are Gaussian.
    ranks = large.data.rank().to_numpy() / N_LARGE - 0.5
    drivers = [ranks, np.abs(ranks) - 0.25]
    names = large.graph.names
    tested = np.array(
        [[e != c and c not in large.graph.descendants(e) for e in names] for c in names]
    )
    for driver in drivers:
        for response in (noise, size):
            scores = _correlations(driver, response) * np.sqrt(N_LARGE)
            # Some 2000 scores over all presets: a right simulator has one beyond 5 at one seed
            # in 800.
            assert np.abs(scores[tested]).max(initial=0.0) < 5
    # The test has teeth: without the declared sd the spread does follow its declared causes.
    residual = np.abs((large.data - large.conditional_mean).to_numpy())
    moved = np.max([np.abs(_correlations(driver, residual)) for driver in drivers], axis=0)
    causes = large.graph.variance_graph
    if causes.any():
        assert np.mean(moved[causes] * np.sqrt(N_LARGE) > 5) > 0.7


def _correlations(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the correlation of each column of one table with each of another."""
    a, b = ((x - x.mean(axis=0)) / x.std(axis=0) for x in (first, second))
    return np.asarray(a.T @ b / len(a))


def test_one_seed_gives_one_table(simulation: Simulation) -> None:
    first, second = (simulation.sample(np.random.default_rng(1), 5) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    assert not first.equals(simulation.sample(np.random.default_rng(2), 5))


@pytest.mark.parametrize("name", [name for name in SIMULATORS if "50" not in name])
def test_one_seed_gives_one_simulation(name: str) -> None:
    first, second = (SIMULATORS[name](np.random.default_rng(3), n_samples=5) for _ in range(2))
    pd.testing.assert_frame_equal(first.data, second.data)
    assert first.graph == second.graph
    assert first.order == second.order


def test_intervening_sets_the_variable_and_reaches_descendants_alone(
    simulation: Simulation,
) -> None:
    graph = simulation.graph
    causes = [name for name in simulation.order if graph.children(name)]
    target = causes[0] if causes else simulation.order[0]
    value = float(simulation.data[target].max())
    before = simulation.sample(np.random.default_rng(4), 20)
    after = simulation.intervene(np.random.default_rng(4), {target: value}, 20)
    assert (after[target] == value).all()
    assert tuple(after.columns) == graph.names
    assert np.isfinite(after.to_numpy()).all()
    descendants = set(graph.descendants(target))
    for name in graph.names:
        if name not in descendants and name != target:
            pd.testing.assert_series_equal(before[name], after[name])
    for child in graph.children(target):
        assert not before[child].equals(after[child])


def test_unknown_names_and_values_are_refused(simulation: Simulation) -> None:
    with pytest.raises(OptionError, match="got 'nobody'"):
        simulation.intervene(np.random.default_rng(0), {"nobody": 1.0}, 2)
    with pytest.raises(OptionError, match="to be finite"):
        simulation.intervene(np.random.default_rng(0), {"x1": np.inf}, 2)


def test_sortabilities_are_shares(simulation: Simulation) -> None:
    if not simulation.graph.union_graph.any():
        assert np.isnan(simulation.varsortability())
        return
    assert 0.0 <= simulation.varsortability() <= 1.0
    assert 0.0 <= simulation.r2_sortability() <= 1.0


def test_simulators_import_no_engine() -> None:
    folder = Path(momentdag.simulate.__file__).parent
    allowed = ("momentdag.simulate", "momentdag.graph", "momentdag.errors")
    imported = {
        node.module
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module is not None
    }
    ours = {module for module in imported if module.startswith("momentdag")}
    assert {module for module in ours if not module.startswith(allowed)} == {
        "momentdag.metrics.sortability"
    }
