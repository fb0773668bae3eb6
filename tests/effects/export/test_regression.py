"""Distributional regressions of a consensus."""

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag.effects.export import fit_formulas
from momentdag.errors import DataError

NAMES = ["x", "z", "y"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    x, z, e = rng.normal(size=(3, 4000))
    return pd.DataFrame({"x": x, "z": z, "y": 1 + 2 * x + np.exp(0.5 * z) * e})


def test_the_equations_of_the_simulator_are_found(make_fit, rows):
    graph = md.MomentGraph.from_edges(NAMES, mean=[("x", "y")], variance=[("z", "y")])
    flat = (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0])
    y = (lambda row: 1 + 2 * row[0], lambda row: np.exp(0.5 * row[1]))
    model = make_fit(NAMES, [(graph, {"x": flat, "z": flat, "y": y}, 2)])
    result = fit_formulas(model, rows[:2000], rows[2000:])
    found = result.coefficients.set_index(["variable", "part", "term"])
    for part, term, truth in (
        ("mean", "intercept", 1.0),
        ("mean", "x", 2.0),
        ("log sd", "intercept", 0.0),
        ("log sd", "z", 0.5),
    ):
        row = found.loc[("y", part, term)]
        # Four standard errors; all are below 0.05.
        assert abs(row["estimate"] - truth) < 4 * row["standard_error"] < 0.2
    table = result.to_frame().set_index("variable")
    assert table.loc["y", "formula"] == "y ~ x; sigma ~ z"
    # The true mechanism has its own log score, which the regression all but reaches.
    expected = -0.5 * np.log(2 * np.pi * np.e) - 0.5 * rows["z"][2000:].mean()
    assert table.loc["y", "our_log_score"] == pytest.approx(expected, abs=0.05)
    assert 0 <= table.loc["y", "difference"] < 0.01
    curved = fit_formulas(model, rows[:2000], rows[2000:], smooth=True)
    assert curved.to_frame()["log_score"].iloc[2] == pytest.approx(
        table.loc["y", "log_score"], abs=0.02
    )
    assert "<table" in curved._repr_html_()
    with pytest.raises(DataError, match="more rows"):
        fit_formulas(model, rows[:3], rows)


def test_curves_need_smooth_terms(make_fit):
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, 800)
    data = pd.DataFrame({"x": x, "y": np.cos(2 * x) + 0.3 * rng.normal(size=800)})
    graph = md.MomentGraph.from_edges(["x", "y"], mean=[("x", "y")])
    functions = {
        "x": (lambda row: 0 * row[0], lambda row: 1 + 0 * row[0]),
        "y": (lambda row: np.cos(2 * row[0]), lambda row: 0.3 + 0 * row[0]),
    }
    model = make_fit(["x", "y"], [(graph, functions, 2)])
    straight, curved = (
        fit_formulas(model, data[:600], data[600:], smooth=smooth).to_frame().iloc[1]
        for smooth in (False, True)
    )
    assert curved["difference"] < 0.15 < 0.5 < straight["difference"]


def test_kinds_that_have_no_regression_are_said(mixed_fit, mixed_data):
    rows = pd.DataFrame(mixed_data.values, columns=mixed_data.names)
    table = fit_formulas(mixed_fit, rows[:200], rows[200:]).to_frame().set_index("variable")
    assert table["family"].to_dict() == {
        "temperature": "normal",
        "machine": "none",
        "thickness": "normal",
        "defects": "none",
        "rating": "none",
        "passed": "bernoulli",
        "outcome": "none",
    }
    assert table["our_log_score"].notna().all()
    assert (table["log_score"].isna() == (table["family"] == "none")).all()
