"""The program for one question: Understand, search, Aggregate, Answer.

    >>> program = BeamQA(ReportReader(ontology, scorer), DerivationConfig())
    >>> program(report=report, question="what were revenues in 2008?").turn.answer
    Decimal('9362.2')

With a language model (``dspy.configure(lm=…)``) a turn takes at most two calls, and a third where a calculation is
refused. One reads the page and names a calculation, which joins the candidates (:mod:`programs.reports.page_answer`),
or interprets the question for the search. One chooses among the candidates, unless the named one is the search's best
too. The choice is blended with the beam's score (:mod:`programs.evidence.config`). Without a model the beam's own
score selects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import exp
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
from kg.errors import ConfigError
from kg.figures import ReportIndex
from kg.reports import Report
from kg.scoring import DerivationScorer, SearchHint
from kg.search import merge_key
from programs.evidence import Evidence, EvidenceConfig, EvidencePlan, ScoredCandidates, length_of
from programs.lm import NearestPredict, failure_of, metered
from programs.page import PagePredict, merged
from programs.reports.brief_answer import named_in_brief
from programs.reports.choice import gathered
from programs.reports.page_answer import NamedAnswer, named_answer, stated_evidence, weights_of, with_named
from programs.reports.question import Judgement, QuestionContext, TurnAnswerer, TurnOutcome
from programs.reports.reader import ReportReader
from programs.reports.text_reading import ReadingOutcome, ReportThoughts
from programs.turns import Failure, Turn, Usage
from programs.wording import (
    understand_about,
    written_answer,
    written_history,
    written_line_items,
)
from signatures.aggregation import PickCandidate, RateCandidate
from signatures.page import PageReading, ReadPage
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
        self.read_page = PagePredict(ReadPage)
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
        questions = [*(turn.question for turn in history), question]
        _, index = self.reader.read(report, questions, [turn.derivation for turn in history])
        histories = fixed_history(index, history) if history else START
        return index, questions, histories, tuple(history)

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
        asks = plan.understand and plan.prompt != "brief" and dspy.settings.lm is not None
        if asks and plan.reads == "page":
            judge = partial(self._judge_page, plan=plan)
        else:
            judge = partial(self._judge, plan=plan, understanding=self._understand(asked) if asks else None)
        judgement = judge(asked)
        grown: ReadingOutcome | None = None
        if self.thoughts is not None and self._seems_wrong(judgement):
            grown = self.thoughts.grow(asked, judgement, judge, spent)
            asked, judgement = grown.asked, grown.judgement
        escalates = judgement.candidates and (self.agent is not None or self.evidence.refuse)
        if judgement.refuses or (grown is None and escalates and self._seems_wrong(judgement)):
            answered = self._none_of_them(asked, judgement)
        else:
            answered = self._picked(asked, judgement)
        if grown is None:
            return answered
        turn = replace(answered.turn, escalated="thoughts", reading=grown.reading)
        return replace(answered, turn=turn, index=asked.index if grown.reading.inserted else None)

    def _seems_wrong(self, judgement: Judgement) -> bool:
        """Whether none of the candidates seems right."""
        return judgement.refuses or judgement.judged.none >= self.evidence.none_above

    def _search(self, asked: QuestionContext, understanding: Understanding | None = None) -> TurnSearch:
        hint, proposal = _hint(understanding), _proposal(understanding)
        about = (asked.index, asked.questions, asked.histories, self.reader.scorer, self.config)
        return search_turn(*about, hint=hint, proposal=proposal)

    def _judge(self, asked: QuestionContext, plan: EvidencePlan, understanding: Understanding | None) -> Judgement:
        """Runs the search and the aggregator."""
        found = self._search(asked, understanding)
        candidates, place, evidence = found.candidates, None, None
        if not candidates:
            return Judgement(found, ScoredCandidates((), 1.0), understanding=understanding)
        asks = dspy.settings.lm is not None and plan.asks([candidate.score for candidate in candidates[: plan.shown]])
        if asks and plan.understand and plan.prompt == "brief":
            report = self.reader.graph_of(asked.index).report
            named = named_in_brief(dspy.settings.lm, asked, found, candidates[: plan.shown], report)
            if named is not None:
                candidates, place = with_named(candidates, named, plan.shown)
        shown = candidates[: plan.shown]
        scores = [candidate.score for candidate in shown]
        lengths = [length_of(candidate.derivation) for candidate in shown]
        if asks:
            meaning = understanding.description if understanding is not None else asked.question
            evidence = self._gather(plan, shown, asked, meaning, place)
        judged = (plan.blend if evidence is not None else plan.alone).judge(scores, lengths, evidence)
        trusted = plan.trust == "model" and evidence is not None
        return Judgement(found, judged, evidence, candidates, understanding, trusted, plan.abstention)

    def _judge_page(self, asked: QuestionContext, plan: EvidencePlan) -> Judgement:
        """Runs the search, lets the model name a calculation, and the aggregator unless both agree."""
        found = self._search(asked)
        best = [candidate.score for candidate in found.candidates[: plan.shown]]
        has_figures = any(not one.in_header for one in asked.index.observations)
        if not has_figures or (plan.skip_above is not None and best and exp(best[0]) >= plan.skip_above):
            lengths = [length_of(candidate.derivation) for candidate in found.candidates[: plan.shown]]
            judged = plan.alone.judge(best, lengths, None) if best else ScoredCandidates((), 1.0)
            return Judgement(found, judged)
        report = self.reader.graph_of(asked.index).report
        named = named_answer(
            self.read_page,
            asked,
            found,
            report,
            tokens=self.evidence.page_tokens,
            first=lambda: self._search(replace(asked, questions=asked.questions[:1], histories=START, past=())),
        )
        candidates, place = found.candidates, None
        if named.candidate is not None:
            candidates, place = with_named(candidates, named.candidate, plan.shown)
        shown = candidates[: plan.shown]
        evidence = self._checked(plan, shown, asked, found, named, place)
        scores = [candidate.score for candidate in shown]
        lengths = [length_of(candidate.derivation) for candidate in shown]
        judged = plan.blend.judge(scores, lengths, evidence) if shown else ScoredCandidates((), 1.0)
        trusted = plan.trust == "model"
        return Judgement(found, judged, evidence, candidates, named.reading, trusted)

    def _checked(
        self,
        plan: EvidencePlan,
        shown: Sequence[Candidate],
        asked: QuestionContext,
        found: TurnSearch,
        named: NamedAnswer,
        place: int | None,
    ) -> Evidence | None:
        """The evidence for the candidates: the model's reading where the search agrees with it, else a choice."""
        if not shown:
            return None
        groups = merged(shown, asked.past, place)
        if place is not None:
            own = next(number for number, places in enumerate(groups) if place in places)
            is_sure = plan.trust == "model" and self.evidence.is_enough(named.reading.confidence)
            if len(groups) == 1 or is_sure or (found.candidates and 0 in groups[own]):
                return stated_evidence(named.reading, place, len(shown))
        elif named.reading.says_none and self._abstains(found):
            return stated_evidence(named.reading, None, len(shown))
        return self._gather(plan, shown, asked, named.reading.description, place)

    def _abstains(self, found: TurnSearch) -> bool:
        """Whether the search's own confidence indicates that the report does not answer."""
        fitted = self.reader.scorer.confidence
        return fitted is not None and fitted.judge(confidence_features(found)).answerable < fitted.least_answerable

    def _picked(self, asked: QuestionContext, judgement: Judgement) -> TurnOutcome:
        """The turn that the best candidate answers."""
        found, judged = judgement.found, judgement.judged
        understanding = judgement.understanding
        if not judgement.candidates:
            message = "no derivation over the report's figures fits the question"
            turn = Turn(asked.question, failure="empty_beam", message=message, understanding=understanding)
            return TurnOutcome(turn, found.next_histories(self.config.histories))
        candidates = judgement.candidates
        pick = self.chooser(asked, found) if self.chooser is not None else None
        if pick is None:
            pick = judged.pick
            weighed = weights_of(found, candidates, judged.candidates) if judgement.evidence is not None else None
            following = found.next_histories(self.config.histories, judged=weighed)
        else:
            candidates, following = found.candidates, found.next_histories(self.config.histories, pick)
        chosen = candidates[pick]
        confidence = judged.candidates[pick] if pick < len(judged.candidates) else 0.0
        fitted = self.reader.scorer.confidence
        if fitted is not None and (judgement.leaves_none_to_the_search or (judgement.evidence is None and pick == 0)):
            calibrated = fitted.judge(confidence_features(found))
            confidence = calibrated.right if judgement.evidence is None else confidence
            if self.evidence.answer == "confident" and judgement.abstains(calibrated, fitted.least_answerable):
                return TurnOutcome(_abstained(asked, found, confidence), following)
        turn = Turn(
            question=asked.question,
            answer=chosen.answer,
            derivation=chosen.derivation,
            candidates=candidates,
            pick=pick,
            confidence=confidence,
            understanding=understanding,
            evidence=judgement.evidence,
        )
        is_own = any(merge_key(one.answer) == merge_key(chosen.answer) for one in found.candidates)
        if judgement.trusted or not is_own:
            following = fixed_history(asked.index, (*asked.past, turn.past()))
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
        meaning: str,
        named: int | None = None,
    ) -> Evidence:
        """The model's evidence for the candidates that are shown."""
        report = self.reader.graph_of(asked.index).report
        return gathered(plan, shown, asked, report, self.evidence, self.aggregate, self.rate, meaning, named)

    def _none_of_them(self, asked: QuestionContext, judgement: Judgement) -> TurnOutcome:
        """The turn that escalates to the agent, or is left without an answer; no figure of it enters the history."""
        found = judgement.found
        about: dict[str, Any] = {
            "candidates": judgement.candidates,
            "understanding": judgement.understanding,
            "evidence": judgement.evidence,
        }
        if self.agent is not None:
            turn = self.agent.answer(asked.index, asked.questions, asked.histories, asked.past).turn
            if turn.answer is not None:
                places = [place for place, one in enumerate(judgement.candidates) if one.answer == turn.answer]
                candidates = judgement.candidates if places else (*judgement.candidates, *turn.candidates)
                pick = places[0] if places else len(judgement.candidates)
                escalated = replace(turn, **{**about, "candidates": candidates}, pick=pick, escalated="agent")
                return TurnOutcome(escalated, fixed_history(asked.index, (*asked.past, escalated.past())))
        message = f"none of the candidates seems right (probability {judgement.judged.none:.2f})"
        failure: Failure = "picked_none"
        if isinstance(judgement.understanding, PageReading) and judgement.understanding.says_none:
            failure, message = "not_answered", _nearest(found)
        escalated_to = "agent" if self.agent is not None else None
        failed = Turn(asked.question, failure=failure, message=message, escalated=escalated_to, **about)
        return TurnOutcome(failed, tuple(history.after_failure() for history in asked.histories))


def _abstained(asked: QuestionContext, found: TurnSearch, confidence: float) -> Turn:
    """The turn that names the nearest figures of the report in place of an answer."""
    return Turn(
        asked.question,
        failure="not_answered",
        message=_nearest(found),
        candidates=found.candidates,
        confidence=confidence,
    )


def _nearest(found: TurnSearch) -> str:
    """The message of a turn without an answer, with the figures that come nearest."""
    nearest = dict.fromkeys(number.path for one in found.candidates for number in one.derivation.numbers if number.path)
    shown = "; ".join(list(nearest)[:NEAREST])
    return f"the report does not say; the nearest figures are: {shown}" if shown else "the report does not say"


def _hint(understanding: Understanding | None) -> SearchHint | None:
    if understanding is None:
        return None
    return SearchHint(tuple(understanding.properties), tuple(understanding.periods), understanding.operation)


def _proposal(understanding: Understanding | None) -> Proposal | None:
    """The calculation that the model names itself; ``None`` where it names no operand."""
    if understanding is None or not understanding.operands:
        return None
    return Proposal(understanding.operation, tuple(understanding.operands))
