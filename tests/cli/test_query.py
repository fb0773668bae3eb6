import json
from dataclasses import replace

import numpy as np

from momentdag import runs
from momentdag.posterior import ModelDoubt, Posterior


def test_query_agrees_with_the_posterior(invoke, run):
    questions = ("dose -> response [mean]", "'stress [%]' ~> response")
    result = invoke("query", run, *questions, "--json")
    assert result.exit_code == 0, result.output
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
    plain = posterior.plain_edge_probabilities("mean").loc["dose", "response"]
    assert output["answers"][0]["under_the_model"] == plain
    assert output["answers"][1]["under_the_model"] is None  # a path


def test_an_edge_that_is_sure_under_the_model_only_is_said_to_be(invoke, run, tmp_path):
    estimator = runs.load(run)
    before = estimator.posterior_
    half = np.zeros((2, 100, 3, 3), dtype=bool)
    half[0, :50, 0, 1] = True
    plain = np.zeros((3, 3, 3))
    plain[[0, 2], 0, 1] = 0.99
    doubt = ModelDoubt(plain, np.ones(3))
    posterior = Posterior(before.names, *half, before.provenance, doubt=doubt)
    estimator.adopt(replace(estimator.result_, posterior=posterior))
    runs.save(estimator, tmp_path / "doubted")
    result = invoke("query", tmp_path / "doubted", "dose -> 'stress [%]'", "dose -> response")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("sure under the model, not sure of the model") == 1


def test_query_prints_a_table(invoke, run):
    result = invoke("query", run, "dose -> response")
    assert result.exit_code == 0
    assert "probability" in result.stdout
    assert "dose -> response" in result.stdout


def test_bad_questions_are_refused(invoke, refused, run, tmp_path):
    refused(invoke("query", run, "dose response"), "'->' or '~>'", "character 6")
    refused(invoke("query", run, "dose -> nobody"), "'nobody'", "'response'")
    refused(invoke("query", tmp_path, "dose -> response"), "is not a run folder")
