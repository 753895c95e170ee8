"""The data that programs for one question exchange: the question, the scored candidates, and the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kg.candidates import Candidate, TurnSearch, WeightedHistory
from kg.derivations import PastTurn
from kg.figures import ReportIndex
from kg.scoring import Confidence, DerivationScorer
from programs.evidence import Abstention, Evidence, EvidenceConfig, ScoredCandidates
from programs.reports.reader import ReportReader
from programs.turns import Turn
from signatures.page import PageReading
from signatures.understanding import Understanding


@dataclass(frozen=True)
class QuestionContext:
    """A question about a report with its context.

    Attributes:
        index: The report's index.
        questions: All questions so far; the last is the one asked.
        histories: The histories of earlier turns with their weights.
        past: The answered turns, which the language model sees.
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
    """The candidates of a search, and the probability of each.

    Attributes:
        found: The candidates.
        judged: Their probabilities, and that of none of them.
        evidence: The language model's evidence on them, if it was asked.
        offered: The candidates with the one that the language model named; empty where it named none.
        understanding: The language model's reading of the question, if it was asked.
        trusted: Whether the language model decides.
        abstention: The weights by which a turn abstains where the model was asked; ``None`` for the search's own.
    """

    found: TurnSearch
    judged: ScoredCandidates
    evidence: Evidence | None = None
    offered: tuple[Candidate, ...] = ()
    understanding: Understanding | PageReading | None = None
    trusted: bool = False
    abstention: Abstention | None = None

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates, best first."""
        return self.offered if self.offered else self.found.candidates

    @property
    def refuses(self) -> bool:
        """Whether the language model decides, and finds that no candidate is right."""
        return self.trusted and self.judged.none > max(self.judged.candidates, default=0.0)

    @property
    def leaves_none_to_the_search(self) -> bool:
        """Whether the model compared given candidates and does not decide: it was not asked if the report answers."""
        return self.evidence is not None and self.evidence.mode == "likelihood" and not self.trusted

    def abstains(self, searched: Confidence, least: float) -> bool:
        """Whether the report does not seem to answer the question.

        Args:
            searched: The search's own probabilities.
            least: The search's own probability in [0, 1] below which it abstains.
        """
        if self.abstention is None or self.evidence is None or self.evidence.none is None:
            return searched.answerable < least
        return self.abstention.judge(searched.answerable, self.evidence.none) < self.abstention.least


@dataclass(frozen=True)
class TurnOutcome:
    """A turn, and the state for the next question.

    Attributes:
        turn: The turn.
        histories: The histories of earlier turns with their weights.
        index: The report's index with what the turn read from its text; ``None`` where it read nothing.
    """

    turn: Turn
    histories: tuple[WeightedHistory, ...]
    index: ReportIndex | None = None


class TurnAnswerer(Protocol):
    """A program for one question about a report.

    Attributes:
        reader: The ontology, and the reports that were read with it.
        config: Its settings.
        needs_lm: Whether it answers nothing without a language model.
    """

    reader: ReportReader
    config: Any
    needs_lm: bool

    @property
    def scorer(self) -> DerivationScorer | None:
        """The beam's weights; ``None`` for a program that does not search by them."""
        ...

    @property
    def evidence(self) -> EvidenceConfig | None:
        """The settings of the choice among candidates; ``None`` for a program that has none."""
        ...

    def set_evidence(self, evidence: EvidenceConfig) -> None:
        """Changes how language models help to choose.

        Raises:
            ConfigError: The program chooses among no candidates.
        """
        ...

    def named_predictors(self) -> list[tuple[str, Any]]:
        """The prompts, as every ``dspy.Module`` names them."""
        ...

    def answer(
        self,
        index: ReportIndex,
        questions: Sequence[str],
        histories: Sequence[WeightedHistory],
        past: Sequence[PastTurn],
    ) -> TurnOutcome:
        """Answers the last of ``questions``; an error of the model or the data becomes a turn that failed."""
        ...
