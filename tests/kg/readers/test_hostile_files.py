"""Files that are small and ask for much: each is read or refused in little time and memory."""

from __future__ import annotations

import time
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kg.errors import DataError
from kg.readers import pdf_pages
from kg.readers.own_report import read_files
from programs.tools.documents import read_document


def _workbook(path: Path, cells: dict[str, object]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for place, value in cells.items():
        book.active[place] = value
    book.save(path)


TABLE = {"A1": "item", "B1": 2020, "A2": "sales", "B2": 5}


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
        pytest.param("spans.html", _spans, marks=pytest.mark.slow),
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


@pytest.mark.parametrize("write", [_nested, _widths, lambda path: path.write_text("<!-- a")])
def test_a_page_ends_in_little_time(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path = tmp_path / "a.html"
    write(path)
    start = time.process_time()
    with suppress(DataError):
        read_files([path])
    assert time.process_time() - start < 20


@pytest.mark.parametrize(("value", "rows"), [("x", 200_000), ("x" * 1_000_000, 200)], ids=["rows", "texts"])
def test_a_small_parquet_file_with_millions_of_values_is_refused(tmp_path: Path, value: str, rows: int) -> None:
    path = tmp_path / "a.parquet"
    column = pa.array([value] * rows).dictionary_encode()
    pq.write_table(pa.table({"item": column, "2020": column}), path)
    assert path.stat().st_size < 500_000
    start = time.process_time()
    with pytest.raises(DataError, match=r"a\.parquet: (has more than 300000 cells|unpacks to more than)"):
        read_files([path])
    assert time.process_time() - start < 20


def _pdf(content: bytes, more: bytes = b"") -> bytes:
    """A PDF file of one page with a content stream; the table of objects is left to the library."""
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</XObject<</a 5 0 R>>>>>>"
        b"endobj\n4 0 obj" + content + b"\nendobj\n" + more + b"trailer<</Root 1 0 R>>\n%%EOF\n"
    )


def _stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<<" + entries + b"/Length %d>>stream\n" % len(content) + content + b"\nendstream"


def _forms_in_forms(path: Path) -> None:
    forms = b""
    for number in range(5, 45):
        used = b"/Resources<</XObject<</a %d 0 R>>>>" % (number + 1) if number < 44 else b""
        entries = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]" + used
        forms += b"%d 0 obj" % number + _stream(b"/a Do " * 9 if used else b"n", entries) + b"\nendobj\n"
    path.write_bytes(_pdf(_stream(b"/a Do"), forms))


def _unpacks(path: Path) -> None:
    packed = zlib.compress(zlib.compress(b" " * 400_000_000, 9), 9)
    path.write_bytes(_pdf(_stream(packed, b"/Filter[/FlateDecode/FlateDecode]")))


@pytest.mark.parametrize("write", [_forms_in_forms, _unpacks])
def test_a_pdf_file_cannot_take_all_time_and_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None]
) -> None:
    monkeypatch.setattr(pdf_pages, "SECONDS", 3)
    monkeypatch.setattr(pdf_pages, "MEMORY", 800_000_000)
    path = tmp_path / "a.pdf"
    write(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match=r"a\.pdf: .*(more than 3 seconds or|Unable to allocate)"):
        read_files([path])


def test_a_word_file_with_a_billion_columns_is_refused(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "item"
    table.rows[0]._tr.tc_lst[0].grid_span = 1_000_000_000
    document.save(tmp_path / "a.docx")
    with pytest.raises(DataError, match="a row has 1000000001 columns, more than 1000"):
        read_document(tmp_path / "a.docx")


@pytest.mark.parametrize("content", [b"," * 1_000_000, b"a;1\n" * 200_000], ids=["columns", "rows"])
def test_a_wide_or_long_csv_file_is_refused_by_the_document_tool_at_once(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    start = time.process_time()
    with pytest.raises(DataError, match=r"columns, more than 5000|more than 300000 cells"):
        read_document(path)
    assert time.process_time() - start < 5
