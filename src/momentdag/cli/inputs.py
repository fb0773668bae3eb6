"""Read the inputs of a command: tables, knowledge files, and the texts of its options."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from momentdag.errors import DataError, DataWarning, OptionError, did_you_mean, quote
from momentdag.knowledge import Knowledge
from momentdag.storage.budget import BUDGET
from momentdag.storage.files import read_regular
from momentdag.table import KINDS, Prepared, Recipe, prepare_table
from momentdag.table.experimental import ExperimentColumns, cell_texts
from momentdag.table.raw import RawTable
from momentdag.table.raw_files import read_raw_file
from momentdag.table.recipe import MissingPolicy, Transform

__all__ = [
    "TableOptions",
    "overrides",
    "parse_costs",
    "parse_holds",
    "parse_limits",
    "parse_names",
    "parse_numbers",
    "parse_options",
    "parse_settings",
    "read_data",
    "read_experiment",
    "read_knowledge",
    "read_recipe",
    "read_source",
]

_ALL_COLUMNS = "all"
_MAX_SETTINGS = 10_000


@dataclass(frozen=True)
class TableOptions:
    """How a command reads its table, as texts of its options.

    Parameters
    ----------
    log_scale, columns, drop : str or None
        Names separated by commas; ``log_scale`` may be "all".
    kind, transform : sequence of str
        As NAME=KIND and NAME=TRANSFORM.
    missing : {"auto", "impute", "drop", "refuse"}
    recipe : Path or None
        A recipe file, in place of all of these.
    strict : bool
        Refuse a table in which anything would be changed.
    sheet : str or None
        Of a workbook.
    """

    log_scale: str | None = None
    columns: str | None = None
    drop: str | None = None
    kind: Sequence[str] = ()
    transform: Sequence[str] = ()
    missing: MissingPolicy = "auto"
    recipe: Path | None = None
    strict: bool = False
    sheet: str | None = None


def read_data(path: Path, options: TableOptions | None = None) -> Prepared:
    """Read a table, check it and prepare it for a fit.

    Raises
    ------
    DataError
        If the table cannot be used or a column to be logged is not positive.
    OptionError
        If an option names an unknown column, kind or transform.

    Warns
    -----
    DataWarning
        Once for each note on the table.
    """
    chosen = TableOptions() if options is None else options
    raw = read_source(path, chosen)
    try:
        if chosen.recipe is not None:
            _check_alone(chosen)
            prepared = prepare_table(raw, read_recipe(chosen.recipe))
        else:
            prepared = prepare_table(raw, strict=chosen.strict, **overrides(raw, chosen))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error.__cause__
    for note in prepared.dataset.notes:
        warnings.warn(note, DataWarning, stacklevel=2)
    return prepared


def read_experiment(
    path: Path,
    options: TableOptions,
    regime: str | None,
    targets: str | None,
    reference: str | None,
) -> tuple[Prepared, ExperimentColumns]:
    """Read a table and the columns that tell of an experiment, which are then no variables.

    Raises
    ------
    DataError, OptionError
        As from `read_data`; if there is no such column, or a reference without regimes.
    """
    if regime is None and reference is not None:
        raise OptionError("Expected --regime along with --reference; there is none.")
    columns = [name for name in (regime, targets) if name is not None]
    if not columns:
        return read_data(path, options), ExperimentColumns()
    raw = read_source(path, options)
    texts = []
    for flag, name in (("--regime", regime), ("--targets", targets)):
        if name is not None and name not in raw.names:
            raise OptionError(
                f"Expected {flag} to name a column among {list(raw.names)}; got {quote(name)}."
            )
        texts.append(None if name is None else cell_texts(raw.columns[raw.names.index(name)]))
    if options.recipe is None:
        dropped = columns if options.drop is None else [*parse_names(options.drop), *columns]
        options = replace(options, drop=",".join(dropped))
    prepared = read_data(path, options)
    for name in columns:
        if name in prepared.dataset.names:
            raise OptionError(
                f"Expected the recipe to leave out {quote(name)}, which tells of the experiment."
            )
    column = "regime" if regime is None else regime
    return prepared, ExperimentColumns(texts[0], column, texts[1], reference)


def read_source(path: Path, options: TableOptions) -> RawTable:
    """Read a file as it is.

    Raises
    ------
    DataError
        If it is no table; the message begins with the path.
    """
    try:
        return read_raw_file(path, sheet=options.sheet)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error.__cause__


def overrides(raw: RawTable, options: TableOptions) -> dict[str, Any]:
    """Return the options as arguments of `momentdag.check`.

    Raises
    ------
    OptionError
        If one is malformed or names an unknown column.
    """
    transforms = dict.fromkeys(_log_columns(raw, options.log_scale), "log")
    transforms |= _assignments(options.transform, "--transform", get_args(Transform), raw)
    chosen = None if options.columns is None else parse_names(options.columns)
    left = [] if options.drop is None else parse_names(options.drop)
    for flag, names in (("--columns", chosen), ("--drop", left)):
        for name in names if names is not None else ():
            if name not in raw.names:
                raise OptionError(
                    f"Expected {flag} to name columns among {list(raw.names)}; got {quote(name)}."
                    f"{did_you_mean(name, raw.names)}"
                )
    return {
        "kinds": _assignments(options.kind, "--kind", (*KINDS, "identifier"), raw),
        "columns": chosen,
        "drop": left,
        "transforms": transforms,
        "missing": options.missing,
    }


def read_recipe(path: Path) -> Recipe:
    """Read a recipe file.

    Raises
    ------
    DataError
        If there is none, or it is malformed.
    """
    try:
        return Recipe.from_toml(read_regular(path, BUDGET.text_bytes).decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"Could not read the recipe {path}: {error}.") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error.__cause__


def _check_alone(options: TableOptions) -> None:
    for flag, value in (
        ("--log-scale", options.log_scale),
        ("--columns", options.columns),
        ("--drop", options.drop),
        ("--kind", options.kind),
        ("--transform", options.transform),
        ("--missing", options.missing != "auto"),
        ("--strict", options.strict),
    ):
        if value:
            raise OptionError(
                f"Expected --recipe or {flag}; got both. Write it into the recipe instead."
            )


def _assignments(
    texts: Sequence[str], flag: str, choices: tuple[str, ...], raw: RawTable
) -> dict[str, str]:
    stated = {}
    for text in texts:
        name, value = _assignment(text, flag)
        if value not in choices:
            raise OptionError(f"Expected {flag} NAME=VALUE with a value among {list(choices)}; "
                              f"got {quote(text)}.")  # fmt: skip
        if name not in raw.names:
            raise OptionError(
                f"Expected {flag} to name columns among {list(raw.names)}; got {quote(name)}."
                f"{did_you_mean(name, raw.names)}"
            )
        stated[name] = value
    return stated


def read_knowledge(path: Path | None) -> Knowledge | None:
    """Read a knowledge file, if there is one.

    Raises
    ------
    KnowledgeError
        If it is malformed.
    """
    return None if path is None else Knowledge.from_file(path)


def _log_columns(raw: RawTable, log_scale: str | None) -> list[str]:
    if log_scale is None:
        return []
    if log_scale == _ALL_COLUMNS:
        return [column.name for column in raw.columns if column.type == "number"]
    columns = parse_names(log_scale)
    for name in columns:
        if name not in raw.names:
            raise OptionError(
                f"Expected --log-scale to name columns among {list(raw.names)}, or to be "
                f"{_ALL_COLUMNS!r}; got {name!r}.{did_you_mean(name, raw.names)}"
            )
    return columns


def parse_settings(texts: Sequence[str]) -> dict[str, list[float | str]]:
    """Read ``name=3``, ``name=1,2,3``, ``name=0:10:5`` (five values from 0 to 10), ``name=M2``.

    Raises
    ------
    OptionError
        If a text is not of that form or a name is repeated.

    Examples
    --------
    >>> parse_settings(["pkc=3", "mek=0:1:3"])
    {'pkc': [3.0], 'mek': [0.0, 0.5, 1.0]}
    """
    settings: dict[str, list[float | str]] = {}
    for text in texts:
        name, values = _assignment(text, "--do")
        if name in settings:
            raise OptionError(f"Expected --do once for each variable; {quote(name)} is repeated.")
        if ":" in values:
            parts = values.split(":")
            if len(parts) != 3 or not parts[2].strip().isdecimal():
                raise OptionError(f"Expected --do NAME=LOW:HIGH:COUNT; got {quote(text)}.")
            low, high, count = _number(parts[0], text), _number(parts[1], text), int(parts[2])
            if not 1 <= count <= _MAX_SETTINGS:
                raise OptionError(f"Expected 1 to {_MAX_SETTINGS} values; got {quote(text)}.")
            settings[name] = np.linspace(low, high, count).tolist()
        else:
            settings[name] = [_number_or_level(value.strip(), text) for value in values.split(",")]
    return settings


def parse_limits(texts: Sequence[str]) -> dict[str, tuple[float | None, float | None]] | None:
    """Read ``name=low:high``, either side of which may be left open; None if there are none.

    Raises
    ------
    OptionError
        If a text is not of that form, or low is not below high.

    Examples
    --------
    >>> parse_limits(["erk=15:25", "akt=:3"])
    {'erk': (15.0, 25.0), 'akt': (None, 3.0)}
    """
    limits = {}
    for text in texts:
        name, values = _assignment(text, "--limits")
        sides = values.split(":")
        if len(sides) != 2:
            raise OptionError(f"Expected --limits NAME=LOW:HIGH; got {quote(text)}.")
        low, high = (_number(side, text) if side.strip() else None for side in sides)
        if low is not None and high is not None and low >= high:
            raise OptionError(f"Expected --limits with low < high; got {quote(text)}.")
        limits[name] = (low, high)
    return limits if limits else None


def parse_costs(texts: Sequence[str]) -> dict[str, float] | None:
    """Read the costs of levers; None if there are none. See `parse_numbers`."""
    costs = parse_numbers(texts, "--cost")
    return costs if costs else None


def parse_numbers(texts: Sequence[str], flag: str) -> dict[str, float]:
    """Read ``name=number`` of one option.

    Raises
    ------
    OptionError
        If a text is not of that form.

    Examples
    --------
    >>> parse_numbers(["oven=3", "belt=0.5"], "--cost")
    {'oven': 3.0, 'belt': 0.5}
    """
    numbers = {}
    for text in texts:
        name, value = _assignment(text, flag)
        numbers[name] = _number(value, text)
    return numbers


def parse_holds(texts: Sequence[str]) -> dict[str, str | None]:
    """Read ``name`` or ``name=tolerance``.

    Examples
    --------
    >>> parse_holds(["thickness", "width=5%"])
    {'thickness': None, 'width': '5%'}
    """
    holds: dict[str, str | None] = {}
    for text in texts:
        if "=" in text:
            name, value = _assignment(text, "--hold")
            holds[name] = value.strip()
        else:
            holds[text] = None
    return holds


def parse_names(text: str) -> list[str]:
    """Read names separated by commas.

    Examples
    --------
    >>> parse_names("raf, mek")
    ['raf', 'mek']
    """
    return [name for part in text.split(",") if (name := part.strip())]


def parse_options(texts: Sequence[str]) -> dict[str, Any]:
    """Read ``name=value``; a value that is not JSON is taken as text.

    Raises
    ------
    OptionError
        If a text has no equals sign.

    Examples
    --------
    >>> parse_options(["n_starts=3", "noise=gaussian", "n_inducing=null"])
    {'n_starts': 3, 'noise': 'gaussian', 'n_inducing': None}
    """
    options: dict[str, Any] = {}
    for text in texts:
        name, value = _assignment(text, "--option")
        try:
            options[name] = json.loads(value)
        except (ValueError, RecursionError):
            options[name] = value
    return options


def _assignment(text: str, option: str) -> tuple[str, str]:
    # The last equals sign: numbers have none, names may.
    name, equals, value = text.rpartition("=")
    if not equals or not name.strip() or not value.strip():
        raise OptionError(f"Expected {option} NAME=VALUE; got {quote(text)}.")
    return name.strip(), value.strip()


def _number_or_level(text: str, whole: str) -> float | str:
    """Return a number, or the name of a level."""
    try:
        float(text)
    except ValueError:
        if text:
            return text
    return _number(text, whole)


def _number(text: str, whole: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise OptionError(f"Expected a number; got {quote(text)} in {quote(whole)}.")
    return number
