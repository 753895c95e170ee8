"""Documents of every format, made by the libraries that write them, pages, searches, and archives that mean harm."""

from __future__ import annotations

import io
import stat
import tarfile
import time
import zipfile
from pathlib import Path

import docx
import pandas as pd
import pytest
from fpdf import FPDF
from pypdf import PdfWriter

from kg.errors import DataError
from programs.tools import ToolSettings, load_tools
from programs.tools.documents import DocumentTools, html_text, lines_with, page_of, pages_of, read_document
from programs.tools.workspace import ArchiveLimits, Workspace, unpack, unpack_all


def test_pdf(tmp_path: Path) -> None:
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica")
    document.cell(text="Helixon lifts its outlook")
    document.output(str(tmp_path / "q3.pdf"))
    assert read_document(tmp_path / "q3.pdf") == "[page 1]\nHelixon lifts its outlook"


def test_word_with_a_table(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Third quarter")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "revenue", "412"
    document.add_paragraph("The outlook was lifted.")
    document.save(str(tmp_path / "q3.docx"))
    assert read_document(tmp_path / "q3.docx") == "Third quarter\nrevenue | 412\nThe outlook was lifted."


def test_excel_and_csv(tmp_path: Path) -> None:
    frame = pd.DataFrame([["revenue", "412"], ["costs", None]])
    frame.to_excel(tmp_path / "q3.xlsx", sheet_name="Results", header=False, index=False)
    frame.to_csv(tmp_path / "q3.csv", header=False, index=False)
    assert read_document(tmp_path / "q3.xlsx") == '[sheet "Results"]\nrevenue | 412\ncosts | '
    assert read_document(tmp_path / "q3.csv") == "revenue | 412\ncosts | "


def test_html_without_what_is_not_said() -> None:
    page = "<nav>Home</nav><h1>Q3</h1><script>steal()</script><table><tr><th>sales</th><td>4<b>12</b></td></tr></table>"
    assert html_text(page.encode()) == "Q3\nsales | 4 12"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q3.pdf", b"no pdf", "cannot be read as a PDF file"),
        ("q3.docx", b"PK no", "cannot be read as .docx"),
        ("q3.exe", b"MZ", "a .exe cannot be read; known are .pdf"),
        ("q3.txt", b"\xff\xfe\x00", "not UTF-8 at byte 0"),
        ("q3.md", b"  \n", "holds no text"),
        ("../outside.txt", b"", "lies outside"),
        ("gone.txt", None, "there is no such file; there are: q3.csv"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "q3.csv").write_text("a,b")
    if content:
        (folder / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        DocumentTools(Workspace(folder)).inspect_document(name)


def test_a_scan_is_no_text(tmp_path: Path) -> None:
    writer = PdfWriter()
    writer.add_blank_page(72, 72)
    with (tmp_path / "scan.pdf").open("wb") as file:
        writer.write(file)
    with pytest.raises(DataError, match="may be a scan"):
        read_document(tmp_path / "scan.pdf")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(DataError, match="lies outside"):
        DocumentTools(Workspace(tmp_path / "folder")).inspect_document("link.txt")


def test_an_archive_is_unpacked_once(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "filings.zip", "w") as archive:
        archive.writestr("2026/q3.txt", "revenue 412")
    tar_of(tmp_path / "reports.tar.gz", ("q4.txt", b"Helixon shrank."))
    workspace, problems = Workspace(tmp_path), list[str]()
    names = ["filings-unpacked/2026/q3.txt", "reports.tar-unpacked/q4.txt"]
    assert [unpack_all(workspace, problems) for _ in range(2)] == [names] * 2
    assert not problems
    assert DocumentTools(workspace).inspect_document("filings-unpacked/2026/q3.txt") == "revenue 412"


def _hostile(path: Path, kind: str) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("good.txt", "good")
        if kind == "bomb":
            archive.writestr("bomb.txt", b"0" * 5_000_000)
        elif kind == "many":
            for number in range(20):
                archive.writestr(f"{number}.txt", "x")
        elif kind == "link":
            link = zipfile.ZipInfo("link")
            link.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(link, "/etc/passwd")
        else:
            archive.writestr(kind, "x")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("bomb", "unpacks to more than 200 times"),
        ("many", "holds more than 10 files"),
        ("link", "is a link or encrypted"),
        ("../outside.txt", "leads out"),
        ("/etc/cron.d/x", "leads out"),
        ("a/../../x", "leads out"),
        ("..\\outside.txt", "leads out"),
    ],
)
def test_hostile_archives_are_refused_and_leave_nothing(tmp_path: Path, kind: str, message: str) -> None:
    _hostile(tmp_path / "a.zip", kind)
    with pytest.raises(DataError, match=message):
        unpack(tmp_path / "a.zip", tmp_path / "out", ArchiveLimits(members=10))
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_an_archive_that_lies_about_its_sizes_is_stopped(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"ab" * 100_000)
    content = (tmp_path / "a.zip").read_bytes()
    true, said = (200_000).to_bytes(4, "little"), (5_000).to_bytes(4, "little")
    (tmp_path / "a.zip").write_bytes(content.replace(true, said))
    with pytest.raises(DataError):
        unpack(tmp_path / "a.zip", tmp_path / "out", ArchiveLimits())
    assert not (tmp_path / "out").exists()


