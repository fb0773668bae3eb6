def test_reproduce_runs_an_experiment_and_writes_its_page(invoke, tmp_path):
    folder = tmp_path / "reproduction"
    arguments = ("reproduce", "table-posterior", "--quick", "--sets", "1", "-o", folder)
    result = invoke(*arguments, "--methods", "evidence-linear", "--max-variables", "2")
    assert result.exit_code == 0, result.output
    assert (folder / "reproduction.md").exists()
    assert "reproduction.md" in result.stdout


def test_reproduce_without_a_name_lists_experiments_and_methods(invoke):
    result = invoke("reproduce")
    assert result.exit_code == 0, result.output
    for name in ("fig-sparse", "table-sachs", "variational-published", "varsort"):
        assert name in result.stdout


def test_bad_input_is_refused(invoke, refused, tmp_path):
    refused(invoke("reproduce", "table-nothing", "-o", tmp_path), "'table-nothing'", "fig-sparse")
    refused(invoke("reproduce", "table-posterior", "--methods", "magic", "-o", tmp_path), "'magic'")
