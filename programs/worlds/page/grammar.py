r"""The calculations over some figures as a grammar (GBNF): a model that is held to it writes nothing else.

    >>> print(calculation_grammar(["r1c1", "r1c2"], answers=(), numbers=()))
    root ::= "none" | sum
    sum ::= value (" + " value | " - " value | ...)

Every text of the grammar can be read by :func:`programs.worlds.page.calculation.read_calculation`: identifiers are
those of the figures, and each calculation has at least one. What remains is a calculation without a result, such as a
division by zero. There are two notations: signs over plain identifiers, as fine-tuned models write them, and functions
over identifiers in brackets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

from kg.derivations import PastTurn
from kg.errors import ProgramError
from kg.text import find_quantities, years
from programs.worlds.page.figures import CalculationError, PageFigures

START = "calculation"
"""The rule of a whole calculation in functions."""

MOST_STEPS = 4
"""Steps of a calculation in functions; later ones refer to those before them."""

DEEPEST = 5
"""Calculations in signs inside one another."""

MOST_VALUES = 12
"""Figures that a function such as ``average`` takes at the most."""

_CONSTANTS = '[1-9] [0-9]? | "100" "0"{0,7} | "360" | "365" | "366"'
_FUNCTIONS = '("subtract" | "divide")'
_SERIES = '("add" | "multiply" | "sum" | "average" | "max" | "min")'
_EXPONENT = '([2-9] | "10")'


def calculation_grammar(figures: Collection[str], answers: Collection[int] = (), numbers: Collection[str] = ()) -> str:
    """The grammar of calculations in signs: ``(r1c1 - r1c2) / r1c2``, ``a1 * 100``, ``none``.

    Args:
        figures: Identifiers of figures, at least one.
        answers: Numbers of the earlier questions whose answers are numbers.
        numbers: Further numbers that may be written, as :func:`stated_numbers` gives them.
    """
    rules = {
        "root": '"none" | sum | sum " > " any | constant " > " sum',
        "sum": _chain("value"),
        "value": f"atom | {_inside(1)}",
        "any": "value | constant",
    }
    for depth in range(1, DEEPEST + 1):
        deeper = f"atom | {_inside(depth + 1)}" if depth < DEEPEST else "atom"
        rules |= {f"inner{depth}": _chain(f"value{depth}", f"any{depth}"), f"value{depth}": deeper}
        rules[f"any{depth}"] = f"value{depth} | constant"
    return _text({**rules, **_atoms(figures, answers, numbers, marked=False)})


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
    return {START: " | ".join(ways), **rules, **names, **_atoms(figures, answers, numbers, marked=True)}


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


def _chain(value: str, other: str = "any") -> str:
    """A value, and at most one further sign or a chain of equal ones; one operand is a value."""
    later = "".join(f' | {value} (" {sign} " {other}){{1,3}}' for sign in "+*")
    two = "".join(f' | {value} " {sign} " {other} | constant " {sign} " {value}' for sign in "-/")
    folded = "".join(f' | constant " {sign} " {value}' for sign in "+*")
    return f'{value}{later}{two}{folded} | {value} " ^ " {_EXPONENT}'


def _inside(depth: int) -> str:
    return f'"(" inner{depth} ")"'


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


def _atoms(
    figures: Collection[str], answers: Collection[int], numbers: Collection[str], *, marked: bool
) -> dict[str, str]:
    opened, closed = ('"[" ', ' "]"') if marked else ("", "")
    plain = " | ".join([_CONSTANTS, *(f'"{one}"' for one in numbers)])
    every = [*figures, *(f"a{number}" for number in answers)]
    return {"atom": f"{opened}({_shared(every)}){closed}", "constant": plain}


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


def _text(rules: Mapping[str, str]) -> str:
    return "\n".join(f"{name} ::= {body}" for name, body in rules.items())
