import pytest


@pytest.mark.parametrize("jobs", ["0", "-3"])
@pytest.mark.parametrize("command", ["demo", "fit", "screen"])
def test_a_number_of_processes_that_makes_no_sense_is_refused(
    invoke, refused, csv, tmp_path, command, jobs
):
    arguments = {
        "demo": ("-o", tmp_path / "run"),
        "fit": (csv, "-o", tmp_path / "run"),
        "screen": (csv,),
    }
    refused(invoke(command, *arguments[command], "--jobs", jobs), "--jobs", jobs)
    assert not (tmp_path / "run").exists()
