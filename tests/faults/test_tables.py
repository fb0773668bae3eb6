"""Tables that nobody should be sent: files of all sorts, and objects that are no table."""

import os
import shutil
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import momentdag as md
from momentdag import runs
from momentdag.errors import DataError

NAMES = (
    *("a", "b", "c", "dose", "näme", "温度", "a b", "b", "nan", "0", "-1", "=1+1", "null", "a,b"),
    *("", " ", "\t", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}"),
    *("line\nbreak", "carriage\rreturn", 'quo"te', "it's", "\\", "../..", "\x1b[31m", "\u202eevil"),
    *(
        "\u2028",
        "\ufeff",
        "x" * 5000,
        "dose -> y",
        "__proto__",
        "[red]",
        "%s%n",
        "\U0001d518",
        "e\u0301",
    ),
)
CELLS = (
    *("1e308", "-1e308", "1e309", "1e-320", "5e-324", "nan", "inf", "-inf", "", "text", "True"),
    *(
        "2020-01-01",
        "1,5",
        "1_000",
        "0x1F",
        "١٢",
        "1e",
        "--1",
        " 1 ",
        '"1"',
        "1" * 400,
        "NA",
        "1e5",
    ),
    *(
        "9007199254740993",
        "1e-400",
        "\t1",
        "(1)",
        "1;2",
        "#",
        "NULL",
        "1.2.3",
        '"',
        "é",
        "None",
        "1j",
    ),
)
KINDS = (
    *(["normal"] * 20),
    *("whole", "constant", "huge", "tiny", "offset"),
    *("two values", "copy", "outlier", "one cell", "cells", "dates", "truth"),
)


def column(rng, n, kind, others):
    """Return one column as texts."""
    values = rng.normal(size=n)
    match kind:
        case "whole":
            values = np.round(3 * values)
        case "constant":
            values = np.full(n, 2.5)
        case "huge":
            values = values * 1e307
        case "tiny":
            values = values * 10.0 ** rng.choice([-320, -310, -300])
        case "offset":
            values = 1e15 + values
        case "two values":
            values = np.sign(values)
        case "outlier" if n:
            values[rng.integers(n)] = rng.choice([1e6, 1e300, -1e12])
        case "copy" if others:
            return list(others[0])
        case "cells":
            return [str(cell) for cell in rng.choice(CELLS, n)]
        case "dates":
            return [f"2024-01-{1 + k % 28:02d}" for k in range(n)]
        case "truth":
            return [str(bool(value > 0)) for value in values]
    texts = [repr(float(value)) for value in values]
    if kind == "one cell" and n:
        texts[rng.integers(n)] = str(rng.choice(CELLS))
    return texts


def names(rng, d):
    if rng.random() < 0.5:
        return [f"x{k}" for k in range(d)]
    return [str(name) for name in rng.choice(NAMES, d)]


def delimited(rng):
    """Return the bytes of a text file."""
    n = int(rng.choice([0, 1, 9, 10, 12, 30, 30, 30, 60, 60]))
    columns: list[list[str]] = []
    for _ in range(int(rng.choice([0, 1, 2, 3, 3, 3, 3, 4, 4, 12]))):
        columns.append(column(rng, n, str(rng.choice(KINDS)), columns))
    delimiter = str(rng.choice(list(",,,,,,,,;;\t\t|| :^")))
    quoted = rng.random() < 0.5
    header = [f'"{name}"' if quoted else name for name in names(rng, len(columns))]
    rows = [header, *map(list, zip(*columns, strict=True))]
    if rng.random() < 0.15:  # ragged
        for _ in range(3):
            row = rows[rng.integers(len(rows))]
            row.pop() if row and rng.random() < 0.5 else row.append("1")
    if rng.random() < 0.1:  # blank lines
        rows.insert(int(rng.integers(len(rows) + 1)), [])
    end = str(rng.choice(["\n", "\n", "\n", "\r\n", "\r"]))
    text = end.join(delimiter.join(row) for row in rows) + (end if rng.random() < 0.8 else "")
    encodings = ["utf-8"] * 16 + ["utf-8-sig", "utf-16", "utf-32", "latin-1"]
    return text.encode(str(rng.choice(encodings)), "replace")


