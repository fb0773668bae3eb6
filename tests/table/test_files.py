"""Files on disk: what becomes a Dataset, and what is refused with which line and column."""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from momentdag.errors import DataError, DataWarning, MissingExtraError, MomentdagError, OptionError
from momentdag.table import Dataset


def good_frame(n_samples: int = 60) -> pd.DataFrame:
    values = np.random.default_rng(3).normal(size=(n_samples, 3)) * [1.0, 1e-7, 1e12]
    return pd.DataFrame(values, columns=["raf", "mek", "erk"])


def good_lines(delimiter: str = ",") -> list[str]:
    return good_frame().to_csv(index=False, sep=delimiter).splitlines()


def write(folder: Path, text: str | bytes | list[str], name: str = "table.csv") -> Path:
    path = folder / name
    if isinstance(text, list):
        text = "\n".join(text) + "\n"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


class TestText:
    # A space is never guessed: names may hold spaces.
    @pytest.mark.parametrize(
        ("delimiter", "told"),
        [(" ", " ")] + [(used, told) for used in ",;\t|" for told in (used, None)],
    )
    def test_reads_every_delimiter_exactly(self, tmp_path, delimiter, told):
        path = write(tmp_path, good_lines(delimiter))
        dataset = Dataset.from_file(path, told)
        assert dataset == Dataset.from_table(good_frame())

    @pytest.mark.parametrize("convert", [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n\n  \n",
        lambda text: "\n  \n" + text,
        lambda text: text.replace("\n", "\n\n", 5),
        lambda text: text.replace(",", " , "),
        lambda text: text.replace("raf", '"raf"'),
        lambda text: text.replace("raf", ' "raf" '),
    ])  # fmt: skip
    def test_forgives_harmless_differences(self, tmp_path, convert):
        path = write(tmp_path, convert(good_frame().to_csv(index=False)))
        assert Dataset.from_file(path) == Dataset.from_table(good_frame())

    @pytest.mark.parametrize("names", [
        ["income, net", "β-catenin", "two words"],
        ["a;b", 'say "hi"', "c|d"],
        ["two\nlines", "b", "c"],
        ["0", "1", "2"],
        ["1st", "2nd", "0.5"],
    ])  # fmt: skip
    def test_keeps_odd_names(self, tmp_path, names):
        path = tmp_path / "odd.csv"
        frame = good_frame().set_axis(names, axis=1)
        frame.to_csv(path, index=False)
        assert Dataset.from_file(path) == Dataset.from_table(frame)

    def test_integers_and_exponents(self, tmp_path):
        lines = ["a,b"] + [f"{i * i},{i * 7 % 23}e-3" for i in range(30)]
        dataset = Dataset.from_file(write(tmp_path, lines))
        assert dataset.values[29].tolist() == [841.0, 19e-3]

    def test_accepts_text_paths_and_any_ending(self, tmp_path):
        path = write(tmp_path, good_lines(), "table.csv.gz")
        assert Dataset.from_file(str(path)).n_samples == 60

    def test_warns_where_the_caller_stands(self, tmp_path):
        path = write(tmp_path, ["a,b"] + [f"{i % 7},{i * i}" for i in range(199)] + ["1,1e9"])
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            dataset = Dataset.from_file(path)
        assert [str(w.message) for w in given] == list(dataset.notes)
        assert [(w.category, w.filename) for w in given] == [(DataWarning, __file__)]

    def test_header_longer_than_the_guessing_sample(self, tmp_path):
        names = [f"{'long name ' * 100}{i}" for i in range(1200)]
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 1200)), columns=names)
        path = tmp_path / "wide.csv"
        frame.to_csv(path, index=False)
        with pytest.warns(DataWarning, match="12 for 1200 variables"):
            assert Dataset.from_file(path).names == tuple(names)


def changed_line(number: int, line: str) -> list[str]:
    lines = good_lines()
    lines[number - 1] = line
    return lines


