"""The brief prompt of a fine-tuned model: the lines of a few figures, the conversation, and replies over identifiers.

    system: Calculate from the figures.
    user:   c1: 2009 | c2: 2008
            r1: net cash from operations
            s0: the company sold s0n0 5 stores in 2009 .
            a1: what was the cash from operations in 2009?
    reply:  r1c1
    user:   a2: and the change from 2008?
    reply:  r1c1 - r1c2

Each question is preceded by the lines that are new: those of figures that the search considers for it. So the prompts
of a conversation continue one another, and a runtime computes each line once. Cells are named by row and column, and
their values are left out: they take more tokens than labels do, and choosing a calculation rarely needs them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from kg.calculations import ReportIndex
from kg.reports import CellSource, Observation, Report, SentenceSource, analyse_table, table_context
from kg.search import Derivation, Operand, PastTurn
from programs.lm import plain_text
from programs.worlds.page.figures import IDENTIFIER, without_identifiers
from programs.worlds.page.language import results_in
from programs.worlds.page.writing import written_operand

INSTRUCTION = "Calculate from the figures."
"""The instruction of the prompt; the model has learned what it means."""

NO_ANSWER = "none"
"""The reply where the figures do not answer."""

_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "greater": ">", "exp": "^"}
_MARKED = re.compile(rf"\[({IDENTIFIER.pattern})\]")
_LONGEST_LABEL, _LONGEST_COLUMN, _LONGEST_QUESTION = 80, 40, 400
_WORDS_BEFORE, _WORDS_AFTER = 12, 6


class BriefPage:
    """The lines of a page, written for a few figures at a time.

    Args:
        report: The report.
        index: Its index.
    """

    def __init__(self, report: Report, index: ReportIndex) -> None:
        self.report, self.index = report, index
        self._known = {one.id: one for one in index.observations}
        self._headers: dict[int, tuple[int, int]] = {}
        for start, part in report.tables:
            count = analyse_table(part.table, table_context(part)).header_rows
            self._headers |= {start + row: (start, count) for row in range(len(part.table))}

    def lines(self, figures: Collection[str], shown: set[str]) -> list[str]:
        """The lines of figures that are not yet shown, in the order of the page.

        Args:
            figures: Identifiers of figures.
            shown: The lines and figures of earlier questions; what is new is added.
        """
        new = [self._known[one] for one in dict.fromkeys(figures) if one in self._known and one not in shown]
        shown.update(one.id for one in new)
        rows = sorted({one.source.row for one in new if isinstance(one.source, CellSource)})
        sentences: dict[int, list[Observation]] = {}
        for one in new:
            if isinstance(one.source, SentenceSource):
                sentences.setdefault(one.source.sentence, []).append(one)
        found: list[str] = []
        for row in rows:
            found += [self._columns(row), self._row(row)]
        found += [self._sentence(number, members) for number, members in sorted(sentences.items())]
        fresh = [line for line in dict.fromkeys(found) if line and line not in shown]
        shown.update(fresh)
        return fresh

    def _columns(self, row: int) -> str:
        """The header of a row's table, with the number of each column that holds figures."""
        start, count = self._headers[row]
        parts = []
        for column in range(1, len(self.report.table[row])):
            heads = [self.report.table[start + number][column] for number in range(count)]
            text = _short(" ".join(dict.fromkeys(head for head in heads if head)), _LONGEST_COLUMN)
            if text:
                parts.append(f"c{column}: {text}")
        return " | ".join(parts)

    def _row(self, row: int) -> str:
        inside = [one for one in self.index.observations if _is_in_row(one, row)]
        label = self.report.table[row][0] or (inside[0].label if inside else "")
        section = next((one.section for one in inside if one.section and one.section not in label), "")
        text = f"{section} {label}" if section else label
        several = len({one.source.column for one in inside if isinstance(one.source, CellSource)}) < len(inside)
        ids = f" [{' '.join(one.id for one in inside)}]" if several else ""
        return f"r{row}: {_short(text, _LONGEST_LABEL)}{ids}"

    def _sentence(self, number: int, figures: Sequence[Observation]) -> str:
        """The words around some figures of a sentence, each with its identifier."""
        text = self.index.sentences[number]
        parts: list[str] = []
        position = end = 0
        for one in sorted(figures, key=lambda one: _start(one)):
            start = _start(one)
            if start < position:
                continue
            before = text[position:start].split()
            if len(before) > _WORDS_BEFORE + (_WORDS_AFTER if parts else 0):
                kept = [*before[:_WORDS_AFTER], "…"] if parts else ["…"]
                before = [*kept, *before[-_WORDS_BEFORE:]]
            position = start
            end = one.source.end if isinstance(one.source, SentenceSource) else start
            parts += [_plain(" ".join(before)), one.id, _plain(text[start:end])]
            position = end
        after = text[position:].split()
        parts += [_plain(" ".join(after[:_WORDS_AFTER])), "…" if len(after) > _WORDS_AFTER else ""]
        return f"s{number}: {' '.join(part for part in parts if part)}"


