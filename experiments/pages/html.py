"""Pages of conversations and briefings: one file each without scripts or outside resources, also for paper.

    pages = make_pages([turns_of_one, turns_of_another], reports, "beam on dev.json")
    list(pages)      # ["001-Single_ACME-2009-page_3.pdf-1.html", ..., "index.html"]

A page has the report, in which the figures that an answer rests on are marked with the numbers of their turns, and
each turn as `finpath inspect` prints it. Templates escape every value: the text of a report or of a model stays text.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experiments.console import write_answer
from experiments.pages.text import describe_scored_turn, describe_source
from kg.reports import CellSource, Report, SentenceSource
from optimize.metrics import verdict

if TYPE_CHECKING:
    from optimize.metrics import ScoredTurn

_CANDIDATES = 10
_NO_FILE_NAME = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 120
_Spans = dict[tuple[int, int], set[int]]
"""The figures of one cell or sentence that were used, as character spans, each with the numbers of its turns."""


def make_pages(
    conversations: Sequence[Sequence[ScoredTurn]], reports: Mapping[str, Report], run_name: str
) -> dict[str, str]:
    """One page a conversation and their list, ``index.html``, by the name of the file."""
    pages, rows = {}, []
    for number, turns in enumerate(conversations, start=1):
        name = turns[0].score.conversation_id
        file = f"{number:03}-{_NO_FILE_NAME.sub('-', name)[:_LONGEST_NAME]}.html"
        pages[file] = conversation_page(turns, reports[turns[0].report], run_name)
        right = sum(scored.score.exact for scored in turns)
        rows.append({"file": file, "name": name, "right": right, "turns": len(turns)})
    return {**pages, "index.html": render("conversations.html", title=f"Conversations of {run_name}", pages=rows)}


def conversation_page(turns: Sequence[ScoredTurn], report: Report, run_name: str) -> str:
    """The page of one conversation.

    Args:
        turns: Its turns, in order, at least one.
        report: Their report.
        run_name: The name of the evaluation.
    """
    name, right = turns[0].score.conversation_id, sum(scored.score.exact for scored in turns)
    cells: dict[tuple[int, int], _Spans] = defaultdict(lambda: defaultdict(set))
    sentences: dict[int, _Spans] = defaultdict(lambda: defaultdict(set))
    for scored in turns:
        for source in _sources(scored):
            spans = cells[source.row, source.column] if isinstance(source, CellSource) else sentences[source.sentence]
            spans[source.start, source.end].add(scored.score.turn_index + 1)
    return render(
        "conversation.html",
        title=f"{name}: {right} of {len(turns)} turns right",
        name=name,
        right=right,
        turns=turns,
        report=report,
        run_name=run_name,
        cells=cells,
        sentences=sentences,
        verdict=verdict,
        described=lambda scored: describe_scored_turn(scored, _CANDIDATES, paths=True),
        places=lambda scored: [describe_source(source, report) for source in _sources(scored)],
        split_marked=_split_marked,
    )


def _sources(scored: ScoredTurn) -> Sequence[CellSource | SentenceSource]:
    turn = scored.turn
    return tuple(dict.fromkeys(turn.candidates[turn.pick].sources)) if turn.pick is not None else ()


def _split_marked(text: str, spans: _Spans) -> list[tuple[str, list[int] | None]]:
    """Pieces of ``text``; a used figure has the numbers of its turns, other text ``None``.

    Of overlapping figures only the first is marked.
    """
    pieces: list[tuple[str, list[int] | None]] = []
    position = 0
    for (start, end), turns in sorted(spans.items()):
        if start >= position and end <= len(text):
            pieces += [(text[position:start], None), (text[start:end], sorted(turns))]
            position = end
    return [*pieces, (text[position:], None)]


@functools.cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["answer"] = write_answer
    return environment


def render(template: str, **values: object) -> str:
    """A page from the file name of a template and its variables; a missing one raises ``jinja2.UndefinedError``."""
    return _templates().get_template(template).render(**values)
