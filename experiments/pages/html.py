"""Pages of conversations and briefings: one file each without scripts or outside resources, also for paper.

    pages = make_pages([turns_of_one, turns_of_another], reports, "beam on dev.json")
    list(pages)      # ["Single_ACME-2009-page_3.pdf-1.html", ..., "index.html"]

A turn has its question, its answer and gold, its arithmetic step by step, the place of each figure, and the candidates
of the beam with the pick highlighted. Marks have the numbers of the turns that used the figure. Templates escape every
value: the text of a report or of a model stays text.
"""

from __future__ import annotations

import functools
import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experiments.console import write_answer, write_share
from experiments.pages.turns import understood
from kg.errors import ProgramError
from kg.reports import CellSource, Report, SentenceSource
from kg.search import Derivation, Number, StepResult
from optimize.metrics import verdict
from programs.turns import Turn

if TYPE_CHECKING:
    from optimize.metrics import ScoredTurn
    from programs.advisor import Briefing, Profile

CAUTION = "This is news with its sources, derived by rules. It is no advice."

_CANDIDATES = 10
_NO_FILE_NAME = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 120
_Spans = dict[tuple[int, int], set[int]]
"""The figures of one cell or sentence that were used, as character spans, each with the numbers of its turns."""


def make_pages(
    conversations: Sequence[Sequence[ScoredTurn]], reports: Mapping[str, Report], run_name: str
) -> dict[str, str]:
    """One page a conversation and their list, ``index.html``, by the name of the file."""
    files = page_files([turns[0].score.conversation_id for turns in conversations])
    pages, rows = {}, []
    for turns in conversations:
        name = turns[0].score.conversation_id
        pages[files[name]] = conversation_page(turns, reports[turns[0].report], run_name)
        right = sum(scored.score.exact for scored in turns)
        rows.append({"file": files[name], "name": name, "right": right, "turns": len(turns)})
    return {**pages, "index.html": render("conversations.html", title=f"Conversations of {run_name}", pages=rows)}


def page_files(names: Iterable[str]) -> dict[str, str]:
    """Returns the file name of each conversation's page: its id, cut where it is long, with a hash where two agree."""
    plain = {name: _NO_FILE_NAME.sub("-", name) for name in names}
    counts = Counter(file.casefold() for file in plain.values())
    files = {}
    for name, file in plain.items():
        is_own = counts[file.casefold()] == 1 and len(file) <= _LONGEST_NAME and file.casefold() != "index"
        digest = hashlib.sha256(name.encode("utf-8", errors="replace")).hexdigest()[:12]
        files[name] = f"{file}.html" if is_own else f"{file[:_LONGEST_NAME]}-{digest}.html"
    return files


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
        for source in _sources(scored.turn):
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
        shown=_CANDIDATES,
        written=lambda turn: write_answer(turn.answer) if turn.answer is not None else "no answer",
        verdict=verdict,
        understood=understood,
        arithmetic=_arithmetic,
        used_sources=_sources,
        split_marked=_split_marked,
        split_path=_split_path,
    )


def _sources(turn: Turn) -> Sequence[CellSource | SentenceSource]:
    if turn.pick is None or turn.pick >= len(turn.candidates):
        return ()
    return tuple(dict.fromkeys(turn.candidates[turn.pick].sources))


def _arithmetic(derivation: Derivation, report: Report) -> tuple[list[list[str]], str | None]:
    """A row for each step, or the error of the calculation."""
    try:
        results = derivation.trace(report.table)
    except ProgramError as error:
        return [], str(error)
    rows = []
    for place, (step, result) in enumerate(zip(derivation.steps, results, strict=True)):
        operands = []
        for operand in step.operands:
            words = str(operand)
            if isinstance(operand, StepResult):
                words = f"{write_answer(results[operand.index])} (#{operand.index})"
            elif isinstance(operand, Number) and operand.path is not None:
                item = operand.path.rpartition(" -> ")[0].rpartition(" -> ")[2].replace("_", " ")
                words = f"{operand.text} [{item}]"
            operands.append(words)
        operation = "looked up" if step.operation == "select" else step.operation.replace("_", " ")
        rows.append([f"#{place}", operation, ", ".join(operands), write_answer(result)])
    return rows, None


def _split_path(path: str) -> list[str]:
    """Pieces between which a line may break; an arrow is a piece of its own."""
    return [piece for part in re.split(r"(?<=->)|(?<=, )|(?<=\()", path) for piece in re.split(r"(?=->)", part)]


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
    environment.filters.update(
        answer=write_answer,
        percent=write_share,
        probability=lambda score: write_share(math.exp(min(score, 0.0))),
    )
    return environment


def render(template: str, **values: object) -> str:
    """A page from the file name of a template and its variables; a missing one raises ``jinja2.UndefinedError``."""
    return _templates().get_template(template).render(**values)


def briefings_page(briefings: Sequence[Briefing], profile: Profile | None, today: date, left_out: str = "") -> str:
    """Returns briefings as one HTML page.

    Args:
        briefings: The briefings.
        profile: The profile that shaped them, if there is one.
        today: Their day.
        left_out: What the profile leaves out, in words.
    """
    day = today.isoformat()
    common = {"title": "Briefing", "today": day, "profile": profile, "left_out": left_out, "caution": CAUTION}
    return render("briefings.html", briefings=briefings, **common)
