"""The upper bound of selection: the right candidate is selected wherever it is among the ten shown.

    saved = with_gold_pick(find_program("beam"), data.conversations)
    evaluate(saved, ConvFinQA(data))       # what a perfect aggregator would reach with this search

Later turns use the selected candidate, as for any program. This diagnosis sees gold answers, so its figures are no
result of a program; runs and names show that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace

from experiments.data import ConversationRecord
from experiments.saved import SavedProgram
from kg.candidates import TurnSearch
from kg.derivations import Answer
from kg.errors import ConfigError
from kg.reports import Report
from kg.search import merge_key
from programs.reports import BeamQA, Chooser, ConversationQA, QuestionContext, ReportReader

SHOWN = 10
"""Candidates among which an aggregator picks."""

NAME = "gold picked (a ceiling)"
"""The suffix of the program's name."""


def gold_chooser(reader: ReportReader, gold: Mapping[tuple[Report, tuple[str, ...]], Answer]) -> Chooser:
    """Picks the right candidate, if it is among those that are shown.

    Args:
        reader: The reader of the program that is asked.
        gold: The right answer to the last of some questions about a report.
    """

    def choose(asked: QuestionContext, found: TurnSearch) -> int | None:
        answer = gold.get((reader.graph_of(asked.index).report, asked.questions))
        if answer is None:
            return None
        right = merge_key(answer)
        return next(
            (place for place, one in enumerate(found.candidates[:SHOWN]) if merge_key(one.answer) == right), None
        )

    return choose


def with_gold_pick(saved: SavedProgram, conversations: Sequence[ConversationRecord]) -> SavedProgram:
    """A program that picks the right candidate of each of some conversations' turns.

    Raises:
        ConfigError: It picks among no candidates, or a conversation has no gold.
    """
    if not isinstance(saved.program.turn, BeamQA):
        raise ConfigError(f"pick can be gold only where candidates are picked among, got {saved.program.kind!r}")
    gold: dict[tuple[Report, tuple[str, ...]], Answer] = {}
    for one in conversations:
        if one.answers is None:
            raise ConfigError(f"pick can be gold only where gold is known; conversation {one.id!r} has none")
        for place, answer in enumerate(one.answers, start=1):
            gold[one.report, one.questions[:place]] = answer
    turn = copy(saved.program.turn)
    turn.chooser = gold_chooser(turn.reader, gold)
    program = ConversationQA(turn, saved.program.kind)
    files = {**saved.config.get("files", {}), NAME: ""}  # another program than the saved one, for what goes on
    return replace(saved, program=program, changes=(*saved.changes, NAME), config={**saved.config, "files": files})
