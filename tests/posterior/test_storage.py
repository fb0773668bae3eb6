import hashlib
import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentdag.errors import StorageError
from momentdag.posterior import Posterior, Provenance
from momentdag.storage.archive import checksum


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
    with pytest.raises(StorageError, match=r"expected one manifest\.json"):
        Posterior.load(other)


@settings(max_examples=30, deadline=None)
@given(fraction=st.floats(0, 0.999))
def test_every_truncation_is_refused(tmp_path_factory, fraction):
    path = tmp_path_factory.mktemp("cut") / "p.zip"
    example().save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * fraction)])
    with pytest.raises(StorageError):
        Posterior.load(path)


@settings(max_examples=60, deadline=None)
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


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()


def rewrite(path, edit, *, forge=False, compression=zipfile.ZIP_STORED):
    """Repack a saved file after ``edit(manifest, members)``; a forger makes the checksums right."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    edit(manifest, members)
    if forge:
        manifest["arrays"] = {
            name.removesuffix(".npy"): hashlib.sha256(member).hexdigest()
            for name, member in members.items()
        }
        manifest["sha256"] = checksum(manifest)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, member in {"manifest.json": json.dumps(manifest), **members}.items():
            archive.writestr(name, member)


def test_rewriting_without_a_change_is_harmless(saved):
    for forge in (False, True):
        rewrite(saved, lambda manifest, members: None, forge=forge)
        assert Posterior.load(saved).names == example().names


def test_tampered_draws_fail_the_checksum(saved):
    def edit(manifest, members):
        for name, member in members.items():
            members[name] = npy(np.load(io.BytesIO(member)) * 0)

    rewrite(saved, edit)
    with pytest.raises(StorageError, match="checksum"):
        Posterior.load(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"content": {"names": ["b c", "é", "<script>", "d", "e"]}},  # two columns exchanged
        {"content": {"provenance": {"engine": "exact", "data_hash": "beef"}}},
        {"sha256": None},
    ],
    ids=["names", "provenance", "sha256"],
)
def test_a_tampered_manifest_fails_the_checksum(saved, change):
    def edit(manifest, members):
        content = manifest["content"] | change.get("content", {})
        manifest.update(change | {"content": content})

    rewrite(saved, edit)
    with pytest.raises(StorageError, match="checksum"):
        Posterior.load(saved)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "other", "wrong format entry"),
        ("format", "momentdag-mechanisms", "not a momentdag posterior file"),
        ("format_version", 99, r"version 99.*Install the momentdag that wrote it"),
    ],
)
def test_another_format_is_refused(saved, key, value, message):
    rewrite(saved, lambda manifest, _: manifest.update({key: value}), forge=True)
    with pytest.raises(StorageError, match=message):
        Posterior.load(saved)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("names", ["a", "b"], "shape"),
        ("names", ["a", "a", "b", "c", "d"], "unique"),
        ("names", "abcde", "list of variable names"),
        ("names", None, "list of variable names"),
        ("n_draws", 10**12, "exceed the limit on size"),
        ("n_draws", 31, "shape"),
        ("n_draws", 30.0, "positive number"),
        ("n_draws", -1, "positive number"),
        ("provenance", {"surprise": 1}, "not an intact"),
        ("provenance", {"engine": 7}, "engine as text"),
        ("provenance", None, "not an intact"),
    ],
)
def test_a_forged_manifest_is_refused_for_what_it_says(saved, key, value, message):
    rewrite(saved, lambda manifest, _: manifest["content"].update({key: value}), forge=True)
    with pytest.raises(StorageError, match=rf"posterior\.zip.*{message}"):
        Posterior.load(saved)


@pytest.mark.parametrize(
    ("name", "member", "message"),
    [
        ("mean_bits.npy", npy(np.array([{"a": 1}], dtype=object)), "type and size of its header"),
        ("mean_bits.npy", npy(np.zeros(10**6, np.uint8)), "shape"),
        ("mean_bits.npy", npy(np.zeros((30, 4), np.int8)), "type uint8"),
        ("chains.npy", npy(np.zeros(30, np.int64)), "type int32"),
        ("log_posterior.npy", npy(np.zeros(29)), "shape"),
        ("mean_bits.npy", npy(np.full((30, 4), 255, np.uint8)), "not an intact"),  # cycles
        ("mean_bits.npy", None, "array 'mean_bits'; there is none"),
        ("surprise.npy", npy(np.zeros(30)), "unexpected array 'surprise'"),
        ("mean_bits.npy", b"no array", "not an intact"),
    ],
    ids=[
        *("pickled objects", "too large", "signed bits", "long chains", "draw without a score"),
        *("cyclic", "draws missing", "other array", "no npy"),
    ],
)
def test_forged_draws_are_refused_and_never_executed(saved, name, member, message):
    def edit(manifest, members):
        members[name] = member
        if member is None:
            del members[name]

    rewrite(saved, edit, forge=True)
    with pytest.raises(StorageError, match=f"(?i){message}"):
        Posterior.load(saved)


def test_a_size_bomb_is_refused_before_it_is_unpacked(saved):
    bomb = npy(np.zeros(10**7, np.uint8))
    rewrite(
        saved,
        lambda manifest, members: members.update({"mean_bits.npy": bomb}),
        forge=True,
        compression=zipfile.ZIP_DEFLATED,
    )
    assert saved.stat().st_size < len(bomb) / 100
    with pytest.raises(StorageError, match="is compressed; archives are not"):
        Posterior.load(saved)


def test_a_compressed_archive_is_refused_unread(saved):
    rewrite(saved, lambda manifest, members: None, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(StorageError, match="is compressed; archives are not"):
        Posterior.load(saved)


def test_optional_arrays_may_be_missing(tmp_path):
    graphs = example().mean_graphs
    Posterior(example().names, graphs, graphs, Provenance("test")).save(tmp_path / "p.zip")
    after = Posterior.load(tmp_path / "p.zip")
    assert after.log_posterior is None
    assert after.chains is None
    np.testing.assert_array_equal(after.mean_graphs, graphs)


def test_a_file_of_the_former_format_says_what_to_do(tmp_path):
    # A zip of a manifest and a compressed npz, as version 1 wrote it.
    before = example()
    bits = np.packbits(before.mean_graphs.reshape(30, -1), axis=1)
    draws = io.BytesIO()
    np.savez_compressed(draws, mean_bits=bits, variance_bits=bits)
    manifest = {
        "format": "momentdag-posterior",
        "format_version": 1,
        "names": list(before.names),
        "n_draws": 30,
        "provenance": before.provenance.to_dict(),
    }
    digest = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode("ascii"))
    digest.update(draws.getvalue())
    manifest["sha256"] = digest.hexdigest()
    with zipfile.ZipFile(tmp_path / "old.zip", "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest, indent=2))
        archive.writestr("draws.npz", draws.getvalue())
    with pytest.raises(
        StorageError, match=r"old\.zip was written by an earlier version of momentdag.*Fit again"
    ):
        Posterior.load(tmp_path / "old.zip")
