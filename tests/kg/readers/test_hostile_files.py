"""Files that are small and ask for much: each is read or refused in little time and memory."""

from __future__ import annotations

import time
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pdfplumber.utils.exceptions import PdfminerException

from kg.errors import DataError, FinpathError
from kg.readers import pdf_pages, pdf_worker
from kg.readers.own_report import read_files
from programs.tools.documents import read_document


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


def _parquet_rows(path: Path) -> None:
    column = pa.array(["x"] * 200_000).dictionary_encode()
    pq.write_table(pa.table({"item": column, "2020": column}), path)


def _parquet_texts(path: Path) -> None:
    column = pa.array(["x" * 1_000_000] * 200).dictionary_encode()
    pq.write_table(pa.table({"item": column, "2020": column}), path)


@pytest.mark.parametrize("write", [_parquet_rows, _parquet_texts])
def test_a_small_parquet_file_with_millions_of_values_is_refused(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path = tmp_path / "a.parquet"
    write(path)
    assert path.stat().st_size < 500_000
    start = time.process_time()
    with pytest.raises(DataError, match=r"a\.parquet: (has more than 300000 cells|unpacks to more than)"):
        read_files([path])
    assert time.process_time() - start < 20


def test_a_workbook_of_millions_of_empty_cells_is_refused_before_it_is_built(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    _workbook(path, TABLE)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    members[sheet] = members[sheet].replace(b"</row>", b"<c/>" * 5_000_000 + b"</row>", 1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(DataError, match="more than 4000000 tags of XML"):
        read_files([path])


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


def test_too_little_memory_is_told_from_a_file_that_is_no_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path) -> list[dict[str, object]]:
        raise PdfminerException(MemoryError())

    monkeypatch.setattr(pdf_worker, "_read", read)
    with pytest.raises(SystemExit):
        pdf_worker.reply_to("words", Path("a.pdf"))


def test_a_word_file_with_a_billion_columns_is_refused(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "item"
    table.rows[0]._tr.tc_lst[0].grid_span = 1_000_000_000
    document.save(tmp_path / "a.docx")
    with pytest.raises(DataError, match="a row has 1000000001 columns, more than 1000"):
        read_document(tmp_path / "a.docx")


@pytest.mark.parametrize("read", [lambda path: read_files([path]), read_document], ids=["report", "document tool"])
@pytest.mark.parametrize("member", ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml"])
def test_a_workbook_that_is_refused_is_closed(tmp_path: Path, read: Callable[[Path], object], member: str) -> None:
    path, whole = tmp_path / "a.xlsx", tmp_path / "whole.xlsx"
    _workbook(whole, TABLE)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name)[: 200 if name == member else None])
    with pytest.raises(FinpathError) as refused:
        read(path)
    links = [one for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
    assert str(path) not in [str(one.readlink()) for one in links if one.exists()], refused


@pytest.mark.parametrize("read", [lambda path: read_files([path]), read_document], ids=["report", "document tool"])
def test_a_member_whose_packing_is_damaged_is_refused(tmp_path: Path, read: Callable[[Path], object]) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("[Content_Types].xml", Random(1).randbytes(500))
    content = bytearray(path.read_bytes())
    content[80:300] = Random(2).randbytes(220)
    path.write_bytes(content)
    with pytest.raises(FinpathError):
        read(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    "element",
    [
        '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>',
        "<mergeCells>" + '<mergeCell ref="A1:C90"/>' * 5_000 + "</mergeCells>",
        '<x:hyperlinks xmlns:x="{}"><x:hyperlink ref="A:XFD" location="b"/></x:hyperlinks>',
    ],
    ids=["merged", "many", "links"],
)
def test_an_element_of_a_sheet_that_spans_all_cells_is_refused(tmp_path: Path, element: str, encoding: str) -> None:
    path, whole = tmp_path / "a.xlsx", tmp_path / "whole.xlsx"
    _workbook(whole, TABLE)
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            text = source.read(name).decode()
            if "sheet1" in name:
                text = text.replace("</sheetData>", "</sheetData>" + element.format(space))
                text = f'<?xml version="1.0" encoding="{encoding}"?>{text.partition("?>")[2] or text}'
            target.writestr(name, text.encode(encoding if "sheet1" in name else "utf-8"))
    start = time.process_time()
    with pytest.raises(DataError, match="has more than 300000 cells"):
        read_files([path])
    assert time.process_time() - start < 5


@pytest.mark.parametrize("content", [b"," * 1_000_000, b"a;1\n" * 200_000], ids=["columns", "rows"])
def test_a_wide_or_long_csv_file_is_refused_by_the_document_tool_at_once(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    start = time.process_time()
    with pytest.raises(DataError, match=r"columns, more than 5000|more than 300000 cells"):
        read_document(path)
    assert time.process_time() - start < 5
