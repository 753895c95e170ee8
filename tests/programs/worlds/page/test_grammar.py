"""Grammars of calculations: each text that they allow can be read, and what models write is allowed."""

from __future__ import annotations

import random
import re
from decimal import Decimal

import pytest

from kg.calculations import DerivationScorer, ReportIndex
from kg.reports import Report, build_ontology
from kg.search import PastTurn
from programs.worlds.page import (
    START,
    CalculationError,
    PageFigures,
    answered,
    comparable,
    function_rules,
    read_calculation,
    stated_numbers,
)
from programs.worlds.reader import ReportReader

REPORT = Report(
    id="r",
    pre_text=("the company sold 105 stores in 2009 and 67 stores in 2008 .",),
    table=(
        ("( in thousands )", "2009", "2008", "2007"),
        ("net income", "$ 10", "$ 12", "$ 15"),
        ("cash used", "-26 ( 26 )", "30", "31"),
        ("tax rate", "16%", "20%", "21%"),
    ),
    post_text=(),
)
FIGURES = ["r1c1", "r1c2", "r1c3", "r2c1", "r3c1", "s0n0", "s0n2"]
QUESTION = "what would it be with 12.5 million more?"


@pytest.fixture(scope="module")
def index() -> ReportIndex:
    return ReportReader(build_ontology([REPORT]), DerivationScorer.untrained()).read(REPORT)[1]


@pytest.fixture(scope="module")
def past(index: ReportIndex) -> tuple[PastTurn, ...]:
    named = read_calculation("r1c1 - r2c1", PageFigures(index), (), ["?"])
    assert named is not None
    return PastTurn("?", named.derivation, named.answer), PastTurn("?", None, None)


class Gbnf:
    """Reads a grammar, draws texts of it, and decides whether it allows one; it knows no ranges but of digits."""

    _PART = re.compile(r'"((?:[^"\\]|\\.)*)"|\[(\d)-(\d)\]|([a-z][a-z0-9-]*)|([(|)])|\{(\d+),(\d+)\}|(\?)')

    def __init__(self, text: str) -> None:
        self.rules = {}
        for line in text.splitlines():
            name, body = line.split(" ::= ", 1)
            assert not self._PART.sub("", body).strip(), f"{name} has what is no grammar: {body}"
            self.parts = list(self._PART.finditer(body))
            self.rules[name] = self._alternatives()
            assert not self.parts

    def _alternatives(self) -> list[list[tuple[object, int, int]]]:
        found: list[list[tuple[object, int, int]]] = [[]]
        while self.parts and self.parts[0][5] != ")":
            part = self.parts.pop(0)
            if part[5] == "|":
                found.append([])
            elif part[6]:
                found[-1][-1] = (found[-1][-1][0], int(part[6]), int(part[7]))
            elif part[8]:
                found[-1][-1] = (found[-1][-1][0], 0, 1)
            elif part[5] == "(":
                found[-1].append((self._alternatives(), 1, 1))
                assert self.parts.pop(0)[5] == ")"
            elif part[4]:
                found[-1].append((part[4], 1, 1))
            else:
                text = part[1] if part[1] is not None else [str(one) for one in range(int(part[2]), int(part[3]) + 1)]
                found[-1].append(((text,), 1, 1))
        return found

    def draw(self, draw: random.Random, rule: str = "root") -> str:
        return self._drawn(self.rules[rule], draw)

    def _drawn(self, alternatives: list[list[tuple[object, int, int]]], draw: random.Random) -> str:
        text = ""
        for item, least, most in draw.choice(alternatives):
            for _ in range(draw.randint(least, min(most, least + 2))):
                if isinstance(item, tuple):
                    text += item[0] if isinstance(item[0], str) else draw.choice(item[0])
                else:
                    text += self._drawn(self.rules[item] if isinstance(item, str) else item, draw)
        return text

    def allows(self, text: str) -> bool:
        return len(text) in self._ends(self.rules["root"], text, 0)

    def _ends(self, alternatives: list[list[tuple[object, int, int]]], text: str, start: int) -> set[int]:
        found: set[int] = set()
        for way in alternatives:
            ends = {start}
            for item, least, most in way:
                reached = set(ends) if not least else set()
                for count in range(1, most + 1):
                    ends = {end for one in ends for end in self._after(item, text, one)}
                    reached |= ends if count >= least else set()
                    if not ends:
                        break
                ends = reached
            found |= ends
        return found

    def _after(self, item: object, text: str, start: int) -> set[int]:
        if isinstance(item, tuple):
            options = [item[0]] if isinstance(item[0], str) else item[0]
            return {start + len(one) for one in options if text.startswith(one, start)}
        return self._ends(self.rules[item] if isinstance(item, str) else item, text, start)  # type: ignore[arg-type]


def _functions(index: ReportIndex, past: tuple[PastTurn, ...]) -> Gbnf:
    figures = PageFigures(index)
    rules = function_rules(FIGURES, answered(past), stated_numbers([QUESTION]), comparable(figures, FIGURES))
    return Gbnf("\n".join(f"{name} ::= {body}" for name, body in {"root": START, **rules}.items()))


def _tried(text: str, figures: PageFigures, past: tuple[PastTurn, ...]) -> tuple[object, str | None]:
    try:
        return read_calculation(text, figures, past, ["?", "?", QUESTION]), None
    except CalculationError as error:
        return None, str(error)


def test_all_that_is_allowed_can_be_read(index: ReportIndex, past: tuple[PastTurn, ...]) -> None:
    grammar = _functions(index, past)
    draw, figures, read = random.Random(0), PageFigures(index), 0
    for text in (grammar.draw(draw) for _ in range(400)):
        named, problem = _tried(text, figures, past)
        assert problem is None or "has no result" in problem, f"{text}: {problem}"
        assert problem is not None or (named is None) == (text == "none"), text
        read += problem is None
    assert read > 250, "most drawn calculations have a result"


@pytest.mark.parametrize(
    "text",
    [
        "none",
        "[r1c1]",
        "subtract([r1c1], [r1c2]), divide(#0, [r1c2])",
        "divide(subtract([r1c1], [r1c2]), [r1c2])",
        "divide(add([r1c1], [r1c2], [s0n2]), 3)",
        "multiply([a1], 1000)",
        "add([r1c1], 12.5)",
        "greater([r1c1], [r1c2])",
        "argmax([r1c1], [r1c2], [r1c3])",
        "argmin([r1c1], [r1c3])",
        "argmax([r1c1], [r2c1], [r3c1])",
    ],
)
def test_the_functions_of_the_prompt_are_allowed(text: str, index: ReportIndex, past: tuple[PastTurn, ...]) -> None:
    assert _functions(index, past).allows(text)
    assert text == "none" or read_calculation(text, PageFigures(index), past, ["?", "?", QUESTION]) is not None


@pytest.mark.parametrize(
    "functions",
    [
        "[r9c9]",
        "[a2]",
        "divide(100, 4)",
        "add([r1c1], 777)",
        "argmax([r1c1], [r1c1])",
        "subtract(#0, [r1c1])",
        "argmax([r1c1], [r2c2])",
    ],
)
def test_what_cannot_be_read_is_not_allowed(functions: str, index: ReportIndex, past: tuple[PastTurn, ...]) -> None:
    assert not _functions(index, past).allows(functions)


def test_numbers_of_questions_are_those_that_may_be_written() -> None:
    assert "12.5" in stated_numbers([QUESTION])
    assert all(Decimal(one) > 0 for one in stated_numbers([QUESTION, "and with 5%?"]))
