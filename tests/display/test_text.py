"""Every public answer prints as sentences and short tables, and says what it is in one line."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import momentdag as md
from momentdag.display import text
from momentdag.display.tables import MAX_ROWS
from momentdag.effects import change

FEW = md.effects.MonteCarlo(n_draws=6, n_rows=32)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 150))
    return pd.DataFrame({"x": x, "z": z, "y": x + np.exp(0.7 * z) * rng.normal(size=150)})


@pytest.fixture(scope="module")
def estimator(frame):
    options = {"posterior": "plain", "noise": "gaussian", "n_starts": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few draws
        return md.MomentDAG(
            n_draws=40,
            random_state=0,
            knowledge=md.Knowledge(tiers=[["x", "z"], ["y"]]),
            engine_options=options,
        ).fit(frame)


@pytest.fixture(scope="module")
def criticism(estimator, frame):
    return md.screening.criticise(estimator, frame, n_draws=20)


def attributed_change():
    """Return an answer by hand, as a fit with regimes takes long."""
    parts = (change.Part("x", "mean"), change.Part("y", "spread"))
    shares = np.array([[0.5, 0.0], [0.7, 0.1]])
    changed = np.ones((2, 2), dtype=bool)
    return md.effects.AttributedChange(
        "y", "before", "after", parts, shares, shares[:, ::-1], changed, 0.6123456, 0.1, 0.9
    )


def audit():
    row = {
        "statement": "x precedes y.", "kind": "order", "redundant": False, "support": 0.5,
        "binds": True, "conflict": False, "largest_change": 0.5, "changed_edge": "x -> y (mean)",
        "total_change": 0.7,
    }  # fmt: skip
    return md.stability.KnowledgeAudit(pd.DataFrame([row]), 0.0123456)


# Each answer, a sentence that it prints, and the name in the first row of its table.
EFFECTS = {
    "Intervention": (
        lambda fit, _: md.effects.intervene(
            fit, {"z": [-1.0, 1 / 3]}, ["y"], limits={"y": (0, 2)}, monte_carlo=FEW
        ),
        "2 settings of z; 1 target; 90% intervals cover graph and function uncertainty",
        "y",
    ),
    "Contrast": (
        lambda fit, _: md.effects.contrast(fit, {"z": -1.0}, {}, ["y"], monte_carlo=FEW),
        "z = -1 against nothing set; 90% intervals",
        "y",
    ),
    "LeverRanking": (
        lambda fit, _: md.effects.levers(fit, "y", candidates=["z"], monte_carlo=FEW),
        lambda answer: answer.recommendation(),
        "z=",
    ),
    "Optimum": (
        lambda fit, _: md.effects.optimise(
            fit, steady=["y"], candidates=["z"], max_levers=1, monte_carlo=FEW
        ),
        lambda answer: answer.recommendation(),
        "z=",
    ),
    "VarianceDecomposition": (
        lambda fit, _: md.effects.decompose_variance(fit, "y", monte_carlo=FEW),
        "Where the variance of y comes from",
        "own noise",
    ),
    "Counterfactual": (
        lambda fit, frame: fit.counterfactual(frame.iloc[0], {"x": 1 / 3}, monte_carlo=FEW),
        "1 row as if with x = 0.3333; 90% intervals",
        "z",
    ),
    "AnomalyAttribution": (
        lambda fit, frame: fit.attribute_anomaly(frame.iloc[0], "y", monte_carlo=FEW),
        lambda answer: answer.summary(),
        lambda answer: answer.first,
    ),
    "AttributedChange": (
        lambda *_: attributed_change(), lambda answer: answer.describe(), "x"
    ),
    "ExperimentPlan": (
        lambda fit, _: md.effects.next_experiment(fit, target="y", monte_carlo=FEW),
        lambda answer: answer.describe(),
        lambda answer: answer.to_frame()["variable"][0],
    ),
    "FittedFormulas": (
        lambda fit, frame: md.effects.export.fit_formulas(fit, frame, frame),
        "Distributional regressions of the consensus",
        "x",
    ),
    "Diagnostics": (
        lambda fit, _: fit.posterior_.diagnostics(),
        lambda answer: answer.message(),
        lambda answer: answer.edges["cause"][0],
    ),
    "Posterior": (
        lambda fit, _: fit.posterior_, "40 draws of graph pairs over 3 variables", "x"
    ),
}  # fmt: skip


def same_words(text):
    return " ".join(text.split())


def assert_one_line(answer):
    line = repr(answer)
    assert line.startswith(f"{type(answer).__name__}(")
    assert len(line) < 200
    assert "\n" not in line
    for raw in ("array(", "dtype", "np.float64", "DataFrame", "<lambda>"):
        assert raw not in line
        assert raw not in str(answer)
    digits = re.findall(r"\d+\.\d+", line + str(answer))
    assert all(len(number.replace(".", "").lstrip("0")) <= 5 for number in digits), digits


@pytest.mark.parametrize("name", EFFECTS)
def test_an_answer_prints_its_sentence_and_table(name, estimator, frame):
    ask, said, first = EFFECTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few draws
        answer = ask(estimator, frame)
    assert type(answer).__name__ == name
    assert_one_line(answer)
    printed = str(answer)
    assert same_words(said if isinstance(said, str) else said(answer)) in same_words(printed)
    assert max(len(line) for line in printed.splitlines()) <= text.WIDTH
    name_of_row = first if isinstance(first, str) else first(answer)
    assert any(name_of_row in line for line in printed.splitlines()[3:])
    assert "<table" in answer._repr_html_()


def test_answers_that_describe_themselves(estimator, frame, criticism):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few draws
        screening = md.screening.heteroscedasticity(frame, model=estimator)
    posteriors = estimator.posterior_, estimator.posterior_
    stability = md.stability.Stability("seeds", posteriors, md.Knowledge())
    for answer in (md.check(frame), screening, criticism, stability, audit()):
        assert_one_line(answer)
        assert str(answer) == answer.describe()
        assert "<p>" in answer._repr_html_() or "<table" in answer._repr_html_()
    assert repr(md.check(frame).columns[0]).count("\n") == 0
    assert "array" not in repr(md.check(frame).columns)


def test_a_long_table_says_how_many_rows_are_left_out():
    printed = text.table(pd.DataFrame({"x": range(MAX_ROWS + 5)}))
    assert printed.splitlines()[-1] == "and 5 rows more; see to_frame()."
    assert len(printed.splitlines()) == MAX_ROWS + 2


def test_a_wide_table_repeats_the_names_of_its_rows():
    wide = pd.DataFrame({"variable": ["a", "b"]} | {f"column_{k}": 1.23456 for k in range(15)})
    printed = text.table(wide)
    assert max(len(line) for line in printed.splitlines()) <= text.WIDTH
    assert [line.split()[0] for line in printed.splitlines() if line] == ["variable", "a", "b"] * 2
    assert printed.count("1.235") == 30


def test_names_are_written_in_one_line_and_long_ones_cut():
    printed = text.table(pd.DataFrame({"line\nbreak": ["\x1b[31mred", None, "é" * 90]}))
    assert printed.splitlines() == [r"line\nbreak", r"\x1b[31mred", "", "é" * 57 + "..."]
    assert text.table(pd.DataFrame({"x": []})) == "x\n(no rows)"
    assert "\n" not in text.summary("Answer", "a\nb")
    assert text.table(pd.DataFrame({"p": [0.5]}, index=["a"]), index=True).splitlines()[1] == (
        "a      0.5"
    )
