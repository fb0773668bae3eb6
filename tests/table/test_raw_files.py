"""Ordinary files: encodings, commas, comments, units, row labels, workbooks."""

import numpy as np
import pandas as pd
import pytest

from momentdag.errors import DataError, MissingExtraError, OptionError
from momentdag.table import raw_files
from momentdag.table.raw_files import read_raw_file

TEXT = "größe;farbe\n1,5;grün\n2;blau\n"


def read(tmp_path, content, **options):
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_raw_file(path, **options)


def summary(raw):
    return {column.name: (column.type, column.values.tolist()) for column in raw.columns}


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"]
)
def test_encodings_are_detected(tmp_path, encoding):
    raw = read(tmp_path, TEXT.encode(encoding))
    assert summary(raw) == {"größe": ("number", [1.5, 2.0]), "farbe": ("text", [1.0, 0.0])}
    assert bool(raw.notes) == (not encoding.startswith("utf-8"))
    assert not raw.mended


READ = {
    "numbers": ("a,b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
    "missing": ("a,b\n1,NA\n,4\n3,x\n", {"a": [1, np.nan, 3], "b": [np.nan, 0, 1]}),
    "thousands": ('a,b\n"1,234",x\n"2,345",y\n', {"a": [1234, 2345], "b": [0, 1]}),
    "quoted": ('a,b\n1,"x, y"\n2,"z\n# no comment"\n', {"a": [1, 2], "b": [0, 1]}),
    "comments": ("# by me\n\na,b\n1,x\n# and\n2,y\n", {"a": [1, 2], "b": [0, 1]}),
    "header in a comment": ("# by me\n# a,b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
    "row labels": ('"","a"\n"r1",1\n"r2",2\n', {"a": [1, 2]}),
    "row labels of R": ("a,b\nr1,1,x\nr2,2,y\n", {"a": [1, 2], "b": [0, 1]}),
    "first column without a name": (",a\nx,1\nx,2\ny,3\n", {"column_1": [0, 0, 1], "a": [1, 2, 3]}),
    "trailing delimiter": ("a,b,\n1,x,\n2,y,\n", {"a": [1, 2], "b": [0, 1]}),
    "repeated names": ("a,a\n1,x\n2,y\n", {"a": [1, 2], "a_2": [0, 1]}),
    "spaces": ("a  b\n1  x\n 2 y \n", {"a": [1, 2], "b": [0, 1]}),
    "units": ("a,b,c\nkg,,\n1,x,2\n2,y,3\n3,y,4\n",
              {"a": [1, 2, 3], "b": [0, 1, 1], "c": [2, 3, 4]}),
    "names that are numbers": (",1.5,2.5\nx,1,2\ny,3,4\n", {"1.5": [1, 3], "2.5": [2, 4]}),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_reads(tmp_path, case):
    content, expected = READ[case]
    raw = read(tmp_path, content)
    assert list(raw.names) == list(expected)
    for column in raw.columns:
        np.testing.assert_array_equal(column.values, expected[column.name])


def test_units_are_remembered_and_said(tmp_path):
    raw = read(tmp_path, "mass,time,who\nkg,s,\n1,2,a\n2,3,b\n4,5,c\n")
    assert raw.units == {"mass": "kg", "time": "s"}
    assert "'mass' in kg" in raw.mended[0]
    # A row of numbers is none, and neither is text above text.
    assert not read(tmp_path, "a,b\n1,x\n2,y\n3,z\n").units
    assert not read(tmp_path, "a,b\nkg,x\nlb,y\nkg,z\n").units


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,x\n2,y,3,z\n", r"2 fields .*line 3 has 4"),
        ("a,b,c\n1,x,2\n2\n", r"3 fields .*line 3 has 1"),
        ("1,2\n3,4\n", "names in the first line"),
        ("a,b\n", "only a header"),
        ("\n\n", "only blank lines"),
        ("", "empty"),
        (b"a,b\n1,\0x\n2,y\n", "NUL"),
        (b"\x89PNG\x1a\x01\x02\x03\xff\xfe\x05\x06", "binary"),
        (b"\x1f\x8b1234567890", "gzip"),
    ],
    ids=str,
)
def test_refusals(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, content)


def test_clean_numbers_take_the_fast_way(tmp_path, monkeypatch):
    monkeypatch.setattr(raw_files, "cut_records", None)
    assert read(tmp_path, "a,b\n1,2\n3,\n").names == ("a", "b")


def test_parquet_keeps_its_types(tmp_path):
    frame = pd.DataFrame(
        {"x": [1.5, 2], "who": ["a", "b"], "day": pd.date_range("2020", periods=2)}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    raw = read_raw_file(tmp_path / "t.parquet")
    assert [column.type for column in raw.columns] == ["number", "text", "date"]


class TestWorkbooks:
    @pytest.fixture
    def book(self, tmp_path):
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        first = book.active
        first.title = "first"
        for row in (["dose", "who", None], [None] * 3, [1.5, "a", None], [2, None, None]):
            first.append(row)
        book.create_sheet("second").append(["only a header"])
        book.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    def test_the_first_sheet_is_read(self, book):
        raw = read_raw_file(book)
        assert raw.names == ("dose", "who")
        np.testing.assert_array_equal(raw.columns[0].values, [1.5, 2])
        np.testing.assert_array_equal(raw.columns[1].values, [0, np.nan])
        assert read_raw_file(book, sheet="first").names == raw.names

    def test_refusals(self, book):
        with pytest.raises(OptionError, match=r"\['first', 'second'\]; got 'third'"):
            read_raw_file(book, sheet="third")
        with pytest.raises(DataError, match="fewer than two rows"):
            read_raw_file(book, sheet="second")
        with pytest.raises(DataError, match="bytes"):
            read_raw_file(book, max_bytes=book.stat().st_size)

    def test_the_extra_is_named(self, tmp_path, monkeypatch):
        import zipfile

        with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive:
            archive.writestr("xl/workbook.xml", "")
        monkeypatch.setattr("momentdag.errors.find_spec", lambda name: None)
        with pytest.raises(MissingExtraError, match=r"openpyxl; install momentdag\[excel\]"):
            read_raw_file(tmp_path / "t.xlsx")

    def test_sheets_are_those_of_workbooks(self, tmp_path):
        with pytest.raises(OptionError, match="Excel workbook"):
            read(tmp_path, TEXT, sheet="first")
