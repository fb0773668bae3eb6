import json
import sys

import pytest

import momentdag as md
from momentdag import runs

SMALL = ("--worlds", "8")


def test_levers_agree_with_python(invoke, run):
    result = invoke("levers", run, "--target", "response", "--hold-mean", "5%", *SMALL, "--json")
    assert result.exit_code == 0, result.output
    output = json.loads(result.stdout)
    estimator = runs.load(run)
    mean = estimator.summary_.loc["response", "mean"]
    assert output["tolerance"] == pytest.approx(0.05 * mean)  # up to rounding
    expected = md.effects.levers(
        estimator,
        "response",
        tolerance=output["tolerance"],
        monte_carlo=md.effects.MonteCarlo(n_draws=8),
    )
    assert output["recommended"] == expected.recommended
    assert [row["setting"] for row in output["levers"]] == expected.table["setting"].tolist()


def test_levers_prints_a_recommendation(invoke, run):
    result = invoke("levers", run, "-t", "response", "--candidates", "stress [%]", *SMALL)
    assert result.exit_code == 0, result.output
    assert "Recommended:" in result.stdout
    assert "variance ratio" in result.stdout
    assert "by level" in result.stdout
    assert "by holding" in result.stdout


def test_levers_are_ranked_as_asked(invoke, run):
    output = {}
    for how in ("level", "total"):
        arguments = ("levers", run, "--target", "response", "--rank-by", how, *SMALL, "--json")
        result = invoke(*arguments)
        assert result.exit_code == 0, result.output
        output[how] = json.loads(result.stdout)
        expected = md.effects.levers(
            runs.load(run),
            "response",
            rank_by=how,
            monte_carlo=md.effects.MonteCarlo(n_draws=8),
        ).to_frame()
        rows = output[how]["levers"]
        assert output[how]["rank_by"] == how
        assert [row["levers"] for row in rows] == expected["levers"].tolist()
        assert [row["ratio_by_level"] for row in rows] == expected["ratio_by_level"].tolist()
    names = [sorted(row["levers"] for row in output[how]["levers"]) for how in output]
    assert names[0] == names[1]
    result = invoke("levers", run, "--target", "response", "--rank-by", "price")
    assert result.exit_code == 2


def test_bad_levers_are_refused(invoke, refused, run):
    refused(invoke("levers", run, "--target", "nobody", "--hold-mean", "5%"), "'nobody'")
    refused(invoke("levers", run, "--target", "nobody"), "'nobody'")
    refused(invoke("levers", run, "--target", "response", "--hold-mean", "little"), "'little'")
    refused(invoke("levers", run, "--target", "response", "--candidates", "nobody"), "'nobody'")


def test_what_can_be_set_and_what_it_costs(invoke, run):
    output = invoke(
        *("levers", run, "-t", "response", "--fixed", "dose", "--cost", "stress [%]=2"),
        *(*SMALL, "--json"),
    )
    assert output.exit_code == 0, output.output
    (row,) = json.loads(output.stdout)["levers"]
    assert row["levers"] == "stress [%]"
    assert row["cost"] == 2.0


def test_what_changes_nothing_is_listed_on_request(invoke, run, monkeypatch):
    # The package has a function of the same name as the module.
    monkeypatch.setattr(sys.modules["momentdag.effects.levers"], "NO_EFFECT", 0.0)
    short = invoke("levers", run, "-t", "response", *SMALL)
    assert "2 more change next to nothing; --all lists them." in short.stdout
    assert "Recommended: None: no lever reduces the variance of response" in short.stdout
    every = invoke("levers", run, "-t", "response", "--all", *SMALL)
    assert "stress [%]=" in every.stdout
    assert "next to nothing" not in every.stdout


@pytest.mark.parametrize("command", ["levers", "effects"])
def test_a_model_that_does_not_reproduce_the_data_is_refused(
    invoke, refused, run, command, monkeypatch
):
    monkeypatch.setattr("momentdag.effects.world.MAX_SD_GAP", 1e-9)
    arguments = (command, run, "-t", "response", *SMALL)
    refused(invoke(*arguments), "does not reproduce", "--force")
    shown = invoke(*arguments, "--force")
    assert shown.exit_code == 0, shown.output
    assert "Do not use this answer" in shown.stdout