def brief_prompt(
    page: BriefPage, past: Sequence[PastTurn], question: str, figures: Collection[str]
) -> list[dict[str, str]]:
    """The messages whose reply is the calculation of the last question.

    Args:
        page: The page.
        past: The turns before, with the figures that were considered for them.
        question: The question.
        figures: The figures that are considered for it.
    """
    messages = [{"role": "system", "content": INSTRUCTION}]
    shown: set[str] = set()
    for number, turn in enumerate(past, start=1):
        messages.append(_asked(page.lines(turn.considered, shown), number, turn.question))
        reply = NO_ANSWER if turn.derivation is None else brief_reply(turn.derivation, past[: number - 1])
        messages.append({"role": "assistant", "content": reply})
    return [*messages, _asked(page.lines(figures, shown), len(past) + 1, question)]


def _asked(lines: Sequence[str], number: int, question: str) -> dict[str, str]:
    asked = f"a{number}: {plain_text(question)[:_LONGEST_QUESTION]}"
    return {"role": "user", "content": "\n".join([*lines, asked])}


def brief_reply(derivation: Derivation, past: Sequence[PastTurn] = ()) -> str:
    """A calculation over identifiers, with signs in place of the names of operations.

    >>> brief_reply(derivation, past)
    '(r1c1 - r1c2) / r1c2'
    """
    known = {
        turn.derivation.tree(): f"a{number}"
        for number, turn in enumerate(past, start=1)
        if turn.derivation is not None and not turn.derivation.is_look_up and not isinstance(turn.answer, str)
    }

    def write(place: int, *, outermost: bool) -> str:
        if (answer := known.get(derivation.tree(place))) is not None:
            return answer
        step = derivation.steps[place]
        parts = [operand(one) for one in step.operands]
        sign = _SIGNS.get(step.operation)
        if sign is None:
            return f"{step.operation}({', '.join(parts)})" if step.operation != "select" else parts[0]
        return f" {sign} ".join(parts) if outermost else f"({f' {sign} '.join(parts)})"

    def operand(one: Operand) -> str:
        results = {place: write(place, outermost=False) for place in results_in(one)}
        return _MARKED.sub(r"\1", written_operand(one, results))

    return write(len(derivation.steps) - 1, outermost=True)


def _is_in_row(one: Observation, row: int) -> bool:
    return isinstance(one.source, CellSource) and one.source.row == row and not one.in_header


def _start(one: Observation) -> int:
    return one.source.start if isinstance(one.source, SentenceSource) else 0


def _plain(text: str) -> str:
    return without_identifiers(plain_text(text))


def _short(text: str, longest: int) -> str:
    words = _plain(text)
    return words if len(words) <= longest else f"{words[: longest - 1]}…"
