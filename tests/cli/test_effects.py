import json

import pytest

import momentdag as md
from momentdag import runs

SMALL = ("--worlds", "8")


def test_effects_agree_with_python(invoke, run):
    arguments = ("--do", "dose=1.5,2.5", "--target", "response", "--limits", "response=18:")
    result = invoke("effects", run, *arguments, *SMALL, "--seed", "4", "--json")
    assert result.exit_code == 0, result.output
    output = json.loads(result.stdout)["effects"]
    expected = md.effects.intervene(
        runs.load(run),
        {"dose": [1.5, 2.5]},
        ["response"],
        limits={"response": (18.0, None)},
        monte_carlo=md.effects.MonteCarlo(n_draws=8, random_state=4),
    ).to_frame()
    assert output == expected.to_dict("records")


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


def test_a_run_without_mechanisms_says_what_it_needs(invoke, refused, csv, tmp_path):
    folder = tmp_path / "linear"
    assert (
        invoke(
            *("fit", csv, "-o", folder, "--option", "family=linear", "--no-report"),
            *("--log-scale", "dose"),
        ).exit_code
        == 0
    )
    for arguments in (("effects", folder, "--do", "dose=1"), ("levers", folder, "-t", "response")):
        result = invoke(*arguments)
        refused(result, "mechanisms", "Fit with --option family=gp.")
        assert "engine_options" not in result.stderr
    assert invoke("query", folder, "dose -> response").exit_code == 0
