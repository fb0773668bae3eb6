from dataclasses import replace

import pytest

from momentdag.errors import OptionError
from momentdag.experiments import EXPERIMENTS
from momentdag.experiments.experiment import Metric, View


def test_a_printed_row_needs_a_cell_for_each_column():
    cases = EXPERIMENTS["table-varsort"].cases
    with pytest.raises(OptionError, match="Expected 2 printed cells in row 'MC3'"):
        View("x", cases, (Metric("shd_mean", "SHD", "lower"),), {"MC3": ("1.0 ± 0.1",)})


def test_a_quick_case_must_be_one_of_the_cases():
    with pytest.raises(OptionError, match="sparse-7"):
        replace(EXPERIMENTS["fig-sparse"], quick=("sparse-7",))


def test_only_informed_methods_run_where_orderings_are_told():
    experiment = EXPERIMENTS["table-sachs"]
    plain, told = experiment.cases[0], experiment.cases[-1]
    assert "mc3" in experiment.methods_for(plain)
    assert experiment.methods_for(told) == experiment.informed
