"""Long texts by pages, text found in them, and passages of all documents of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg.errors import DataError
from programs.tools import ToolSettings, load_tools
from programs.tools.paging import found_in, page_of, pages_of
from programs.tools.passages import DocumentSearch
from programs.tools.workspace import Workspace

LINES = [f"line {number} of the harbour book" for number in range(200)]


def test_pages_hold_the_whole_text_and_end_with_lines() -> None:
    pages = pages_of("\n".join(LINES), 500)
    assert len(pages) > 5
    assert "\n".join(pages).split("\n") == LINES
    assert all(len(page) <= 500 for page in pages)
    assert page_of("\n".join(LINES), 2, 500).startswith(f"[page 2 of {len(pages)}]\n")


@pytest.mark.parametrize("page", [0, 99])
def test_a_page_that_is_not_there_is_refused(page: int) -> None:
    with pytest.raises(DataError, match=f"page must be from 1 to 1, got {page}"):
        page_of("short", page)


def test_text_is_found_with_the_number_of_its_page() -> None:
    text = "\n".join([*LINES, "The tide of Varna rises by 3 cm."])
    last = len(pages_of(text, 500))
    assert found_in(text, "tide of Varna", 500) == f"[page {last}] The tide of Varna rises by 3 cm."
    assert found_in(text, "harbour", 500).endswith("and 188 more lines")
    assert found_in(text, "whale", 500) == "nothing found for 'whale'"
    with pytest.raises(DataError, match="must not be empty"):
        found_in(text, " ")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ports.html").write_text("<p>Varna is insured by Meridian Re.</p>" * 3, encoding="utf-8")
    (tmp_path / "ships.csv").write_text("ship,flag\nOrla,Malta\nBrisa,Spain\n", encoding="utf-8")
    (tmp_path / "broken.xlsx").write_bytes(b"no workbook")
    return tmp_path


def test_all_documents_are_searched_at_once(folder: Path) -> None:
    search = DocumentSearch(Workspace(folder))
    assert search.search("who insures Varna?")[0].file == "ports.html"
    assert "Orla | Malta" in search.search("flag of the ship Orla")[0].text
    assert search.search("zeppelin") == []
    (folder / "late.txt").write_text("A zeppelin landed.", encoding="utf-8")
    assert [one.file for one in search.search("zeppelin")] == ["late.txt"]


def test_the_tools_list_read_and_find(folder: Path) -> None:
    tools = load_tools(["list_documents", "find_in_document", "search_documents", "visit_page"], ToolSettings(folder))
    assert "ships.csv (33 bytes)" in tools.call("list_documents", {}).output
    assert tools.call("find_in_document", {"file": "ships.csv", "text": "spain"}).output == "[page 1] Brisa | Spain"
    assert "Meridian Re" in tools.call("visit_page", {"address": "ports.html"}).output
    assert tools.call("visit_page", {"address": "../x.html"}).failed