def parquet(rng, path):
    """Write a Parquet file with columns that Parquet can hold and a table of floats cannot."""
    n = int(rng.choice([0, 1, 9, 30, 30, 30]))
    values = [
        pa.array(rng.normal(size=n)),
        pa.array(rng.integers(0, 2**62, n)),
        pa.array([None] * n, pa.float64()),
        pa.array([date(2024, 1, 1)] * n),
        pa.array([["a"]] * n, pa.list_(pa.string())),
        pa.array([{"k": 1.0}] * n, pa.struct([("k", pa.float64())])),
        pa.array([Decimal("1.5")] * n, pa.decimal128(10, 2)),
        pa.array([b"\0"] * n, pa.binary()),
        pa.array(rng.normal(size=n) > 0),
        pa.array(["x"] * n).dictionary_encode(),
        pa.array(rng.normal(size=n).astype(np.float16)),
    ]
    at = [0, 0, 0] if rng.random() < 0.3 else rng.integers(len(values), size=3)
    chosen = [values[k] for k in at]
    if rng.random() < 0.4:
        chosen = [pa.array(rng.normal(size=n)) for _ in range(3)]
    pyarrow.parquet.write_table(pa.Table.from_arrays(chosen, names=names(rng, 3)), path)
    return path.read_bytes()


def damaged(rng, content):
    """Return bytes of which a few were changed, taken away or added."""
    content = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(content) + 1))
        match int(rng.integers(5)):
            case 0:
                content[at:at] = rng.choice([b"\0", b"\xff", b'"', b"\xe2\x80", b"\r", b"\x1a"])
            case 1 if at < len(content):
                content[at] ^= 1 << int(rng.integers(8))
            case 2:
                del content[at:]
            case 3:
                content[at:at] = rng.bytes(int(rng.integers(1, 40)))
            case 4:
                content[at:at] = content[at : at + 200]
    return bytes(content)


def no_plain_file(rng, folder):
    """Return a path that is not a readable file."""
    path = folder / "t.csv"
    match int(rng.integers(6)):
        case 0:
            path.mkdir()
        case 1:
            os.mkfifo(path)  # whoever opens it waits for ever
        case 2:
            path.symlink_to(path)
        case 3:
            path.symlink_to("/dev/zero")
        case 4:
            return "a\0b.csv"
        case _:
            return folder / ("n" * 300)
    return path


def file_of(rng, folder):
    suffix = str(rng.choice([".csv"] * 6 + [".tsv", "", ".parquet", ".pq"]))
    path = folder / f"table{suffix}"
    chance = rng.random()
    if chance < 0.05:
        return no_plain_file(rng, folder)
    if chance < 0.2:
        path = folder / "table.parquet"
        content = parquet(rng, path)
    else:
        content = delimited(rng)
    path.write_bytes(damaged(rng, content) if rng.random() < 0.25 else content)
    return path


LINEAR = ("--no-report", "--draws", "20", "--option", "family=linear")


def fit_refused(command_refused, path, folder, *more):
    """Fit through the program; what it makes must be a run that loads."""
    was_refused = command_refused("fit", path, "-o", folder / "run", *LINEAR, *more)
    if not was_refused:
        posterior = runs.load(folder / "run").posterior_
        assert np.isfinite(posterior.edge_probabilities("either").to_numpy()).all()
        shutil.rmtree(folder / "run")
    return was_refused


@pytest.mark.parametrize("n", [40, pytest.param(1200, marks=pytest.mark.slow)])
def test_hostile_table_files(n, endure, is_refused, is_command_refused):
    def prepare(rng, folder):
        path = file_of(rng, folder)
        through_program = rng.random() < 0.3

        def action():
            was_refused = is_refused(lambda: md.Dataset.from_file(path, min_variables=2))
            if "\0" not in str(path) and (through_program or not was_refused):
                # The program reads more than the constructor: text, dates, missing cells.
                return fit_refused(is_command_refused, path, folder)
            return was_refused

        return action

    outcomes = endure("table files", range(n), prepare)
    assert outcomes["used"] > n / 20  # or nothing but the gate was tested
    assert outcomes["refused"] > n / 4


