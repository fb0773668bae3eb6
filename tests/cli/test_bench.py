import json


def test_bench_measures_real_fits(invoke):
    arguments = ("bench", "--presets", "linear-anm-2", "--sets", "2", "--draws", "200")
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0, result.output
    fits = json.loads(result.stdout)["fits"]
    assert [fit["seed"] for fit in fits] == [0, 1]
    for fit in fits:
        assert fit["seconds"] > 0
        assert fit["variables"] == 2
        assert 0 <= fit["mean_shd"] <= 1  # of two variables, at most one edge is wrong
    assert "seconds" in invoke(*arguments[:3]).stdout


def test_bad_input_is_refused(invoke, refused):
    refused(invoke("bench", "--presets", "nothing"), "'nothing'")
