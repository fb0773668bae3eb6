"""Parquet by column and row group: the same table whatever the groups, and held once."""

import resource
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from momentdag.errors import DataError
from momentdag.table import Dataset
from momentdag.table import parquet as module
from momentdag.table.parquet import read_parquet


def frame(n=1000):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"a": rng.normal(size=n), "b.c": rng.integers(0, 50, n), "d": np.float32(rng.random(n))}
    )


@pytest.mark.parametrize("group", [1, 7, 300, 5000])
@pytest.mark.parametrize("at_a_time", [1, 100, 10**6])
def test_row_groups_make_no_difference(tmp_path, monkeypatch, group, at_a_time):
    monkeypatch.setattr(module, "_ROWS_AT_A_TIME", at_a_time)
    frame(60).to_parquet(tmp_path / "t.parquet", row_group_size=group)
    table = read_parquet(tmp_path / "t.parquet", 10**6)
    assert table.names == ("a", "b.c", "d")
    np.testing.assert_array_equal(table.values, frame(60).to_numpy(dtype=np.float64))
    # As a `Dataset` keeps it: no copy is made of an array that nobody else can change.
    assert Dataset(table.values, table.names).values is table.values


def test_rows_of_faults_count_from_the_beginning_of_the_file(tmp_path):
    rows = [1.5] * 250 + ["high"] + [2.5] * 49
    odd = pa.table({"a": np.arange(300.0), "b": [str(row) for row in rows]})
    pq.write_table(odd, tmp_path / "t.parquet", row_group_size=100)
    with pytest.raises(DataError, match=r"column 'b' holds text \('1.5' at row 0"):
        read_parquet(tmp_path / "t.parquet", 10**6)
    mixed = frame(300)
    mixed.loc[207, "a"] = np.nan
    mixed.to_parquet(tmp_path / "t.parquet", row_group_size=100)
    with pytest.raises(DataError, match=r"column 'a' has 1 \(first at row 207\)"):
        Dataset.from_file(tmp_path / "t.parquet")


def test_every_faulty_column_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_ROWS_AT_A_TIME", 100)
    odd = frame(300).assign(sex=["f", "m", "m"] * 100, late=[True] * 300)
    odd.to_parquet(tmp_path / "t.parquet", row_group_size=100)
    with pytest.raises(DataError, match=r"'sex' holds text .* at row 0.*'late' holds booleans"):
        read_parquet(tmp_path / "t.parquet", 10**6)


PEAK = """
import resource, sys
from momentdag.table.files import read_file
from momentdag.table.parquet import read_parquet
import pyarrow.parquet
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
read_file(sys.argv[1])
before = peak()
table = read_file(sys.argv[2])
print(peak() - before, table.values.nbytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has other units elsewhere")
def test_the_table_is_held_once(tmp_path):
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # the measure is there
    frame(100).to_parquet(tmp_path / "small.parquet")
    column = np.tile(np.random.default_rng(0).normal(size=1000), 500)
    large = pa.table({f"x{j}": column for j in range(20)})
    pq.write_table(large, tmp_path / "large.parquet", row_group_size=50_000)
    found = subprocess.run(
        [sys.executable, "-c", PEAK, tmp_path / "small.parquet", tmp_path / "large.parquet"],
        capture_output=True,
        text=True,
        check=True,
    )
    used, n_bytes = map(int, found.stdout.split())
    assert n_bytes == 8 * 500_000 * 20
    # The table, and besides it a column of a few row groups and what the allocators hold back: a
    # second copy would make it 2.
    assert used < 1.5 * n_bytes
