"""The program for one question: Understand, search, Aggregate, Answer.

    >>> program = BeamQA(ReportReader(ontology, scorer), DerivationConfig())
    >>> program(report=report, question="what were revenues in 2008?").turn.answer
    Decimal('9362.2')

With a language model (``dspy.configure(lm=…)``) a turn takes at most two calls. One interprets the question, for the
search. One gives evidence for each candidate, which is blended with the beam's score (:mod:`programs.evidence.config`).
Without a model the beam's own score selects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import dspy

from kg.candidates import (
    START,
    Candidate,
    DerivationConfig,
    Proposal,
    TurnSearch,
    WeightedHistory,
    confidence_features,
    fixed_history,
    search_turn,
)
from kg.derivations import PastTurn
from kg.errors import ConfigError, LMError
from kg.figures import ReportIndex
from kg.reports import Report
from kg.scoring import DerivationScorer, SearchHint
from programs.evidence import Evidence, EvidenceConfig, EvidencePlan, ScoredCandidates, can_choose, length_of
from programs.evidence import index as evidence_index
from programs.evidence import likelihood as evidence_likelihood
from programs.evidence import per_path as evidence_per_path
from programs.lm import NearestPredict, failure_of, metered
from programs.reports.question import Judgement, QuestionContext, TurnAnswerer, TurnOutcome
from programs.reports.reader import ReportReader
from programs.reports.text_reading import ReadingOutcome, ReportThoughts
from programs.turns import Turn, Usage
from programs.wording import (
    pick_among,
    understand_about,
    written_answer,
    written_candidates,
    written_history,
    written_line_items,
)
from signatures.aggregation import PickCandidate, RateCandidate
from signatures.understanding import Understand, Understanding

Chooser = Callable[[QuestionContext, TurnSearch], int | None]
"""Picks a candidate of a question by its place; ``None`` leaves the choice to the program."""


NEAREST = 3
"""Figures that a turn without an answer names."""


class BeamQA(dspy.Module):
    """Answers one question about a report.

    Args:
        reader: The ontology and the scorer.
        config: The beam's settings.
        evidence: The settings of the language models' evidence.
        agent: Makes the program that is asked where no candidate seems right and ``evidence.escalate`` is ``agent``.
        chooser: Picks candidates in place of the program.

    Raises:
        ConfigError: ``evidence`` escalates to an agent, and ``agent`` is ``None``.
    """

    needs_lm = False

    def __init__(
        self,
        reader: ReportReader,
        config: DerivationConfig | None = None,
        evidence: EvidenceConfig | None = None,
        *,
        agent: Callable[[ReportReader], TurnAnswerer] | None = None,
        chooser: Chooser | None = None,
    ) -> None:
        super().__init__()
        self.reader = reader
        self.config = config if config is not None else DerivationConfig()
        self.make_agent = agent
        self.chooser = chooser
        self.understand = NearestPredict(Understand)
        self.aggregate = NearestPredict(PickCandidate)
        self.set_evidence(evidence if evidence is not None else EvidenceConfig())

    @property
    def scorer(self) -> DerivationScorer | None:
        """The beam's weights."""
        return self.reader.scorer

    def set_evidence(self, evidence: EvidenceConfig) -> None:
        """Changes how language models help to choose, and makes the predictors that this needs."""
        self.evidence = evidence
        self.rate = dspy.Predict(RateCandidate) if evidence.evidence == "per-path" else None
        self.agent = None
        if evidence.escalate == "agent":
            if self.make_agent is None:
                raise ConfigError("escalate must not be 'agent' in a program that was given no agent")
            self.agent = self.make_agent(self.reader)
        self.thoughts = ReportThoughts(self.reader, evidence) if evidence.escalate == "thoughts" else None

    def forward(self, report: Report, question: str, history: Sequence[PastTurn] = ()) -> dspy.Prediction:
        """Answers a question.

        Args:
            report: The document.
            question: The question.
            history: The turns before it, with the answers that were given.

        Returns:
            A prediction with ``turn`` (a :class:`programs.turns.turn.Turn`) and ``answer``.
        """
        turn = self.answer(*self._read(report, question, history)).turn
        return dspy.Prediction(turn=turn, answer=written_answer(turn))

    def _read(self, report: Report, question: str, history: Sequence[PastTurn]) -> tuple[Any, ...]:
        _, index = self.reader.read(report)
        histories = fixed_history(index, history) if history else START
        return index, [*(turn.question for turn in history), question], histories, tuple(history)

    def answer(
        self,
        index: ReportIndex,
        questions: Sequence[str],
        histories: Sequence[WeightedHistory],
        past: Sequence[PastTurn],
    ) -> TurnOutcome:
        """Answers the last of ``questions``; an error of the model or the search becomes a failed turn.

        Args:
            index: The report's index.
            questions: All questions so far.
            histories: The histories that are kept.
            past: The answered turns, which the language model sees.
        """
        asked = QuestionContext(index, tuple(questions), tuple(histories), tuple(past))
        with metered() as measured:
            try:
                answered = self._answer(asked, measured.so_far)
            except Exception as error:  # noqa: BLE001 - failure_of raises all but the model's and the data's again
                failure, message = failure_of(error, measured.meter)
                turn = Turn(asked.question, failure=failure, message=message)
                answered = TurnOutcome(turn, tuple(history.after_failure() for history in asked.histories))
        return replace(answered, turn=replace(answered.turn, usage=measured.usage))

    def _answer(self, asked: QuestionContext, spent: Callable[[], Usage]) -> TurnOutcome:
        plan = self.evidence.plan_for(dspy.settings.lm)
        understanding: Understanding | None = None
        if plan.understand and dspy.settings.lm is not None:
            understanding = self._understand(asked)
        judgement = self._judge(asked, plan, understanding)
        grown: ReadingOutcome | None = None
        if judgement.judged.none >= self.evidence.none_above:
            if self.thoughts is not None:
                judge = partial(self._judge, plan=plan, understanding=understanding)
                grown = self.thoughts.grow(asked, judgement, judge, spent)
                asked, judgement = grown.asked, grown.judgement
            elif judgement.candidates and (self.agent is not None or self.evidence.refuse):
                return self._none_of_them(asked, judgement, understanding)
        answered = self._picked(asked, judgement, understanding)
        if grown is None:
            return answered
        turn = replace(answered.turn, escalated="thoughts", reading=grown.reading)
        return replace(answered, turn=turn, index=asked.index if grown.reading.inserted else None)

    def _judge(self, asked: QuestionContext, plan: EvidencePlan, understanding: Understanding | None) -> Judgement:
        """Runs the search and the aggregator."""
        found = search_turn(
            asked.index,
            asked.questions,
            asked.histories,
            self.reader.scorer,
            self.config,
            hint=_hint(understanding),
            proposal=_proposal(understanding),
        )
        shown = found.candidates[: plan.shown]
        if not shown:
            return Judgement(found, ScoredCandidates((), 1.0))
        scores = [candidate.score for candidate in shown]
        lengths = [length_of(candidate.derivation) for candidate in shown]
        evidence = None
        if dspy.settings.lm is not None and plan.asks(scores):
            evidence = self._gather(plan, shown, asked, understanding)
        judged = (plan.blend if evidence is not None else plan.alone).judge(scores, lengths, evidence)
        return Judgement(found, judged, evidence)

    def _picked(self, asked: QuestionContext, judgement: Judgement, understanding: Understanding | None) -> TurnOutcome:
        """The turn that the best candidate answers."""
        found, judged = judgement.found, judgement.judged
        if not found.candidates:
            message = "no derivation over the report's figures fits the question"
            turn = Turn(asked.question, failure="empty_beam", message=message, understanding=understanding)
            return TurnOutcome(turn, found.next_histories(self.config.histories))
        pick = self.chooser(asked, found) if self.chooser is not None else None
        if pick is None:
            weighed = judged.candidates if judgement.evidence is not None else None
            pick, following = judged.pick, found.next_histories(self.config.histories, judged=weighed)
        else:
            following = found.next_histories(self.config.histories, pick)
        chosen = found.candidates[pick]
        confidence = judged.candidates[pick] if pick < len(judged.candidates) else 0.0
        fitted = self.reader.scorer.confidence
        if fitted is not None and judgement.evidence is None and pick == 0:
            calibrated = fitted.judge(confidence_features(found))
            confidence = calibrated.right
            if calibrated.answerable < fitted.least_answerable and self.evidence.answer == "confident":
                return TurnOutcome(_abstained(asked, found, confidence), following)
        turn = Turn(
            question=asked.question,
            answer=chosen.answer,
            derivation=chosen.derivation,
            candidates=found.candidates,
            pick=pick,
            confidence=confidence,
            understanding=understanding,
            evidence=judgement.evidence,
        )
        return TurnOutcome(turn, following)

    def _understand(self, asked: QuestionContext) -> Understanding:
        inputs = {
            "history": written_history(asked.past),
            "line_items": written_line_items(asked.index),
            "question": asked.question,
            "signature": understand_about(self.understand.signature, asked.index),
        }
        understanding: Understanding = self.understand(**inputs).understanding
        return understanding

    def _gather(
        self,
        plan: EvidencePlan,
        shown: Sequence[Candidate],
        asked: QuestionContext,
        understanding: Understanding | None,
    ) -> Evidence:
        """The model's evidence for the candidates that are shown."""
        lm = dspy.settings.lm
        if plan.mode != "index" and can_choose(lm):
            about = (shown, asked.past, asked.question, asked.index)
            if plan.mode == "likelihood":
                shots = self.evidence.demonstrations
                return evidence_likelihood.by_likelihood(lm, *about, shots, prior=plan.prior)
            return evidence_per_path.by_choice(lm, *about)
        if plan.mode == "likelihood":
            raise LMError(f"{lm.model} does not say how probable a given reply is: choose another mode of evidence")
        inputs = {
            "history": written_history(asked.past),
            "question": asked.question,
            "meaning": understanding.description if understanding is not None else asked.question,
        }
        if self.rate is not None:
            rated = []
            for one in shown:
                reply = self.rate(**inputs, candidate=written_candidates([one], asked.index).partition(". ")[2])
                rated.append(evidence_per_path.rating_of(reply))
            return evidence_per_path.evidence_of(rated)
        inputs["candidates"] = written_candidates(shown, asked.index)
        inputs["signature"] = pick_among(self.aggregate.signature, len(shown))
        replies = [
            self.aggregate(**inputs, config=evidence_index.sampling(lm, number))
            for number in range(self.evidence.samples)
        ]
        return evidence_index.evidence_of(replies, len(shown))

    def _none_of_them(
        self, asked: QuestionContext, judgement: Judgement, understanding: Understanding | None
    ) -> TurnOutcome:
        """The turn that escalates to the agent, or is refused."""
        found, judged, evidence = judgement.found, judgement.judged, judgement.evidence
        weighed = judged.candidates if evidence is not None else None
        histories = found.next_histories(self.config.histories, judged=weighed)
        about: dict[str, Any] = {"candidates": found.candidates, "understanding": understanding, "evidence": evidence}
        if self.agent is not None:
            turn = self.agent.answer(asked.index, asked.questions, asked.histories, asked.past).turn
            if turn.answer is not None:
                places = [place for place, one in enumerate(found.candidates) if one.answer == turn.answer]
                candidates = found.candidates if places else (*found.candidates, *turn.candidates)
                pick = places[0] if places else len(found.candidates)
                escalated = replace(turn, **{**about, "candidates": candidates}, pick=pick, escalated="agent")
                return TurnOutcome(escalated, fixed_history(asked.index, (*asked.past, escalated.past())))
        message = f"none of the candidates seems right (probability {judged.none:.2f})"
        escalated_to = "agent" if self.agent is not None else None
        failed = Turn(asked.question, failure="picked_none", message=message, escalated=escalated_to, **about)
        return TurnOutcome(failed, histories)


def _abstained(asked: QuestionContext, found: TurnSearch, confidence: float) -> Turn:
    """The turn that names the nearest figures of the report in place of an answer."""
    nearest = dict.fromkeys(number.path for one in found.candidates for number in one.derivation.numbers if number.path)
    shown = "; ".join(list(nearest)[:NEAREST])
    message = f"the report does not say; the nearest figures are: {shown}" if shown else "the report does not say"
    return Turn(
        asked.question,
        failure="not_answered",
        message=message,
        candidates=found.candidates,
        confidence=confidence,
    )


def _hint(understanding: Understanding | None) -> SearchHint | None:
    if understanding is None:
        return None
    return SearchHint(tuple(understanding.properties), tuple(understanding.periods), understanding.operation)


def _proposal(understanding: Understanding | None) -> Proposal | None:
    """The calculation that the model names itself; ``None`` where it names no operand."""
    if understanding is None or not understanding.operands:
        return None
    return Proposal(understanding.operation, tuple(understanding.operands))
