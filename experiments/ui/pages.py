"""The page's templates, the tables and text of a report with the place of each cell, and exports.

>>> document_view(session)["tables"][0]["rows"][1]["cells"][1]
'$ 50652'
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from experiments.console import write_share
from experiments.ui.answers import is_web_page, place_of, sentences_of
from experiments.ui.sessions import UserSession
from experiments.ui.worker import work
from kg.errors import DataError
from kg.readers.web_page import marked_page
from kg.reports import Report, SentenceSource, Source

_FORMULA = re.compile(r"[=+@\t\r-]")
_NUMBER = re.compile(r"[-+]?[\d.,]+%?")
_COLUMNS = ("question", "answer", "exact", "confidence", "message", "program", "places", "runner_up")


_ENVIRONMENT = Environment(
    loader=PackageLoader("experiments.ui"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters["share"] = lambda value: write_share(value, 0)


def render(template: str, **values: Any) -> str:
    """A page as HTML, every value escaped."""
    return _ENVIRONMENT.get_template(template).render(**values)


def document_view(session: UserSession, row: int = 0, sentence: int = 0) -> dict[str, Any] | None:
    """The tables and sentences of a report, or those of texts; of long ones those around a place.

    Args:
        session: The session, whose subject may be a report or texts.
        row: A row that is shown.
        sentence: A sentence that is shown.

    Returns:
        ``None`` where the subject has no text.
    """
    subject = session.subject
    if subject is None or subject.kind == "graph":
        return None
    most, sentences = session.backend.limits.rows, sentences_of(subject)
    report: Report = subject.world.report if subject.kind == "report" else Report("texts", (), (), ())
    first, last = _window(row, len(report.table), most)
    begin, end = _window(sentence, len(sentences), most)
    texts: dict[str, list[tuple[int, str]]] = {}
    for number, (document, text, _) in list(enumerate(sentences))[begin:end]:
        is_after = subject.kind == "report" and number >= len(report.pre_text)
        texts.setdefault("after" if is_after else document, []).append((number, text))
    return {
        "title": report.id,
        "tables": list(_tables(report, first, last)),
        "after": texts.pop("after", []),
        "texts": texts,
        "left_out": len(report.table) - (last - first) + len(sentences) - (end - begin),
        "problems": subject.document.problems if subject.document is not None else (),
    }


def _tables(report: Report, first: int, last: int) -> Iterator[dict[str, Any]]:
    """The tables of a report with the rows between two, without empty rows and columns."""
    starts = [part.start for part in report.parts] or [0]
    for part, (start, end) in enumerate(zip(starts, [*starts[1:], len(report.table)], strict=True)):
        numbers = [number for number in range(max(start, first), min(end, last)) if any(report.table[number])]
        width = max(
            (place + 1 for number in numbers for place, cell in enumerate(report.table[number]) if cell), default=0
        )
        context = report.parts[part].context if report.parts else ()
        rows = [{"number": number, "cells": report.table[number][:width]} for number in numbers]
        if rows:
            yield {"caption": context[0] if context else "", "start": start, "rows": rows}


def _window(place: int, count: int, most: int) -> tuple[int, int]:
    first = max(0, min(place - most // 2, count - most))
    return first, min(count, first + most)


def file_view(session: UserSession, source: Source) -> bytes | str:
    """The place of a figure in its file: on its page of a PDF file as PNG, or in the HTML of a page, without scripts.

    Raises:
        DataError: The figure is in no such file.
        QueryError: The page cannot be drawn.
    """
    subject = session.subject
    place = place_of(subject, source) if subject is not None else None
    file = session.files.get(place.file) if place is not None else None
    if subject is None or place is None or file is None:
        raise DataError("the figure is in no file")
    if is_web_page(place.file):
        sentence = subject.world.report.sentences[source.sentence] if isinstance(source, SentenceSource) else ""
        lit = "<!doctype html><style>#lit { outline: 3px solid #1d5fa8; background: #ffe08a }</style>"
        return lit + marked_page(file, place, sentence)
    if place.box is None:
        raise DataError("the figure is on no page of a file")
    return work("sheet", {"file": str(file), "page": place.page, "box": place.box})


def export_csv(turns: Sequence[Mapping[str, Any]]) -> str:
    """Turns as CSV; a text that a spreadsheet would calculate has a quotation mark before it."""
    out = io.StringIO()
    places = ("; ".join(source["place"] for source in turn["sources"]) for turn in turns)
    others = ((turn["runner_up"] or {}).get("answer") for turn in turns)
    rows = ({**turn, "places": own, "runner_up": other} for turn, own, other in zip(turns, places, others, strict=True))
    csv.writer(out).writerows([_COLUMNS, *([_cell(row[name]) for name in _COLUMNS] for row in rows)])
    return out.getvalue()


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