TEXT_AT_FAULT = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n  \n\n", "only blank lines"),
    "only bom": (b"\xef\xbb\xbf", "only blank lines"),
    "only header": (b"raf,mek\n", "only a header"),
    "header and blanks": (b"raf,mek\n\n\n", "only a header"),
    "short": (changed_line(17, "1,2"), "3 fields .*line 17 has 2"),
    "long": (changed_line(17, "1,2,3,4"), "3 fields .*line 17 has 4"),
    "first short": (changed_line(2, "1"), "line 2 has 1"),
    "first long": (changed_line(2, "1,2,3,4"), "line 2 has 4"),
    "all long": (["raf,mek"] + ["r1,1,2"] * 20, "line 2 has 3.*row labels"),
    "last short": (changed_line(61, "1,2"), "line 61 has 2"),
    "after blanks": (["", *changed_line(17, "1,2")], "line 18 has 2"),
    "text": (changed_line(9, "1,abc,3"), "column 'mek' has 'abc' in line 9"),
    "boolean": (["a,b"] + ["1,True"] * 20, "column 'b' has 'True' in line 2"),
    "late boolean": (
        ["a,b"] + [f"{i},{i % 2}" for i in range(200_000)] + [f"{i},true" for i in range(200_000)],
        "column 'b' has 'true' in line 200002",
    ),
    "date": (changed_line(9, "2020-01-01,1,3"), "column 'raf' has '2020-01-01' in line 9"),
    "underscore": (changed_line(9, "1_000,1,3"), "column 'raf' has '1_000' in line 9"),
    "missing": (changed_line(9, "1,,3"), r"missing .*'mek' has 1 \(first at row 7\)"),
    "missing last": (changed_line(9, "1,2,NA"), r"missing .*'erk' has 1 \(first at row 7\)"),
    "spaced nan": (changed_line(9, "1,nan ,3"), "column 'mek' has 'nan' in line 9.*impute"),
    "inf": (changed_line(9, "1,2,-inf"), r"infinite .*'erk' has 1 \(first at row 7\)"),
    "too large": (changed_line(9, "1,1e400,3"), "infinite .*'mek' has 1"),
    "constant": (["a,b"] + [f"{i},3" for i in range(20)], "'b' is 3.0 in every row"),
    "repeated": (changed_line(1, "raf,mek,raf"), r"unique .*'raf' names columns \[0, 2\]"),
    "repeated with spaces": (changed_line(1, "raf,mek, raf "), "unique .*'raf'"),
    "unnamed index": (good_frame().to_csv().encode(), "first has none.*index=False"),
    "unnamed": (changed_line(1, "raf,,erk"), "column 1 .*named ''"),
    "no header": (good_lines()[1:], "names in the first line; it holds only numbers"),
    "decimal comma": (["a;b"] + ["1,5;2,5"] * 20, "'a' has '1,5' in line 2.*decimal=','"),
    "decimal and comma": (["a,b"] + ["1,5,2,5"] * 20, "line 2 has 4.*decimal comma"),
    "comma in header": (["a, m;b, m"] + ["1,5;2,5"] * 20, "'a, m' has '1,5'.*decimal"),
    "spaces": (["a b"] + ["1 2"] * 20, "'a b' has '1 2' in line 2.*delimiter=' '"),
    "latin-1": ("größe,b\n1,2\n".encode("latin-1"), "UTF-8 text; byte 2 .*encoding"),
    "cut utf-8": (b"a,b\n1,\xc3", "UTF-8 text; byte 6"),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), "looks like UTF-16"),
    "nul": (b"a,b\n1,\x002\n", "byte 6 is NUL"),
    "gzip": (b"\x1f\x8b\x08\x00abcdef", "gzip"),
    "excel": (b"PK\x03\x04abcdef", "Excel"),
    "open quote": (changed_line(9, '1,"2,3'), "line 9"),
    "endless quote": (b'a,b\n1,"' + b"2\n" * 100_000, "line 2: field larger"),
    "one row": (b"a,b\n1,2\n", "10 rows; got n_samples=1"),
}


class TestTextRefusals:
    @pytest.mark.parametrize("kind", TEXT_AT_FAULT)
    def test_says_where(self, tmp_path, kind):
        text, message = TEXT_AT_FAULT[kind]
        path = write(tmp_path, text)
        with pytest.raises(DataError, match=f"(?s)Expected .*{message}") as caught:
            Dataset.from_file(path)
        assert str(caught.value).startswith(f"{path}: Expected")

    @pytest.mark.parametrize(("used", "told"), [(";", ","), ("\t", ","), ("|", ";"), (",", ";")])
    def test_wrong_delimiter_names_the_right_one(self, tmp_path, used, told):
        path = write(tmp_path, good_lines(used))
        with pytest.raises(DataError, match=r"one column 'raf.*mek.*Pass delimiter") as caught:
            Dataset.from_file(path, told)
        assert f"delimiter={used!r}" in str(caught.value)

    def test_delimiter_is_a_closed_choice(self, tmp_path):
        with pytest.raises(OptionError, match=r"delimiter among .*got ':'"):
            Dataset.from_file(write(tmp_path, good_lines()), ":")

    def test_byte_offset_beyond_the_first_chunk(self, tmp_path):
        # A two-byte character across the 16 MiB boundary, and a bad byte after it.
        start = b"a\n" * (2**23 - 1) + b"a" + "é".encode()
        with pytest.raises(DataError, match=f"byte {2**24 + 5} cannot be decoded"):
            Dataset.from_file(write(tmp_path, start + b"aaaa\xff"))
        with pytest.raises(DataError, match=f"byte {2**24 + 1} is NUL"):
            Dataset.from_file(write(tmp_path, start + b"\0"))


