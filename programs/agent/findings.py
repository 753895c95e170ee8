"""The findings of an agent for a question: figures of the graph, results and earlier answers, each under a short name.

    >>> found = Findings(index, past)
    >>> found.figure(observation)
    'f1'
    >>> found.calculated("subtract", ["f2", "f1"])
    'r1'
    >>> str(found.derivation("r1"))
    'subtract(206588, 181001)'

Every name has a derivation over figures of the report, so a named answer has its provenance. Any other number is
refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import cast, get_args

from kg.candidates import Candidate
from kg.derivations import Answer, CalculatorOperation, Constant, Derivation, Number, PastTurn, calculate
from kg.errors import QueryError
from kg.figures import ReportIndex
from kg.reports import Observation, Source
from kg.search import merge_key
from kg.text import nearest
from programs.lm import plain_text
from programs.wording import written_number, written_quantity
from programs.worlds.page import IDENTIFIER, CalculationError, PageFigures, read_calculation

CONSTANTS = (
    "const_1",
    "const_2",
    "const_3",
    "const_4",
    "const_5",
    "const_100",
    "const_1000",
    "const_1000000",
    "const_m1",
)
"""The constants that a calculation may use: those of the program language."""

_PERCENT_RESULTS = ("percentage_change",)


@dataclass(frozen=True)
class Entry:
    """A finding.

    Attributes:
        name: ``f1``, ``r1`` or ``a1``.
        derivation: Its calculation.
        answer: Its exact value.
        words: Its description for a language model.
    """

    name: str
    derivation: Derivation
    answer: Answer
    words: str

    def __str__(self) -> str:
        return f"{self.name} = {self.words}"


class Findings:
    """The findings for one question.

    Args:
        index: The report's index.
        past: The earlier turns; those that have an answer get the names ``a1``, ``a2``, ... by their place.
    """

    def __init__(self, index: ReportIndex, past: Sequence[PastTurn]) -> None:
        self.index, self.past = index, tuple(past)
        self.entries: dict[str, Entry] = {}
        self._names: dict[str, str] = {}
        for place, turn in enumerate(past, start=1):
            if turn.derivation is not None and turn.answer is not None:
                words = f"{written_number(turn.answer)}, the answer to Q{place}"
                self.entries[f"a{place}"] = Entry(f"a{place}", turn.derivation, turn.answer, words)

    @property
    def names(self) -> list[str]:
        """Every name, in the order in which they were given."""
        return list(self.entries)

    @property
    def is_empty(self) -> bool:
        """Whether nothing but earlier answers is here."""
        return all(name.startswith("a") for name in self.entries)

    def figure(self, observation: Observation) -> Entry:
        """Returns the entry of a figure; a repeated figure has the same name."""
        if observation.id not in self._names:
            name = self._names[observation.id] = self._free("f")
            number = Number(observation.quantity.text, observation.path, observation.id)
            parts = (observation.period, observation.label, observation.column_label, observation.section)
            about = ", ".join(dict.fromkeys(plain_text(part) for part in parts if part))
            words = f"{written_quantity(observation.quantity)} ({about})"
            self.entries[name] = Entry(name, Derivation.look_up(number), number.value, words)
        return self.entries[self._names[observation.id]]

    def calculated(self, operation: str, values: Sequence[object], question: str = "") -> Entry:
        """Returns the entry of a calculation over names, constants or figures of the report.

        Raises:
            QueryError: The operation or a value is not known; the message lists the known ones.
            UndefinedResult: The arithmetic has no result.
        """
        operands = [self.derivation(value, question) for value in values]
        if operation not in get_args(CalculatorOperation):
            raise QueryError(
                f"there is no operation {operation!r}; {nearest(operation, get_args(CalculatorOperation))}"
            )
        results = [result for operand in operands if isinstance(result := operand.execute(), Decimal)]
        if len(results) < len(operands):
            raise QueryError(f"{operation} takes numbers, and one of its values is yes or no")
        expected = calculate(cast(CalculatorOperation, operation), results)
        derivation = _combined(operation, operands, results)
        answer = derivation.execute()
        name = self._free("r")
        text = f"{written_number(expected)}%" if operation in _PERCENT_RESULTS else written_number(answer)
        self.entries[name] = Entry(name, derivation, answer, f"{text}, {operation} of {', '.join(map(str, values))}")
        return self.entries[name]

    def derivation(self, value: object, question: str = "") -> Derivation:
        """Returns the derivation of a name, a constant or a number.

        A number must be that of an entry or a figure of the report.

        Raises:
            QueryError: It is neither.
        """
        text = str(value).strip()
        if text in self.entries:
            return self.entries[text].derivation
        if text in CONSTANTS:
            return Derivation.look_up(Constant(text))
        if (named := self._named(text, question)) is not None:
            return named
        number = _number(text)
        if number is None:
            known = ", ".join(self.names) if self.entries else "nothing is found yet"
            raise QueryError(f"{plain_text(text)!r} is not the name of something found ({known}), nor a constant")
        for entry in reversed(self.entries.values()):
            if _is_meant(number, text, entry):
                return entry.derivation
        bare = text.replace(",", "").removeprefix("$").strip()
        places = self.index.align(Derivation.look_up(Number(format(abs(number), "f"))), question)
        if places and not (seen := self.index.observations[places[0]]).in_header:
            entry = self.figure(seen)
            is_same = merge_key(number) == merge_key(seen.quantity.value)
            return entry.derivation if is_same else Derivation.look_up(Number(bare, seen.path, seen.id))
        if f"const_{text}" in CONSTANTS:
            return Derivation.look_up(Constant(f"const_{text}"))
        raise QueryError(
            f"{plain_text(text)} is neither a figure of the report nor a result: query it, or calculate it"
        )

    def _named(self, text: str, question: str) -> Derivation | None:
        """Returns the derivation of an identifier of the page or a calculation over such; ``None`` for anything else.

        Raises:
            QueryError: There is no such figure, or the calculation is refused.
        """
        bare = text.strip("[] ")
        if IDENTIFIER.fullmatch(bare):
            try:
                return self.figure(PageFigures(self.index).observation(bare)).derivation
            except CalculationError as error:
                raise QueryError(str(error)) from error
        if "(" not in text or _number(text) is not None:
            return None
        try:
            named = read_calculation(text, PageFigures(self.index), self.past, [question])
        except CalculationError as error:
            raise QueryError(str(error)) from error
        return named.derivation if named is not None else None

    def answered(self, value: object, question: str = "") -> Candidate:
        """Returns the answer of a name or number, with its path and sources.

        Raises:
            QueryError: It is not known, or depends on no figure of the report.
        """
        derivation = self.derivation(value, question)
        if not derivation.numbers:
            raise QueryError(f"{value} rests on no figure of the report")
        by_id = {observation.id: observation.source for observation in self.index.observations}
        sources: list[Source] = [by_id[n.source] for n in derivation.numbers if n.source in by_id]
        return Candidate(derivation, derivation.execute(), 0.0, derivation.path, tuple(sources))

    def lines(self) -> str:
        """One line for everything that was found."""
        return "\n".join(map(str, self.entries.values()))

    def _free(self, letter: str) -> str:
        return f"{letter}{sum(name.startswith(letter) for name in self.entries) + 1}"


def _number(text: str) -> Decimal | None:
    bare = text.replace(",", "").removeprefix("$").strip().removesuffix("%")
    try:
        number = Decimal(bare)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _is_meant(number: Decimal, text: str, entry: Entry) -> bool:
    """Whether a number that a language model wrote is an entry's: its value, or a percentage that it was shown as."""
    if isinstance(entry.answer, str):
        return False
    shown = entry.words.partition(" ")[0].rstrip(",")
    values = [entry.answer, entry.answer * 100] if shown.endswith("%") or text.endswith("%") else [entry.answer]
    return any(merge_key(number) == merge_key(value) for value in values)


def _combined(operation: str, operands: Sequence[Derivation], results: Sequence[Decimal]) -> Derivation:
    """An operation of the calculator in the steps of the program language, over all operands."""
    if operation in ("min", "max"):
        return operands[results.index(min(results) if operation == "min" else max(results))]
    if operation == "percentage_change":
        return Derivation.combine("divide", Derivation.combine("subtract", operands[1], operands[0]), operands[0])
    step = "add" if operation in ("sum", "average") else operation
    result = operands[0]
    for operand in operands[1:]:
        result = Derivation.combine(step, result, operand)
    if operation == "average":
        return Derivation.combine("divide", result, Derivation.look_up(Constant(f"const_{len(operands)}")))
    return result
