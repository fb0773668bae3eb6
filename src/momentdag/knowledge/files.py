"""Knowledge in files: TOML and JSON with one schema, and the Tetrad format (see `tetrad`)."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momentdag.errors import KnowledgeError, did_you_mean, quote
from momentdag.knowledge import tetrad
from momentdag.storage.budget import BUDGET, count_values
from momentdag.storage.files import read_regular, write_atomically

if TYPE_CHECKING:
    from momentdag.knowledge.value import Knowledge

_KEYS = (
    "strength",
    "confidence",
    "tiers",
    "forbid_within_tiers",
    "order",
    "required",
    "forbidden",
    "roots",
    "sinks",
    "edge_priors",
)
_PRIOR_KEYS = ("cause", "effect", "moment", "probability")


def to_dict(knowledge: Knowledge) -> dict[str, Any]:
    """Return the statements as lists and dictionaries, without empty entries."""
    content: dict[str, Any] = {"strength": knowledge.strength, "confidence": knowledge.confidence}
    if any(knowledge.forbid_within_tiers):
        content["forbid_within_tiers"] = list(knowledge.forbid_within_tiers)
    for key in ("tiers", "order", "required", "forbidden", "roots", "sinks"):
        if value := getattr(knowledge, key):
            content[key] = [list(entry) for entry in value]
    if knowledge.edge_priors:
        content["edge_priors"] = [
            dict(zip(_PRIOR_KEYS, (*edge, probability), strict=True))
            for edge, probability in knowledge.edge_priors
        ]
    return content


def _refuse_unknown(keys: Mapping[str, Any], allowed: Sequence[str], where: str) -> None:
    for key in keys:
        if key not in allowed:
            advice = did_you_mean(key, allowed)
            raise KnowledgeError(
                f"Expected {where} among {list(allowed)}; got {quote(key)}."
                f"{advice if advice else ' Remove it.'}"
            )


def arguments(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Knowledge` for the content of a parsed file."""
    if not isinstance(content, Mapping):
        raise KnowledgeError(f"Expected a table of statements; got {type(content).__name__}.")
    _refuse_unknown(content, _KEYS, "the keys")
    found = dict(content)
    if "edge_priors" in found:
        found["edge_priors"] = _priors(found["edge_priors"])
    return found


def _priors(tables: Any) -> list[tuple[tuple[Any, ...], Any]]:
    if not isinstance(tables, list | tuple) or not all(isinstance(t, Mapping) for t in tables):
        raise KnowledgeError(
            f"Expected edge_priors as a list of tables with the keys {list(_PRIOR_KEYS)}; got "
            f"{quote(tables)}."
        )
    found = []
    for table in tables:
        _refuse_unknown(table, _PRIOR_KEYS, "the keys of an edge prior")
        missing = [key for key in ("cause", "effect", "probability") if key not in table]
        if missing:
            raise KnowledgeError(
                f"Expected each edge prior to have {missing}; got {quote(dict(table))}."
            )
        edge = tuple(table[key] for key in _PRIOR_KEYS[:3] if key in table)
        found.append((edge, table["probability"]))
    return found


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise KnowledgeError(
                f"Expected each key once; {quote(key)} is repeated. Merge the entries."
            )
        found[key] = value
    return found


def _parse_json(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text, object_pairs_hook=_without_repeats)
    except KnowledgeError:
        raise
    except json.JSONDecodeError as error:
        raise KnowledgeError(
            f"Expected JSON; {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except ValueError as error:  # a number with thousands of digits
        raise KnowledgeError(f"Expected JSON; {error}.") from None
    return arguments(content)


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        content = tomllib.loads(text)
    except ValueError as error:  # of tomllib, with the line; or a number with thousands of digits
        raise KnowledgeError(f"Expected TOML; {error}.") from None
    return arguments(content)


def _format_json(knowledge: Knowledge) -> str:
    return json.dumps(to_dict(knowledge), indent=2, ensure_ascii=False) + "\n"


def _toml_text(text: str) -> str:
    def escaped(character: str) -> str:
        if character in '"\\':
            return "\\" + character
        # TOML allows no raw control characters in a one-line string.
        if ord(character) < 0x20 or ord(character) == 0x7F:
            return f"\\u{ord(character):04X}"
        return character

    return '"' + "".join(escaped(character) for character in text) + '"'


def _toml_value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case str():
            return _toml_text(value)
        case dict():
            return "{" + ", ".join(f"{k} = {_toml_value(v)}" for k, v in value.items()) + "}"
    return "[" + ", ".join(_toml_value(entry) for entry in value) + "]"


def _format_toml(knowledge: Knowledge) -> str:
    lines = []
    for key, value in to_dict(knowledge).items():
        if isinstance(value, list):
            entries = "".join(f"    {_toml_value(entry)},\n" for entry in value)
            lines.append(f"{key} = [\n{entries}]\n")
        else:
            lines.append(f"{key} = {_toml_value(value)}\n")
    return "".join(lines)


_Format = tuple[Callable[[str], dict[str, Any]], Callable[["Knowledge"], str]]
_FORMATS: dict[str, _Format] = {
    ".toml": (_parse_toml, _format_toml),
    ".json": (_parse_json, _format_json),
    ".txt": (tetrad.parse, tetrad.render),
    ".prior": (tetrad.parse, tetrad.render),
}


def _format_of(path: Path) -> _Format:
    if path.suffix.lower() not in _FORMATS:
        raise KnowledgeError(
            f"Expected a knowledge file with one of the suffixes {list(_FORMATS)}; got "
            f"{path.suffix!r}."
        )
    return _FORMATS[path.suffix.lower()]


@contextmanager
def naming_the_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the file's name before the message of any `KnowledgeError`."""
    try:
        yield
    except KnowledgeError as error:
        raise KnowledgeError(f"{os.fspath(path)}: {error}") from None


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the arguments of `Knowledge` for a file."""
    source = Path(path)
    parse, _ = _format_of(source)
    try:
        # Editors on some systems put a byte order mark first; utf-8-sig takes it away.
        text = read_regular(source, BUDGET.text_bytes).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise KnowledgeError(
            f"Expected UTF-8 text; byte {error.start} is not. Save the file as UTF-8."
        ) from None
    except OSError as error:
        raise KnowledgeError(f"Expected a readable file; {error.strerror}.") from None
    # A Tetrad file separates its words by spaces and lines.
    n_values = max(count_values(text), sum(map(text.count, " \t\n")))
    if n_values > BUDGET.values:
        raise KnowledgeError(
            f"Expected at most {BUDGET.values} names and statements; got up to {n_values}."
        )
    try:
        return parse(text)
    except RecursionError:
        raise KnowledgeError("Expected lists of statements; the nesting is too deep.") from None


def write(knowledge: Knowledge, path: str | os.PathLike[str]) -> None:
    """Write a file in the format of its suffix, whole or not at all."""
    target = Path(path)
    with naming_the_file(path):
        _, render = _format_of(target)
        try:
            content = render(knowledge).encode("utf-8")
        except UnicodeEncodeError:
            raise KnowledgeError(
                "Expected names that can be written as UTF-8; one has a lone surrogate. Rename it."
            ) from None
    write_atomically(target, content)
