"""The sources of a question, read without a model: rows of tables in the graph, and the sentences of texts.

>>> Sources.read(Path("ports"), graph, date(2026, 11, 29)).passages[1].text
'port: Varna; tonnes: 1,200; insurer: Meridian Re'
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from kg.errors import FinpathError
from kg.growing import Applied, GrowingGraph, Table, add_tables
from kg.news import LONGEST, Passage, stored_passages
from kg.readers import READERS, read_content
from kg.text import split_sentences
from programs.tools import Workspace, read_document, unpack_all
from programs.worlds.news.reading import ADAPTER, SHOWN

MOST_ROWS = 60
"""Rows of a table that are also sentences, so that a model reads them beside texts."""


@dataclass
class Sources:
    """The sources of a question.

    Attributes:
        graph: The graph.
        passages: The sentences of texts, and the rows of short tables as sentences.
        applied: What tables added to the graph.
        problems: What could not be read, one line each.
    """

    graph: GrowingGraph
    passages: list[Passage] = field(default_factory=list)
    applied: Applied = field(default_factory=Applied)
    problems: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path | None, graph: GrowingGraph, today: date) -> Sources:
        """Reads the sentences that a graph has, and all files of a folder with those in its archives."""
        sources, tables = cls(graph, stored_passages(graph)), list[Table]()
        workspace = Workspace(folder if folder is not None else Path())
        for name in unpack_all(workspace, sources.problems) if folder is not None else ():
            try:
                own, sentences = _contents(name, workspace.file(name))
            except (FinpathError, ValueError, RecursionError) as error:
                sources.problems.append(f"{name}: {error}")
                continue
            tables += own
            rows = [table.sentence(row) for table in own for row in range(min(len(table.cells), MOST_ROWS))]
            sources.add(name, [*sentences, *rows], today)
        sources.applied = add_tables(graph, tables)
        return sources

    def add(self, document: str, sentences: Sequence[str], today: date) -> None:
        """Adds the sentences of a document, whose name is its headline."""
        lines = enumerate([document, *sentences], -1)
        self.passages += [Passage(document, today, place, text) for place, text in lines]

    @property
    def are_short(self) -> bool:
        """Whether any model is shown all of them: a few documents, none of them long."""
        names = {passage.document for passage in self.passages}
        lengths = (sum(len(one.text) for one in self.passages if one.document == name) for name in names)
        return len(names) <= SHOWN[ADAPTER][0] and all(length <= LONGEST for length in lengths)


def _contents(name: str, path: Path) -> tuple[list[Table], list[str]]:
    """The tables and the sentences of a file."""
    if path.suffix.lower() in READERS:
        content = read_content(path)
        rows = [tuple(tuple(cell.text for cell in row) for row in table.rows) for table in content.tables]
        titles = [(table.context or ("",))[-1] for table in content.tables]
        tables = [Table(name, own, title) for own, title in zip(rows, titles, strict=True) if own]
        return tables, [sentence.text for sentence in content.sentences]
    text = read_document(path)
    if path.suffix.lower() == ".json":
        parts = list(_parts(json.loads(text), ""))
        tables = [Table(name, rows, title) for title, rows in parts if len(rows) > 1]
        return tables, [f"{title}; {rows[0][0]}" if title else rows[0][0] for title, rows in parts if len(rows) == 1]
    return [], [sentence for line in text.splitlines() for sentence in split_sentences(line)]


def _parts(value: Any, title: str) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    """Yields JSON in parts with their titles: a list of objects as the rows of a table, others as one cell each."""
    if isinstance(value, list) and len(value) > 1 and all(isinstance(one, dict) for one in value):
        header = list(dict.fromkeys(key for one in value for key in one))
        yield title, (tuple(header), *(tuple(_plain(one.get(key)) for key in header) for one in value))
    elif isinstance(value, dict):
        flat = {key: one for key, one in value.items() if not isinstance(one, dict | list)}
        if flat:
            yield title, (("; ".join(f"{key}: {one}" for key, one in flat.items()),),)
        for key in (key for key in value if key not in flat):
            yield from _parts(value[key], f"{title} {key}".strip())
    else:
        yield title, ((_plain(value),),)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return "" if value is None else str(value)
