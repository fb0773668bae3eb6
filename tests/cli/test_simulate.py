import json

import numpy as np
import pandas as pd

import momentdag as md


def test_data_and_truth_are_written(invoke, tmp_path):
    result = invoke("simulate", "sparse-5", "-o", tmp_path / "made", "--rows", "60", "--seed", "3")
    assert result.exit_code == 0, result.output
    expected = md.simulate.preset("sparse-5", np.random.default_rng(3), 60)
    data = md.Dataset.from_file(tmp_path / "made" / "data.csv")
    np.testing.assert_array_equal(data.values, expected.data.to_numpy())
    for moment in ("mean", "variance"):
        graph = pd.read_csv(tmp_path / "made" / f"{moment}_graph.csv", index_col="cause")
        np.testing.assert_array_equal(graph.to_numpy(), expected.graph.adjacency(moment))
        assert list(graph.index) == list(graph.columns) == list(data.names)


def test_presets_are_listed(invoke):
    output = json.loads(invoke("simulate", "--json").stdout)["presets"]
    assert set(output) == set(md.simulate.presets())
    assert "sparse-5" in invoke("simulate").stdout


def test_bad_input_is_refused(invoke, refused, tmp_path):
    refused(invoke("simulate", "nothing", "-o", tmp_path), "'nothing'", "sparse-5")
    refused(invoke("simulate", "sparse-5"), "--output")
    (tmp_path / "file").write_text("in the way")
    refused(invoke("simulate", "sparse-5", "-o", tmp_path / "file"), "Could not create the folder")
