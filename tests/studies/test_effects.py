"""Effects are measured, and the tables hold what the runs measured."""

import pytest
from studies.effects import effects_study
from studies.store import Store
from studies.tables import view_table


@pytest.mark.slow
def test_every_case_runs_and_is_tabled(tmp_path, complete):
    study = effects_study(n_worlds=8)
    assert complete([study], tmp_path, n_sets=1) == 0
    store = Store(tmp_path, quick=True)
    coverage, levers, known = (view_table(study, view, store) for view in study.views)
    (run,) = store.records(study.views[0].cases[1], "evidence")
    assert len(run.parts) == 20  # five variables set, four asked about
    covered = sum(part["sd_covered"] for part in run.parts)
    (row,) = [row for row in coverage.rows if row[0] == "true graph, all"]
    assert (row[1], row[3]) == ("20", f"{covered / 20:.1%}")
    (run,) = store.records(study.views[1].cases[0], "evidence")
    (row,) = [row for row in levers.rows if row[0] == "a true variance cause is ranked first"]
    assert row[1] == f"{run.measures['variance_cause_first']:.0f} of 1"
    assert [row[0] for row in known.rows] == ["-1", "0", "1"]
    assert all(float(row[2]) > 0 for row in known.rows)
