"""The Tetrad knowledge file, read and written."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentdag.errors import KnowledgeError
from momentdag.knowledge import Knowledge
from momentdag.knowledge.tetrad import parse, render

TEXT = """/knowledge
// from the lab
addtemporal

1*  age sex
2 dose
3

forbiddirect

age dose
sex   weight

requiredirect
dose weight
"""


def test_reading_by_suffix(tmp_path: Path) -> None:
    expected = Knowledge(
        tiers=[["age", "sex"], ["dose"]],
        forbid_within_tiers=[True, False],
        forbidden=[("age", "dose"), ("sex", "weight")],
        required=[("dose", "weight", "either")],
    )
    for name in ("k.txt", "k.prior"):
        (tmp_path / name).write_text(TEXT)
        assert Knowledge.from_file(tmp_path / name) == expected


def test_tiers_may_be_numbered_from_zero_and_out_of_order() -> None:
    read = Knowledge(**parse("/knowledge\naddtemporal\n2 c\n0 a\n1 b"))
    assert read == Knowledge(tiers=[["a"], ["b"], ["c"]])


def test_sections_may_be_missing_and_in_any_order() -> None:
    assert not Knowledge(**parse("/knowledge"))
    read = Knowledge(**parse("/knowledge\nrequiredirect\na b\nForbidDirect\nb c"))
    assert read == Knowledge(required=[("a", "b")], forbidden=[("b", "c")])


def test_a_tier_that_causes_only_the_next_one_forbids_the_rest() -> None:
    read = Knowledge(**parse("/knowledge\naddtemporal\n1*- a b\n2 c\n3 d\n4 e"))
    assert read == Knowledge(
        tiers=[["a", "b"], ["c"], ["d"], ["e"]],
        forbid_within_tiers=[True, False, False, False],
        forbidden=[("a", "d"), ("b", "d"), ("a", "e"), ("b", "e")],
    )


def test_the_text_that_is_written() -> None:
    knowledge = Knowledge(
        tiers=[["a", "b"], ["c"]],
        forbid_within_tiers=[True, False],
        required=[("a", "c")],
        forbidden=[("b", "c")],
    )
    assert render(knowledge) == (
        "/knowledge\n\naddtemporal\n\n1* a b\n2 c\n\nforbiddirect\n\nb c\n\nrequiredirect\n\na c\n"
    )


plain = st.text(min_size=1, max_size=6).filter(
    lambda name: name.split() == [name] and not name.startswith("//")
)
pairs = st.tuples(plain, plain).filter(lambda pair: pair[0] != pair[1])


@settings(max_examples=50, deadline=None)
@given(
    names=st.lists(plain, unique=True, max_size=5),
    flag=st.booleans(),
    required=st.lists(pairs, max_size=3),
    forbidden=st.lists(pairs, max_size=3),
)
def test_names_without_spaces_round_trip(
    names: list[str], flag: bool, required: Any, forbidden: Any
) -> None:
    tiers = [tier for tier in (names[:2], names[2:]) if tier]
    knowledge = Knowledge(
        tiers=tiers,
        required=required,
        forbidden=forbidden,
        forbid_within_tiers=[flag for _ in tiers],
    )
    assert Knowledge(**parse(render(knowledge))) == knowledge


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "first line is '/knowledge'; got 'an empty file'"),
        ("addtemporal\n1 a", "first line is '/knowledge'; got 'addtemporal'"),
        ("/knowledge comma\naddtemporal", "got '/knowledge comma'"),
        ("/knowledge\n1 a", "Expected one of the sections .* at line 2; got '1 a'"),
        ("/knowledge\naddtemporal\nfirst a", "line 3 is 'first a'"),
        ("/knowledge\naddtemporal\n1 a\n1 b", "line 4 repeats tier 1"),
        ("/knowledge\nforbiddirect\na b c", "'cause effect' at line 3.*; got 'a b c'"),
        ("/knowledge\nforbiddirect\nforbiddengroup", "'cause effect' at line 3"),
        ("/knowledge\nforbiddirect\n\nforbiddirect", "line 4 repeats forbiddirect"),
        ("/knowledge\naddtemporal\n1 a b\n2 a", "'a' is in tier 1 and in tier 2"),
    ],
)
def test_malformed_text_is_refused_with_the_line(text: str, message: str) -> None:
    with pytest.raises(KnowledgeError, match=message):
        Knowledge(**parse(text))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strength": "soft"}, "Expected hard knowledge"),
        ({"order": [("a", "b")]}, "got order 'a' before 'b'. Write a .toml"),
        ({"roots": ["a"]}, "got root 'a'"),
        ({"edge_priors": {("a", "b"): 0.5}}, "got edge prior 'a' -> 'b' = 0.5"),
        ({"required": [("a", "b", "mean")]}, r"got required edge 'a' -> 'b' \(mean\)"),
        ({"forbidden": [("a", "b", "variance")]}, r"got forbidden edge 'a' -> 'b' \(variance\)"),
        ({"tiers": [["body mass"]]}, "names without spaces .*; got 'body mass'. Rename it"),
        ({"forbidden": [("", "a")]}, "got ''"),
        ({"forbidden": [("//a", "b")]}, "got '//a'"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(KnowledgeError, match=message) as caught:
        Knowledge(**arguments).to_file(tmp_path / "k.txt")
    assert str(tmp_path) in str(caught.value)
    assert not list(tmp_path.iterdir())