class TestParquet:
    def test_reads_what_pandas_polars_and_pyarrow_write(self, tmp_path):
        frame = good_frame()
        expected = Dataset.from_table(frame)
        frame.to_parquet(tmp_path / "pandas.parquet")
        pl.from_pandas(frame).write_parquet(tmp_path / "polars.pq")
        pq.write_table(pa.Table.from_pandas(frame), tmp_path / "no_ending")
        for name in ("pandas.parquet", "polars.pq", "no_ending"):
            assert Dataset.from_file(tmp_path / name) == expected

    @pytest.mark.parametrize("label", ["sample", None])
    def test_leaves_out_the_stored_index(self, tmp_path, label):
        frame = good_frame()
        frame.index = pd.Index(np.arange(60) * 3 % 59, name=label)
        frame.to_parquet(tmp_path / "indexed.parquet")
        assert Dataset.from_file(tmp_path / "indexed.parquet").names == ("raf", "mek", "erk")

    def test_names_the_column_at_fault(self, tmp_path):
        path = tmp_path / "odd.parquet"
        good_frame().assign(sex=["f", "m"] * 30).to_parquet(path)
        with pytest.raises(DataError, match="'sex' holds text"):
            Dataset.from_file(path)
        good_frame().assign(mek=[None, 1.5, 2.5] * 20).to_parquet(path)
        with pytest.raises(DataError, match=r"'mek' has 20 \(first at row 0\)"):
            Dataset.from_file(path)
        columns = [pa.array(range(20)), pa.array(range(20))]
        pq.write_table(pa.Table.from_arrays(columns, names=["a", "a"]), path)
        with pytest.raises(DataError, match="unique column names; 'a'"):
            Dataset.from_file(path)

    def test_damaged(self, tmp_path):
        path = tmp_path / "t.parquet"
        good_frame().to_parquet(path)
        whole = path.read_bytes()
        for damaged in (whole[: len(whole) // 2], b"PAR1", b"PAR1" + whole[40:], b"raf,mek\n1,2\n"):
            path.write_bytes(damaged)
            with pytest.raises(DataError, match="intact Parquet file"):
                Dataset.from_file(path)

    def test_unpacked_size_counts(self, tmp_path):
        path = tmp_path / "zeros.parquet"
        table = pa.table({"a": pa.array(np.zeros(100_000)), "b": pa.array(np.zeros(100_000))})
        pq.write_table(table, path)
        assert path.stat().st_size < 100_000
        with pytest.raises(DataError, match="unpacks to 1600000"):
            Dataset.from_file(path, max_bytes=100_000)

    def test_says_when_pyarrow_is_not_there(self, tmp_path, monkeypatch):
        path = tmp_path / "t.parquet"
        good_frame().to_parquet(path)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        message = r"^Reading Parquet needs pyarrow; install momentdag\[parquet\]\.$"
        with pytest.raises(MissingExtraError, match=message):
            Dataset.from_file(path)


class TestPaths:
    def test_no_such_file(self, tmp_path):
        with pytest.raises(DataError, match=r"nowhere\.csv: There is no file with this name"):
            Dataset.from_file(tmp_path / "nowhere.csv")

    def test_folder(self, tmp_path):
        with pytest.raises(DataError, match="this is a folder"):
            Dataset.from_file(tmp_path)

    def test_below_a_file(self, tmp_path):
        with pytest.raises(DataError, match="Expected a readable file"):
            Dataset.from_file(write(tmp_path, good_lines()) / "inside.csv")

    @pytest.mark.parametrize("path", [None, 3, "a\0b", "\ud800.csv", b"table.csv"])
    def test_no_path(self, path):
        with pytest.raises(DataError, match="Expected"):
            Dataset.from_file(path)

    @pytest.mark.skipif(os.name != "posix", reason="named pipes are made differently elsewhere")
    def test_pipe_does_not_hang(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(DataError, match="not a regular file"):
            Dataset.from_file(tmp_path / "pipe")

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
    def test_unreadable(self, tmp_path):
        path = write(tmp_path, good_lines())
        path.chmod(0)
        with pytest.raises(DataError, match="permission"):
            Dataset.from_file(path)

    def test_size_limit_is_checked_before_reading(self, tmp_path):
        path = write(tmp_path, good_lines())
        size = path.stat().st_size
        with pytest.raises(DataError, match=f"{size - 1} bytes; the file has {size}.*max_bytes"):
            Dataset.from_file(path, max_bytes=size - 1)
        assert Dataset.from_file(path, max_bytes=size).n_samples == 60
        huge = tmp_path / "huge.csv"
        with huge.open("wb") as handle:
            handle.truncate(5 * 2**30)  # sparse: takes no room on disk
        with pytest.raises(DataError, match="the file has 5368709120"):
            Dataset.from_file(huge)
        with pytest.raises(OptionError, match="max_bytes"):
            Dataset.from_file(path, max_bytes=0)

    def test_one_variable_only_where_allowed(self, tmp_path):
        path = write(tmp_path, ["a", *[str(i * i) for i in range(20)]])
        assert Dataset.from_file(path).names == ("a",)
        with pytest.raises(DataError, match="minimum of 2"):
            Dataset.from_file(path, min_variables=2)


# Hostile files ------------------------------------------------------------------------------------


def either_usable_or_refused(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        try:
            dataset = Dataset.from_file(path)
        except MomentdagError as error:
            message = str(error)
        else:
            assert np.isfinite(dataset.standardised).all()
            # A few roundings of a mean and an sd.
            assert np.abs(dataset.standardised.mean(axis=0)).max() < 1e-12
            assert np.abs(dataset.standardised.std(axis=0) - 1).max() < 1e-12
            return
    assert message.startswith(f"{path}: Expected")


# Every example overwrites the file of the one before.
HOSTILE = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
CELLS = st.floats().map(repr) | st.sampled_from(
    ["", "NA", "nan ", "True", "1,5", '"', '""', "a", "1e999", "-inf", "1_0", "٣", "\u2028", " "]
)


@st.composite
def almost_tables(draw) -> str:
    delimiter = draw(st.sampled_from(",;\t| "))
    width = draw(st.integers(1, 3))
    names = st.text(max_size=5) | st.sampled_from(["raf", "two words", "ä", '"q"', "7"])
    rows = [draw(st.lists(names, min_size=width, max_size=width))]
    for i in range(draw(st.sampled_from([0, 1, 12, 40]))):
        rows.append([str((i * i + k) % 37) for k in range(width)])
    for _ in range(draw(st.integers(0, 2))):
        row = draw(st.sampled_from(rows))
        row[draw(st.integers(0, len(row) - 1)) :] = draw(st.lists(CELLS, max_size=2)) or [""]
    newline = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    return newline.join(delimiter.join(row) for row in rows)


class TestHostileFiles:
    @HOSTILE
    @given(junk=st.binary(max_size=300))
    @example(junk=b"a\n" + b"1\n" * 5)
    def test_bytes(self, tmp_path, junk):
        either_usable_or_refused(write(tmp_path, junk))

    @HOSTILE
    @given(text=st.text(max_size=200) | st.text(alphabet='01.,;\t| "\n\r-einfa', max_size=200))
    def test_text(self, tmp_path, text):
        either_usable_or_refused(write(tmp_path, text.encode("utf-8", "ignore")))

    @HOSTILE
    @given(text=almost_tables())
    def test_nearly_good_text(self, tmp_path, text):
        either_usable_or_refused(write(tmp_path, text))

    @HOSTILE
    @given(data=st.data())
    def test_damaged_parquet(self, tmp_path, data):
        path = tmp_path / "t.parquet"
        good_frame(20).to_parquet(path)
        content = bytearray(path.read_bytes())
        if data.draw(st.booleans()):
            content = content[: data.draw(st.integers(0, len(content) - 1))]
        else:
            for _ in range(data.draw(st.integers(1, 5))):
                content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(
                    st.integers(1, 255)
                )
        path.write_bytes(bytes(content))
        either_usable_or_refused(path)

    @HOSTILE
    @given(
        line=st.integers(2, 61),
        column=st.integers(0, 2),
        cell=st.sampled_from(["abc", "True", "1;5", "--1", "1.2.3", "0x1F", "é", "NA", "inf"]),
    )
    def test_one_bad_cell_is_found(self, tmp_path, line, column, cell):
        lines = [text.split(",") for text in good_lines()]
        lines[line - 1][column] = cell
        path = write(tmp_path, [",".join(fields) for fields in lines])
        with pytest.raises(DataError) as caught:
            Dataset.from_file(path)
        message = str(caught.value)
        assert repr(lines[0][column]) in message
        assert f"line {line}." in message or f"row {line - 2})" in message
