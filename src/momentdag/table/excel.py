"""Read a sheet of an Excel workbook (.xlsx) as rows of cells."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from momentdag.errors import DataError, OptionError, did_you_mean, quote, require
from momentdag.storage.budget import BUDGET, check_zip
from momentdag.storage.files import open_regular

__all__ = ["is_workbook", "read_sheet"]

_WORKBOOK = "xl/workbook.xml"
_MAX_ROWS = 2**20  # of a sheet, in Excel itself


def is_workbook(file: Path) -> bool:
    """Tell whether a zip archive is an Excel workbook."""
    try:
        with open_regular(file) as stream:
            check_zip(stream, DataError)
            with zipfile.ZipFile(stream) as archive:
                return _WORKBOOK in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def read_sheet(file: Path, sheet: str | None, max_bytes: int) -> list[list[Any]]:
    """Return the rows of a sheet, by default the first, without blank ones.

    Formulas count as the values that Excel stored for them.

    Raises
    ------
    DataError
        If the workbook is damaged or unpacks to more than ``max_bytes``.
    MissingExtraError
        If openpyxl is not installed.
    OptionError
        If there is no such sheet.
    """
    require("openpyxl", extra="excel", purpose="Reading Excel workbooks")
    import openpyxl

    try:
        with open_regular(file) as stream:
            check_zip(stream, DataError)
            with zipfile.ZipFile(stream) as archive:
                n_bytes = sum(entry.file_size for entry in archive.infolist())
        if n_bytes > max_bytes:
            raise DataError(
                f"Expected at most {max_bytes} bytes; the workbook unpacks to {n_bytes}. Pass a "
                "larger max_bytes, or fewer rows or columns."
            )
        limit = BUDGET.unpacked_bytes(file.stat().st_size, max_bytes)
        if n_bytes > limit:
            raise DataError(
                f"Expected a workbook that unpacks to at most {limit} bytes; this one unpacks to "
                f"{n_bytes}. Save the sheet as CSV, if it is honest."
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and the like that it does not know
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            try:
                names = book.sheetnames
                if sheet is not None and sheet not in names:
                    raise OptionError(
                        f"Expected a sheet among {names}; got {quote(sheet)}."
                        f"{did_you_mean(sheet, names)}"
                    )
                page = book[names[0] if sheet is None else sheet]
                # The stated size is often far beyond the cells; rows would be filled up to it.
                page.reset_dimensions()
                rows = _take(page.iter_rows(values_only=True), max(2**20, n_bytes))
            finally:
                book.close()
    except (DataError, OptionError):
        raise
    except Exception as error:  # openpyxl raises many types for a damaged file
        raise DataError(
            f"Expected an intact Excel workbook; openpyxl says: {quote(str(error))}. Save it again."
        ) from error
    filled = [row for row in rows if any(not _is_blank(cell) for cell in row)]
    width = max(
        (k + 1 for row in filled for k, cell in enumerate(row) if not _is_blank(cell)), default=0
    )
    return [[*row[:width], *[None] * (width - len(row))] for row in filled]


def _take(rows: Iterable[tuple[Any, ...]], max_cells: int) -> list[list[Any]]:
    """Return the rows, of which those between two numbered ones are made up by the reader."""
    taken: list[list[Any]] = []
    n_cells = 0
    for row in rows:
        n_cells += 1 + len(row)
        if len(taken) > _MAX_ROWS or n_cells > max_cells:
            raise DataError(
                f"Expected at most {_MAX_ROWS} rows with cells in them; this sheet has a cell far "
                "below or beside the others. Copy its table to a new sheet."
            )
        taken.append(list(row))
    return taken


def _is_blank(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())
