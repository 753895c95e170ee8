"""The beam beside what a DSPy user would write: one model, the same turns, each after its own earlier answers.

    FINPATH_LM=local python benchmarks/peers.py convfinqa/dev.json 100

Right is within 0.6% of gold, 12% also as 12; exact is the official score; sourced: over figures with a place.
"""

import math
import sys
from decimal import Decimal
from typing import Any

import dspy

from experiments.console import format_table
from experiments.data import load_conversations
from experiments.lms import LMConfig, lm_settings
from experiments.saved import find_program
from kg.text import find_quantities
from optimize.metrics.turns import exact_match
from programs.turns import metered

TASK, RATIOS = "page, history, question -> answer", (1, 100, Decimal("0.01"))


def calculate(expression: str) -> str:
    """Calculates an expression of numbers, + - * / and parentheses."""
    return str(eval(expression)) if set(expression) <= set("0123456789.+-*/() ") else "numbers and + - * / alone"


def answered(peer: Any, conversation: Any) -> list[tuple[Any, bool, Any]]:
    """The answer of each turn, whether it has sources, and its usage."""
    report, history, turns = conversation.report, "", list[tuple[Any, bool, Any]]()
    if peer is BEAM:
        own = BEAM(report=report, questions=list(conversation.questions)).turns
        return [(one.answer, one.answer is not None and bool(one.derivation.numbers), one.usage) for one in own]
    page = "\n".join([*report.pre_text, *map(" | ".join, report.table), *report.post_text])
    for question in conversation.questions:
        with metered() as measured:
            try:
                answer = str(peer(page=page, history=history or "none", question=question).answer)
            except Exception as error:  # noqa: BLE001 - whatever a module raises, it has not answered
                answer = type(error).__name__
        history += f"{question} {answer}\n"
        numbers = [one.value / (100 if one.unit == "percent" else 1) for one in find_quantities(answer)]
        turns.append(([answer.strip(" .").lower(), *numbers][-1], False, measured.usage))
    return turns


def is_near(answer: Any, gold: Any) -> bool:
    """Whether an answer is within 0.6% of gold, or the same word."""
    is_number = isinstance(answer, Decimal) and isinstance(gold, Decimal)
    return answer == gold or (is_number and any(math.isclose(answer * one, gold, rel_tol=0.006) for one in RATIOS))


BEAM, lm, rows = find_program("beam").program, LMConfig.parse(), list[Any]()
PEERS = (dspy.ChainOfThought(TASK), dspy.ReAct(TASK, tools=[calculate], max_iters=4), dspy.ProgramOfThought(TASK))
with dspy.context(**(lm_settings(lm) if lm is not None else {})):
    for system in (BEAM, *(PEERS if lm is not None else ())):
        done: list[Any] = []
        for one in load_conversations(sys.argv[1]).conversations:
            if len(done) < int(sys.argv[2]):
                done += [(*turn, gold) for turn, gold in zip(answered(system, one), one.answers or (), strict=True)]
        marks = [(is_near(a, g), exact_match(a, g), s, u.lm_calls, u.prompt_tokens, u.seconds) for a, s, u, g in done]
        means = [sum(map(float, one)) / len(done) for one in zip(*marks, strict=True)]
        rows.append([type(system).__name__, len(done), *means])
        print(format_table(("", "turns", "right", "exact", "sourced", "calls", "tokens", "seconds"), rows), flush=True)
