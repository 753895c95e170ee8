"""Labels of the choice among candidates, from gold answers.

>>> [example] = with_choices([example], turn)
>>> example.candidates.splitlines()[-2:], example.choice
(['1. subtract([r1c1], [r1c2]) = -2', '2. [r1c2] = 12'], 1)

The candidates are those of the program's own search after the gold history. A demonstration shows a few of them in an
order drawn by its question: the search has seen most training pages, so its own order would put the right one first.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import dspy

from kg.candidates import fixed_history, search_turn
from kg.errors import FinpathError
from kg.reports import Report
from kg.search import merge_key
from optimize.prompts.pages import CONFIDENCE, identified
from programs.beam import BeamQA
from programs.worlds.page import PageFigures, merged, written_evidence, written_turns

SHOWN = 4
"""Candidates of a demonstration."""

CONSIDERED = 10
"""Candidates of the search among which the right one is looked for; without it, the label is 0."""


def with_choices(examples: Sequence[dspy.Example], turn: BeamQA) -> list[dspy.Example]:
    """Returns the turn examples whose choice can be labelled, with ``candidates`` and ``choice``.

    Args:
        examples: Turn examples; one without ``meaning`` is left out, as its question cannot be spelled out.
        turn: The program for one question, which searches.
    """
    found = ((example, _label(example, turn)) for example in examples if "meaning" in example)
    return [example.copy(**label) for example, label in found if label is not None]


def _label(example: dspy.Example, turn: BeamQA) -> dict[str, object] | None:
    report: Report = example.report.report
    try:
        _, index = turn.reader.read(report)
        figures = PageFigures(index)
        past = [identified(one, figures) for one in example.history.turns]
        questions = [*(one.question for one in past), example.question]
        found = search_turn(index, questions, fixed_history(index, past), turn.reader.scorer, turn.config)
    except FinpathError:
        return None
    best = found.candidates[:CONSIDERED]
    shown = [best[places[0]] for places in merged(best, past)]
    right = [one for one in shown if merge_key(one.answer) == merge_key(example.answer)][:1]
    wrong = [one for one in shown if merge_key(one.answer) != merge_key(example.answer)]
    listed = [*right, *wrong[: SHOWN - len(right)]]
    if len(listed) < 2:
        return None
    random.Random(example.question).shuffle(listed)
    return {
        "candidates": written_evidence(listed, report, index, past),
        "choice": listed.index(right[0]) + 1 if right else 0,
        "confidence": CONFIDENCE,
        "conversation": written_turns(past),
    }
