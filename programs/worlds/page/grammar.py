r"""The calculations over some figures as a grammar (GBNF): a model that is held to it writes nothing else.

    >>> function_rules(["r1c1", "r1c2"])["atom"]
    '"[" ("r1c" ("1" | "2")) "]"'

Every text of the grammar can be read by :func:`programs.worlds.page.calculation.read_calculation`: identifiers are
those of the figures, and each calculation has at least one. What remains is a calculation without a result, such as a
division by zero.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from decimal import Decimal

from kg.errors import ProgramError
from kg.search import PastTurn
from kg.text import find_quantities, years
from programs.worlds.page.figures import CalculationError, PageFigures

START = "calculation"
"""The rule of a whole calculation."""

MOST_STEPS = 4
"""Steps of a calculation; later ones refer to those before them."""

MOST_VALUES = 12
"""Figures that a function such as ``average`` takes at the most."""

_CONSTANTS = '[1-9] [0-9]? | "100" "0"{0,7} | "360" | "365" | "366"'
_FUNCTIONS = '("subtract" | "divide")'
_SERIES = '("add" | "multiply" | "sum" | "average" | "max" | "min")'
_EXPONENT = '([2-9] | "10")'


def function_rules(
    figures: Collection[str],
    answers: Collection[int] = (),
    numbers: Collection[str] = (),
    compared: Sequence[Sequence[str]] = (),
) -> dict[str, str]:
    """The rules of calculations in functions, from :data:`START`: ``subtract([r1c1], [r1c2]), divide(#0, [r1c2])``.

    Args:
        figures: Identifiers of figures, at least one.
        answers: Numbers of the earlier questions whose answers are numbers.
        numbers: Further numbers that may be written.
        compared: Figures with names of their own, such as those of a row, of which the largest may be asked for.
    """
    rules: dict[str, str] = {}
    ways = ['"none"']
    for step in range(MOST_STEPS):
        before = "".join(f'call{number} ", " ' for number in range(step))
        first = "value0 | " if not step else ""
        ways.append(f"{before}({first}call{step} | greater{step}{' | names' if compared and not step else ''})")
        earlier = "".join(f' | "#{number}"' for number in range(step))
        rules |= {
            f"value{step}": f"atom{earlier}",
            f"call{step}": _call(f"inner{step}"),
            f"inner{step}": f"value{step} | {_call(f'value{step}')}",
            f"greater{step}": f'"greater(" (inner{step} ", " (inner{step} | constant) | constant ", " inner{step}) ")"',
        }
    names = _compared(compared)
    return {START: " | ".join(ways), **rules, **names, **_atoms(figures, answers, numbers)}


def stated_numbers(questions: Sequence[str]) -> list[str]:
    """The numbers that questions state, but for years, as a calculation may write them."""
    found: dict[str, None] = {}
    for question in questions:
        dates = set(map(str, years(question)))
        written = (_plain(abs(one.value)) for one in find_quantities(question) if one.value)
        found |= dict.fromkeys(one for one in written if one not in dates)
    return list(found)


def answered(past: Sequence[PastTurn]) -> list[int]:
    """The numbers of the questions whose answers a calculation can use."""
    return [number for number, turn in enumerate(past, start=1) if turn.derivation and isinstance(turn.answer, Decimal)]


def comparable(figures: PageFigures, identifiers: Collection[str]) -> list[list[str]]:
    """The rows and columns of a table whose figures have names of their own, as lists of their identifiers."""
    lines: dict[str, list[str]] = defaultdict(list)
    for one in identifiers:
        row, _, column = one.partition("c")
        if one.startswith("r") and "n" not in one and column:
            lines[row].append(one)
            lines[f"c{column}"].append(one)
    found = []
    for line in lines.values():
        try:
            if len(line) > 1 and len(set(figures.names(line))) == len(line):
                found.append(line)
        except (CalculationError, ProgramError):
            continue
    return found


def _call(value: str) -> str:
    """A function over values; the first two of a pair may be a constant, but not both."""
    pair = f'{_FUNCTIONS} "(" ({value} ", " ({value} | constant) | constant ", " {value}) ")"'
    several = f'{_SERIES} "(" {value} (", " ({value} | constant)){{1,{MOST_VALUES - 1}}} ")"'
    return f'{pair} | {several} | "exp(" {value} ", " {_EXPONENT} ")" | "abs(" {value} ")"'


def _compared(lines: Sequence[Sequence[str]]) -> dict[str, str]:
    """``argmax`` and ``argmin`` over at least two figures of a line, each at most once and in its order."""
    if not lines:
        return {}
    rules, starts = {}, []
    for number, line in enumerate(lines):
        for place, one in enumerate(line):
            later = f'", " line{number}x{place + 1}' if place + 1 < len(line) else ""
            skip = f" | line{number}x{place + 1}" if later else ""
            rules[f"line{number}x{place}"] = f'"[{one}]" ({later})?{skip}' if later else f'"[{one}]"'
            if later:
                starts.append(f'"[{one}]" {later}')
    return {"names": f'("argmax(" | "argmin(") ({" | ".join(starts)}) ")"', **rules}


def _atoms(figures: Collection[str], answers: Collection[int], numbers: Collection[str]) -> dict[str, str]:
    plain = " | ".join([_CONSTANTS, *(f'"{one}"' for one in numbers)])
    every = [*figures, *(f"a{number}" for number in answers)]
    return {"atom": f'"[" ({_shared(every)}) "]"', "constant": plain}


def _shared(identifiers: Sequence[str]) -> str:
    """Alternatives with the beginnings that they share written once: a grammar of many alternatives is slow."""
    ends: dict[str, list[str]] = defaultdict(list)
    for one in dict.fromkeys(identifiers):
        cut = next((place for place, sign in enumerate(one) if place and sign in "cn"), 0) + 1
        ends[one[:cut]].append(one[cut:])
    parts = []
    for start, rest in ends.items():
        options = " | ".join(f'"{end}"' for end in rest)
        parts.append(f'"{start}" ({options})' if len(rest) > 1 or rest[0] else f'"{start}"')
    return " | ".join(parts)


def _plain(value: Decimal) -> str:
    return format(value.normalize(), "f")