def frame_of(rng):
    """Return an object that a careless caller might pass as a table."""
    n = int(rng.choice([0, 1, 10, 30, 30, 30]))
    floats = rng.normal(size=(n, 3))
    odd = (
        [None] * n,
        [Decimal("NaN"), *[Decimal(k) for k in range(n)]][:n],
        [Fraction(k, 7) for k in range(n)],
        [10**400 * k for k in range(n)],
        [complex(k, 1) for k in range(n)],
        [[k] for k in range(n)],
        [pd.Timestamp("2024-01-01")] * n,
        [pd.Timedelta(k, "s") for k in range(n)],
        pd.Categorical([str(k % 3) for k in range(n)]),
        pd.array(rng.integers(0, 9, n), dtype="Int64"),
        pd.arrays.IntervalArray.from_breaks(np.arange(n + 1.0)),
        [str(k) for k in range(n)],
        [b"1"] * n,
        [object()] * n,
        rng.normal(size=n) > 0,
        rng.normal(size=n).astype(np.longdouble) * np.longdouble("1e4000"),
        [np.nan, *rng.normal(size=n)][:n],
        [2**53 + k for k in range(n)],
        [True, *rng.normal(size=n)][:n],
    )
    match int(rng.integers(9)):
        case 0 | 1 | 2:
            frame = pd.DataFrame(floats)
            if rng.random() < 0.5:
                frame[3] = odd[rng.integers(len(odd))]
            return frame.set_axis(names(rng, frame.shape[1]), axis=1)
        case 3:
            labels = [("a", 1), None, np.nan, 3, 2.5, pd.NaT, "\ud800", "b", b"c", True]
            picked = [labels[k] for k in rng.integers(len(labels), size=3)]
            return pd.DataFrame(floats).set_axis(
                pd.Index(picked, object, tupleize_cols=False), axis=1
            )
        case 4:
            return pd.DataFrame(floats, columns=pd.MultiIndex.from_product([["a"], [1, 2, 3]]))
        case 5:
            shapes = [(), (n,), (n, 3, 1), (0, 0), (n, 0)]
            return np.zeros(shapes[rng.integers(len(shapes))])
        case 6:
            rows = [list(row) for row in floats]
            return [*rows, [1.0]] if rng.random() < 0.5 else [*rows, ["x", None, True]]
        case 7:
            masked = np.ma.masked_array(floats, rng.random(floats.shape) < 0.1)
            return masked if rng.random() < 0.5 else np.rec.fromarrays(floats.T, names="a,b,c")
        case _:
            return (None, "text", b"bytes", {}, {1, 2}, 3.5, object(), iter([1]), pd.Series([1]))[
                rng.integers(9)
            ]


@pytest.mark.parametrize("n", [40, pytest.param(400, marks=pytest.mark.slow)])
def test_hostile_tables_in_memory(n, endure, is_refused):
    def prepare(rng, folder):
        frame = frame_of(rng)

        def action():
            was_refused = is_refused(lambda: md.Dataset.from_table(frame, min_variables=2))
            if not was_refused:
                options = {"family": "linear"}
                model = md.MomentDAG(n_draws=20, random_state=0, engine_options=options)
                # Text and other labels together are names to us; scikit-learn's rules refuse them.
                types = {type(name) for name in getattr(frame, "columns", ())}
                mixed = str in types and len(types) > 1
                assert is_refused(lambda: model.fit(frame)) == mixed
            return was_refused

        return action

    outcomes = endure("tables in memory", range(n), prepare)
    assert outcomes["used"] > n / 20
    assert outcomes["refused"] > n / 4


def test_an_error_about_a_file_names_it(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_bytes(b"a,b\n1,\xff\n")
    with pytest.raises(DataError, match=r"cells\.csv"):
        md.Dataset.from_file(path)
