"""An ordinary factory table, as it is: from the file to the lever."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import momentdag as md

pytestmark = pytest.mark.slow


def test_a_factory_table_runs_as_it_is(tmp_path):
    table = md.simulate.factory(np.random.default_rng(1))
    path = tmp_path / "factory.csv"
    table.data.to_csv(path, index=False)
    check = md.check(path)
    actions = check.table.set_index("column")["action"]
    assert set(actions[actions == "leave out"].index) == {"part_id", "plant", "temperature_f"}
    kinds = check.table.set_index("column")["kind"]
    assert kinds["machine"] == "category"
    assert kinds["night_shift"] == "binary"
    assert kinds["measured_at"] == "time"
    assert kinds["defects"] == "count"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", md.errors.DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = md.MomentDAG(n_draws=400, random_state=0).fit(table.data)
    posterior = model.posterior_
    assert posterior.edge_probability("line_speed", "thickness", "variance") >= 0.9
    assert posterior.edge_probability("line_speed", "thickness", "mean") < 0.1
    assert set(model.world_check()["verdict"]) <= {"fine", "weak"}
    ranking = md.effects.levers(model, "thickness")
    assert ranking.recommended is not None
    assert set(ranking.recommended) == {"line_speed"}
    said = {row["column"]: row for row in model.account_}
    assert {"part_id", "plant", "temperature_f"} <= {
        name for name, row in said.items() if row["action"] == "leave out"
    }
