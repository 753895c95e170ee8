"""Demonstrations for evidence by likelihood: turns of training conversations with their gold derivations written out.

    >>> shown = choose_demonstrations(examples, reader, count=10, seed=0)
    >>> shown.demonstrations[0].reply
    'ans1 - [net income, 2008]'

Each calculation is shown in proportion to the square root of its frequency, so rare ones are included.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import dspy
import numpy as np

from kg.derivations import Derivation, Number, PastTurn, collapse
from kg.errors import DataError, ProgramError
from kg.figures import ReportIndex
from programs.evidence import Demonstration, written_conversation, written_derivation
from programs.worlds.reader import ReportReader

LONGEST_HISTORY = 3
"""Earlier turns of a demonstration at the most: what is shown is read at least once."""


@dataclass(frozen=True)
class ShownTurns:
    """Demonstrations, with the places of their conversations.

    Attributes:
        demonstrations: In the order of the prompt.
        conversations: Places of their conversations among the examples; they must not be
            used to judge a model that is shown them.
    """

    demonstrations: tuple[Demonstration, ...]
    conversations: frozenset[int]


def choose_demonstrations(
    examples: Sequence[dspy.Example], reader: ReportReader, *, count: int, seed: int
) -> ShownTurns:
    """Selects turns of different conversations, by their calculations.

    Args:
        examples: Conversation examples: ``report``, ``questions`` and ``programs``.
        reader: Reads the reports.
        count: The number of demonstrations.
        seed: Of the choice among turns with the same calculation.

    Raises:
        DataError: No turn has a gold derivation whose figures are in its report's graph.
    """
    order = np.random.default_rng(seed).permutation(len(examples))
    by_form: dict[str, list[tuple[int, Demonstration]]] = defaultdict(list)
    for place in order:
        for form, demonstration in _demonstrations(examples[place], reader):
            by_form[form].append((int(place), demonstration))
    if not by_form:
        raise DataError("no training turn can be shown: none has a derivation whose figures are in its report's graph")
    chosen: list[tuple[int, Demonstration]] = []
    for form, quota in _quotas({form: len(turns) for form, turns in by_form.items()}, count).items():
        wanted = quota
        for place, demonstration in by_form[form]:
            if wanted and place not in {used for used, _ in chosen}:
                chosen.append((place, demonstration))
                wanted -= 1
    mixed = np.random.default_rng(seed).permutation(len(chosen))
    return ShownTurns(tuple(chosen[place][1] for place in mixed), frozenset(place for place, _ in chosen))


def _quotas(counts: Mapping[str, int], total: int) -> dict[str, int]:
    """Returns the number of each form, by the square root of its frequency, the commonest first, at least one each."""
    names = sorted(counts, key=lambda name: (-counts[name], name))[:total]
    weight = sum(sqrt(counts[name]) for name in names)
    quotas = {name: max(1, int(total * sqrt(counts[name]) / weight)) for name in names}
    for name in names:
        if sum(quotas.values()) >= total:
            break
        quotas[name] += 1
    kept: dict[str, int] = {}
    for name in names:
        kept[name] = min(quotas[name], total - sum(kept.values()))
    return {name: wanted for name, wanted in kept.items() if wanted}


def _demonstrations(example: dspy.Example, reader: ReportReader) -> Iterator[tuple[str, Demonstration]]:
    """Returns the turns of a conversation that can be shown, each with the form of its calculation."""
    _, index = reader.read(example.report)
    past = gold_turns(example, index)
    for place, turn in enumerate(past[: LONGEST_HISTORY + 1]):
        if turn.derivation is None or any(earlier.derivation is None for earlier in past[:place]):
            return
        before = past[:place]
        collapsed = collapse(turn.derivation, [earlier.derivation for earlier in before])
        if collapsed is not None:
            reply = written_derivation(turn.derivation, before, index)
            asked = written_conversation(before, turn.question, index, derivations=True)
            yield collapsed.form, Demonstration(asked, reply)


def gold_turns(example: dspy.Example, index: ReportIndex) -> list[PastTurn]:
    """Returns a conversation's turns with their gold derivations, up to one that cannot be executed.

    A figure that the report's graph does not hold leaves its turn without a derivation.
    """
    turns: list[PastTurn] = []
    for question, program in zip(example.questions, example.programs, strict=True):
        derivation = Derivation.parse(program)
        try:
            answer = derivation.execute(example.report.table)
        except ProgramError:
            return turns
        turns.append(PastTurn(question, with_sources(derivation, index, question), answer))
    return turns


def with_sources(derivation: Derivation, index: ReportIndex, question: str) -> Derivation | None:
    """Returns a derivation whose figures have their most likely sources; ``None`` if one is not in the report."""
    places = index.align(derivation, question)
    if len(places) != len(derivation.numbers):
        return None
    found = iter(index.observations[place] for place in places)
    steps = []
    for step in derivation.steps:
        operands = [
            replace(operand, path=(seen := next(found)).path, source=seen.id)
            if isinstance(operand, Number)
            else operand
            for operand in step.operands
        ]
        steps.append(replace(step, operands=tuple(operands)))
    return Derivation(tuple(steps))
