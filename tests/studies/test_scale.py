"""The study of scale runs the real program, and its tables hold what was measured."""

import sys
from dataclasses import replace

import pytest
from rich.console import Console
from studies.registry import STUDIES
from studies.runner import Selection, run_studies
from studies.scale import sized
from studies.store import Store
from studies.tables import view_table


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_rows_variables_and_processes_are_measured(tmp_path):
    study = STUDIES["scale"]
    long, wide = (sized(3, 100), sized(3, 400)), (sized(3, 100), sized(4, 100))
    views = (replace(study.views[0], cases=long), replace(study.views[1], cases=wide))
    study = replace(study, views=views, quick=(), on_request=())
    options = {"family": "linear", "max_rows": 200}
    store = Store(tmp_path, n_draws=100, options=options)
    assert run_studies([study], store, Selection(), console=Console(quiet=True)) == 0
    (run,) = store.records(long[1], "program-2")
    assert store.records(long[1], "program") == []
    assert run.measures["n_samples_for_structure"] == 200
    assert run.measures["peak_megabytes"] > 50  # Python with NumPy and pandas alone takes more
    assert run.measures["cpu_seconds"] > 0
    growth, processes = (view_table(study, view, store) for view in study.views)
    assert growth.rows[1][:4] == ("400 rows, d = 3", "1", "200", f"{run.seconds:.0f}")
    one, two = (store.records(wide[1], method)[0] for method in ("program", "program-2"))
    assert processes.rows[1][3] == f"{one.seconds / two.seconds:.2f}"
