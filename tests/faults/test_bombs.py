"""Small files that claim, or unpack to, very much: refused by what their headers say."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import momentdag as md
from momentdag.errors import DataError, KnowledgeError, StorageError
from momentdag.storage.archive import read_archive, write_archive
from momentdag.storage.budget import BUDGET
from momentdag.storage.run_info import read_info
from momentdag.table import excel, parquet
from momentdag.table.files import read_file
from momentdag.table.raw_files import read_raw_file

ROOM = 2**30  # of address space: libraries reserve more than they use


def test_a_long_word_in_a_parquet_dictionary_is_not_repeated_for_each_row(tmp_path, within_memory):
    path, word = tmp_path / "a.parquet", "x" * 20_000_000
    words = pa.DictionaryArray.from_arrays(np.zeros(600, dtype=np.int32), pa.array([word]))
    table = pa.table({"word": words, "dose": np.arange(600.0)})
    pq.write_table(table, path, compression="zstd", store_schema=False)  # as texts, not categories
    assert path.stat().st_size < 20_000
    with within_memory(ROOM):
        with pytest.raises(DataError, match="column 'word' holds text"):
            read_file(path)
        raw = read_raw_file(path)
    assert [column.type for column in raw.columns] == ["unusable", "number"]
    assert raw.columns[0].notes == ("holds texts of more than 131072 letters",)
    path.with_suffix(".csv").write_text("word,dose\n" + f"{word[:200_000]},1.5\n" * 20)
    with pytest.raises(DataError, match="field larger than field limit"):
        read_raw_file(path.with_suffix(".csv"))


def test_parquet_files_are_refused_by_their_footers(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BUDGET", replace(BUDGET, unpacked_floor=2**20))
    path = tmp_path / "a.parquet"
    # Many rows of one number take a few bytes.
    pq.write_table(pa.table({"a": np.zeros(200_000, dtype=np.int8)}), path)
    assert path.stat().st_size < 5000
    with pytest.raises(DataError, match="unpack to at most 1048576; it unpacks to 1600000"):
        read_raw_file(path)
    with pytest.raises(DataError, match="at most 1000000 bytes; the file unpacks to 1600000"):
        read_raw_file(path, max_bytes=10**6)
    # So does a long text, and the footer says how long it is.
    pq.write_table(pa.table({"a": ["x" * 2_000_000]}), path, compression="zstd")
    with pytest.raises(DataError, match="it unpacks to 200"):
        read_raw_file(path)
    monkeypatch.setattr(parquet, "BUDGET", replace(BUDGET, parquet_footer_bytes=1000))
    pq.write_table(pa.table({f"column {k}": [1.0] for k in range(50)}), path)
    with pytest.raises(DataError, match="that describe the columns"):
        read_file(path)


def test_lists_in_a_parquet_file_are_named_and_not_read(tmp_path):
    table = pa.table({"a": [[1, 2]] * 20, "b": np.arange(20.0)})
    pq.write_table(table, tmp_path / "a.parquet")
    raw = read_raw_file(tmp_path / "a.parquet")
    assert [column.type for column in raw.columns] == ["unusable", "number"]
    assert "holds lists or records" in raw.columns[0].notes[0]


def test_a_large_json_is_refused_before_it_is_parsed(tmp_path, within_memory):
    (tmp_path / "run.json").write_bytes(b"[" + b"[]," * 5_000_000 + b"[]]")
    with within_memory(ROOM // 8), pytest.raises(StorageError, match="10000003 values, more than"):
        read_info(tmp_path)
    (tmp_path / "run.json").write_bytes(b" " * (BUDGET.text_bytes + 1))
    with pytest.raises(StorageError, match="Larger than the limit"):
        read_info(tmp_path)
    (tmp_path / "k.json").write_bytes(b'{"tiers": [' + b"[]," * 5_000_000 + b"[]]}")
    with within_memory(ROOM // 8), pytest.raises(KnowledgeError, match="names and statements"):
        md.Knowledge.from_file(tmp_path / "k.json")
    with within_memory(ROOM // 8), pytest.raises(DataError, match="a recipe of at most"):
        md.Recipe.from_toml("column = [" + "[]," * 5_000_000 + "]")


def test_tiers_of_a_tetrad_file_do_not_multiply(tmp_path, within_memory):
    names = " ".join(f"a{k}" for k in range(5000))
    lines = ["/knowledge", "addtemporal", f"1- {names}", "2 b", f"3 {names.replace('a', 'c')}"]
    (tmp_path / "k.txt").write_text("\n".join(lines))
    with within_memory(ROOM // 4), pytest.raises(KnowledgeError, match="forbid 25000000"):
        md.Knowledge.from_file(tmp_path / "k.txt")


def test_a_very_wide_table_can_be_checked_only_in_part(tmp_path, within_memory):
    wide = np.random.default_rng(0).normal(size=(12, 20_000))
    with within_memory(ROOM // 4):
        with pytest.raises(DataError, match="at most 1500 columns; got 20000"):
            md.check(wide)
        assert md.check(wide[:, :2000], columns=["x7", "x1900"]).kept == ("x7", "x1900")
    with pytest.raises(DataError, match="at most 50000 columns"):
        md.check(np.zeros((12, 50_001)))
    (tmp_path / "a.csv").write_bytes(b"a" + b"," * 40_000_000)
    with within_memory(ROOM // 4), pytest.raises(DataError, match="lines of at most 16777216"):
        read_raw_file(tmp_path / "a.csv")


def test_as_many_columns_as_are_checked_take_little_memory(within_memory):
    table = np.random.default_rng(0).normal(size=(40, 300))
    table[3, :] = np.nan  # pairs of columns with holes take several matrices
    with within_memory(ROOM // 16):
        assert len(md.check(table).kept) == 300


def workbook(path, change):
    """Write a workbook and change the text of its sheet."""
    book = openpyxl.Workbook()
    for row in [("a", "b"), *((float(k), float(k * k % 7)) for k in range(20))]:
        book.active.append(row)
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    members[sheet] = change(members[sheet])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return path


def test_sheets_with_a_cell_far_away_or_a_wrong_size(tmp_path, within_memory, monkeypatch):
    monkeypatch.setattr(excel, "_MAX_ROWS", 10_000)
    monkeypatch.setattr(excel, "BUDGET", replace(BUDGET, unpacked_floor=2**24))
    last = '<row r="999999999"><c r="A999999999"><v>1</v></c></row></sheetData>'
    far = workbook(tmp_path / "far.xlsx", lambda text: text.replace("</sheetData>", last))
    with within_memory(ROOM // 4), pytest.raises(DataError, match="far below or beside"):
        read_raw_file(far)
    filler = "<!--" + " " * 2**24 + "-->"
    long = workbook(tmp_path / "long.xlsx", lambda text: text + filler)
    assert long.stat().st_size < 500_000
    with within_memory(ROOM // 4), pytest.raises(DataError, match="workbook that unpacks to"):
        read_raw_file(long)
    wrong = workbook(tmp_path / "wrong.xlsx", lambda t: t.replace("A1:B21", "A1:XFD1048576"))
    assert read_raw_file(wrong).n_rows == 20


def test_a_zip_with_a_long_table_of_contents_is_refused_unread(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for k in range(3000):
            archive.writestr(f"{k:0400}.npy", b"")
    (tmp_path / "a.npz").write_bytes(stream.getvalue())
    with pytest.raises(StorageError, match="table of contents"):
        read_archive(tmp_path / "a.npz", "test")
    with pytest.raises(DataError, match="looks like a zip archive"):
        read_raw_file(tmp_path / "a.npz")


def test_archives_are_refused_by_their_size_and_posteriors_by_their_draws(tmp_path):
    write_archive(tmp_path / "a.npz", "test", {}, {"a": np.zeros(1000)})
    with pytest.raises(StorageError, match="at most 5000 are read"):
        read_archive(tmp_path / "a.npz", "test", max_bytes=5000)
    content = {"names": [f"x{k}" for k in range(22)], "n_draws": 4_000_000, "provenance": {}}
    write_archive(tmp_path / "p.zip", "posterior", json.loads(json.dumps(content)), {}, 2)
    with pytest.raises(StorageError, match="4000000 draws of 22 variables exceed"):
        md.Posterior.load(tmp_path / "p.zip")
