import copy
import json
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import momentdag as md
from momentdag import runs
from momentdag.errors import DataError, OptionError, StorageError
from momentdag.storage.archive import checksum, read_archive, write_archive
from momentdag.storage.run_info import file_hash


def test_a_loaded_run_is_the_estimator_that_was_saved(run, estimator, table):
    found = runs.load(run)
    for field in ("mean_graphs", "variance_graphs", "log_posterior", "chains"):
        before, after = (getattr(e.posterior_, field) for e in (estimator, found))
        np.testing.assert_array_equal(before, after)
    assert found.posterior_.provenance == estimator.posterior_.provenance
    assert found.knowledge == estimator.knowledge
    assert (found.n_draws, found.random_state, found.engine) == (500, 3, "evidence")
    assert found.best_graph_ == estimator.best_graph_
    assert found.status_ == estimator.status_
    assert found.details_ == estimator.details_
    assert found.summary_.equals(estimator.summary_)
    assert list(found.feature_names_in_) == list(estimator.feature_names_in_)
    for name in ("mean_graph_", "variance_graph_", "union_graph_"):
        before, after = (dict(getattr(e, name).edges) for e in (estimator, found))
        assert before == after


def test_a_loaded_run_answers_to_the_bit_as_the_estimator_did(run, estimator, table):
    found = runs.load(run)
    np.testing.assert_array_equal(found.score_samples(table), estimator.score_samples(table))
    how = md.effects.MonteCarlo(n_draws=8, n_rows=32)
    before, after = (
        md.effects.intervene(e, {"é": [0.0, 1.0]}, ["y"], monte_carlo=how).to_frame()
        for e in (estimator, found)
    )
    assert before.equals(after)
    wrong = table.rename(columns={"y": "w"})
    with pytest.raises((DataError, ValueError), match="w"):
        found.score(wrong)


@pytest.mark.slow
def test_a_run_of_the_variational_engine_comes_back_to_the_bit(table, tmp_path):
    options = {"n_restarts": 1, "max_steps": 60, "warm_up_steps": 10}
    fitted = md.MomentDAG("variational", n_draws=500, random_state=0, engine_options=options)
    runs.fit(fitted, table, tmp_path)
    found = runs.load(tmp_path)
    assert found.details_ == fitted.details_
    np.testing.assert_array_equal(found.score_samples(table), fitted.score_samples(table))


def test_a_loaded_run_can_be_cloned_and_fitted_again(run, linear, table, tmp_path):
    folder = runs.save(linear, tmp_path / "linear", table)
    again = clone(runs.load(folder)).fit(table)
    np.testing.assert_array_equal(again.posterior_.mean_graphs, linear.posterior_.mean_graphs)


def test_a_family_without_mechanisms_has_no_file_of_them(linear, table, tmp_path):
    folder = runs.save(linear, tmp_path / "run", table)
    assert not (folder / "mechanisms.npz").exists()
    assert not (folder / "knowledge.json").exists()
    found = runs.load(folder)
    assert found.scm_ is None
    assert found.knowledge is None


def test_the_folder_says_what_it_is(run, table):
    info = runs.read_info(run)
    assert info.status == "complete"
    assert info.data.names == ("x 1", "é", "y")
    assert info.data.n_samples == len(table)
    assert info.data.fingerprint == md.Dataset.from_table(table).fingerprint
    assert info.options["engine_options"]["n_inducing"] == 10
    names = {path.name for path in run.iterdir()} - {".lock"}
    assert names == {"run.json", *info.files}
    json.loads((run / "run.json").read_text(), parse_constant=pytest.fail)  # plain JSON: no NaN


def test_data_and_posterior_can_be_read_alone(run, estimator, table):
    data = runs.load_data(run)
    np.testing.assert_array_equal(data.values, table.to_numpy())
    assert data.names == tuple(table.columns)
    posterior = runs.load_posterior(run)
    np.testing.assert_array_equal(posterior.mean_graphs, estimator.posterior_.mean_graphs)


def test_one_load_gives_what_three_do(run):
    loaded = runs.load_run(run, with_data=True)
    assert loaded.info == runs.read_info(run)
    assert loaded.data == runs.load_data(run)
    assert loaded.estimator.summary_.equals(runs.load(run).summary_)


def test_data_that_were_not_asked_for_or_saved_are_none(linear, run, tmp_path):
    assert runs.load_run(run).data is None
    bare = runs.save(linear, tmp_path / "bare")
    assert runs.load_run(bare, with_data=True).data is None


def test_a_run_may_be_saved_without_its_data(estimator, tmp_path):
    folder = runs.save(estimator, tmp_path / "run")
    assert runs.load(folder).posterior_.n_draws == 500
    assert runs.read_info(folder).data.n_samples is None
    with pytest.raises(StorageError, match="without its data"):
        runs.load_data(folder)


def test_saving_is_refused_where_it_would_mislead(run, estimator, table):
    with pytest.raises(StorageError, match="already holds a run"):
        runs.save(estimator, run, table)
    with pytest.raises(OptionError, match="not the table this model was fitted to"):
        runs.save(estimator, run, table * 2, force=True)
    with pytest.raises(NotFittedError):
        runs.save(md.MomentDAG(), run)
    assert runs.load(run).posterior_.n_draws == 500  # and all is as it was


def test_force_replaces_the_run_and_leaves_other_files(run, linear, table):
    (run / "thesis.tex").write_text("mine")
    (run / "report.html").write_text("of the old run")
    runs.save(linear, run, table, force=True)
    assert runs.load(run).scm_ is None
    assert (run / "thesis.tex").read_text() == "mine"
    assert not (run / "report.html").exists()
    assert not (run / "mechanisms.npz").exists()


