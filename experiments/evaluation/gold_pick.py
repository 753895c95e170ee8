"""The ceiling of picking, as a diagnosis: the right candidate is picked wherever it is among the ten that are shown.

    saved = with_gold_pick(find_program("beam"), data.conversations)
    evaluate(saved, data, EvaluationConfig())       # what a perfect aggregator would reach with this search

What is picked is what later turns go on from, as for a program that picked it by itself. It sees gold answers, so its
figures are no result of any program; runs and names say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from experiments.data.conversations import Conversation
from experiments.saved.programs import SavedProgram
from kg.derivations import Answer, TurnSearch, WeightedHistory
from kg.errors import ConfigError
from kg.reports import Report
from kg.search import merge_key
from programs.evidence import Judged
from programs.reports import Asked, BeamQA, ConversationQA

SHOWN = 10
"""Candidates among which an aggregator picks."""

NAME = "gold picked (a ceiling)"
"""What is added to the program's name."""


class GoldPick(BeamQA):
    """A program that is told the right answers.

    Args:
        turn: The program for one question.
        gold: The right answer to the last of some questions about a report.
    """

    def __init__(self, turn: BeamQA, gold: dict[tuple[Report, tuple[str, ...]], Answer]) -> None:
        super().__init__(turn.reader, turn.config, turn.evidence)
        self.gold = gold

    def choose(
        self, asked: Asked, found: TurnSearch, judged: Judged, *, weighed: bool
    ) -> tuple[int, tuple[WeightedHistory, ...]]:
        """The right candidate, if it is among those that are shown; else the program's own choice."""
        answer = self.gold.get((self.reader.graph_of(asked.index).report, asked.questions))
        shown = found.candidates[:SHOWN]
        right = [
            place
            for place, one in enumerate(shown)
            if answer is not None and merge_key(one.answer) == merge_key(answer)
        ]
        if not right:
            return super().choose(asked, found, judged, weighed=weighed)
        return right[0], found.next_histories(self.config.histories, right[0])


def with_gold_pick(saved: SavedProgram, conversations: Sequence[Conversation]) -> SavedProgram:
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
    program = ConversationQA(GoldPick(saved.program.turn, gold), saved.program.kind)
    files = {**saved.config.get("files", {}), NAME: ""}  # another program than the saved one, for what goes on
    return replace(saved, program=program, name=f"{saved.name}, {NAME}", config={**saved.config, "files": files})
