from dataclasses import replace

import numpy as np
import pytest

from momentdag.report.criticism_groups import group_findings
from momentdag.screening import criticise
from momentdag.screening.criticism_text import describe


@pytest.fixture(scope="module")
def criticism(mixed_fit, mixed_data):
    return criticise(mixed_fit, mixed_data, n_draws=5)


@pytest.fixture
def loud(criticism):
    """Return a criticism that finds fault with the noise of every column."""
    table = criticism.variables.copy()
    table[["p_gaussian", "p_noise"]] = 1e-4
    table[["excess_kurtosis", "asymmetry"]] = 3.0, 0.5
    return replace(criticism, variables=table)


def test_one_group_for_each_thing_that_is_wrong(loud, mixed_data):
    groups = {group.title: group for group in group_findings(loud)}
    shapes = groups["Noise is not Gaussian"]
    assert {one.variable for one in shapes.findings} == set(mixed_data.names)
    assert shapes.findings[0].detail == "heavy tails, skewed to the right"
    assert len(shapes.advice) == len(set(shapes.advice))


def test_no_level_is_to_be_logged(loud, mixed_data):
    discrete = {
        name
        for name, kind in zip(mixed_data.names, mixed_data.kinds, strict=True)
        if kind != "continuous"
    }
    assert discrete
    for group in group_findings(loud):
        for advice in group.advice:
            if "logarithm" in advice or "transform (such" in advice:
                assert not [name for name in discrete if name in advice]
    for line in describe(loud).split("\n"):
        if "logarithm" in line:
            assert line.removeprefix("- ").split(":")[0] not in discrete


def test_what_is_a_logarithm_is_not_logged_again(loud):
    def told(logs):
        return " ".join(text for group in group_findings(loud, logs) for text in group.advice)

    assert "the logarithm of" in told(())
    assert "the logarithm of" not in told(loud.variables.index.tolist())


def test_symmetric_light_tails_need_no_transform(criticism):
    table = criticism.variables.copy()
    table["p_gaussian"] = np.where(table.index == "temperature", 1e-4, 1.0)
    table[["excess_kurtosis", "asymmetry"]] = -1.2, 0.0
    quiet = replace(criticism, variables=table)
    (group,) = [one for one in group_findings(quiet) if one.title == "Noise is not Gaussian"]
    assert not [text for text in group.advice if "logarithm" in text or "transform" in text]
