"""The program for one question: Understand, search, Aggregate, Answer.

    >>> program = BeamQA(ReportReader(ontology, scorer), BeamConfig())
    >>> program(report=report, question="what were revenues in 2008?").turn.answer
    Decimal('9362.2')

With a language model set (``dspy.configure(lm=…)``) a turn takes two calls: one says what the question asks, which
conditions the search; one picks among the candidates. Without one, the beam's own score picks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import dspy
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError

from kg.beam import DERIVATIONS, BeamConfig
from kg.derivation_space import SearchHint, WeightedHistory
from kg.errors import FinpathError, LMError
from kg.history import PastTurn
from kg.report_index import ReportIndex
from kg.report import Report
from kg.turn_search import START, TurnSearch, fixed_history, search_turn
from programs.call_meter import CallMeter
from programs.demonstrations import NearestPredict
from programs.reading import ReportReader
from programs.short_prompt import suited_adapter
from programs.turn import Failure, Turn, Usage
from programs.wording import written_answer, written_candidates, written_history, written_line_items
from signatures.aggregation import PickCandidate
from signatures.understanding import Understand, Understanding


@dataclass(frozen=True)
class Answered:
    """A turn, and the histories from which the next question goes on."""

    turn: Turn
    histories: tuple[WeightedHistory, ...]


class BeamQA(dspy.Module):
    """Answers one question about a report.

    Args:
        reader: The ontology and the scorer.
        config: The beam's settings.
    """

    def __init__(self, reader: ReportReader, config: BeamConfig | None = None) -> None:
        super().__init__()
        self.reader = reader
        self.config = config if config is not None else DERIVATIONS
        self.understand = NearestPredict(Understand)
        self.aggregate = NearestPredict(PickCandidate)

    def forward(self, report: Report, question: str, history: Sequence[PastTurn] = ()) -> dspy.Prediction:
        """Answers a question.

        Args:
            report: The document.
            question: The question.
            history: The turns before it, with the answers that were given.

        Returns:
            A prediction with ``turn`` (a :class:`programs.turn.Turn`) and ``answer``.
        """
        _, index = self.reader.read(report)
        histories = fixed_history(index, history) if history else START
        answered = self.answer(index, [*(turn.question for turn in history), question], histories, tuple(history))
        return dspy.Prediction(turn=answered.turn, answer=written_answer(answered.turn))

    def answer(
        self,
        index: ReportIndex,
        questions: Sequence[str],
        histories: Sequence[WeightedHistory],
        past: Sequence[PastTurn],
    ) -> Answered:
        """Answers the last of ``questions``; an error of the model or the search becomes a turn that failed.

        Args:
            index: The report's index.
            questions: All questions so far.
            histories: The histories that are kept.
            past: The turns as they were answered, which the language model is told.
        """
        started = time.perf_counter()
        meter = CallMeter()
        set_up, lm = dspy.settings.adapter, dspy.settings.lm
        changed = {
            "adapter": set_up if set_up is not None else suited_adapter(lm),
            "callbacks": [*dspy.settings.callbacks, meter],
        }
        with dspy.context(**changed), dspy.track_usage() as tracker:
            answered = self._guarded(index, questions, histories, past, meter)
        sent = [entry for entries in tracker.usage_data.values() for entry in entries]
        usage = Usage(
            lm_calls=meter.calls,
            prompt_tokens=sum(int(entry.get("prompt_tokens") or 0) for entry in sent),
            completion_tokens=sum(int(entry.get("completion_tokens") or 0) for entry in sent),
            seconds=time.perf_counter() - started,
        )
        return replace(answered, turn=replace(answered.turn, usage=usage))

    def _guarded(
        self,
        index: ReportIndex,
        questions: Sequence[str],
        histories: Sequence[WeightedHistory],
        past: Sequence[PastTurn],
        meter: CallMeter,
    ) -> Answered:
        try:
            return self._answer(index, questions, histories, past)
        except AdapterParseError as error:
            return _failed(questions[-1], histories, "no_valid_choice", error)
        except (DSPyLMError, LMError) as error:
            return _failed(questions[-1], histories, "lm_error", error)
        except FinpathError as error:
            return _failed(questions[-1], histories, "error", error)
        except Exception as error:
            if error is not meter.failure:
                raise
            return _failed(questions[-1], histories, "lm_error", error)

    def _answer(
        self,
        index: ReportIndex,
        questions: Sequence[str],
        histories: Sequence[WeightedHistory],
        past: Sequence[PastTurn],
    ) -> Answered:
        has_lm = dspy.settings.lm is not None
        understanding = self._understand(index, questions[-1], past) if has_lm else None
        found = search_turn(index, questions, histories, self.reader.scorer, self.config, _hint(understanding))
        if not found.candidates:
            message = "no derivation over the report's figures fits the question"
            turn = Turn(questions[-1], failure="empty_beam", message=message, understanding=understanding)
            return Answered(turn, found.next_histories(self.config.histories))
        if understanding is None:
            return self._picked(found, questions[-1], 0, None, None)
        return self._aggregate(found, questions[-1], past, understanding)

    def _understand(self, index: ReportIndex, question: str, past: Sequence[PastTurn]) -> Understanding:
        reply = self.understand(history=written_history(past), line_items=written_line_items(index), question=question)
        understanding: Understanding = reply.understanding
        return understanding

    def _aggregate(
        self, found: TurnSearch, question: str, past: Sequence[PastTurn], understanding: Understanding
    ) -> Answered:
        shown = found.candidates[:10]
        reply = self.aggregate(
            history=written_history(past),
            question=question,
            meaning=understanding.description,
            candidates=written_candidates(shown),
        )
        choice, confidence = int(reply.choice), float(reply.confidence)
        if choice == 0:
            return self._refused(found, question, understanding, "picked_none", "the model picked none")
        if not 1 <= choice <= len(shown):
            message = f"the model chose {choice} of {len(shown)} candidates"
            return self._refused(found, question, understanding, "no_valid_choice", message)
        if math.isnan(confidence):
            message = "the model gave its confidence as nan, which is not a number"
            return self._refused(found, question, understanding, "no_valid_choice", message)
        return self._picked(found, question, choice - 1, min(max(confidence, 0.0), 1.0), understanding)

    def _picked(
        self,
        found: TurnSearch,
        question: str,
        pick: int,
        confidence: float | None,
        understanding: Understanding | None,
    ) -> Answered:
        chosen = found.candidates[pick]
        by_model = understanding is not None
        turn = Turn(
            question=question,
            answer=chosen.answer,
            derivation=chosen.derivation,
            candidates=found.candidates,
            pick=pick,
            confidence=confidence if confidence is not None else found.probability(pick),
            understanding=understanding,
        )
        return Answered(turn, found.next_histories(self.config.histories, pick if by_model else None))

    def _refused(
        self, found: TurnSearch, question: str, understanding: Understanding, failure: Failure, message: str
    ) -> Answered:
        turn = Turn(
            question,
            candidates=found.candidates,
            failure=failure,
            message=message,
            understanding=understanding,
        )
        return Answered(turn, found.next_histories(self.config.histories))


def _hint(understanding: Understanding | None) -> SearchHint | None:
    if understanding is None:
        return None
    return SearchHint(tuple(understanding.properties), tuple(understanding.periods), understanding.operation)


def _failed(question: str, histories: Sequence[WeightedHistory], failure: Failure, error: Exception) -> Answered:
    turn = Turn(question, failure=failure, message=f"{type(error).__name__}: {error}")
    return Answered(turn, tuple(history.after_failure() for history in histories))
