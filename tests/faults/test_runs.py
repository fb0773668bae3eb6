"""Run folders that were damaged, mixed up, or forged by someone who knows how checksums work."""

import hashlib
import io
import json
import shutil
import tracemalloc
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import momentdag as md
from momentdag import runs
from momentdag.effects import MonteCarlo, intervene
from momentdag.posterior.language import ask
from momentdag.storage.archive import checksum

FILES = ("run.json", "posterior.zip", "mechanisms.npz", "knowledge.json", "data.npz")
JUNK = (
    *(
        None,
        True,
        -1,
        0,
        1.5,
        float("nan"),
        float("inf"),
        10**30,
        1e308,
        "",
        "x",
        "\ud800",
        "../..",
    ),
    *([], {}, [None], [[]], {"a": {}}, "\0", "<script>", ["a", "a", "a"], [[["deep"]]], "x" * 9999),
)


@pytest.fixture(scope="module", params=["evidence", "variational"])
def whole(request, tmp_path_factory):
    """Return a complete run with every file that a run can have."""
    rng = np.random.default_rng(5)
    dose, stress = rng.uniform(-2, 2, (2, 60))
    table = pd.DataFrame({"dose": dose, "stress": stress, "y": np.sin(dose) + rng.normal(size=60)})
    options = {
        "evidence": {"n_starts": 1, "n_kicks": 0, "n_inducing": 5, "noise": "gaussian"},
        "variational": {  # as in contracts/test_engines.py, so that compiled programs are shared
            "n_hidden": 4,
            "batch_size": 32,
            "n_restarts": 2,
            "n_graphs": 2,
            "warm_up_steps": 0,
            "max_steps": 500,
        },
    }[request.param]
    model = md.MomentDAG(
        engine=request.param,
        n_draws=120,
        random_state=0,
        knowledge=md.Knowledge(roots=["dose"]),
        engine_options=options,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a fit so short may be poor
        model.fit(table)
    return runs.save(model, tmp_path_factory.mktemp("whole") / "run", table)


def damage(rng, folder):
    """Damage one or two files as disks, networks and people do."""
    for _ in range(int(rng.integers(1, 3))):
        path = folder / str(rng.choice(FILES))
        if not path.is_file():
            continue
        content = bytearray(path.read_bytes())
        at = int(rng.integers(len(content) + 1))
        match int(rng.integers(9)):
            case 0 | 1 | 2 if at < len(content):
                content[at] ^= 1 << int(rng.integers(8))
                path.write_bytes(content)
            case 3:
                path.write_bytes(content[:at])
            case 4:
                path.write_bytes(rng.bytes(int(rng.integers(0, 300))))
            case 5:
                path.unlink()
            case 6:
                other = folder / str(rng.choice(FILES))
                if other.is_file():
                    path.write_bytes(other.read_bytes())
            case 7:
                path.unlink()
                path.mkdir() if rng.random() < 0.5 else path.symlink_to(path)
            case _:
                path.unlink()
                path.symlink_to("/dev/zero" if rng.random() < 0.5 else "/etc/hostname")


def change(rng, value):
    """Change one thing somewhere in a JSON value."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = list(value)[rng.integers(len(value))]
        match int(rng.integers(8)):
            case 0:
                return {k: v for k, v in value.items() if k != key}
            case 1:
                return {**value, "surprise": 1}
        return {**value, key: change(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = int(rng.integers(len(value)))
        if rng.random() < 0.2:
            return [*value[:at], *value[at + 1 :]]
        return [*value[:at], change(rng, value[at]), *value[at + 1 :]]
    return JUNK[rng.integers(len(JUNK))]


def change_object(rng, value):
    """Change one thing in an object that carries its checksum, which is left to the caller."""
    key = str(rng.choice([key for key in value if key != "sha256"]))
    return {**value, key: change(rng, value[key])}


def change_array(rng, array):
    array = array.copy()
    match int(rng.integers(6)):
        case 0:
            return array[:-1] if array.ndim and len(array) else array.reshape(1, *array.shape)
        case 1 if array.dtype.kind == "f":
            array[...] = rng.choice([np.nan, np.inf, -np.inf, 1e308, 0.0, -1.0])
        case 2 if array.dtype.kind in "iu":
            array[...] = rng.choice([0, 1, np.iinfo(array.dtype).max])
        case 3:
            return array.astype(rng.choice(["float32", "int8", "float64", "bool", ">f8"]))
        case 4:
            return array.T
        case 5 if array.dtype.kind == "f" and array.size:
            array.flat[rng.integers(array.size)] = rng.choice([np.nan, 1e300, -1e300])
    return array


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def unzipped(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def forged_archive(rng, path):
    """Change values, arrays or members of an archive, every checksum made right."""
    members = unzipped(path.read_bytes())
    manifest = json.loads(members.pop("manifest.json"))
    arrays = {n: np.load(io.BytesIO(member)) for n, member in members.items()}
    match int(rng.integers(6)):
        case 0 | 1 | 2 if arrays:
            name = list(arrays)[rng.integers(len(arrays))]
            members[name] = npy(change_array(rng, arrays[name]))
        case 3:
            members[str(rng.choice(["../evil.npy", "/tmp/evil.npy", "a/b.npy", "x.exe"]))] = b"x"
        case _:
            manifest["content"] = change(rng, manifest["content"])
    names = {name: name.removesuffix(".npy") for name in members}
    manifest["arrays"] = {names[n]: hashlib.sha256(m).hexdigest() for n, m in members.items()}
    if rng.random() < 0.2:
        manifest = change_object(rng, manifest)
    manifest["sha256"] = checksum(json.loads(json.dumps(manifest)))
    bomb = zipfile.ZIP_DEFLATED if rng.random() < 0.1 else zipfile.ZIP_STORED
    path.write_bytes(zipped({"manifest.json": json.dumps(manifest), **members}, bomb))


def forge(rng, folder):
    """Forge one file, and make every checksum right again."""
    victim = str(rng.choice(FILES))
    path = folder / victim
    if victim in ("posterior.zip", "mechanisms.npz", "data.npz"):
        forged_archive(rng, path)
    elif victim == "knowledge.json":
        path.write_text(json.dumps(change(rng, json.loads(path.read_text()))))
    info = json.loads((folder / "run.json").read_text())
    if victim == "run.json":
        info = change_object(rng, info)
        if rng.random() < 0.05:
            (folder / "run.json").write_text('{"a":' * 50_000)
            return
    if isinstance(info.get("files"), dict) and victim in info["files"]:
        info["files"][victim] = hashlib.sha256(path.read_bytes()).hexdigest()
    info = json.loads(json.dumps(info))
    info["sha256"] = checksum(info)
    (folder / "run.json").write_text(json.dumps(info))


# Forged numbers are numbers: with a slope of 1e308 the arithmetic overflows, and says so.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("n", [15, pytest.param(500, marks=pytest.mark.slow)])
def test_hostile_run_folders(n, whole, endure, is_refused, is_command_refused):
    def prepare(rng, folder):
        run = folder / "run"
        shutil.copytree(whole, run)
        (forge if rng.random() < 0.6 else damage)(rng, run)
        command = [
            ("query", run, "dose -> y [mean]"),
            ("effects", run, "--do", "dose=1", "--worlds", "3", "--json"),
            ("levers", run, "--target", "y", "--worlds", "3"),
        ][rng.integers(3)]

        def use():
            model = runs.load(run)
            assert 0 <= ask(model.posterior_, "dose ~> y").probability <= 1
            assert model.score(runs.load_data(run).to_frame()) is not None
            intervene(model, {"dose": 1.0}, monte_carlo=MonteCarlo(n_draws=3, random_state=0))

        def action():
            was_refused = is_refused(use)
            is_refused(lambda: runs.load_posterior(run))
            is_refused(lambda: runs.load_data(run))
            is_refused(lambda: md.Posterior.load(run / "posterior.zip"))
            is_command_refused(*command)
            lock = run / ".lock"
            assert not lock.exists() or lock.stat().st_size == 0
            return was_refused

        return action

    outcomes = endure("run folders", range(n), prepare)
    assert outcomes["refused"] > n / 2
    assert outcomes["used"] > 0  # what is harmless (a date inside a zip) is no reason to refuse


def bombs():
    """Yield posteriors that are small and claim, or unpack to, very much."""
    zeros = npy(np.zeros((2**20, 64), dtype=np.uint8))
    honest = npy(np.zeros((3, 2), dtype=np.uint8))
    liar = honest.replace(b"(3, 2), }" + 9 * b" ", b"(9999999999, 2), }")
    assert liar != honest
    assert len(liar) == len(honest)
    deep = json.dumps({"format": "momentdag-posterior"})[:-1] + ', "content": ' + "[" * 10**6
    yield "very many draws", forged_members(zeros, 2**20), zipfile.ZIP_DEFLATED
    yield "a header that lies", forged_members(liar, 10**12), zipfile.ZIP_STORED
    yield "a manifest without end", {"manifest.json": deep}, zipfile.ZIP_STORED
    # Packed, a million brackets make a file of a kilobyte.
    yield "a packed manifest without end", {"manifest.json": deep}, zipfile.ZIP_DEFLATED


def forged_members(bits, n_draws):
    """Return the members of a posterior whose graphs are all ``bits``, checksums right."""
    digest = hashlib.sha256(bits).hexdigest()
    manifest = {
        "format": "momentdag-posterior",
        "format_version": 2,
        "content": {
            "names": [f"x{k}" for k in range(22)],
            "n_draws": n_draws,
            "provenance": {"engine": "evidence"},
        },
        "arrays": {"mean_bits": digest, "variance_bits": digest},
    }
    manifest["sha256"] = checksum(manifest)
    return {
        "manifest.json": json.dumps(manifest),
        "mean_bits.npy": bits,
        "variance_bits.npy": bits,
    }


@pytest.mark.parametrize("bomb", list(bombs()), ids=lambda bomb: bomb[0].replace(" ", "_"))
def test_a_bomb_in_a_posterior_takes_little_memory(bomb, tmp_path, is_refused):
    _, members, compression = bomb
    path = tmp_path / "posterior.zip"
    path.write_bytes(zipped(members, compression))
    tracemalloc.start()
    assert is_refused(lambda: md.Posterior.load(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A few copies of the file, never of what it claims to hold.
    assert peak < 20 * path.stat().st_size + 2**20
