import json


def test_screen_finds_what_is_there(invoke, csv, tmp_path):
    knowledge = tmp_path / "lab.toml"
    knowledge.write_text('tiers = [["dose", "stress [%]"], ["response"]]')
    result = invoke("screen", csv, "--knowledge", knowledge, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["n_samples"] == 90
    assert {row["variable"] for row in found["table"]} == {"dose", "stress [%]", "response"}
    assert found["is_heteroscedastic"] == bool(found["variables"])
    plain = invoke("screen", csv, "--knowledge", knowledge)
    assert "Heteroscedasticity screen of 90 rows" in plain.stdout


def test_bad_input_is_refused(invoke, refused, csv, tmp_path):
    refused(invoke("screen", tmp_path / "none.csv"), "none.csv")
    refused(invoke("screen", csv, "--level", "7"), "level")
    refused(invoke("screen", csv, "--log-scale", "nobody"), "nobody")
