"""Answers the turns of many conversations, one by one, and hands each on as soon as it is there.

    answer_all(program, conversations, done={}, history="own", threads=8, lm=reach_lm(config), sink=results.add)

A turn that raises costs itself only: it counts as failed, and the conversation goes on as after any turn without an
answer. A report that no graph can be built from costs the turns about it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from experiments.data.conversations import Conversation
from experiments.tracking.recorder import Span, TurnRecorder
from kg.derivations import Derivation
from programs.turns import PastTurn, Record, Turn

if TYPE_CHECKING:
    from programs.reports import ConversationQA, ConversationState

logger = logging.getLogger(__name__)

_FAILURES_SAID = 3


@dataclass(frozen=True)
class AnsweredTurn:
    """A turn that is done.

    Attributes:
        conversation_id: Its conversation.
        index: Its place there, from 0.
        turn: What the program returned.
        histories: What the conversation goes on from, as :func:`programs.turns.records.history_records` writes it.
        spans: What was called on the way.
        start: When it began, in nanoseconds since 1970.
        end: When it ended.
    """

    conversation_id: str
    index: int
    turn: Turn
    histories: Sequence[Record] = ()
    spans: Sequence[Span] = ()
    start: int = 0
    end: int = 0


Sink = Callable[[AnsweredTurn], None]


def answer_all(
    program: ConversationQA,
    conversations: Sequence[Conversation],
    *,
    done: Mapping[str, Sequence[AnsweredTurn]],
    gold_history: bool,
    threads: int,
    lm: Mapping[str, Any],
    sink: Sink,
) -> None:
    """Answers all turns that are not done.

    Args:
        program: The program.
        conversations: With gold, if ``gold_history``.
        done: The turns of earlier, which are not asked again: the first ones of each conversation.
        gold_history: Whether a turn sees the gold answers to those before it in place of the program's own.
        threads: Conversations at a time.
        lm: What ``dspy.context`` is given.
        sink: Called with each turn as soon as it is answered, from several threads.
    """
    import dspy
    from dspy.utils.parallelizer import ParallelExecutor

    loop = _Loop(program, done, gold_history, sink)
    waiting = [one for one in conversations if len(done.get(one.id, ())) < len(one.questions)]
    # dspy.Evaluate would start a conversation a second time when it takes longer than two minutes.
    executor = ParallelExecutor(num_threads=threads, max_errors=1, disable_progress_bar=True, timeout=0)
    try:
        # The matrices are small, and threads that each ask BLAS for more of them wait for each other.
        with dspy.context(**lm), _quiet_dspy(), threadpool_limits(limits=1, user_api="blas"):
            executor.execute(loop.answer_conversation, waiting)
    finally:
        loop.stop.set()  # what other threads are answering just now is not waited for, and not started again
    if loop.broken is not None:
        raise loop.broken


class _Loop:
    """What the threads share.

    Attributes:
        stop: Set when no further turn is to be started.
        broken: An error of finpath's own bookkeeping: no turn's fault, so the evaluation ends with it.
    """

    def __init__(
        self, program: ConversationQA, done: Mapping[str, Sequence[AnsweredTurn]], gold_history: bool, sink: Sink
    ) -> None:
        self.program = program
        self.done = done
        self.gold_history = gold_history
        self.sink = sink
        self.stop = threading.Event()
        self.broken: Exception | None = None
        self._failures = 0

    def answer_conversation(self, conversation: Conversation) -> None:
        try:
            for answered in self._turns(conversation):
                if self.stop.is_set():
                    return
                self.sink(answered)
        except Exception as error:  # noqa: BLE001 - the executor would say it once for every conversation
            self.stop.set()
            if self.broken is None:
                self.broken = error

    def _turns(self, conversation: Conversation) -> Iterator[AnsweredTurn]:
        """The turns that are not done yet."""
        from programs.reports import ReportWorld

        before = self.done.get(conversation.id, ())
        questions = conversation.questions
        past = _gold_history(conversation) if self.gold_history else None
        try:
            kept = before[-1].histories if before else ()
            state = self.program.start(ReportWorld(conversation.report), [one.turn for one in before], kept)
        except Exception as error:  # noqa: BLE001 - a report that cannot be used costs its own turns only
            message = self._say(conversation, error)
            now = time.time_ns()
            for index in range(len(before), len(questions)):
                turn = Turn(questions[index], failure="error", message=message)
                yield AnsweredTurn(conversation.id, index, turn, start=now, end=now)
            return
        for index in range(len(before), len(questions)):
            if self.stop.is_set():
                return
            recorder = TurnRecorder()
            with recorder.recording():
                state = self._ask(conversation, state, index, None if past is None else past[:index])
            yield AnsweredTurn(
                conversation.id, index, state.turns[-1], state.kept(), recorder.spans, recorder.start, recorder.end
            )

    def _ask(
        self, conversation: Conversation, state: ConversationState, index: int, past: Sequence[PastTurn] | None
    ) -> ConversationState:
        question = conversation.questions[index]
        try:
            return self.program.ask(state, question, past)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must cost this turn only; it is counted
            failed = Turn(question, failure="error", message=self._say(conversation, error))
            return state.after(failed)

    def _say(self, conversation: Conversation, error: Exception) -> str:
        """The error in words; the first ones are said, all are on the run."""
        message = f"{type(error).__name__}: {error}"
        self._failures += 1
        if self._failures <= _FAILURES_SAID:
            logger.warning("a turn about %s failed: %s", conversation.report.id, message)
        return message


def _gold_history(conversation: Conversation) -> tuple[PastTurn, ...]:
    assert conversation.programs is not None
    derivations = [Derivation.parse(program) for program in conversation.programs]
    return tuple(
        PastTurn(question, derivation, derivation.execute(conversation.report.table))
        for question, derivation in zip(conversation.questions, derivations, strict=True)
    )


@contextmanager
def _quiet_dspy() -> Iterator[None]:
    """Without DSPy's own word on Ctrl-C."""
    one = logging.getLogger("dspy.utils.parallelizer")
    level = one.level
    one.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        one.setLevel(level)
