"""Demonstrations for evidence by likelihood: turns of training conversations with their gold derivations written out.

>>> shown = choose_demonstrations(examples, reader, count=10, seed=0)
>>> shown.demonstrations[0].reply
'ans1 - [net income, 2008]'
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import dspy
import numpy as np

from kg.calculations import ReportIndex
from kg.errors import DataError, ProgramError
from kg.search import Derivation, PastTurn, collapse
from programs.evidence import Demonstration, written_conversation, written_derivation
from programs.worlds.page import PageFigures
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
    """Selects turns of different conversations, one of each form of calculation after the other, commonest first.

    Args:
        examples: Conversation examples: ``report``, ``questions`` and ``programs``.
        reader: Reads the reports.
        count: The number of demonstrations.
        seed: Of the choice among turns with the same calculation.

    Raises:
        DataError: No turn has a gold derivation whose figures are in its report's graph.
    """
    by_form: dict[str, list[tuple[int, Demonstration]]] = defaultdict(list)
    for place in np.random.default_rng(seed).permutation(len(examples)).tolist():
        for form, demonstration in _demonstrations(examples[place], reader):
            by_form[form].append((place, demonstration))
    if not by_form:
        raise DataError("no training turn can be shown: none has a derivation whose figures are in its report's graph")
    chosen: dict[int, Demonstration] = {}
    queues = sorted(by_form.values(), key=len, reverse=True)
    for turn in (turn for turns in zip_longest(*queues) for turn in turns if turn is not None):
        if len(chosen) < count:
            chosen.setdefault(*turn)
    return ShownTurns(tuple(chosen.values()), frozenset(chosen))


def _demonstrations(example: dspy.Example, reader: ReportReader) -> list[tuple[str, Demonstration]]:
    """Returns the turns of a conversation that can be shown, each with the form of its calculation."""
    _, index = reader.read(example.report)
    past = gold_turns(example, index)
    shown = []
    for place, turn in enumerate(past[: LONGEST_HISTORY + 1]):
        if turn.derivation is None:
            break
        before = past[:place]
        collapsed = collapse(turn.derivation, [earlier.derivation for earlier in before])
        if collapsed is not None:
            asked = written_conversation(before, turn.question, index, derivations=True)
            reply = written_derivation(turn.derivation, before, index)
            shown.append((collapsed.form, Demonstration(asked, reply)))
    return shown


def gold_turns(example: dspy.Example, index: ReportIndex) -> list[PastTurn]:
    """Returns a conversation's turns with their gold derivations, up to one that cannot be executed.

    A figure that the report's graph does not hold leaves its turn without a derivation.
    """
    turns: list[PastTurn] = []
    figures = PageFigures(index)
    for question, program in zip(example.questions, example.programs, strict=True):
        derivation = Derivation.parse(program)
        try:
            answer = derivation.execute(example.report.table)
        except ProgramError:
            return turns
        turns.append(PastTurn(question, figures.identified(derivation, question), answer))
    return turns
