"""Knowledge survives its files, and a bad file is refused with its name and the place."""

import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from momentdag.errors import KnowledgeError, StorageError
from momentdag.knowledge import Knowledge

FULL = Knowledge(
    tiers=[["age", "höhe (m)"], ["dose"]],
    order=[("age", "dose")],
    required=[("age", "dose"), ("dose", 'say "so"', "variance")],
    forbidden=[("a\\b", "age", "mean")],
    edge_priors={("age", "line\nbreak"): 1e-7, ("dose", "x", "mean"): 0.25},
    strength="soft",
    roots=["age", ("dose", "mean")],
    sinks=["x"],
    forbid_within_tiers=[True, False],
    confidence=0.95,
)

names = st.text(max_size=8)
pairs = st.tuples(names, names).filter(lambda pair: pair[0] != pair[1])
moments = st.sampled_from(["mean", "variance", "both", "either"])
probabilities = st.floats(0, 1, exclude_min=True, exclude_max=True)


@st.composite
def any_knowledge(draw: st.DrawFn) -> Knowledge:
    """Well-formed statements of every kind, contradictory or not, with any names."""
    edges = st.lists(st.one_of(pairs, st.builds(lambda p, m: (*p, m), pairs, moments)), max_size=3)
    marked: st.SearchStrategy[list[Any]] = st.lists(
        st.one_of(names, st.tuples(names, moments)), max_size=3
    )
    listed = draw(st.lists(names, unique=True, max_size=6))
    cuts = sorted(draw(st.lists(st.integers(0, len(listed)), max_size=3)))
    bounds = [0, *cuts, len(listed)]
    tiers = [listed[a:b] for a, b in itertools.pairwise(bounds) if a < b]
    return Knowledge(
        tiers=tiers,
        order=draw(st.lists(pairs, max_size=3)),
        required=draw(edges),
        forbidden=draw(edges),
        edge_priors=draw(st.dictionaries(pairs, probabilities, max_size=3)),
        strength=draw(st.sampled_from(["hard", "soft"])),
        roots=draw(marked),
        sinks=draw(marked),
        forbid_within_tiers=[draw(st.booleans()) for _ in tiers],
        confidence=draw(st.floats(0.5, 1, exclude_min=True, exclude_max=True)),
    )


