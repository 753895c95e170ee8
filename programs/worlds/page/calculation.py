"""Calculations that a language model names, read into the derivation language over figures of the graph.

    >>> named = read_calculation("subtract([r3c2], [r3c1]), divide(#0, [r3c1])", figures, past, questions)
    >>> str(named.derivation), named.answer
    ('subtract(206588, 181001), divide(#0, 181001)', Decimal('0.1413638598678123856033516397'))

In addition to steps, the reader takes nested functions and signs: ``([r3c2] - [r3c1]) / [r3c1]``. A number that is no
identifier is a constant (a small whole number, a power of ten, the days of a year, or a number of the conversation's
questions), or it must be the value of a figure of the page. Everything else is refused with a reason. The figures of a
calculation over numbers of the questions alone are these, with the question as their path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from kg.errors import ProgramError
from kg.search import Answer, Constant, Derivation, Labelled, Number, Operand, PastTurn, Step, StepResult
from kg.text import find_quantities
from programs.worlds.page.language import (
    IDENTIFIER,
    SEPARATORS,
    CalculationError,
    PageFigures,
    Token,
    constant_name,
    is_constant,
    pruned,
    read_tokens,
)

NONE = ("none", "", "n/a", "null", "not stated")
"""Replies where the page has no answer."""

_LONGEST, _DEEPEST = 2000, 30
_SIGNS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "exp", ">": "greater"}
_FOLDED = ("add", "multiply")
_TWO = ("subtract", "divide", "exp", "greater")
_SERIES = ("max", "min")
_NAMED = {"argmax": 1, "argmin": 1} | dict.fromkeys(
    ("argmax_difference", "argmin_difference", "argmax_change", "argmin_change"), 2
)
_KNOWN = (*_FOLDED, *_TWO, "sum", "average", *_SERIES, "abs", *_NAMED)


@dataclass(frozen=True)
class NamedCalculation:
    """A calculation over figures of the graph.

    Attributes:
        derivation: The calculation, complete: nothing refers to another turn.
        answer: Its exact result.
    """

    derivation: Derivation
    answer: Answer


def read_calculation(
    text: str, figures: PageFigures, past: Sequence[PastTurn], questions: Sequence[str]
) -> NamedCalculation | None:
    """Reads a calculation; ``None`` where the text states that the page has no answer.

    Args:
        text: The calculation as a language model wrote it.
        figures: The figures of the page.
        past: The turns before the question.
        questions: All questions so far; the last is the one asked.

    Raises:
        CalculationError: It is not in the language, names a figure or number that is not on the page, or has no result.
    """
    if text.strip().strip(".").lower() in NONE:
        return None
    if len(text) > _LONGEST:
        raise CalculationError("the calculation is too long")
    try:
        derivation = _Reader(text, figures, past, questions).read()
        if not derivation.numbers:
            raise CalculationError("the calculation is over no figure of the page")
        answer = derivation.execute()
    except CalculationError:
        raise
    except ProgramError as error:
        raise CalculationError(f"the calculation has no result: {error}") from error
    return NamedCalculation(derivation, answer)


class _Reader:
    """Reads one calculation by recursive descent; every value is an operand of the steps so far."""

    def __init__(self, text: str, figures: PageFigures, past: Sequence[PastTurn], questions: Sequence[str]) -> None:
        self.tokens = read_tokens(text)
        self.place = 0
        self.figures, self.past, self.questions = figures, past, questions
        self.depth = 0
        self.steps: list[Step] = []
        self.results: list[Operand] = []

    def read(self) -> Derivation:
        """The derivation of the last step, without those that it does not use."""
        while self.place < len(self.tokens):
            if self._peek("step") and self._sign_after() in ("=",):
                self.place += 2  # "#0 = subtract(...)": the step's own name
            self.results.append(self._sum())
            if self._takes("="):  # the result that the model calculated itself
                self._skip_step()
            if self.place < len(self.tokens) and not (self._takes(",") or self._takes(";")):
                raise CalculationError(
                    f"{self.tokens[self.place].text!r} follows a complete step: put a comma between steps"
                )
        if not self.results:
            raise CalculationError("the calculation is empty")
        last = self.results[-1]
        if isinstance(last, StepResult):
            derivation = Derivation(pruned(self.steps, last.index))
        else:
            assert isinstance(last, Number | Constant)
            derivation = Derivation.look_up(last)
        if derivation.numbers:
            return derivation
        return Derivation(
            tuple(replace(step, operands=tuple(map(self._stated, step.operands))) for step in derivation.steps)
        )

    def _stated(self, operand: Operand) -> Operand:
        """A constant that a question states, as a figure of that question."""
        if isinstance(operand, Constant) and (question := self._question_of(operand.value)):
            text = format(operand.value, "f")
            return Number(text, f"question {question} -> {text}")
        return operand

    def _skip_step(self) -> None:
        while self.place < len(self.tokens) and self.tokens[self.place] not in SEPARATORS:
            self.place += 1

    def _sum(self) -> Operand:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise CalculationError(f"the calculation is nested more than {_DEEPEST} times")
        value = self._product()
        while (sign := self._sign("+", "-", ">")) is not None:
            value = self._emit(_SIGNS[sign], [value, self._product()])
        self.depth -= 1
        return value

    def _product(self) -> Operand:
        value = self._power()
        while (sign := self._sign("*", "/")) is not None:
            value = self._emit(_SIGNS[sign], [value, self._power()])
        return value

    def _power(self) -> Operand:
        value = self._unary()
        return self._emit("exp", [value, self._unary()]) if self._takes("^") else value

    def _unary(self) -> Operand:
        if not self._takes("-"):
            return self._atom()
        if self._peek("number"):
            return self._literal("-" + self._next().text)
        return self._emit("multiply", [self._atom(), Constant("const_m1")])

    def _atom(self) -> Operand:
        token = self._next()
        if token.kind == "sign" and token.text == "(":
            value = self._sum()
            self._expect(")")
            return value
        if token.kind == "step":
            return self._step_result(int(token.text))
        if token.kind == "constant":
            return self._literal(str(Constant(token.text).value), token.text)
        if token.kind == "number":
            return self._literal(token.text)
        if token.kind == "answer":
            return self._earlier(int(token.text.split()[-1]))
        if token.kind in ("mark", "word"):
            return self._named(token.text.lower())
        raise CalculationError(f"{token.text!r} is not expected there")

    def _named(self, name: str) -> Operand:
        """An identifier, an earlier answer or a function."""
        if self._takes("("):
            if name in _NAMED:
                return self._names(name)
            if name not in _KNOWN:
                raise CalculationError(f"there is no function {name!r}; the functions are {', '.join(_KNOWN)}")
            values = [self._sum()]
            while self._takes(","):
                values.append(self._sum())
            self._expect(")")
            return self._emit(name, values)
        if match := re.fullmatch(r"(?:a|ans|answer)(\d+)", name):
            return self._earlier(int(match[1]))
        if IDENTIFIER.fullmatch(name):
            return self.figures.number(name)
        raise CalculationError(f"{name!r} is neither an identifier of the page nor a function")

    def _names(self, operation: str) -> Operand:
        """A comparison of labelled values; its result is a name."""
        labels: list[str | None] = []
        groups: list[list[Number | StepResult]] = []
        asked = self._count()
        while True:
            label = self._next().text if self._peek("text") else None
            if label is not None:
                self._expect("=")
            labels.append(json.loads(label) if label is not None else None)
            groups.append(self._group(operation))
            if not self._takes(","):
                break
        self._expect(")")
        if len(groups) < 2:
            raise CalculationError(f"{operation} compares at least two figures")
        sources = [self._sources(group) for group in groups]
        known = self.figures.names([own[0] for own in sources]) if None in labels else []
        written = [label if label is not None else known[place] for place, label in enumerate(labels)]
        for label, own in zip(labels, sources, strict=True):
            if label is not None:
                self.figures.check_name(label, own)
        if len(set(written)) < len(written):
            raise CalculationError(f"{operation} needs a different name for each figure")
        operands = [Labelled(label, tuple(group)) for label, group in zip(written, groups, strict=True)]
        return self._step(operation, [*asked, *operands])

    def _count(self) -> list[Operand]:
        """The number of names that are asked for, where it comes first: ``argmax(2, [r1c1], ...)``."""
        if not (self._peek("number") or self._peek("constant")):
            return []
        text = self._next().text.removeprefix("const_")
        self._expect(",")
        if not text.isdecimal() or not int(text):
            raise CalculationError(f"the number of names must be a whole number from 1, got {text}")
        return [Constant(f"const_{int(text)}")]

    def _group(self, operation: str) -> list[Number | StepResult]:
        """The value of a name: a figure or a calculation, or several of them in parentheses."""
        wanted = _NAMED[operation]
        if wanted == 1:
            values = [self._sum()]
        else:
            if not self._takes("("):
                raise CalculationError(f"{operation} takes {wanted} figures in parentheses for each name")
            values = [self._sum()]
            while self._takes(","):
                values.append(self._sum())
            self._expect(")")
        if len(values) != wanted:
            raise CalculationError(f"{operation} takes {wanted} figures for each name, got {len(values)}")
        found = [value for value in values if isinstance(value, Number | StepResult)]
        if len(found) < wanted:
            raise CalculationError(f"{operation} compares figures: a constant has no name")
        return found

    def _sources(self, group: Sequence[Number | StepResult]) -> list[str]:
        """The identifiers of the figures that the values of a name are calculated from, in their order."""
        numbers: list[Number] = []
        for one in group:
            numbers += [one] if isinstance(one, Number) else Derivation(pruned(self.steps, one.index)).numbers
        sources = [number.source for number in numbers if number.source is not None]
        if not sources:
            raise CalculationError("only figures of the page have names")
        return sources

    def _step_result(self, number: int) -> Operand:
        if number >= len(self.results):
            raise CalculationError(f"#{number} is not an earlier step")
        return self.results[number]

    def _earlier(self, number: int) -> Operand:
        """The answer to an earlier question, with its calculation."""
        turn = self.past[number - 1] if 0 < number <= len(self.past) else None
        if turn is None or turn.derivation is None:
            raise CalculationError(f"question {number} has no answer")
        if not isinstance(turn.answer, Decimal):
            raise CalculationError(f"the answer to question {number} is no number")
        results: list[Operand] = []
        for step in turn.derivation.steps:
            operands = [results[one.index] if isinstance(one, StepResult) else one for one in step.operands]
            results.append(operands[0] if step.operation == "select" else self._step(step.operation, operands))
        return results[-1]

    def _literal(self, text: str, constant: str | None = None) -> Operand:
        """A number that is written out: a constant, or the value of a figure of the page."""
        bare = text.replace(",", "")
        value = Decimal(bare.removesuffix("%")) / (100 if bare.endswith("%") else 1)
        if is_constant(abs(value)) and not bare.endswith("%"):
            return Constant(constant if constant is not None else constant_name(value))
        if self._question_of(Decimal(bare.removesuffix("%"))):
            return Constant(constant_name(value))
        found = self.figures.of_value(bare, self.questions[-1])
        if found is None:
            raise CalculationError(
                f"{text} is neither a figure of the page nor a constant: name figures by their identifiers"
            )
        return found

    def _question_of(self, value: Decimal) -> int:
        """The number of the question that states a number, as in "if sales grow by 5%"; 0 for none."""
        stated = ([abs(one.value) for one in find_quantities(question)] for question in self.questions)
        return next((number for number, values in enumerate(stated, start=1) if abs(value) in values), 0)

    def _emit(self, operation: str, values: list[Operand]) -> Operand:
        count = len(values)
        if operation in _TWO and count != 2:
            raise CalculationError(f"{operation} takes 2 values, got {count}")
        if operation in _FOLDED and count < 2:
            raise CalculationError(f"{operation} takes at least 2 values, got {count}")
        if operation == "abs":
            return self._absolute(values)
        if operation in _SERIES:
            return self._step(operation, values)
        if operation in ("sum", "average"):
            total = self._folded("add", values)
            return total if operation == "sum" else self._step("divide", [total, Constant(f"const_{count}")])
        return self._folded(operation, values)

    def _folded(self, operation: str, values: list[Operand]) -> Operand:
        total = values[0]
        for value in values[1:]:
            total = self._step(operation, [total, value])
        return total

    def _absolute(self, values: list[Operand]) -> Operand:
        if len(values) != 1:
            raise CalculationError(f"abs takes 1 value, got {len(values)}")
        [value] = values
        if isinstance(value, Number):
            return replace(value, text=value.text.removeprefix("-"))
        if isinstance(value, StepResult):
            found = Derivation(pruned(self.steps, value.index)).execute()
            if isinstance(found, Decimal) and found < 0:
                return self._step("multiply", [value, Constant("const_m1")])
        return value

    def _step(self, operation: str, operands: Sequence[Operand]) -> Operand:
        step = Step(operation, tuple(operands))
        if step not in self.steps:
            self.steps.append(step)
        return StepResult(self.steps.index(step))

    def _next(self) -> Token:
        if self.place >= len(self.tokens):
            raise CalculationError("the calculation ends too early")
        self.place += 1
        return self.tokens[self.place - 1]

    def _peek(self, kind: str) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place].kind == kind

    def _sign_after(self) -> str:
        after = self.tokens[self.place + 1 : self.place + 2]
        return after[0].text if after and after[0].kind == "sign" else ""

    def _takes(self, sign: str) -> bool:
        is_next = self._peek("sign") and self.tokens[self.place].text == sign
        self.place += is_next
        return is_next

    def _sign(self, *signs: str) -> str | None:
        return next((sign for sign in signs if self._takes(sign)), None)

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            raise CalculationError(f"{sign!r} is missing")
