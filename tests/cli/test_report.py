import json
import shutil

from momentdag import runs


def test_a_report_is_written_again(invoke, run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    result = invoke("report", folder, "--title", "Cells & more", "--json")
    assert result.exit_code == 0, result.output
    path = folder / "report.html"
    assert json.loads(result.stdout) == {"report": str(path)}
    text = path.read_text(encoding="utf-8")
    assert "Cells &amp; more" in text
    assert "stress [%]" in text


def test_a_report_needs_a_run_with_its_data(invoke, refused, run, tmp_path):
    folder = runs.save(runs.load(run), tmp_path / "bare")
    refused(invoke("report", folder), "without its data")
    refused(invoke("report", tmp_path / "missing"), "is not a run folder")
