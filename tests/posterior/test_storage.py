import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentdag.errors import StorageError
from momentdag.posterior import Posterior, Provenance
from momentdag.posterior.storage import checksum


def example():
    rng = np.random.default_rng(0)
    mean, variance = np.triu(rng.random((2, 30, 5, 5)) < 0.4, k=1)
    return Posterior(
        ["é", "b c", "<script>", "d", "e"],
        mean,
        variance,
        Provenance("test", {"noise": "gaussian", "n": 3}, "cafe", 7),
        log_posterior=rng.normal(size=30),
        chains=np.repeat([0, 1], 15),
    )


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "posterior.zip"
    example().save(path)
    return path


def test_round_trip_keeps_everything(saved):
    before, after = example(), Posterior.load(saved)
    assert after.names == before.names
    assert after.provenance == before.provenance
    for field in ("mean_graphs", "variance_graphs", "log_posterior", "chains"):
        np.testing.assert_array_equal(getattr(after, field), getattr(before, field))


def test_saving_leaves_no_temporary_file_and_replaces_the_old_one(saved):
    example().save(saved)
    assert [path.name for path in saved.parent.iterdir()] == ["posterior.zip"]


def test_saving_where_there_is_no_folder_is_a_clear_error(tmp_path):
    with pytest.raises(StorageError, match="Could not write"):
        example().save(tmp_path / "missing" / "posterior.zip")


def test_missing_and_foreign_files(tmp_path):
    with pytest.raises(StorageError, match="Could not read"):
        Posterior.load(tmp_path / "nothing.zip")
    text = tmp_path / "text.zip"
    text.write_text("a,b\n1,2\n")
    with pytest.raises(StorageError, match="not an intact"):
        Posterior.load(text)
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("../evil.txt", "x")
    with pytest.raises(StorageError, match="expected the members"):
        Posterior.load(other)


@settings(max_examples=60, deadline=None)
@given(fraction=st.floats(0, 0.999))
def test_every_truncation_is_refused(tmp_path_factory, fraction):
    path = tmp_path_factory.mktemp("cut") / "p.zip"
    example().save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * fraction)])
    with pytest.raises(StorageError):
        Posterior.load(path)


@settings(max_examples=150, deadline=None)
@given(position=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_refused_or_harmless(tmp_path_factory, position, bit):
    path = tmp_path_factory.mktemp("flip") / "p.zip"
    example().save(path)
    content = bytearray(path.read_bytes())
    content[int(position * len(content))] ^= 1 << bit
    path.write_bytes(content)
    try:
        after = Posterior.load(path)
    except StorageError:
        return
    # A bit in zip bookkeeping (a time stamp, say) may go unnoticed; the content may not change.
    before = example()
    np.testing.assert_array_equal(after.mean_graphs, before.mean_graphs)
    np.testing.assert_array_equal(after.variance_graphs, before.variance_graphs)
    assert after.names == before.names
    assert after.provenance == before.provenance


def rewrite(path, edit, *, forge=False):
    """Repack a saved file after ``edit(manifest, draws)``; a forger computes the checksum anew."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        draws = archive.read("draws.npz")
    manifest, draws = edit(manifest, draws)
    if forge:
        manifest["sha256"] = checksum(manifest, draws)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("draws.npz", draws)


def stored(save=np.savez, **arrays):
    stream = io.BytesIO()
    save(stream, **arrays)
    return stream.getvalue()


def test_rewriting_without_a_change_is_harmless(saved):
    for forge in (False, True):
        rewrite(saved, lambda manifest, draws: (manifest, draws), forge=forge)
        assert Posterior.load(saved).names == example().names


def test_tampered_draws_fail_the_checksum(saved):
    def edit(manifest, draws):
        with np.load(io.BytesIO(draws)) as arrays:
            return manifest, stored(**{name: arrays[name] * 0 for name in arrays.files})

    rewrite(saved, edit)
    with pytest.raises(StorageError, match="checksum"):
        Posterior.load(saved)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("names", ["b c", "é", "<script>", "d", "e"]),  # two columns exchanged
        ("provenance", {"engine": "exact", "data_hash": "beef"}),
        ("sha256", None),
    ],
)
def test_a_tampered_manifest_fails_the_checksum(saved, key, value):
    rewrite(saved, lambda manifest, draws: ({**manifest, key: value}, draws))
    with pytest.raises(StorageError, match="checksum"):
        Posterior.load(saved)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "other", "format mark"),
        ("format_version", 99, "version 99"),
        ("names", ["a", "b"], "shape"),
        ("names", ["a", "a", "b", "c", "d"], "unique"),
        ("names", "abcde", "list of variable names"),
        ("n_draws", 10**12, "more than is accepted"),
        ("n_draws", -1, "positive number"),
        ("provenance", {"surprise": 1}, "not an intact"),
        ("provenance", {"engine": 7}, "engine as text"),
    ],
)
def test_a_forged_manifest_is_refused_for_what_it_says(saved, key, value, message):
    rewrite(saved, lambda manifest, draws: ({**manifest, key: value}, draws), forge=True)
    with pytest.raises(StorageError, match=message):
        Posterior.load(saved)


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        (stored(mean_bits=np.array([{"a": 1}], dtype=object)), "pickle"),
        (stored(np.savez_compressed, mean_bits=np.zeros(10**7, np.uint8)), "oversized"),
        (stored(chains=np.zeros(30, np.int32)), "mean_bits"),
        (stored(surprise=np.zeros(30)), "unexpected"),
        (b"no archive", "not an intact"),
    ],
    ids=["pickled objects", "size bomb", "draws missing", "other array", "no npz"],
)
def test_forged_draws_are_refused_and_never_executed(saved, draws, message):
    rewrite(saved, lambda manifest, _: (manifest, draws), forge=True)
    with pytest.raises(StorageError, match=f"(?i){message}"):
        Posterior.load(saved)


def test_a_compressed_archive_is_refused_unread(saved):
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(StorageError, match="stored, not compressed"):
        Posterior.load(saved)