@pytest.mark.parametrize(
    "name", ["posterior.zip", "mechanisms.npz", "knowledge.json", "data.npz", "run.json"]
)
@pytest.mark.parametrize("damage", ["missing", "cut", "flipped", "empty"])
def test_a_damaged_folder_is_refused(run, name, damage):
    path = run / name
    content = bytearray(path.read_bytes())
    if damage == "missing":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        content[len(content) // 2] ^= 0xFF
        path.write_bytes(content)
    else:
        path.write_bytes(b"")
    with pytest.raises(StorageError):
        runs.load(run)


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(
        ["posterior.zip", "mechanisms.npz", "knowledge.json", "data.npz", "run.json"]
    ),
    position=st.floats(0, 1, exclude_max=True),
    bit=st.integers(0, 7),
)
def test_any_flipped_bit_is_found_or_harmless(whole, name, position, bit):
    path = whole / name
    content, info = path.read_bytes(), runs.read_info(whole)
    changed = bytearray(content)
    changed[int(position * len(changed))] ^= 1 << bit
    path.write_bytes(changed)
    try:
        runs.load(whole)
    except StorageError:
        return
    else:
        # Capitals in an escaped character mean the same.
        assert name == "run.json"
        assert runs.read_info(whole) == info
    finally:
        path.write_bytes(content)


def resign(folder, **changes):
    """Alter `run.json` as an attacker would: checksums right, content wrong."""
    path = folder / "run.json"
    content = json.loads(path.read_text())
    content |= changes
    for name in content["files"]:
        content["files"][name] = file_hash(folder / name)
    content["sha256"] = checksum(content)
    path.write_text(json.dumps(content))


def test_parts_of_different_runs_do_not_mix(run, estimator, table, tmp_path):
    other = table.rename(columns={"y": "w"})
    fitted = md.MomentDAG(n_draws=500, engine_options={"family": "linear"}, random_state=0)
    second = runs.save(fitted.fit(other), tmp_path / "second", other)
    shutil.copy(second / "posterior.zip", run)
    resign(run)
    with pytest.raises(StorageError, match="different variables"):
        runs.load(run)


def test_a_forged_description_is_refused_and_leads_nowhere(run):
    good = json.loads((run / "run.json").read_text())
    for options in ({"engine": "evidence", "n_dravs": 1}, {"engine": "os"}):
        resign(run, options=options)
        with pytest.raises(StorageError, match="not an intact run folder"):
            runs.load(run)
    result = good["result"] | {"best_mean_edges": [["y", "y"]]}
    resign(run, options=good["options"], result=result)
    with pytest.raises(StorageError, match="self-loops"):
        runs.load(run)


def test_an_unfinished_run_is_not_loaded(run):
    resign(run, status="interrupted", files={})
    with pytest.raises(StorageError, match=r"is interrupted.*--resume"):
        runs.load(run)


def forge_mechanisms(folder, content=None, arrays=None):
    """Change the values or arrays of `mechanisms.npz`, every checksum made right again."""
    state = read_archive(folder / "mechanisms.npz", "mechanisms")
    changed = {**state.content, **(content or {})}, {**state.arrays, **(arrays or {})}
    write_archive(folder / "mechanisms.npz", "mechanisms", *changed)
    resign(folder)


def test_engines_are_not_mixed_up(run):
    forge_mechanisms(run, {"engine": "variational"})
    with pytest.raises(StorageError, match="of the engine 'evidence'; got 'variational'"):
        runs.load(run)


def test_a_model_of_another_engine_is_refused(run):
    pytest.importorskip("jax")
    forge_mechanisms(run, {"engine": "variational"})
    options = json.loads((run / "run.json").read_text())["options"]
    resign(run, options=options | {"engine": "variational", "engine_options": {}})
    with pytest.raises(StorageError, match=r"mechanisms\.npz: "):
        runs.load(run)


def test_an_engine_that_does_not_exist_is_refused_when_saving(estimator, table, tmp_path):
    other = copy.copy(estimator).set_params(engine="os")
    with pytest.raises(OptionError, match="Expected engine among"):
        runs.save(other, tmp_path / "run", table)


def test_forged_mechanisms_are_refused_with_the_name_of_their_file(run, estimator):
    forge_mechanisms(run, arrays={"scale": -np.ones(3)})
    with pytest.raises(StorageError, match=r"mechanisms\.npz: Expected scales of at least"):
        runs.load(run)


def test_moments_are_the_same_bits(run, estimator, table):
    found = runs.load(run).scm_
    for name in table.columns:
        before, after = (
            model.moments(table.to_numpy(), estimator.best_graph_, name)
            for model in (estimator.scm_, found)
        )
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("values", [np.ones((90, 2)), np.ones((90, 3), np.float32), np.ones(90)])
def test_forged_data_are_refused(run, values):
    content, _ = read_archive(run / "data.npz", "data")
    write_archive(run / "data.npz", "data", content, {"values": values})
    resign(run)
    with pytest.raises(StorageError, match="Expected array 'values'"):
        runs.load_data(run)


def test_a_run_of_an_earlier_version_says_what_to_do(run):
    path = run / "posterior.zip"
    content, arrays = read_archive(path, "posterior", version=2)
    write_archive(path, "posterior", content, arrays, version=1)
    resign(run)
    with pytest.raises(StorageError, match=r"earlier version of momentdag.*Fit again"):
        runs.load(run)
    assert runs.load_data(run).names == ("x 1", "é", "y")  # the table can still be fitted again