def tar_of(path: Path, *members: tuple[str, bytes | None]) -> Path:
    """A tar archive; a member without content is a link out of the folder."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            if content is None:
                member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (("../out.txt", b"x"), "leads out of the folder"),
        (("/out.txt", b"x"), "leads out of the folder"),
        (("link.txt", None), "is a link or a device"),
        (("bomb.txt", b"0" * 4_000_000), "unpacks to more bytes"),
    ],
)
def test_hostile_tar_archives_leave_nothing(tmp_path: Path, member: tuple[str, bytes | None], message: str) -> None:
    path = tar_of(tmp_path / "bad.tar.gz", ("good.txt", b"x"), member)
    with pytest.raises(DataError, match=message):
        unpack(path, tmp_path / "bad", ArchiveLimits())
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bad.tar.gz"]


def test_tables_inside_tables_are_read_once_and_in_little_time() -> None:
    inner = "<table><tr><td>item</td><td>2009</td></tr><tr><td>sales<td>5</table>"
    page = f"<table><tr><td>outer</td><td>{inner}</td></tr></table>"
    assert html_text(page.encode()) == "outer\nitem | 2009\nsales | 5"
    start = time.process_time()
    html_text(("<table><tr><td>" * 90_000 + inner).encode())
    html_text(("<table><tr>" + "<td>x" * 25_000).encode())
    assert time.process_time() - start < 8


LINES = [f"line {number} of the harbour book" for number in range(200)]


def test_pages_hold_the_whole_text_and_end_with_lines() -> None:
    pages = pages_of("\n".join(LINES), 500)
    assert len(pages) > 5
    assert "\n".join(pages).split("\n") == LINES
    assert all(len(page) <= 500 for page in pages)
    assert page_of("\n".join(LINES), 2, 500).startswith(f"[page 2 of {len(pages)}]\n")
    for page in (0, 99):
        with pytest.raises(DataError, match="page must be from 1"):
            page_of("short", page)


def test_text_is_found_with_the_number_of_its_page() -> None:
    text = "\n".join([*LINES, "The tide of Varna rises by 3 cm."])
    assert (
        lines_with(text, "tide of Varna", 500) == f"[page {len(pages_of(text, 500))}] The tide of Varna rises by 3 cm."
    )
    assert lines_with(text, "harbour", 500).endswith("and 188 more lines")
    assert lines_with(text, "whale", 500) == "nothing found for 'whale'"
    with pytest.raises(DataError):
        lines_with(text, " ")


def test_tools_of_a_folder_are_loaded_by_name(tmp_path: Path) -> None:
    (tmp_path / "ports.html").write_text("<p>Varna is insured by Meridian Re.</p>" * 3, encoding="utf-8")
    (tmp_path / "ships.csv").write_text("ship,flag\nOrla,Malta\nBrisa,Spain\n", encoding="utf-8")
    loaded = load_tools(["list_documents", "find_in_document", "inspect_document"], ToolSettings(tmp_path))
    assert "ships.csv (33 bytes)" in loaded.call("list_documents", {}).output
    assert loaded.call("find_in_document", {"file": "ships.csv", "text": "spain"}).output == "[page 1] Brisa | Spain"
    assert "Meridian Re" in loaded.call("inspect_document", {"file": "ports.html"}).output
    assert loaded.call("inspect_document", {"file": "../x.html"}).failed
