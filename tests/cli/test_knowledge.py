from momentdag import Knowledge


def test_a_template_is_written_once(invoke, refused, csv, tmp_path):
    path = tmp_path / "known.toml"
    result = invoke("knowledge", "--template", csv, "-o", path)
    assert result.exit_code == 0, result.output
    assert '"stress [%]"' in path.read_text("utf-8")
    assert Knowledge.from_file(path) == Knowledge()
    refused(invoke("knowledge", "--template", csv, "-o", path), "exists")
    assert invoke("knowledge", "--template", csv).stdout == path.read_text("utf-8")


def test_it_needs_a_table(invoke, refused, tmp_path):
    refused(invoke("knowledge", "--template", tmp_path / "none.csv"), "none.csv")
