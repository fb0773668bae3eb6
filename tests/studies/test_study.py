from dataclasses import replace

import pytest
from studies.registry import STUDIES
from studies.study import Metric, View

from momentdag.errors import OptionError


def test_a_printed_row_needs_a_cell_for_each_column():
    cases = STUDIES["table-varsort"].cases
    with pytest.raises(OptionError, match="Expected 2 printed cells in row 'MC3'"):
        View("x", cases, (Metric("shd_mean", "SHD", "lower"),), {"MC3": ("1.0 ± 0.1",)})


def test_a_quick_case_must_be_one_of_the_cases():
    with pytest.raises(OptionError, match="sparse-7"):
        replace(STUDIES["fig-sparse"], quick=("sparse-7",))


def test_only_informed_methods_run_where_orderings_are_told():
    study = STUDIES["table-sachs"]
    plain, told = study.cases[0], study.cases[-1]
    assert "mc3" in study.methods_for(plain)
    assert study.methods_for(told) == study.informed


def test_a_view_may_have_its_own_methods():
    study = STUDIES["scale"]
    by_name = {case.name: case for case in study.cases}
    assert study.methods_for(by_name["scale-10x10000"]) == ("program-2",)
    assert set(study.methods_for(by_name["scale-20x1000"])) == {"program", "program-2"}


def test_a_run_has_to_have_what_the_views_show():
    study = STUDIES["table-runtime"]
    assert study.keys_for(study.cases[0], "mc3") == ()  # the time is always measured
    study = STUDIES["table-varsort"]
    assert study.keys_for(study.cases[0], "icdh") == ("shd_mean", "shd_variance")
