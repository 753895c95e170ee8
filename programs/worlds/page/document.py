"""A report's page as a language model reads it: rows and sentences with an identifier for every figure.

    >>> print(written_page(graph, index).text)
    Table (amounts in thousands unless it says otherwise):
    r0: ( in thousands ) | 2009 | 2008
    r1: net cash from operations | [r1c1] $ 206588 | [r1c2] $ 181001
    r2: tax rate | [r2c1] 31% | [r2c2] 30%
    Text:
    s0: the company sold [s0n0] 5 stores in 2009 .

Sentences without a figure are left out, and so is a sentence that occurs before. A page that is longer than its budget
is cut: the rows and sentences that the search gives the highest probabilities are shown, and the page states the number
of the others. What is cut depends on the first question of a conversation alone, so that all its prompts begin alike;
lines that a later question points to are shown apart (:attr:`PageText.more`).

A choice among candidates shows each figure once, with its row, column, unit and scale, or in its sentence::

    [r1c1] 206588 thousand (currency): net cash from operations | 2009
    s0: the company sold [s0n0] 5 stores in 2009 .
    1. subtract([r1c1], [r1c2]) = 25587
    2. greater([r1c1], [r1c2]) = yes
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy
import numpy as np

from kg.arrays import DoubleArray
from kg.calculations import Candidate, ReportIndex, TurnSearch
from kg.reports import CellSource, Observation, Report, SentenceSource, analyse_table, table_context
from kg.search import Derivation, Number, PastTurn
from kg.text import SCALE_WORDS, english_sentence
from programs.lm import plain_text
from programs.wording import written_number, written_quantity
from programs.worlds.page.language import IDENTIFIER, without_identifiers, written_calculation

CHARACTERS_A_TOKEN = 3.2
"""By which tokens are estimated: figures and identifiers take more tokens than words do."""

BASE_SHARE = 0.8
"""The share of the budget that the lines for the first question take; the rest is for those of later questions."""

TABLE_SHARE = 0.6
"""The share of the budget up to which the tables are shown whole."""

_LONGEST_CELL = 120
_TWICE = re.compile(r"(?P<figure>\d[\d,.]*)(?P<percent>\s?%)?\s*\(\s*\$?\s*(?P=figure)\s*%?\s*\)")
"""A figure that is written again in parentheses: ``-26 ( 26 )``, ``21.0% ( 21.0 % )``."""

_NUMBERED = re.compile(
    r"\b(notes?|table|item|page|exhibit|section|part|form|rule|phase|level)\s*\(?\s*$", re.IGNORECASE
)
"""The end of a text after which a whole number is the name of a part of the filing."""

_LINE = re.compile(r"[rs]\d+: ")
_MARKED = re.compile(rf"\[({IDENTIFIER.pattern})\]")
_MOST_SENTENCE = 700

FORMS = 6
"""Calculations of the best history whose operands count, the most probable ones."""

CANDIDATES = 10
"""Candidates whose figures count, the most probable ones."""


@dataclass(frozen=True)
class Relevance:
    """Probabilities of rows and sentences, by their numbers; those that are left out have none.

    Attributes:
        rows: The highest probability of a figure of each row.
        sentences: The same of each sentence.
    """

    rows: Mapping[int, float]
    sentences: Mapping[int, float]


def figure_weights(found: TurnSearch) -> DoubleArray:
    """The probability that the search gives to each figure of the page; shape ``(observations,)``."""
    space, index = found.space, found.space.index
    weights = np.zeros(len(index.observations))
    history = int(np.argmax(space.priors)) if len(space.priors) else 0
    forms = space.form_log_probabilities[history]
    for form in np.argsort(-forms, kind="stable")[:FORMS].tolist():
        if "A" not in space.scorer.parsed[form].kinds[:1]:
            continue
        numbers, logs = space.operands(np.array([history, form]), 0)
        np.maximum.at(weights, index.base[numbers], np.exp(forms[form] + logs))
    places = {one.id: place for place, one in enumerate(index.observations)}
    for candidate in found.candidates[:CANDIDATES]:
        for number in candidate.derivation.numbers:
            if number.source in places:
                place = places[str(number.source)]
                weights[place] = max(weights[place], float(np.exp(candidate.score)))
    return weights


def relevance_of(found: TurnSearch) -> Relevance:
    """The probability that the search gives to the figures of each row and sentence."""
    index = found.space.index
    rows: dict[int, float] = {}
    sentences: dict[int, float] = {}
    for place, weight in enumerate(figure_weights(found).tolist()):
        held, line = (rows, int(index.row[place])) if index.row[place] >= 0 else (sentences, int(index.sentence[place]))
        held[line] = max(held.get(line, 0.0), weight)
    return Relevance(rows, sentences)


@dataclass(frozen=True)
class PageText:
    """A page as it is shown.

    Attributes:
        text: The lines that all prompts of a conversation share.
        more: Further lines that the question points to; empty if the page is shown whole.
    """

    text: str
    more: str = ""


Line = tuple[str, int]
"""A line of a page: ``row`` or ``sentence``, and its number."""


class PageLines:
    """The lines of a report's page.

    Args:
        report: The report.
        index: Its index, with the figures that a conversation read from the text.
    """

    def __init__(self, report: Report, index: ReportIndex) -> None:
        self.report, self.index = report, index
        headers = {number for _, number in self.headers()}
        self._cells: dict[tuple[int, int], list[Observation]] = {}
        self._spans: dict[int, dict[tuple[int, int], Observation]] = {}
        for one in index.observations:
            source = one.source
            if isinstance(source, SentenceSource):
                self._spans.setdefault(source.sentence, {}).setdefault((source.start, source.end), one)
            elif not one.in_header and source.row not in headers:
                self._cells.setdefault((source.row, source.column), []).append(one)

    def title(self) -> str:
        """The line before the table, with the scale of its amounts."""
        scales = Counter(
            one.quantity.scale for cell in self._cells.values() for one in cell if one.quantity.unit == "currency"
        )
        word = SCALE_WORDS.get(scales.most_common(1)[0][0]) if scales else None
        return f"Table (amounts in {word}s unless it says otherwise):" if word else "Table:"

    def row(self, number: int) -> str:
        """A row of the table, with the identifier before each figure."""
        cells = []
        for column, cell in enumerate(self.report.table[number]):
            figures = self._cells.get((number, column), [])
            # A single figure's sign may be outside its span.
            starts = [0 if len(figures) == 1 else getattr(one.source, "start", 0) for one in figures]
            cells.append(_marked(cell, sorted(zip(starts, (one.id for one in figures), strict=True)), _LONGEST_CELL))
        return f"r{number}: {' | '.join(cells)}"

    def sentence(self, number: int, only: Collection[str] | None = None) -> str:
        """A sentence with the identifier before each figure, or before those in ``only``."""
        text = english_sentence(self.index.sentences[number])
        marks = [
            (start, one.id)
            for (start, _), one in sorted(self._spans.get(number, {}).items())
            if (one.id in only if only is not None else not one.in_header and not _is_number(one, text, start))
        ]
        return f"s{number}: {_marked(text, marks)}"

    def write(self, line: Line) -> str:
        """A line."""
        return self.row(line[1]) if line[0] == "row" else self.sentence(line[1])

    def headers(self) -> list[Line]:
        """The header rows of the tables, which are shown always."""
        found: list[Line] = []
        for start, part in self.report.tables:
            layout = analyse_table(part.table, table_context(part))
            found += [("row", start + row) for row in range(layout.header_rows)]
        return found

    def every(self) -> list[Line]:
        """All lines, in the order of the page."""
        kept = self.report.kept_rows
        rows: list[Line] = [("row", number) for number in (range(len(self.report.table)) if kept is None else kept)]
        first = {text: number for number, text in reversed(list(enumerate(self.index.sentences)))}
        with_figures = (number for number in sorted(first.values()) if _MARKED.search(self.sentence(number)))
        return rows + [("sentence", number) for number in with_figures]


def written_page(
    report: Report, index: ReportIndex, tokens: int, relevance: Callable[[], tuple[Relevance, Relevance]]
) -> PageText:
    """The page within a budget.

    Args:
        report: The report.
        index: Its index.
        tokens: The budget in tokens, by :data:`CHARACTERS_A_TOKEN`.
        relevance: Returns the relevance to the conversation's first question and to the one asked; it is called only
            for a page that is longer.
    """
    lines = PageLines(report, index)
    every = lines.every()
    texts = {line: lines.write(line) for line in every}
    costs = {line: len(text) / CHARACTERS_A_TOKEN + 1 for line, text in texts.items()}
    if sum(costs.values()) <= tokens:
        return PageText(_joined(lines, texts, every))
    first, last = relevance()
    rows = {line for line in every if line[0] == "row"}
    always = rows if sum(costs[line] for line in rows) <= tokens * TABLE_SHARE else set(lines.headers())
    shown = _best(every, costs, first, tokens * BASE_SHARE, always)
    further = set() if last is first else _best(every, costs, last, tokens * (1 - BASE_SHARE), set(), shown)
    cut = _counted(line for line in every if line not in shown)
    note = "The page is cut: {} rows and {} sentences that seem not to matter are left out.".format(*cut)
    text = f"{_joined(lines, texts, [line for line in every if line in shown])}\n{note}"
    more = "\n".join(texts[line] for line in every if line in further)
    return PageText(text, more)


def excerpt(page: str, identifiers: Collection[str], neighbours: int = 1) -> str:
    r"""The lines of a page that a demonstration needs: titles, headers, those of some figures, and their neighbours.

    >>> excerpt("Table:\nr0: | 2009\nr1: sales | [r1c1] 5\nr2: cash | [r2c1] 6\nr3: debt | [r3c1] 7", ["r1c1"])
    'Table:\nr0: | 2009\nr1: sales | [r1c1] 5\nr2: cash | [r2c1] 6'

    Args:
        page: A page as :func:`written_page` writes it.
        identifiers: The figures that are used.
        neighbours: Lines before and after each such line that are kept too.
    """
    lines = page.splitlines()
    used = {place for place, line in enumerate(lines) if any(f"[{one}]" in line for one in identifiers)}
    kept = {near for place in used for near in range(place - neighbours, place + neighbours + 1)}
    first = next((place for place, line in enumerate(lines) if "[" in line), len(lines))
    titles = {place for place, line in enumerate(lines) if place < first or not _LINE.match(line)}
    return "\n".join(line for place, line in enumerate(lines) if place in kept | titles)


def shortened(demonstration: Any) -> dspy.Example:
    """A demonstration with the lines of its page that its calculation and conversation use, and their neighbours."""
    values = dict(demonstration)
    used = _MARKED.findall(f"{values.get('calculation', '')} {values.get('history', '')}")
    if isinstance(values.get("page"), str):
        values["page"] = excerpt(values["page"], used)
    return dspy.Example(**values)


def _best(
    every: Sequence[Line],
    costs: Mapping[Line, float],
    relevance: Relevance,
    budget: float,
    always: set[Line],
    known: Collection[Line] = (),
) -> set[Line]:
    """The lines of the highest relevance within a budget, and those that are shown always."""
    chosen = set(always)
    left = budget - sum(costs[line] for line in chosen)
    weights = {"row": relevance.rows, "sentence": relevance.sentences}
    for line in sorted(every, key=lambda line: -weights[line[0]].get(line[1], 0.0)):
        if line not in chosen and line not in known and costs[line] <= left:
            if not weights[line[0]].get(line[1]) and known:
                break  # further lines must have a figure that the search gives a probability
            chosen.add(line)
            left -= costs[line]
    return chosen


def _counted(lines: Iterable[Line]) -> tuple[int, int]:
    kinds = Counter(kind for kind, _ in lines)
    return kinds["row"], kinds["sentence"]


def _joined(lines: PageLines, texts: Mapping[Line, str], shown: Sequence[Line]) -> str:
    rows = [texts[line] for line in shown if line[0] == "row"]
    sentences = [texts[line] for line in shown if line[0] == "sentence"]
    table = [lines.title(), *rows] if rows else []
    return "\n".join([*table, *(["Text:", *sentences] if sentences else [])])


def _is_number(one: Observation, text: str, start: int) -> bool:
    """Whether a figure of a sentence is the number of a note, a table or a point of a list."""
    before = text[:start].rstrip(" (")
    is_whole = one.quantity.unit == "plain" and one.quantity.scale == 1 and one.quantity.value % 1 == 0
    return is_whole and (_NUMBERED.search(before) is not None or (not before and text[start:].startswith("(")))


def _marked(text: str, marks: Sequence[tuple[int, str]], longest: int | None = None) -> str:
    """A text of a report with identifiers at some places; a figure that is written twice is written once."""
    starts = [0, *(start for start, _ in marks)]
    ends = [*(start for start, _ in marks), len(text)]
    names = ["", *(f"[{name}]" for _, name in marks)]
    parts = zip(names, (_data(text[start:end], longest) for start, end in zip(starts, ends, strict=True)), strict=True)
    return " ".join(part for pair in parts for part in pair if part)


def _data(text: str, longest: int | None = _LONGEST_CELL) -> str:
    """A text of a report, in which nothing reads as a mark of the prompt or as an identifier."""
    seen = without_identifiers(plain_text(_TWICE.sub(r"\g<figure>\g<percent>", text)))
    return seen if longest is None or len(seen) <= longest else f"{seen[: longest - 1]}…"


def merged(
    candidates: Sequence[Candidate], past: Sequence[PastTurn] = (), named: int | None = None
) -> list[tuple[int, ...]]:
    """The places of candidates with the same calculation, in order; the first of each group represents it.

    That is the one that the model named, or else the most probable one that counts percentages as fractions.

    Args:
        candidates: The candidates.
        past: The turns before the question.
        named: The candidate that the model named.
    """
    groups: dict[str, list[int]] = {}
    for place, candidate in enumerate(candidates):
        groups.setdefault(written_calculation(candidate.derivation, past), []).append(place)

    def order(place: int) -> tuple[bool, bool, int]:
        return place != named, _has_points(candidates[place].derivation), place

    return [tuple(sorted(places, key=order)) for places in groups.values()]


def _has_points(derivation: Derivation) -> bool:
    """Whether a percentage counts as 12, not as 0.12."""
    return any((one.path or "").endswith("%") and not one.text.endswith("%") for one in derivation.numbers)


def is_serious(derivation: Derivation, index: ReportIndex) -> bool:
    """Whether a calculation can be what a question means: not ``x - x``, a sum of years or a product of balances."""
    known = {one.id: one for one in index.observations}
    for step in derivation.steps:
        figures = [known[one.source] for one in step.operands if isinstance(one, Number) and one.source in known]
        has_twins = len(set(map(str, step.operands))) < len(step.operands)
        of_dates = step.operation != "select" and any(one.in_header for one in figures)
        balances = step.operation == "multiply" and sum(one.quantity.unit == "currency" for one in figures) > 1
        if has_twins or of_dates or balances:
            return False
    return True


def written_evidence(
    candidates: Sequence[Candidate],
    report: Report,
    index: ReportIndex,
    past: Sequence[PastTurn] = (),
) -> str:
    """The figures of some candidates, then one numbered line a candidate.

    Args:
        candidates: In the order in which they are shown.
        report: The report.
        index: Its index.
        past: The turns before the question.
    """
    known = {one.id: one for one in index.observations}
    used = dict.fromkeys(number.source for one in candidates for number in one.derivation.numbers)
    figures = [known[source] for source in used if source is not None and source in known]
    lines = PageLines(report, index)
    legend = [_cell(one) for one in figures if isinstance(one.source, CellSource)]
    sentences: dict[int, set[str]] = {}
    for one in figures:
        if not isinstance(one.source, CellSource):
            sentences.setdefault(one.source.sentence, set()).add(one.id)
    legend += [_sentence(lines, number, only) for number, only in sorted(sentences.items())]
    written = (f"{written_calculation(one.derivation, past)} = {written_number(one.answer)}" for one in candidates)
    return "\n".join([*legend, *(f"{number}. {line}" for number, line in enumerate(written, start=1))])


def _cell(one: Observation) -> str:
    places = (one.section, one.label, one.column_label)
    where = " | ".join(without_identifiers(plain_text(part)) for part in places if part)
    period = f" ({one.period})" if one.period and one.period not in where else ""
    return f"[{one.id}] {written_quantity(one.quantity)}: {where}{period}"


def _sentence(lines: PageLines, number: int, only: set[str]) -> str:
    text = lines.sentence(number, only)
    if len(text) <= _MOST_SENTENCE:
        return text
    places = [text.find(f"[{one}]") for one in only]
    start = max(0, min(places) - _MOST_SENTENCE // 2)
    end = max(max(places) + _MOST_SENTENCE // 2, start + _MOST_SENTENCE)
    return f"{text[: text.find(' ')]} {'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
