"""PDF reports: tables without and with frames, text, pages and boxes, and pages that are images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF

from kg.errors import DataError
from kg.readers import read_files
from kg.readers.own_report import OwnReport
from kg.reports import CellSource, build_report_graph
from kg.reports.learning import build_ontology

ROWS = [("Net sales:", "", ""), ("Products", "$ 294,866", "$ 298,085"), ("Other expense, net", "(565)", "269")]
ROWS += [("Net cash provided by (used in)", "", ""), ("operating activities", "118,254", "110,543")]


def _document() -> Any:
    document: Any = FPDF(format="letter", unit="pt")
    document.set_font("Helvetica", size=9)
    document.add_page()
    return document


def _paragraph(document: Any, text: str) -> None:
    document.multi_cell(0, 11, text, new_x="LMARGIN", new_y="NEXT")
    document.ln(8)


def _table(document: Any) -> None:
    for texts in (("", "Years ended", ""), ("", "2024", "2023"), *ROWS):
        for width, text, align in zip((250, 80, 80), texts, "LRR", strict=True):
            sign, _, figure = text.rpartition(" ") if text.startswith("$") else ("", "", text)
            if sign:
                document.text(document.get_x() + 10, document.get_y() + 9, sign)
            document.cell(width, 12, figure, align=align)
        document.ln(12)


def _read(document: Any, folder: Path) -> OwnReport:
    document.output(str(folder / "a.pdf"))
    return read_files([folder / "a.pdf"])


def test_a_table_without_frames_between_paragraphs(tmp_path: Path) -> None:
    document = _document()
    _paragraph(document, "We had 1,250 employees at the end of 2024. " * 3)
    _paragraph(document, "The table shows our sales (in millions):")
    _table(document)
    document.ln(20)
    _paragraph(document, "Sales of products fell in 2024.")
    own = _read(document, tmp_path)
    assert own.report.table == (
        ("", "Years ended 2024", "2023"),
        ("Net sales:", "", ""),
        ("Products", "$ 294,866", "$ 298,085"),
        ("Other expense, net", "(565)", "269"),
        ("Net cash provided by (used in) operating activities", "118,254", "110,543"),
    )
    assert own.report.sentences[0] == "We had 1,250 employees at the end of 2024."
    assert own.report.sentences[-1] == "Sales of products fell in 2024."
    assert own.problems == ()
    graph = build_report_graph(own.report, build_ontology([own.report]))
    found = {(one.label, one.period): one for one in graph.observations if not one.in_header}
    assert found["Products", "2023"].quantity.scale == 1_000_000
    assert str(found["Other expense, net", "2024"].quantity.value) == "-565"


def test_the_place_of_a_figure_is_its_page_and_box(tmp_path: Path) -> None:
    document = _document()
    _paragraph(document, "All amounts are in thousands.")
    document.add_page()
    _table(document)
    own = _read(document, tmp_path)
    place = own.place(CellSource(3, 2, 0, 3))
    assert place is not None
    assert place.page == 2
    assert place.box is not None
    left, top, right, bottom = place.box
    assert 28 + 250 + 80 < left < right <= 28 + 250 + 160 + 2
    assert 28 + 4 * 12 <= top < bottom <= 28 + 5 * 12
    assert own.describe(CellSource(3, 2, 0, 3)).startswith("a.pdf, page 2, box ")
    assert "All amounts are in thousands." in own.report.tables[0][1].pre_text


def test_a_framed_table_is_read_by_its_frames(tmp_path: Path) -> None:
    document = _document()
    with document.table(col_widths=(200, 80, 80), width=360) as table:
        for texts in (("(in millions)", "2024", "2023"), ("A label that is so long that it needs two lines", "5", "7")):
            line = table.row()
            for text in texts:
                line.cell(text)
    own = _read(document, tmp_path)
    assert own.report.table[1] == ("A label that is so long that it needs two lines", "5", "7")


def test_a_scanned_page_is_reported(tmp_path: Path) -> None:
    from PIL import Image

    scanned = _document()
    scanned.image(Image.new("RGB", (100, 100), "gray"), x=0, y=0, w=400)
    with pytest.raises(DataError, match=r"a\.pdf, page 1: is an image without text; recognise its text \(OCR\) first"):
        _read(scanned, tmp_path)
    mixed = _document()
    mixed.image(Image.new("RGB", (100, 100), "gray"), x=0, y=0, w=400)
    mixed.add_page()
    _table(mixed)
    assert _read(mixed, tmp_path).problems == (
        "a.pdf, page 1: is an image without text; recognise its text (OCR) first",
    )


def test_what_is_no_pdf_or_needs_a_password(tmp_path: Path) -> None:
    (tmp_path / "b.pdf").write_bytes(b"nonsense")
    with pytest.raises(DataError, match=r"b\.pdf: cannot be read as a PDF file"):
        read_files([tmp_path / "b.pdf"])
    document = _document()
    document.set_encryption(owner_password="a", user_password="b")
    with pytest.raises(DataError, match="it needs a password"):
        _read(document, tmp_path)