@pytest.mark.parametrize("suffix", [".toml", ".json", ".TOML"])
def test_a_file_gives_back_what_was_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"lab{suffix}"
    FULL.to_file(path)
    assert Knowledge.from_file(str(path)) == FULL
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@settings(
    max_examples=50,
    deadline=None,
    # The folder is shared by the examples; each writes its file anew.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(knowledge=any_knowledge())
def test_any_names_survive_a_file(tmp_path: Path, suffix: str, knowledge: Knowledge) -> None:
    path = tmp_path / f"any{suffix}"
    knowledge.to_file(path)
    assert Knowledge.from_file(path) == knowledge


@settings(max_examples=40, deadline=None)
@given(knowledge=any_knowledge())
def test_dictionaries_are_plain_and_round_trip(knowledge: Knowledge) -> None:
    content = knowledge.to_dict()
    assert json.loads(json.dumps(content)) == content
    assert Knowledge.from_dict(content) == knowledge


def test_what_was_not_stated_is_not_written(tmp_path: Path) -> None:
    Knowledge(tiers=[["a"], ["b"]]).to_file(tmp_path / "k.toml")
    content = tomllib.loads((tmp_path / "k.toml").read_text())
    assert content == {"strength": "hard", "confidence": 0.9, "tiers": [["a"], ["b"]]}


def test_a_file_written_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "hand.toml"
    path.write_bytes(
        b"\xef\xbb\xbf"  # a byte order mark
        b"# what the lab knows\r\n"
        b'roots = ["age", ["dose", "mean"]]\r\n'
        b'required = [["dose", "pain"]]\r\n'
        b"[[edge_priors]]\r\n"
        b'cause = "age"\r\neffect = "pain"\r\nprobability = 0.3\r\n'
    )
    assert Knowledge.from_file(path) == Knowledge(
        roots=["age", ("dose", "mean")],
        required=[("dose", "pain")],
        edge_priors={("age", "pain"): 0.3},
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("k.toml", "roots = []\ntiers = [a]", r"Expected TOML; .* \(at line 2"),
        ("k.toml", 'requird = [["a", "b"]]', "got 'requird'. Did you mean 'required'"),
        ("k.toml", "zzz = 1", "got 'zzz'. Remove it"),
        ("k.toml", 'roots = ["a"]\nroots = ["b"]', "Expected TOML; Cannot overwrite"),
        ("k.toml", 'tiers = [["a", 2020-01-01]]', "Expected column names"),
        ("k.toml", 'order = [["a", "a"]]', "got 'a' twice"),
        ("k.toml", "edge_priors = [[1]]", "Expected edge_priors as a list of tables"),
        ("k.toml", 'edge_priors = [{cause = "a"}]', r"have \['effect', 'probability'\]"),
        (
            "k.toml",
            'edge_priors = [{cause = "a", effct = "b", probability = 0.1}]',
            "got 'effct'. Did you mean 'effect'",
        ),
        ("k.toml", "confidence = " + "9" * 5000, "Expected TOML"),
        ("k.json", "{", "Expected JSON; .* at line 1, column 2"),
        ("k.json", "[]", "Expected a table of statements; got list"),
        ("k.json", '{"roots": ["a"], "roots": ["b"]}', "'roots' is repeated"),
        ("k.json", '{"confidence": NaN}', "Expected confidence strictly between"),
        ("k.json", '{"confidence": ' + "9" * 5000 + "}", "Expected JSON"),
        ("k.json", "[" * 100_000, "nesting is too deep"),
        ("k.json", "", "Expected JSON; .* at line 1"),
        ("k.yaml", "", r"suffixes \['.toml', '.json', '.txt', '.prior'\]; got '.yaml'"),
        ("k", "", "got ''"),
    ],
)
def test_malformed_files_are_refused_by_name(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(KnowledgeError, match=message) as caught:
        Knowledge.from_file(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="Expected a readable file; No such file"):
        Knowledge.from_file(tmp_path / "none.toml")
    path = tmp_path / "latin.toml"
    path.write_bytes('roots = ["höhe"]'.encode("latin-1"))
    with pytest.raises(KnowledgeError, match="Expected UTF-8 text; byte 11 is not"):
        Knowledge.from_file(path)


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(content=st.binary(max_size=60), suffix=st.sampled_from([".toml", ".json", ".txt"]))
def test_any_bytes_are_knowledge_or_a_knowledge_error(
    tmp_path: Path, content: bytes, suffix: str
) -> None:
    path = tmp_path / f"noise{suffix}"
    path.write_bytes(content)
    message = ""
    try:
        Knowledge.from_file(path)
    except KnowledgeError as error:
        message = str(error)
    assert not message or message.startswith(f"{path}: ")


scalars = st.none() | st.booleans() | st.integers(-1, 1) | st.floats() | st.text(max_size=2)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)
KEYS = ["tiers", "forbid_within_tiers", "order", "required", "forbidden", "roots", "edge_priors"]


@settings(max_examples=100, deadline=None)
@given(content=st.dictionaries(st.sampled_from([*KEYS, "strength", "confidence"]), values))
def test_any_content_is_knowledge_or_a_knowledge_error(content: dict[str, Any]) -> None:
    message = ""
    try:
        Knowledge.from_dict(content)
    except KnowledgeError as error:
        message = str(error)
    assert not message or message.startswith("Expected")


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path) -> None:
    (tmp_path / "taken.toml").mkdir()
    with pytest.raises(StorageError, match=r"Could not write .*taken.toml"):
        FULL.to_file(tmp_path / "taken.toml")
    with pytest.raises(StorageError, match="No such file"):
        FULL.to_file(tmp_path / "none" / "k.toml")
    assert [item.name for item in tmp_path.iterdir()] == ["taken.toml"]


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_names_that_utf8_cannot_hold_are_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(KnowledgeError, match="lone surrogate"):
        Knowledge(roots=["\ud800"]).to_file(tmp_path / f"k{suffix}")
    assert not list(tmp_path.iterdir())
