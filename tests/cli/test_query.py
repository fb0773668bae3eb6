import json

from momentdag import runs


def test_query_agrees_with_the_posterior(command, run):
    questions = ("dose -> response [mean]", "'stress [%]' ~> response")
    result = command("query", run, *questions, "--json")
    assert result.returncode == 0, result.stderr
    output = json.loads(result.stdout)
    posterior = runs.load_posterior(run)
    assert output["n_draws"] == posterior.n_draws
    assert [answer["question"] for answer in output["answers"]] == list(questions)
    assert output["answers"][0]["probability"] == posterior.edge_probability(
        "dose", "response", "mean"
    )
    assert output["answers"][1]["probability"] == posterior.path_probability(
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
    refused(invoke("query", tmp_path, "dose -> response"), "is not a run folder")
