"""The language of calculations over a page: figures by their identifiers, tokens, steps, and how they are written.

    >>> PageFigures(index).number("r3c2")
    Number(text='206588', path='IncomeStatement_2009 -> net_sales -> 206588', source='r3c2')
    >>> [token.text for token in read_tokens("([r3c2] − [r3c1]) / 1,000")]
    ['(', 'r3c2', '-', 'r3c1', ')', '/', '1,000']
    >>> print(written_turns(past))
    [a1] what was the cash in 2009? -> 206588 = [r3c1]
    [a2] and the change from 2008? -> 25587 = subtract([a1], [r3c2])

An identifier is that of the figure's observation in the report's graph. Any other is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from kg.calculations import ReportIndex
from kg.errors import ProgramError
from kg.reports import CellSource, Observation
from kg.search import Constant, Derivation, Labelled, Number, Operand, PastTurn, Step, StepResult
from kg.text import tokens, years
from programs.lm import plain_text
from programs.wording import written_number

IDENTIFIER = re.compile(r"(?:r\d+c\d+|s\d+)(?:n\d+)?")
_MARK = re.compile(r"\[\s*((?:r\d+c\d+|s\d+n\d+|a\d+)(?:n\d+)?)\s*\]", re.IGNORECASE)
_LONGEST_QUESTION = 400
_LARGEST_COUNT = 100
_CALENDAR = (360, 365, 366)
_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|\[\s*(?P<mark>[a-z]+\d+[a-z\d]*)\s*\]|#(?P<step>\d+)'
    r"|(?P<constant>const_m?\d+(?:\.\d+)?)|(?P<answer>answer\s+\d+)|(?P<word>[a-z_]+\d*[a-z_\d]*)"
    r"|\$?\s?(?P<number>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?P<percent>\s?%)?|(?P<sign>[-+*/^>(),;=]))",
    re.IGNORECASE,
)
_SPELLINGS = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "“": '"', "”": '"', "\n": "; "}


class CalculationError(ProgramError):
    """A calculation that is not over figures of the page, or not written in the language."""


def without_identifiers(text: str) -> str:
    """A text of a report in which nothing reads as an identifier of a figure."""
    return _MARK.sub(r"(\1)", text)


class PageFigures:
    """The figures of a page.

    Args:
        index: The report's index.
    """

    def __init__(self, index: ReportIndex) -> None:
        self.index = index
        self._known = {one.id: one for one in index.observations}

    def observation(self, identifier: str) -> Observation:
        """The figure of an identifier.

        Raises:
            CalculationError: There is none.
        """
        found = self._known.get(identifier)
        if found is None:
            raise CalculationError(f"[{identifier}] is no figure of the page")
        return found

    def number(self, identifier: str) -> Number:
        """A figure as a calculation has it: a percentage that is written as 12% counts as 0.12, all else as written.

        Raises:
            CalculationError: There is no such figure.
        """
        one = self.observation(identifier)
        return Number(one.quantity.text, one.path, one.id)

    def of_value(self, text: str, question: str) -> Number | None:
        """The figure with a value that was written in place of its identifier; ``None`` without one.

        Where several have it, the one whose labels share most with the question is meant.
        """
        bare = text.removesuffix("%").lstrip("-")
        places = self.index.align(Derivation.look_up(Number(bare)), question)
        if not places:
            return None
        found = self.number(self.index.observations[places[0]].id)
        return found if found.text.startswith("-") == text.startswith("-") else None

    def identified(self, derivation: Derivation, question: str) -> Derivation | None:
        """A derivation with the source that each figure most likely has; ``None`` if one is not on the page."""
        steps = []
        for step in derivation.steps:
            found = [self._source(one, question) if isinstance(one, Number) else one for one in step.operands]
            if None in found:
                return None
            steps.append(replace(step, operands=tuple(one for one in found if one is not None)))
        return Derivation(tuple(steps))

    def _source(self, number: Number, question: str) -> Number | None:
        places = self.index.align(Derivation.look_up(number), question)
        return replace(self.number(self.index.observations[places[0]].id), text=number.text) if places else None

    def names(self, identifiers: Sequence[str]) -> list[str]:
        """The names by which figures differ: their years, or else the labels of their rows or columns.

        Raises:
            CalculationError: A figure does not exist, or two figures have the same name.
        """
        every = [self.observation(identifier) for identifier in identifiers]
        dated = [years(one.period or "") for one in every]
        if all(dated) and len({found[-1] for found in dated}) == len(every):
            return [str(found[-1]) for found in dated]
        for labels in ([one.column_label for one in every], [one.label for one in every]):
            if all(labels) and len(set(labels)) == len(labels) and all(map(_is_cell, every)):
                return labels
        written = ", ".join(f"[{identifier}]" for identifier in identifiers)
        raise CalculationError(
            f'{written} have no names of their own: write each name, as in argmax("east"=[s1n0], ...)'
        )

    def check_name(self, name: str, identifiers: Sequence[str]) -> None:
        """Refuses a name whose words are not those of its figures' labels or sentences.

        Raises:
            CalculationError: The page does not have the name there.
        """
        known: set[str] = set()
        for one in map(self.observation, identifiers):
            parts = [one.label, one.column_label, one.section, one.period or ""]
            if not isinstance(one.source, CellSource):
                parts.append(self.index.sentences[one.source.sentence])
            known.update(word for part in parts for word in tokens(part))
        if not tokens(name) or not set(tokens(name)) <= known:
            raise CalculationError(f"{name!r} is no name of {', '.join(f'[{one}]' for one in identifiers)} on the page")


def _is_cell(one: Observation) -> bool:
    return isinstance(one.source, CellSource)


@dataclass(frozen=True)
class Token:
    """A token of a calculation: its kind, and its text."""

    kind: str
    text: str


SEPARATORS = (Token("sign", ","), Token("sign", ";"))


def read_tokens(text: str) -> list[Token]:
    """The tokens of a calculation.

    Raises:
        CalculationError: A part of the text is no token.
    """
    for written, meant in _SPELLINGS.items():
        text = text.replace(written, meant)
    found: list[Token] = []
    position = 0
    text = text.strip().rstrip(".;, ")
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise CalculationError(f"{text[position : position + 20]!r} is not of the language of calculations")
        kind = "number" if match["number"] else match.lastgroup
        value = match[kind]
        if kind == "number" and match["percent"]:
            value += "%"
        found.append(Token(kind, value))
        position = match.end()
    return found


def is_constant(value: Decimal) -> bool:
    """Whether a number is one of calculation rather than a figure."""
    if value != value.to_integral_value():
        return False
    whole = int(value)
    is_power_of_ten = str(whole).rstrip("0") == "1"
    return whole <= _LARGEST_COUNT or whole in _CALENDAR or is_power_of_ten


def constant_name(value: Decimal) -> str:
    """The name of a constant: ``const_100``, ``const_m1``."""
    digits = format(abs(value).normalize(), "f")
    return f"const_{'m' if value < 0 else ''}{digits}"


def pruned(steps: Sequence[Step], last: int) -> tuple[Step, ...]:
    """The steps that a step uses, itself last, renumbered."""
    used = {last}
    for place in range(last, -1, -1):
        if place in used:
            used |= {found for one in steps[place].operands for found in results_in(one)}
    places = {place: number for number, place in enumerate(sorted(used))}
    return tuple(
        replace(steps[place], operands=tuple(_renumbered(one, places) for one in steps[place].operands))
        for place in sorted(used)
    )


def results_in(operand: Operand) -> list[int]:
    """The earlier steps whose results an operand holds."""
    parts = operand.numbers if isinstance(operand, Labelled) else (operand,)
    return [one.index for one in parts if isinstance(one, StepResult)]


def _renumbered(operand: Operand, places: Mapping[int, int]) -> Operand:
    if isinstance(operand, StepResult):
        return StepResult(places[operand.index])
    if isinstance(operand, Labelled):
        moved = (StepResult(places[one.index]) if isinstance(one, StepResult) else one for one in operand.numbers)
        return replace(operand, numbers=tuple(moved))
    return operand


def earlier_answers(past: Sequence[PastTurn]) -> dict[tuple[object, ...], int]:
    """The numbers of the turns that calculated a number, by the calculation."""
    return {
        turn.derivation.tree(): number
        for number, turn in enumerate(past, start=1)
        if turn.derivation is not None and isinstance(turn.answer, Decimal) and not turn.derivation.is_look_up
    }


def written_calculation(derivation: Derivation, past: Sequence[PastTurn] = ()) -> str:
    """A derivation over identifiers; what an earlier turn calculated is written as its answer.

    Args:
        derivation: The derivation.
        past: The turns before it.
    """
    known = earlier_answers(past)
    if derivation.is_look_up:
        return written_operand(derivation.steps[-1].operands[0], {})
    if (number := known.get(derivation.tree())) is not None:
        return f"[a{number}]"
    used = _used(derivation, known)
    names: dict[int, str] = {}
    lines: list[str] = []
    for place, step in enumerate(derivation.steps):
        if (answer := known.get(derivation.tree(place))) is not None:
            names[place] = f"[a{answer}]"
        elif place in used:
            names[place] = f"#{len(lines)}"
            lines.append(f"{step.operation}({', '.join(written_operand(one, names) for one in step.operands)})")
    return ", ".join(lines)


def _used(derivation: Derivation, known: Mapping[tuple[object, ...], int]) -> set[int]:
    """The steps that are written: those that the last one uses, unless an earlier turn has calculated them."""
    found: set[int] = set()
    pending = [len(derivation.steps) - 1]
    while pending:
        place = pending.pop()
        if place not in found and derivation.tree(place) not in known:
            found.add(place)
            pending += [result for one in derivation.steps[place].operands for result in results_in(one)]
    return found


def written_operand(operand: Operand, names: Mapping[int, str]) -> str:
    """An operand; results of steps by their names."""
    if isinstance(operand, StepResult):
        return names[operand.index]
    if isinstance(operand, Constant):
        return format(operand.value, "f")
    if isinstance(operand, Labelled):
        figures = ", ".join(written_operand(one, names) for one in operand.numbers)
        group = figures if len(operand.numbers) == 1 else f"({figures})"
        return f"{json.dumps(plain_text(operand.label), ensure_ascii=False)}={group}"
    if isinstance(operand, Number) and operand.source is not None:
        # A path ends in the figure as the page has it; without its sign, it is another calculation.
        signed = operand.path is not None and operand.path.rpartition(" ")[2].startswith("-")
        is_absolute = signed and not operand.text.startswith("-")
        return f"abs([{operand.source}])" if is_absolute else f"[{operand.source}]"
    return str(operand)


def written_turns(past: Sequence[PastTurn]) -> str:
    """One line a question with its answer and calculation, by the name that calculations use; ``none`` at the start."""
    lines = []
    for number, turn in enumerate(past, start=1):
        answer = "not answered"
        if turn.answer is not None:
            answer = written_number(turn.answer)
            if turn.derivation is not None:
                answer += f" = {written_calculation(turn.derivation, past[: number - 1])}"
        lines.append(f"[a{number}] {plain_text(turn.question)[:_LONGEST_QUESTION]} -> {answer}")
    return "\n".join(lines) if lines else "none"
