"""Every table and figure of the paper and every benchmark is there, and measures what it shows."""

import pytest
from studies.comparison import read_printed
from studies.methods import BASELINES, ENGINES, METHODS
from studies.registry import STUDIES, find_studies

from momentdag.errors import OptionError

PAPER = {name: study for name, study in STUDIES.items() if study.kind == "paper"}

NAMES = [
    "fig-sparse",
    "fig-sergio",
    "fig-dense",
    "table-posterior",
    "fig-nongaussian",
    "table-sachs",
    "table-runtime",
    "table-mek-erk",
    "fig-anm",
    "fig-hnm",
    "table-varsort",
]


BENCHMARKS = {
    *("accuracy", "calibration", "effects", "engines", "honesty", "knowledge", "look"),
    "order-search",
    *("posterior-quality", "real", "scale", "speed", "variational-speed"),
}


def test_the_names_are_those_of_the_command_line():
    assert list(PAPER) == NAMES
    assert set(STUDIES) - set(PAPER) == BENCHMARKS
    for name, study in STUDIES.items():
        assert study.name == name
        assert "\n" not in study.shows


def test_methods_are_both_engines_and_all_baselines():
    assert {METHODS[name].paper for name in BASELINES} == {"MC3", "DDS", "ICDH", "HOST", "VarSort"}
    assert {"evidence", "variational"} <= set(ENGINES)
    for name, study in PAPER.items():
        assert set(ENGINES) <= set(study.methods), name
        assert set(study.methods) <= set(METHODS)
        if name not in {"table-posterior", "table-mek-erk", "table-varsort"}:
            assert set(BASELINES) <= set(study.methods), name


def test_cases_are_the_sizes_of_the_paper():
    sizes = {name: study.views[0].groups for name, study in PAPER.items()}
    four = ("d = 5", "d = 10", "d = 20", "d = 50")
    assert sizes["fig-sparse"] == sizes["fig-anm"] == sizes["fig-hnm"] == four
    assert sizes["fig-dense"] == ("d = 10", "d = 20")
    assert sizes["table-posterior"] == ("d = 2", "d = 3", "d = 4")
    assert sizes["table-sachs"] == sizes["table-mek-erk"] == ("n = 100", "n = 200", "n = 853")
    assert PAPER["table-sachs"].views[0].variants == ("", "+ 25 %", "+ 50 %")
    assert all(study.n_sets == 20 for study in PAPER.values())


def test_groups_of_studies_have_names():
    assert [study.name for study in find_studies(["all"])] == NAMES
    assert {study.name for study in find_studies(["benchmarks"])} == BENCHMARKS - {"look"}
    assert len(find_studies(["all", "fig-anm", "look"])) == len(NAMES) + 1
    with pytest.raises(OptionError, match="fig-sprase"):
        find_studies(["fig-sprase"])


def test_a_case_has_one_name():
    kept = {}
    for study in STUDIES.values():
        for case in study.cases:
            kind = (type(case), case.table, case.n_draws, case.version)
            assert kept.setdefault(case.name, kind) == kind


def test_quick_cases_are_small_and_cover_every_view():
    for study in STUDIES.values():
        assert study.n_quick_sets <= 2
        assert study.quick
    for study in PAPER.values():
        for view in study.views:
            cases = [case for case in view.cases if case.name in study.quick]
            assert cases, f"{study.name}: {view.title} has no quick case"
            assert all(case.n_variables <= 11 for case in cases)


@pytest.mark.parametrize("name", NAMES)
def test_every_case_gives_every_metric_of_its_views(name):
    study = PAPER[name]
    for view in study.views:
        case = next(case for case in view.cases if case.name in study.quick)
        task = case.draw(0)
        assert task.data.shape[1] == case.n_variables
        outcome = case.run(METHODS["varsort"], 0, 1, {})
        measured = {*outcome.measures, "seconds"}
        assert {metric.key for metric in view.metrics} <= measured


def test_printed_rows_belong_to_methods_that_run():
    for study in PAPER.values():
        for view in study.views:
            standing_for = {METHODS[name].paper for name in study.methods}
            for row, cells in view.printed.items():
                assert row.partition(" + ")[0] in standing_for
                assert all(read_printed(cell).sd >= 0 for cell in cells)


@pytest.mark.parametrize(
    ("name", "row", "column", "printed"),
    [
        ("table-posterior", "MC3", ("d = 4", "kl"), "6.52 ± 0.91"),
        ("table-posterior", "Proposed", ("d = 2", "tv"), "0.26 ± 0.06"),
        ("table-sachs", "HOST", ("n = 853", "shd_17"), "13.5 ± 0.8"),
        ("table-sachs", "Proposed + 50 %", ("n = 100", "f1_17"), "0.36 ± 0.02"),
        ("table-runtime", "Proposed + 25 %", ("n = 853", "seconds"), "852 ± 38"),
        ("table-mek-erk", "Proposed", ("n = 200", "mek_erk_variance"), "0.592 ± 0.008"),
        ("table-varsort", "VarSort", ("d = 5", "shd_variance"), "6.00 ± 1.66"),
        ("table-varsort", "ICDH", ("d = 10", "shd_mean"), "20.1 ± 1.1"),
    ],
)
def test_printed_numbers_stand_in_their_columns(name, row, column, printed):
    view = PAPER[name].views[0]
    columns = [(group, metric.key) for group, metric in view.columns]
    assert view.printed[row][columns.index(column)] == printed
