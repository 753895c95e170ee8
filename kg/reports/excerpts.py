"""Excerpts of large reports: the rows and sentences that may answer a question, each in its place.

    >>> words = ReportWords(report)                            # 5,000 rows and 2 MB of text, once
    >>> small = words.excerpt(["what were the sales of item 4711 in 2019?"])
    >>> small.table[4711][1], small.table[4712][1], small.kept_rows
    ('182', '', (0, 1, 2, 3, 4, 4709, 4710, 4711, 4712, 4713, 4999))

The graph, the encoder and the search need about 70 KB for each figure, so a large report is narrowed for each question
by the words that its rows, columns and sentences share with it. A report of a usual size is searched whole.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from kg.reports.headers import is_section
from kg.reports.report import Report
from kg.text import WordIndex, search_words

WHOLE_CELLS = 5_000
"""Cells with text that are searched whole."""

WHOLE_CHARACTERS = 200_000
"""Characters of sentences that are searched whole."""

KEPT_CELLS = 2_000
KEPT_CHARACTERS = 40_000
KEPT_COLUMNS = 60
"""Cells, characters of sentences, and columns of an excerpt."""

_TOP, _BOTTOM, _BESIDE, _CONTEXT = 5, 1, 2, 3
_QUESTIONS = 6
_FADING = 0.5
"""Of the words of each question before the last."""

_ID = re.compile(r"([rs])(\d+)[cna]")
_LETTER = re.compile(r"[^\W\d_]")


def is_large(report: Report) -> bool:
    """Whether a report is narrowed for each question."""
    return _cells(report) > WHOLE_CELLS or _characters(report) > WHOLE_CHARACTERS


def _cells(report: Report) -> int:
    # Most reports are small by their size alone.
    size = len(report.table) * len(report.table[0]) if report.table else 0
    return size if size <= WHOLE_CELLS else sum(len(row) - row.count("") for row in report.table)


def _characters(report: Report) -> int:
    return sum(map(len, report.sentences))


class ReportWords:
    """The words of a large report's rows, columns and sentences.

    Args:
        report: The report.
    """

    def __init__(self, report: Report) -> None:
        self.report = report

    def excerpt(self, questions: Sequence[str], rows: Collection[int] = (), sentences: Collection[int] = ()) -> Report:
        """The report with the rows and sentences alone that share most with the last questions.

        Args:
            questions: The questions so far, the last one asked; without any, the first lines are kept.
            rows: Rows that are kept in any case: those of earlier answers.
            sentences: Sentences that are kept in any case.
        """
        report = self.report
        asked = _asked(questions)
        kept = tuple(range(len(report.table)))
        columns = tuple(range(len(report.table[0]))) if report.table else ()
        if _cells(report) > WHOLE_CELLS:
            columns = self._best_columns(asked, columns)
            kept = self._best_rows(asked, len(columns), rows)
        texts = report.sentences
        if _characters(report) > WHOLE_CHARACTERS:
            said = self._best_sentences(asked, sentences)
            texts = tuple(text if place in said else "" for place, text in enumerate(texts))
        blank = ("",) * (len(report.table[0]) if report.table else 0)
        chosen = set(kept)
        before = len(report.pre_text)
        return replace(
            report,
            pre_text=texts[:before],
            table=tuple(row if place in chosen else blank for place, row in enumerate(report.table)),
            post_text=texts[before:],
            facts=tuple(fact for fact in report.facts if fact.row in chosen),
            kept_rows=kept,
            kept_columns=columns,
        )

    @cached_property
    def _rows(self) -> WordIndex:
        return WordIndex(_row_words(row) for row in self.report.table)

    @cached_property
    def _sentences(self) -> WordIndex:
        return WordIndex(_words(text) for text in self.report.sentences)

    @cached_property
    def _headings(self) -> list[int]:
        """The section heading above each row, or the row itself."""
        found: list[int] = []
        above = -1
        for place, row in enumerate(self.report.table):
            above = place if is_section(row) else above
            found.append(above if above >= 0 else place)
        return found

    def _starts(self) -> list[int]:
        return [part.start for part in self.report.parts] or [0]

    def _best_rows(self, asked: Mapping[str, float], width: int, wanted: Collection[int]) -> tuple[int, ...]:
        last = len(self.report.table) - 1
        starts = self._starts()
        tops = array("i")
        for start, end in zip(starts, [*starts[1:], last + 1], strict=True):
            tops.extend([start] * (end - start))
        most = max(KEPT_CELLS // max(width, 1), 20)
        kept: set[int] = set()

        def keep(row: int) -> None:
            first = tops[row]
            near = range(max(row - _BESIDE, first), min(row + _BESIDE, last) + 1)
            kept.update(range(first, min(first + _TOP, last + 1)), (one for one in near if tops[one] == first))
            kept.add(max(self._headings[row], first))

        for row in wanted:
            keep(row)
        if len(starts) == 1:
            keep(0)
            kept.update(range(max(last - _BOTTOM + 1, 0), last + 1))
        for row in _ordered(self._rows, asked):
            if len(kept) >= most:
                break
            keep(row)
        return tuple(sorted(kept))

    def _best_columns(self, asked: Mapping[str, float], columns: tuple[int, ...]) -> tuple[int, ...]:
        if len(columns) <= KEPT_COLUMNS:
            return columns
        tops = [row for start in self._starts() for row in self.report.table[start : start + 2]]
        headers = [frozenset().union(*(_words(row[column]) for row in tops)) for column in columns]
        best = _ordered(WordIndex(headers), asked)[: KEPT_COLUMNS - 1]
        return tuple(sorted({0, *best}))

    def _best_sentences(self, asked: Mapping[str, float], wanted: Collection[int]) -> set[int]:
        before, texts = len(self.report.pre_text), self.report.sentences
        near = range(max(before - _CONTEXT, 0), min(before + _CONTEXT, len(texts)))
        kept = {*wanted, *near}
        left = KEPT_CHARACTERS - sum(len(texts[place]) for place in kept)
        for place in _ordered(self._sentences, asked):
            if place not in kept and len(texts[place]) <= left:
                kept.add(place)
                left -= len(texts[place])
        return kept


def _ordered(lines: WordIndex, words: Mapping[str, float]) -> list[int]:
    """The lines that share words with a question, best first; then the others in their order."""
    order: list[int] = np.argsort(-lines.scores(words), kind="stable").tolist()
    return order


def _asked(questions: Sequence[str]) -> dict[str, float]:
    """The words of the last questions, each with the weight of the latest that holds it."""
    found: dict[str, float] = {}
    for back, question in enumerate(reversed(questions[-_QUESTIONS:])):
        for word in _words(question):
            found.setdefault(word, _FADING**back)
    return found


@lru_cache(maxsize=20_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(search_words(text))


def _row_words(row: Sequence[str]) -> frozenset[str]:
    """The words of a row: those of its label, and of its other cells that hold letters."""
    return frozenset().union(_words(row[0]), *(_words(cell) for cell in row[1:] if _LETTER.search(cell)))


def lines_of(names: Iterable[str]) -> tuple[set[int], set[int]]:
    """The rows and the sentences of figures, by their ids: ``r12c3``, ``s5n0``."""
    found = [match for match in map(_ID.match, names) if match is not None]
    return {int(one[2]) for one in found if one[1] == "r"}, {int(one[2]) for one in found if one[1] == "s"}
