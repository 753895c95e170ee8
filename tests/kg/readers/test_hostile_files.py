"""Files that are small and ask for much: each is read or refused in little time and memory."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from kg.errors import DataError
from kg.readers.own_report import read_files


def _workbook(path: Path, cells: dict[str, object]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for place, value in cells.items():
        book.active[place] = value
    book.save(path)


TABLE = {"A1": "item", "B1": 2020, "A2": "sales", "B2": 5}


def test_a_blank_cell_far_below_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    _workbook(path, {**TABLE, "C1048576": " "})
    start = time.process_time()
    assert read_files([path]).report.table == (("item", "2020"), ("sales", "5"))
    assert time.process_time() - start < 10


def _nested(path: Path) -> None:
    path.write_text("<table><tr><td>" * 15_000, encoding="utf-8")


def _spans(path: Path) -> None:
    row = "<tr>" + '<td colspan=100 rowspan=100>5</td><td colspan="7">6</td>' * 40 + "</tr>"
    path.write_text("<table>" + row * 300 + "</table>", encoding="utf-8")


def _widths(path: Path) -> None:
    rows = "".join(f"<tr><td colspan={n % 97 + 1}>{n}</td><td colspan={n % 89 + 1}>x</td></tr>" for n in range(6_000))
    path.write_text(f"<table>{rows}</table>", encoding="utf-8")


def _zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * 250_000_000)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("far.xlsx", lambda path: _workbook(path, {**TABLE, "C1048576": 5})),
        ("wide.xlsx", lambda path: _workbook(path, {**TABLE, "XFD300": 5})),
        ("bomb.xlsx", _zip_bomb),
        ("none.xlsx", lambda path: path.write_bytes(b"PK\x03\x04")),
        ("long.csv", lambda path: path.write_text("item,2020\n" + "a,1\n" * 200_000, encoding="utf-8")),
        ("open.csv", lambda path: path.write_text('item,2020\n"' + "x" * 200_000, encoding="utf-8")),
        ("spans.html", _spans),
    ],
)
def test_a_file_that_asks_for_too_much_is_refused_by_name(
    tmp_path: Path, name: str, write: Callable[[Path], object]
) -> None:
    path = tmp_path / name
    write(path)
    start = time.process_time()
    with pytest.raises(DataError, match=name):
        read_files([path])
    assert time.process_time() - start < 20


@pytest.mark.parametrize("write", [_nested, _widths])
def test_a_page_ends_in_little_time(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path = tmp_path / "a.html"
    write(path)
    start = time.process_time()
    with suppress(DataError):
        read_files([path])
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    "page",
    [
        '<?xml version="1.0" encoding="utf-16"?><table><tr><td>a</td><td>2020</td></tr><tr><td>5</td></tr></table>',
        f"<table><tr><td colspan={'9' * 5000}>a</td><td>2020</td></tr><tr><td>b</td><td>5</td></tr></table>",
        "<table><tr><td colspan=\u0664>a</td><td>2020</td></tr><tr><td>b</td><td>5</td></tr></table>",
    ],
)
def test_a_strange_page_is_read_or_refused(tmp_path: Path, page: str) -> None:
    path = tmp_path / "a.html"
    path.write_text(page, encoding="utf-8")
    with suppress(DataError):
        report = read_files([path]).report
        assert "5" in str((report.table, report.pre_text)), "the figure is read, in a table or as text"
