import hashlib
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentdag.errors import StorageError
from momentdag.storage.archive import checksum, read_archive, write_archive

CONTENT = {"a": [1, "é", None], "b": {"c": 0.1}}
ARRAYS = {
    "floats": np.linspace(0, 1, 6).reshape(2, 3),
    "words": np.array([2**63], dtype=np.uint64),
    "truth": np.array([[True], [False]]),
    "nothing": np.zeros((0, 3)),
    "infinite": np.array([-np.inf, np.nan]),
    "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
}


@pytest.fixture
def path(tmp_path):
    write_archive(tmp_path / "a.npz", "test", CONTENT, ARRAYS)
    return tmp_path / "a.npz"


def forge(path, change, members=None, compression=zipfile.ZIP_STORED):
    """Rewrite an archive with another manifest and members, checksums made right again."""
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(found.pop("manifest.json"))
    found |= {} if members is None else members
    change(manifest)
    manifest["arrays"] = {
        name.removesuffix(".npy"): hashlib.sha256(member).hexdigest()
        for name, member in found.items()
    }
    manifest.pop("sha256", None)
    manifest["sha256"] = checksum(manifest)
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, member in found.items():
            archive.writestr(name, member)


def npy(array, allow_pickle=False):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def test_round_trip_keeps_values_types_and_shapes(path):
    content, arrays = read_archive(path, "test")
    assert content == CONTENT
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].flags.c_contiguous
        assert arrays[name].flags.writeable


def test_numpy_opens_it_too(path):
    with np.load(path, allow_pickle=False) as stored:
        np.testing.assert_array_equal(stored["floats"], ARRAYS["floats"])


def test_another_kind_and_version_are_refused(path):
    with pytest.raises(StorageError, match="not a momentdag other file"):
        read_archive(path, "other")
    forge(path, lambda manifest: manifest.update(format_version=2))
    with pytest.raises(StorageError, match=r"format version 2.*Install the momentdag that wrote"):
        read_archive(path, "test")
    with pytest.raises(StorageError, match=r"earlier version of momentdag.*Fit again"):
        read_archive(path, "test", version=3)
    forge(path, lambda manifest: manifest.update(format_version="x" * 9999))
    with pytest.raises(StorageError, match="format version 'xxx") as caught:
        read_archive(path, "test")
    assert len(str(caught.value)) < 2000


def test_missing_and_foreign_files(tmp_path):
    with pytest.raises(StorageError, match="Could not read"):
        read_archive(tmp_path / "none.npz", "test")
    (tmp_path / "text").write_text("a,b")
    with pytest.raises(StorageError, match="not an intact"):
        read_archive(tmp_path / "text", "test")


def test_what_cannot_be_stored_is_refused_when_saving(tmp_path):
    with pytest.raises(StorageError, match="arrays of numbers"):
        write_archive(tmp_path / "a.npz", "test", {}, {"a": np.array([object()])})
    assert list(tmp_path.iterdir()) == []


def test_a_compressed_member_is_refused_before_it_is_unpacked(path):
    bomb = npy(np.zeros(10**6))
    forge(path, lambda m: None, {"bomb.npy": bomb}, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < len(bomb) / 10
    with pytest.raises(StorageError, match="is compressed; archives are not"):
        read_archive(path, "test")


def test_a_header_that_claims_more_than_there_is_makes_no_array(path):
    honest = npy(np.zeros(3))
    liar = honest.replace(b"(3,)", b"(9999999999999,)").replace(b"            \n", b"\n", 1)
    assert len(liar) == len(honest)
    forge(path, lambda m: None, {"floats.npy": liar})
    with pytest.raises(StorageError, match="type and size of its header"):
        read_archive(path, "test")


def test_pickles_are_never_read(path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("code was executed",))

    trap = np.array([None], dtype=object)
    trap[0] = Trap()
    forge(path, lambda m: None, {"floats.npy": npy(trap, allow_pickle=True)})
    with pytest.raises(StorageError):
        read_archive(path, "test")
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(StorageError):
        read_archive(path, "test")


@pytest.mark.parametrize("content", [None, [], "x", 1])
def test_content_that_is_no_object_is_refused(path, content):
    forge(path, lambda manifest: manifest.update(content=content))
    with pytest.raises(StorageError, match="content to be an object"):
        read_archive(path, "test")


def test_a_manifest_of_many_bytes_is_refused_unread(path):
    forge(path, lambda manifest: manifest.update(surprise=" " * 2**24))
    with pytest.raises(StorageError, match="has more than 16777216 bytes"):
        read_archive(path, "test")


@pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil", "evil.exe"])
def test_members_that_are_no_arrays_are_refused(path, name):
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(StorageError, match="unexpected member"):
        read_archive(path, "test")


def test_members_that_share_their_bytes_are_refused(path):
    content = bytearray(path.read_bytes())
    # The central directory's entry of one array is made to claim the size of the whole file.
    place = content.rindex(b"words.npy") - 46
    assert content[place : place + 4] == b"PK\x01\x02"
    content[place + 20 : place + 28] = (10**8).to_bytes(4, "little") * 2
    path.write_bytes(content)
    with pytest.raises(StorageError, match="more bytes than the file has"):
        read_archive(path, "test")


@settings(max_examples=30, deadline=None)
@given(fraction=st.floats(0, 0.999))
def test_every_truncation_is_refused(tmp_path_factory, fraction):
    path = tmp_path_factory.mktemp("cut") / "a.npz"
    write_archive(path, "test", CONTENT, ARRAYS)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * fraction)])
    with pytest.raises(StorageError):
        read_archive(path, "test")


@settings(max_examples=60, deadline=None)
@given(position=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_refused_or_harmless(tmp_path_factory, position, bit):
    path = tmp_path_factory.mktemp("flip") / "a.npz"
    write_archive(path, "test", CONTENT, ARRAYS)
    content = bytearray(path.read_bytes())
    content[int(position * len(content))] ^= 1 << bit
    path.write_bytes(content)
    try:
        found, arrays = read_archive(path, "test")
    except StorageError:
        return
    # Dates and other fields of a zip that mean nothing may change.
    assert found == CONTENT
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
