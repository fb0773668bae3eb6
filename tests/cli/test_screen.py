import json

import numpy as np
import pandas as pd


def test_screen_finds_what_is_there(invoke, csv, tmp_path):
    knowledge = tmp_path / "lab.toml"
    knowledge.write_text('tiers = [["dose", "stress [%]"], ["response"]]')
    result = invoke("screen", csv, "--knowledge", knowledge, "--json")
    assert result.exit_code == 0, result.output
    output = json.loads(result.stdout)
    assert output["n_samples"] == 90
    assert {row["variable"] for row in output["table"]} == {"dose", "stress [%]", "response"}
    assert output["is_heteroscedastic"] == bool(output["variables"])


def test_prints_sentences_whose_advice_speaks_in_flags(invoke, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "y"])
    table.to_csv(tmp_path / "noise.csv", index=False)
    result = invoke("screen", tmp_path / "noise.csv")
    assert result.exit_code == 0, result.output
    assert "Heteroscedasticity screen of 60 rows" in result.stdout
    assert "--option family=gp_homoscedastic fits the mean graph alone." in result.stdout


def test_bad_input_is_refused(invoke, refused, csv, tmp_path):
    refused(invoke("screen", tmp_path / "none.csv"), "none.csv")
    refused(invoke("screen", csv, "--level", "7"), "level")
    refused(invoke("screen", csv, "--log-scale", "nobody"), "nobody")
