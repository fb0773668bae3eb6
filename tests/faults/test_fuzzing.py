"""Every reader against invented and mutated input: it is read, or refused in our own words.

Starting points are honest files and what has broken a reader before. The short run is part of every
test; the long one takes minutes: ``pytest -m slow tests/faults/test_fuzzing.py``.
"""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import momentdag as md
from momentdag.effects.export import from_graphml, to_graphml
from momentdag.errors import MomentdagError
from momentdag.graph import MomentGraph
from momentdag.posterior import Provenance
from momentdag.posterior.language import ask
from momentdag.storage.archive import read_archive, write_archive
from momentdag.storage.checkpoint import FileCheckpoint
from momentdag.storage.run_info import DataInfo, describe_fit, read_info, write_info
from momentdag.table.raw_files import read_raw_file

SHORT, LONG = 6, 1000
ROOM = 2**30

CSV = b"dose,arm,response\n" + b"".join(
    b"%d.5,%s,%d\n" % (k, b"ab"[k % 2 : k % 2 + 1], k % 7) for k in range(30)
)
TABLES = [
    CSV,
    CSV.replace(b",", b";").replace(b".", b","),
    CSV.decode().encode("utf-16"),
    b"\xff\xfe",
    b"PAR1PAR1",
    b"PK\5\6" + b"\0" * 18,
    b"PK\3\4xl/workbook.xml",
    b"a" + b"," * 5000,
    b'"a\n\n',
    b"a,a,a\n1,2\n",
    b"x\n" + b"9" * 500 + b"\n",
    b"\xef\xbb\xbf#\n#a b\n1 2\n",
]
KNOWLEDGE = [
    ".json {}",
    '.json {"tiers": [["a"], ["b", "c"]], "strength": "soft"}',
    '.json {"edge_priors": [{"cause": "a", "effect": "b", "probability": 1e999}]}',
    ".json " + "[" * 3000,
    '.json {"roots": ["\\ud800"]}',
    ".json " + "9" * 5000,
    '.toml order = [["a", "b"]]',
    ".toml a = " + "[" * 3000,
    ".toml confidence = nan",
    ".txt /knowledge\naddtemporal\n1- a\n2 b\n3* c\nforbiddirect\na b\n",
]
RECIPES = [
    'version = 1\nmissing = "auto"\n[[column]]\nname = "a"\naction = "keep"\nkind = "continuous"\n',
    'version = 1\n[[column]]\nname = 3\nlevels = [1, nan, "x"]\n',
    "column = [{}]",
    "column = [1]",
    'missing = ["auto"]',
    "version = 1979-05-27",
    "version = " + "9" * 5000,
    "a = " + "[" * 3000,
]
QUESTIONS = [
    "a -> b [mean]",
    "a ~> b and not b -> a [variance]",
    "((((a -> b))))",
    '"a" -> "b"',
    "(" * 3000,
    "not " * 3000 + "a -> b",
    "a -> b [" * 50,
    "\ud800 -> \0",
    "",
]
GRAPHML = [
    to_graphml(MomentGraph.from_edges("ab", mean=[("a", "b")])),
    "<graphml/>",
    "<graphml",
    "\0",
    '<?xml version="1.0" encoding="utf-16"?><graphml/>',
]


def refused(action):
    """Tell whether an action ends in one of our errors; any other comes out."""
    try:
        action()
    except MomentdagError as error:
        message = str(error)
    else:
        return False
    assert 0 < len(message) < 5000
    return True


def mutated(corpus):
    """Return inputs that differ from one of the corpus by cuts, repeats and foreign pieces."""
    is_text = isinstance(corpus[0], str)
    piece = st.text(max_size=8) if is_text else st.binary(max_size=8)
    special = [",", "\n", '"', "[", "1e999", "nan", "\0", "\ud800", "-", "�"]
    known = st.sampled_from(special if is_text else [c.encode("utf-8", "replace") for c in special])

    @st.composite
    def mutation(draw):
        content = draw(st.sampled_from(corpus))
        for _ in range(draw(st.integers(0, 4))):
            start = draw(st.integers(0, len(content)))
            stop = min(len(content), start + draw(st.integers(0, 20)))
            times = draw(st.sampled_from([0, 1, 2, 50]))
            content = content[:start] + draw(piece | known) * times + content[stop:]
        return content

    return mutation()


def fuzz(strategy):
    """Run a test on a few inputs, and on many where slow tests run."""

    def wrap(test):
        suppressed = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]

        @pytest.mark.parametrize(
            "n", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)], ids=["short", "long"]
        )
        def run(n, tmp_path, within_memory):
            @settings(
                max_examples=n,
                deadline=None,
                derandomize=n == SHORT,
                database=None,
                suppress_health_check=suppressed,
            )
            @given(content=strategy)
            def once(content):
                test(content, tmp_path)

            with within_memory(ROOM):
                once()

        return run

    return wrap


def read_knowledge(content, folder):
    suffix, _, text = content.partition(" ")
    path = folder / f"knowledge{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    refused(lambda: md.Knowledge.from_file(path).compile(["a", "b", "c"]))


def read_table(content, folder):
    (folder / "table").write_bytes(content)
    refused(lambda: md.check(folder / "table"))
    refused(lambda: read_raw_file(folder / "table"))


