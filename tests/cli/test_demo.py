from dataclasses import replace

import pytest

from momentdag import datasets, runs

SMALL = ("--cells", "50", "--draws", "60", "--jobs", "1")


@pytest.fixture(scope="module")
def shown(invoke, tmp_path_factory):
    """Show the demo on four of its eleven proteins; the whole one is slow."""
    folder = tmp_path_factory.mktemp("demo")
    whole, four = datasets.load_sachs(truth="17"), ["raf", "mek", "erk", "akt"]
    few = replace(whole, data=whole.data[four], union_graph=whole.union_graph.loc[four, four])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "load_sachs", lambda truth: few)
        patch.chdir(folder)
        return folder, invoke("demo", *SMALL, "--no-report")


def test_demo_fits_prints_and_saves_a_run(shown):
    folder, result = shown
    assert result.exit_code == 0, result.stderr
    for expected in ("50 single cells", "moves the variance", "erk", "Check of the draws"):
        assert expected in result.stdout
    assert "Traceback" not in result.stderr
    posterior = runs.load_posterior(folder / "momentdag-demo")
    assert posterior.n_draws == 60
    assert posterior.names[0] == "raf"


def test_demo_replaces_nothing_but_a_demo(invoke, refused, run, tmp_path):
    before = (run / "run.json").read_bytes()
    refused(invoke("demo", *SMALL, "-o", run), "holds another run", "--output")
    assert (run / "run.json").read_bytes() == before
    (tmp_path / "thesis.tex").write_text("mine")
    refused(invoke("demo", *SMALL, "-o", tmp_path), "other files")


def test_demo_into_a_place_that_cannot_be_written_is_one_sentence(invoke, tmp_path):
    (tmp_path / "taken").write_text("a file")
    result = invoke("demo", *SMALL, "-o", tmp_path / "taken" / "inside")
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    assert "taken" in result.stderr


@pytest.mark.slow
def test_the_whole_demo_with_its_report(command, tmp_path):
    result = command("demo", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "853 single cells" in result.stdout
    report = tmp_path / "momentdag-demo" / "report.html"
    assert "erk" in report.read_text(encoding="utf-8")
    assert runs.load(tmp_path / "momentdag-demo").posterior_.n_draws == 2000
