"""Calculations over identifiers, and the conversation with them.

>>> written_calculation(derivation, past)
'divide([a2], [r3c1])'
>>> print(written_turns(past))
[a1] what was the cash in 2009? -> 206588 = [r3c1]
[a2] and the change from 2008? -> 25587 = subtract([a1], [r3c2])
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

from kg.search import Constant, Derivation, Labelled, Number, Operand, PastTurn, StepResult
from programs.lm import plain_text
from programs.wording import written_number
from programs.worlds.page.language import results_in

_LONGEST = 400


def written_calculation(derivation: Derivation, past: Sequence[PastTurn] = ()) -> str:
    """A derivation over identifiers; what an earlier turn calculated is written as its answer.

    Args:
        derivation: The derivation.
        past: The turns before it.
    """
    known = {
        turn.derivation.tree(): number
        for number, turn in enumerate(past, start=1)
        if turn.derivation is not None and isinstance(turn.answer, Decimal) and not turn.derivation.is_look_up
    }
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
        lines.append(f"[a{number}] {plain_text(turn.question)[:_LONGEST]} -> {answer}")
    return "\n".join(lines) if lines else "none"