def read_recipe(content, folder):
    refused(lambda: md.Recipe.from_toml(content))


def read_graphml(content, folder):
    refused(lambda: from_graphml(content))


@pytest.mark.parametrize("content", TABLES)
def test_tables_of_the_corpus(content, tmp_path):
    read_table(content, tmp_path)


@pytest.mark.parametrize("content", KNOWLEDGE)
def test_knowledge_of_the_corpus(content, tmp_path):
    read_knowledge(content, tmp_path)


@pytest.mark.parametrize("content", RECIPES)
def test_recipes_of_the_corpus(content, tmp_path):
    read_recipe(content, tmp_path)


test_tables = fuzz(mutated(TABLES))(read_table)
test_knowledge = fuzz(
    st.builds(
        lambda s, t: f"{s} {t}",
        st.sampled_from([".json", ".toml", ".txt"]),
        mutated([k.partition(" ")[2] for k in KNOWLEDGE]),
    )
)(read_knowledge)
test_recipes = fuzz(mutated(RECIPES))(read_recipe)
test_graphml = fuzz(mutated(GRAPHML))(read_graphml)


def posterior():
    mean = np.zeros((4, 3, 3), dtype=bool)
    mean[:2, 0, 1] = True
    return md.Posterior(["a", "b", "c"], mean, np.zeros_like(mean), Provenance("by hand"))


POSTERIOR = posterior()


@fuzz(mutated(QUESTIONS))
def test_questions(content, folder):
    answers = []
    if not refused(lambda: answers.append(ask(POSTERIOR, content).probability)):
        assert 0 <= answers[0] <= 1


def archives():
    """Return the bytes of honest archives, and of zips that are none."""
    found = []
    for k in range(2):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)[k]) as archive:
            archive.writestr("manifest.json", json.dumps({"format": "momentdag-posterior"}))
            archive.writestr("a.npy", b"\x93NUMPY\1\0v\0{'descr': '<f8'}")
        found.append(stream.getvalue())
    return found


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """Return the bytes of a posterior, a checkpoint and a run.json, with the name of each."""
    folder = tmp_path_factory.mktemp("honest")
    POSTERIOR.save(folder / "posterior.zip")
    FileCheckpoint(folder / "checkpoints", "key").save("a", {"n": 1}, {"x": np.arange(3.0)})
    write_info(folder, describe_fit(DataInfo(("a", "b"), 10, "cafe"), {"n_draws": 5}, None))
    saved = next((folder / "checkpoints").iterdir())
    return {
        path.name: path.read_bytes()
        for path in (folder / "posterior.zip", saved, folder / "run.json")
    }


@pytest.mark.parametrize(
    "n", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_archives_checkpoints_and_run_infos(n, honest, tmp_path, within_memory):
    rng = np.random.default_rng(n)
    (tmp_path / "checkpoints").mkdir()
    corpus = [*honest.values(), *archives()]
    with within_memory(ROOM):
        for _ in range(n):
            content = bytearray(corpus[rng.integers(len(corpus))])
            for _ in range(int(rng.integers(1, 4))):
                at = int(rng.integers(len(content) + 1))
                match int(rng.integers(4)):
                    case 0 if at < len(content):
                        content[at] ^= 1 << int(rng.integers(8))
                    case 1:
                        del content[at : at + int(rng.integers(1, 40))]
                    case 2:
                        content[at:at] = bytes(content[at : at + 40]) * int(rng.integers(1, 3))
                    case _:
                        content[at : at + 8] = rng.bytes(8)
            for name in honest:
                place = tmp_path / "checkpoints" if name.endswith(".npz") else tmp_path
                (place / name).write_bytes(content)
            refused(lambda: md.Posterior.load(tmp_path / "posterior.zip"))
            refused(lambda: read_info(tmp_path))
            FileCheckpoint(tmp_path / "checkpoints", "key").load("a")  # None, or what was saved


def test_archives_with_true_checksums_and_false_arrays(tmp_path):
    """What a forger with the source can write: each array of each type and shape."""
    shapes = [(), (0,), (4,), (4, 2), (2, 4), (4, 3, 3)]
    content = {"names": ["a", "b", "c"], "n_draws": 4, "provenance": {"engine": "x"}}
    for dtype in (np.bool_, np.int32, np.uint8, np.float64):
        for shape in shapes:
            array = np.ones(shape, dtype)
            arrays = {"mean_bits": array, "variance_bits": array, "log_posterior": array}
            write_archive(tmp_path / "p.zip", "posterior", content, arrays, 2)
            refused(lambda: md.Posterior.load(tmp_path / "p.zip"))
            read_archive(tmp_path / "p.zip", "posterior", 2)


@settings(max_examples=SHORT, deadline=None, derandomize=True, database=None)
@given(
    frame=st.lists(
        st.lists(
            st.none() | st.floats() | st.integers() | st.text(max_size=5) | st.booleans(),
            min_size=12,
            max_size=12,
        ),
        min_size=1,
        max_size=3,
    )
)
@example(frame=[[float("inf")] * 12, [5e-324] * 12])
@example(frame=[["\ud800"] * 12, [2**70] * 12])
def test_frames_of_anything(frame):
    table = pd.DataFrame(
        {f"c{k}": pd.Series(column, dtype=object) for k, column in enumerate(frame)}
    )
    refused(lambda: md.check(table).describe())
