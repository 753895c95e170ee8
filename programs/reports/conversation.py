"""The program for a conversation: its questions in order, each with the program's own earlier answers.

>>> program = create_program("beam", ontology=ontology, scorer=scorer)
>>> [turn.answer for turn in program(report=report, questions=["revenues in 2008?", "and in 2007?"]).turns]
[Decimal('9362.2'), Decimal('9244.9')]
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import dspy

from kg.derivations import (
    START,
    DerivationConfig,
    DerivationScorer,
    PastTurn,
    ReportIndex,
    WeightedHistory,
    fixed_history,
)
from kg.errors import ConfigError, FinpathError
from kg.reports import Ontology, Report
from programs.evidence import EvidenceConfig
from programs.reports.agent import AgentConfig, AgentQA
from programs.reports.asking import Answered
from programs.reports.beam import BeamQA
from programs.turns import Conversation, Exchange, Turn
from programs.wording import currency_sign, spoken_answer

__all__ = ["Conversation", "ConversationQA", "ConversationState", "Exchange"]


@dataclass(frozen=True)
class ConversationState:
    """Where a conversation stands.

    Attributes:
        index: The report's index, with what the turns have read from its text.
        turns: The turns so far.
        histories: The histories of own answers that are kept.
    """

    index: ReportIndex
    turns: tuple[Turn, ...] = ()
    histories: tuple[WeightedHistory, ...] = START


class ConversationQA(dspy.Module):
    """Answers the questions of a conversation about one report.

    Args:
        turn: The program for one question.
        kind: The name under which :mod:`programs.registry` makes such a program.
    """

    def __init__(self, turn: BeamQA | AgentQA, kind: str = "beam") -> None:
        super().__init__()
        self.turn = turn
        self.kind = kind

    @property
    def ontology(self) -> Ontology:
        """The frozen ontology."""
        return self.turn.reader.ontology

    @property
    def scorer(self) -> DerivationScorer | None:
        """The beam's weights; ``None`` for a program that does not search by them."""
        return self.turn.reader.scorer if isinstance(self.turn, BeamQA) else None

    @property
    def config(self) -> DerivationConfig | AgentConfig:
        """The settings of the program for one question."""
        return self.turn.config

    @property
    def evidence(self) -> EvidenceConfig | None:
        """How language models help to choose among candidates; ``None`` for a program that has none."""
        return self.turn.evidence if isinstance(self.turn, BeamQA) else None

    @evidence.setter
    def evidence(self, evidence: EvidenceConfig) -> None:
        if not isinstance(self.turn, BeamQA):
            raise ConfigError(f"a program of kind {self.kind!r} chooses among no candidates: evidence must not be set")
        self.turn.set_evidence(evidence)

    @property
    def needs_lm(self) -> bool:
        """Whether it answers nothing without a language model."""
        return isinstance(self.turn, AgentQA)

    def forward(
        self, report: Report, questions: Sequence[str], past: Sequence[PastTurn] | None = None
    ) -> dspy.Prediction:
        """Answers all questions, in order.

        Args:
            report: The document.
            questions: The questions.
            past: Answers to take for the earlier ones in place of the program's own; question ``i`` then sees
                ``past[:i]``. For diagnosis only.

        Returns:
            A prediction with ``turns``, one :class:`programs.turns.turn.Turn` a question. A report that cannot be read
            makes every turn a failed one.
        """
        try:
            state = self.start(report)
        except FinpathError as error:
            return _unreadable(questions, error)
        for place, question in enumerate(questions):
            known = None if past is None else past[:place]
            state = self.ask(state, question, known)
        return dspy.Prediction(turns=list(state.turns))

    async def aforward(
        self, report: Report, questions: Sequence[str], past: Sequence[PastTurn] | None = None
    ) -> dspy.Prediction:
        """:meth:`forward`, while other work goes on."""
        try:
            state = await asyncio.to_thread(self.start, report)
        except FinpathError as error:
            return _unreadable(questions, error)
        for place, question in enumerate(questions):
            known = None if past is None else past[:place]
            state = await self.aask(state, question, known)
        return dspy.Prediction(turns=list(state.turns))

    def start(self, report: Report) -> ConversationState:
        """The beginning of a conversation about a report.

        Raises:
            FinpathError: The report's graph cannot be built.
        """
        _, index = self.turn.reader.read(report)
        return ConversationState(index)

    def with_turn(self, state: ConversationState, turn: Turn) -> ConversationState:
        """The conversation after a turn that was answered before and kept; its histories are whoever's who kept it."""
        read = turn.reading.inserted if turn.reading is not None else ()
        index = self.turn.reader.enlarged(state.index, read) if read else state.index
        return replace(state, index=index, turns=(*state.turns, turn))

    def ask(self, state: ConversationState, question: str, past: Sequence[PastTurn] | None = None) -> ConversationState:
        """The conversation after one more question, whose turn is the last of ``turns``."""
        asked = _asked(state, question, past)
        return self._with(state, self.turn.answer(*asked))

    async def aask(
        self, state: ConversationState, question: str, past: Sequence[PastTurn] | None = None
    ) -> ConversationState:
        """:meth:`ask`, while other work goes on."""
        asked = _asked(state, question, past)
        if isinstance(self.turn, BeamQA):
            return self._with(state, await self.turn.aanswer(*asked))
        return self._with(state, await asyncio.to_thread(self.turn.answer, *asked))

    def _with(self, state: ConversationState, answered: Answered) -> ConversationState:
        index = answered.index if answered.index is not None else state.index
        turn = replace(answered.turn, words=self._words(index, answered.turn))
        return ConversationState(index, (*state.turns, turn), answered.histories)

    def _words(self, index: ReportIndex, turn: Turn) -> str:
        """A turn's answer as a person would say it."""
        if turn.answer is None or turn.derivation is None:
            return ""
        sign = currency_sign(self.turn.reader.graph_of(index).report)
        return spoken_answer(turn.derivation, turn.answer, turn.question, index.observations, sign)


def _asked(
    state: ConversationState, question: str, past: Sequence[PastTurn] | None
) -> tuple[ReportIndex, list[str], tuple[WeightedHistory, ...], tuple[PastTurn, ...]]:
    """What the program for one question is given."""
    known = tuple(turn.past() for turn in state.turns) if past is None else tuple(past)
    histories = state.histories if past is None else fixed_history(state.index, past)
    return state.index, [*(turn.question for turn in known), question], histories, known


def _unreadable(questions: Sequence[str], error: FinpathError) -> dspy.Prediction:
    message = f"{type(error).__name__}: {error}"
    return dspy.Prediction(turns=[Turn(question, failure="error", message=message) for question in questions])
