import numpy as np
import pytest

from momentdag.simulate import Simulation, misspecified
from momentdag.simulate.lagged import LaggedModel, draw_lagged

N = 10_000


@pytest.fixture(scope="module")
def pair() -> Simulation:
    return misspecified(np.random.default_rng(5), "lagged", n_samples=N)


def test_readings_are_those_of_a_stationary_process(pair: Simulation) -> None:
    model = pair.mechanisms
    assert isinstance(model, LaggedModel)
    # Mean and sd were those of a pilot of 1000 rows, known to some 3 % and 2 %.
    assert np.abs(pair.data.mean()).max() < 0.15
    assert np.abs(pair.data.std() - 1).max() < 0.1
    # One more step from these readings leaves their distribution as it is.
    state = model.offset + model.unit * pair.data.to_numpy()
    push = np.column_stack([function(state) for function in model.functions])
    noise = np.random.default_rng(0).standard_normal(state.shape)
    c = model.persistence
    after = c * state + np.sqrt(1 - c**2) * (push + model.scale * noise)
    levels = [0.1, 0.3, 0.5, 0.7, 0.9]
    moved = np.quantile(after, levels, axis=0) - np.quantile(state, levels, axis=0)
    assert np.abs(moved / model.unit).max() < 0.08


def test_seeing_a_cause_is_not_setting_it(pair: Simulation) -> None:
    """What a reading says of a cause's past is less than what holding it says."""
    cause, effect = pair.order
    strongest = 0.0
    for value in (-1.0, 0.0, 1.0):
        seen = pair.data.loc[(pair.data[cause] - value).abs() < 0.1, effect].mean()
        done = pair.intervene(np.random.default_rng(1), {cause: value}, 4000)[effect].mean()
        strongest = max(strongest, abs(done - seen))
    assert strongest > 0.2


def test_causes_of_the_graph_and_no_other_act() -> None:
    graph = np.zeros((3, 3), dtype=bool)
    graph[0, 1] = True
    model = draw_lagged(np.random.default_rng(6), graph, [0, 1, 2])
    before, after = (
        model.draw(np.random.default_rng(7), 50, fixed) for fixed in ({}, {0: np.full(50, 2.0)})
    )
    assert (before[:, 1] != after[:, 1]).all()
    assert np.array_equal(before[:, 2], after[:, 2])
    assert (after[:, 0] == 2.0).all()
