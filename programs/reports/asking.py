"""What the programs for one question hand to each other: what is asked, what the search found, what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from kg.derivations import Candidate, PastTurn, ReportIndex, TurnSearch, WeightedHistory
from programs.evidence import Evidence, Judged
from programs.turns import Turn


@dataclass(frozen=True)
class Asked:
    """A question about a report, with all that led to it.

    Attributes:
        index: The report's index.
        questions: All questions so far; the last is the one asked.
        histories: The histories that are kept.
        past: The turns as they were answered, which the language model is told.
    """

    index: ReportIndex
    questions: tuple[str, ...]
    histories: tuple[WeightedHistory, ...]
    past: tuple[PastTurn, ...]

    @property
    def question(self) -> str:
        """The question that is asked."""
        return self.questions[-1]


@dataclass(frozen=True)
class Judgement:
    """What a search proposed, and how probable each candidate is.

    Attributes:
        found: The candidates.
        judged: Their probabilities, and that of none of them.
        evidence: What the language model made of them, if it was asked.
    """

    found: TurnSearch
    judged: Judged
    evidence: Evidence | None = None

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates, best first."""
        return self.found.candidates


@dataclass(frozen=True)
class Answered:
    """A turn, and where the next question goes on from.

    Attributes:
        turn: The turn.
        histories: The histories that are kept.
        index: The report's index with what the turn read from its text; ``None`` where it read nothing.
    """

    turn: Turn
    histories: tuple[WeightedHistory, ...]
    index: ReportIndex | None = None
