import json

import numpy as np
import pandas as pd
import pytest

import momentdag as md

N = 90


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    rng = np.random.default_rng(0)
    dose = rng.uniform(1, 3, N)
    frame = pd.DataFrame(
        {
            "id": np.arange(1, N + 1),
            "dose": dose,
            "arm": rng.choice(["placebo", "drug"], N),
            "site": "north",
            "response": np.exp(np.sin(dose) + 0.2 * rng.normal(size=N)),
        }
    )
    path = tmp_path_factory.mktemp("messy") / "messy.csv"
    frame.to_csv(path, index=False)
    return path


def test_everything_is_shown(invoke, messy):
    result = invoke("check", messy)
    assert result.exit_code == 0, result.output
    for text in ("running number", "'north' in every row", "A fit uses 90 of 90 rows", "binary"):
        assert text in result.stdout


def test_json(invoke, messy):
    found = json.loads(invoke("check", messy, "--json", "--kind", "id=continuous").stdout)
    assert [row["column"] for row in found["columns"] if row["action"] == "leave out"] == ["site"]
    assert found["n_rows_kept"] == N
    assert md.Recipe.from_toml(found["recipe"]).column("arm").levels == ("placebo", "drug")


def test_what_cannot_be_checked_is_refused(invoke, refused, messy, tmp_path):
    refused(invoke("check", tmp_path / "none.csv"), "There is no file")
    refused(invoke("check", messy, "--kind", "arm=count"), "messy.csv", "cannot be 'count'")
    refused(invoke("check", messy, "--drop", "nobody"), "--drop", "'nobody'")
    refused(invoke("check", messy, "--sheet", "first"), "Excel workbook")


QUICK = ["--draws", "30", "--no-report", "--option", "n_starts=1", "--option", "n_inducing=10",
         "--option", "noise=gaussian"]  # fmt: skip


def test_a_fit_uses_the_recipe_and_keeps_it(invoke, refused, messy, tmp_path):
    recipe, folder = tmp_path / "r.toml", tmp_path / "run"
    options = ("--transform", "response=log", "--drop", "arm")
    assert invoke("check", messy, *options, "--recipe-out", recipe).exit_code == 0
    result = invoke("fit", messy, "-o", folder, "--recipe", recipe, *QUICK)
    assert result.exit_code == 0, result.output
    assert "Left out: 'id', 'arm', 'site'." in result.stdout
    run = md.runs.load_run(folder, with_data=True)
    assert run.recipe == md.Recipe.from_toml(recipe.read_text())
    assert (folder / "recipe.toml").read_text() == recipe.read_text()
    assert run.info.data.log_columns == ("response",)
    assert run.data.names == ("dose", "response")
    account = {row["column"]: row["action"] for row in run.account}
    assert (account["id"], account["dose"]) == ("leave out", "keep")
    # The same table by another recipe is another run.
    recipe.write_text(recipe.read_text().replace('name = "arm"', 'name = "arm"\nwhy = "No."', 1)
                      .replace('why = "Left out, as asked."\n', "", 1))  # fmt: skip
    again = invoke("fit", messy, "-o", folder, "--recipe", recipe, "--resume", *QUICK)
    refused(again, "cannot be resumed", "recipe")


def test_strict_refuses(invoke, refused, messy, tmp_path):
    result = invoke("fit", messy, "-o", tmp_path / "run", "--strict")
    refused(result, "needs no changes", "'id'", "'site'")
    assert not (tmp_path / "run").exists()


def test_screening_reads_the_same_tables(invoke, messy):
    result = invoke("screen", messy, "--columns", "dose,response")
    assert result.exit_code == 0, result.output
