"""Pipe tables and sentences of Markdown files.

>>> read_markdown(Path("notes.md")).sentences[0].text
'Notes'
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kg.readers.content import (
    Content,
    Place,
    PlacedSentence,
    RawCell,
    RawTable,
    cell_name,
    clean,
    context_of,
    decoded,
    load_library,
    sentences_of,
)
from kg.readers.grid import arrange_cells


def read_markdown(path: Path) -> Content:
    """The pipe tables of a Markdown file, and the sentences around them."""
    library = load_library("markdown_it", path)
    text, problems = decoded(path)
    tokens = library.MarkdownIt("commonmark").enable("table").parse(text)
    tables: list[RawTable] = []
    sentences: list[PlacedSentence] = []
    rows: list[tuple[RawCell, ...]] = []
    cells: list[RawCell] = []
    inside, heading, above = False, "", list[str]()
    for place, token in enumerate(tokens):
        line = token.map[0] + 1 if token.map else 0
        named = f"table {len(tables) + 1}"
        if token.type == "table_open":
            inside, rows, begun = True, [], line
        elif token.type == "tr_open":
            cells, row_line = [], line
        elif token.type == "inline" and inside:
            spot = Place(path.name, row_line, named, cell_name(len(rows), len(cells)))
            cells.append(RawCell(clean(_plain_inline(token)), spot))
        elif token.type == "tr_close":
            rows.append(tuple(cells))
        elif token.type == "table_close":
            inside = False
            tables.append(RawTable(Place(path.name, begun, named), arrange_cells(rows), context_of(above, heading)))
            above = []
        elif token.type == "inline":
            paragraph = _plain_inline(token)
            if tokens[place - 1].type == "heading_open":
                heading, above = clean(paragraph), []
            else:
                above.append(clean(paragraph))
            sentences += sentences_of(paragraph, Place(path.name, line))
    return Content(tuple(tables), tuple(sentences), problems)


def _plain_inline(token: Any) -> str:
    parts = (" " if one.type in ("softbreak", "hardbreak") else one.content for one in token.children or ())
    return "".join(parts) or str(token.content)
