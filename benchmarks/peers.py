"""finpath and three programs that a DSPy user would write: one model, the same turns, each after its own answers.

    FINPATH_LM=local python benchmarks/peers.py convfinqa/dev.json --turns 25 --rows rows.jsonl --program my-beam

Whole conversations are drawn by a hash until there are so many turns. Right is within 0.6% of gold, 12% also as 12;
exact is the official score; sourced has figures with a place. Brackets are 95% intervals over conversations. A stopped
run continues from its rows. ProgramOfThought runs the model's code in DSPy's interpreter, and is left out without Deno.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from shutil import which
from typing import Any

import dspy

from experiments.console import format_table
from experiments.data import load_conversations
from experiments.lms import LMConfig, lm_settings
from experiments.saved import find_program
from kg.text import find_quantities
from optimize.metrics import exact_match
from optimize.metrics.turns import with_intervals
from programs.turns import metered

TASK, RATIOS = "page, history, question -> answer", (1, 100, Decimal("0.01"))
MARKS = ("right", "exact", "sourced", "calls", "tokens", "seconds")


def calculate(expression: str) -> str:
    """Calculates an expression of numbers, + - * / and parentheses."""
    is_plain = set(expression) <= set("0123456789.+-*/() ") and "**" not in expression  # a power may take for ever
    return str(eval(expression)) if is_plain else "numbers and + - * / alone"


def answered(peer: Any, conversation: Any) -> Iterator[tuple[Any, bool, Any]]:
    """The answer of each turn, whether it has sources, and its usage."""
    report, history = conversation.report, ""
    if hasattr(peer, "turn"):
        state = peer.start(peer.world(report))
        for question in conversation.questions:
            state = peer.ask(state, question)
            one = state.turns[-1]
            yield one.answer, one.answer is not None and bool(one.derivation.numbers), one.usage
        return
    page = "\n".join([*report.pre_text, *map(" | ".join, report.table), *report.post_text])
    for question in conversation.questions:
        with metered() as measured:
            try:
                answer = str(peer(page=page, history=history or "none", question=question).answer)
            except Exception as error:  # noqa: BLE001 - whatever a module raises, it has not answered
                answer = type(error).__name__
        history += f"{question} {answer}\n"
        numbers = [one.value / (100 if one.unit == "percent" else 1) for one in find_quantities(answer)]
        yield [answer.strip(" .").lower(), *numbers][-1], False, measured.usage


def is_near(answer: Any, gold: Any) -> bool:
    """Whether an answer is within 0.6% of gold, or the same word."""
    is_number = type(answer) is type(gold) is Decimal
    return answer == gold or (is_number and any(math.isclose(answer * one, gold, rel_tol=0.006) for one in RATIOS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--turns", type=int, default=25)
    parser.add_argument("--rows", type=Path, required=True, help="a line for each turn and system")
    parser.add_argument("--program", default="beam", help="finpath's program")
    parser.add_argument("--systems", nargs="*", help="some systems by name; by default all")
    given, lm = parser.parse_args(), LMConfig.parse()
    written = [dspy.ChainOfThought(TASK), dspy.ReAct(TASK, [calculate], max_iters=4)]
    written += [dspy.ProgramOfThought(TASK)] if which("deno") else []
    peers = {given.program: find_program(given.program).program, **{type(one).__name__: one for one in written}}
    talks = sorted(
        load_conversations(given.data).conversations, key=lambda one: hashlib.sha256(one.id.encode()).hexdigest()
    )
    rows = [json.loads(line) for line in given.rows.read_text().splitlines()] if given.rows.exists() else []
    with given.rows.open("a", 1) as file, dspy.context(**(lm_settings(lm) if lm is not None else {})):
        for place, talk in enumerate(talks):
            if sum(len(one.questions) for one in talks[:place]) >= given.turns:
                break
            for name in given.systems or (list(peers) if lm is not None else [given.program]):
                if [name, talk.id] in [row[:2] for row in rows]:
                    continue
                for (answer, sourced, used), gold in zip(answered(peers[name], talk), talk.answers or (), strict=True):
                    marks = map(float, (is_near(answer, gold), exact_match(answer, gold), sourced))
                    rows.append([name, talk.id, *marks, used.lm_calls, used.prompt_tokens, used.seconds])
                    file.write(json.dumps(rows[-1]) + "\n")
    print(format_table(("", "turns", *MARKS), [figures(name, rows) for name in dict.fromkeys(row[0] for row in rows)]))


def figures(name: str, rows: list[Any]) -> list[Any]:
    """The means of a system with their intervals."""
    groups, *columns = zip(*(row[1:] for row in rows if row[0] == name), strict=True)
    means = with_intervals(groups, {key: (one, None) for key, one in zip(MARKS, columns, strict=True)}, seed=0)
    shown = [f"{means[one]:.3g} [{means[f'{one}_low']:.3g}, {means[f'{one}_high']:.3g}]" for one in MARKS]
    return [name, len(groups), *shown]


if __name__ == "__main__":
    main()
