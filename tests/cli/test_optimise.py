import json

import pytest

import momentdag as md
from momentdag import runs

SMALL = ("--worlds", "8", "--max-levers", "1")


def test_it_agrees_with_python(invoke, run):
    goals = ("--steady", "response", "--hold", "response=0.2sd", "--limits", "response=:30")
    result = invoke("optimise", run, *goals, *SMALL, "--force", "--json")
    assert result.exit_code == 0, result.output
    output = json.loads(result.stdout)
    expected = md.effects.optimise(
        runs.load(run),
        steady=["response"],
        hold={"response": "0.2sd"},
        limits={"response": (None, 30.0)},
        max_levers=1,
        force=True,
        monte_carlo=md.effects.MonteCarlo(n_draws=8),
    )
    assert output["recommended"] == expected.recommended
    assert [row["setting"] for row in output["proposals"]] == expected.table["setting"].tolist()
    gains = [row["gain"] for row in output["proposals"]]
    assert gains == pytest.approx(expected.table["gain"].tolist())


def test_it_prints_proposals_and_a_recommendation(invoke, run):
    arguments = ("--aim", "response=21", "--cost", "dose=0.2", "--weight", "response=2", *SMALL)
    result = invoke("optimise", run, *arguments, "--force")
    assert result.exit_code == 0, result.output
    assert "To bring response to 21." in result.stdout
    assert "Recommended:" in result.stdout


def test_bad_goals_are_refused(invoke, refused, run):
    refused(invoke("optimise", run), "Expected a goal")
    refused(invoke("optimise", run, "--maximise", "respons"), "Did you mean 'response'?")
    refused(invoke("optimise", run, "--aim", "response"), "--aim")
    refused(invoke("optimise", run, "--aim", "response=much"), "much")
