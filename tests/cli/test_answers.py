import json

import pytest

import momentdag as md
from momentdag import runs

SMALL = ("--worlds", "8")


def test_query_agrees_with_the_posterior(command, run):
    questions = ("dose -> response [mean]", "'stress [%]' ~> response")
    result = command("query", run, *questions, "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    posterior = runs.load_posterior(run)
    assert found["n_draws"] == posterior.n_draws
    assert [answer["question"] for answer in found["answers"]] == list(questions)
    assert found["answers"][0]["probability"] == posterior.edge_probability(
        "dose", "response", "mean"
    )
    assert found["answers"][1]["probability"] == posterior.path_probability(
        "stress [%]", "response"
    )


def test_query_prints_a_table(invoke, run):
    result = invoke("query", run, "dose -> response")
    assert result.exit_code == 0
    assert "probability" in result.stdout
    assert "dose -> response" in result.stdout


def test_bad_questions_are_refused(invoke, refused, run, tmp_path):
    refused(invoke("query", run, "dose response"), "'->' or '~>'", "character 6")
    refused(invoke("query", run, "dose -> nobody"), "'nobody'", "'response'")
    refused(invoke("query", tmp_path, "dose -> response"), "Expected a run folder")


def test_effects_agree_with_python(invoke, run):
    arguments = ("--do", "dose=1.5,2.5", "--target", "response", "--limits", "response=18:")
    result = invoke("effects", run, *arguments, *SMALL, "--seed", "4", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["effects"]
    expected = md.effects.intervene(
        runs.load(run),
        {"dose": [1.5, 2.5]},
        ["response"],
        limits={"response": (18.0, None)},
        monte_carlo=md.effects.MonteCarlo(n_draws=8, random_state=4),
    ).to_frame()
    assert found == expected.to_dict("records")


def test_effects_prints_a_table_and_notes(invoke, run):
    result = invoke("effects", run, "--do", "dose=9", *SMALL)
    assert result.exit_code == 0
    assert "mean_low" in result.stdout
    assert "90% intervals" in result.stdout
    assert "Note: 'dose' was observed from" in result.stderr
    assert invoke("effects", run, *SMALL).exit_code == 0  # the world as it is


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--do", "nobody=1"), ("'nobody'",)),
        (("--do", "dose"), ("NAME=VALUE",)),
        (("--do", "dose=much"), ("'much'",)),
        (("--do", "dose=1", "--target", "dose"), ("not set",)),
        (("--target", "nobody"), ("'nobody'",)),
        (("--level", "2"), ("level",)),
        (("--limits", "response=3:1"), ("low < high",)),
    ],
)
def test_bad_settings_are_refused(invoke, refused, run, arguments, words):
    refused(invoke("effects", run, *arguments, *SMALL), *words)


def test_levers_agree_with_python(invoke, run):
    result = invoke("levers", run, "--target", "response", "--hold-mean", "5%", *SMALL, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    estimator = runs.load(run)
    mean = estimator.summary_.loc["response", "mean"]
    assert found["tolerance"] == pytest.approx(0.05 * mean)  # up to rounding
    expected = md.effects.levers(
        estimator,
        "response",
        tolerance=found["tolerance"],
        monte_carlo=md.effects.MonteCarlo(n_draws=8),
    )
    assert found["recommended"] == expected.recommended
    assert [row["setting"] for row in found["levers"]] == expected.table["setting"].tolist()


def test_levers_prints_a_recommendation(invoke, run):
    result = invoke("levers", run, "-t", "response", "--candidates", "stress [%]", *SMALL)
    assert result.exit_code == 0, result.output
    assert "Recommended:" in result.stdout
    assert "variance ratio" in result.stdout
    assert "by level" in result.stdout
    assert "by holding" in result.stdout


def test_levers_are_ranked_as_asked(invoke, run):
    found = {}
    for how in ("level", "total"):
        arguments = ("levers", run, "--target", "response", "--rank-by", how, *SMALL, "--json")
        result = invoke(*arguments)
        assert result.exit_code == 0, result.output
        found[how] = json.loads(result.stdout)
        expected = md.effects.levers(
            runs.load(run),
            "response",
            rank_by=how,
            monte_carlo=md.effects.MonteCarlo(n_draws=8),
        ).to_frame()
        rows = found[how]["levers"]
        assert found[how]["rank_by"] == how
        assert [row["levers"] for row in rows] == expected["levers"].tolist()
        assert [row["ratio_by_level"] for row in rows] == expected["ratio_by_level"].tolist()
    names = [sorted(row["levers"] for row in found[how]["levers"]) for how in found]
    assert names[0] == names[1]
    result = invoke("levers", run, "--target", "response", "--rank-by", "price")
    assert result.exit_code == 2


def test_bad_levers_are_refused(invoke, refused, run):
    refused(invoke("levers", run, "--target", "nobody", "--hold-mean", "5%"), "'nobody'")
    refused(invoke("levers", run, "--target", "nobody"), "'nobody'")
    refused(invoke("levers", run, "--target", "response", "--hold-mean", "little"), "'little'")
    refused(invoke("levers", run, "--target", "response", "--candidates", "nobody"), "'nobody'")


def test_a_run_without_mechanisms_says_what_it_needs(invoke, refused, csv, tmp_path):
    folder = tmp_path / "linear"
    assert (
        invoke(
            *("fit", csv, "-o", folder, "--option", "family=linear", "--no-report"),
            *("--log-scale", "dose"),
        ).exit_code
        == 0
    )
    refused(invoke("effects", folder, "--do", "dose=1"), "mechanisms", "gp")
    assert invoke("query", folder, "dose -> response").exit_code == 0
