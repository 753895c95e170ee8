"""ConvFinQA: conversations about reports, scored by the official metric.

    task = ConvFinQA(load_conversations("sample:dev"))
    evaluate(find_program("beam"), task).figures["exe_accuracy"]

A turn that raises costs itself only: it counts as failed, and the conversation continues as after any turn without an
answer. A report that no graph can be built from costs the turns about it.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from experiments.data import ConversationRecord, LoadedData
from experiments.evaluation import Answered, Description, EvaluationConfig, Scored, ScoreT, Task
from experiments.rendering import log_pages, make_pages
from experiments.saved import SavedProgram
from experiments.tasks import convfinqa_run
from experiments.tracking import DataInput, Run, RunKind, Trace, TurnRecorder
from kg.derivations import Derivation
from kg.errors import DataError
from optimize.metrics import ScoredTurn, TurnScore, read_score, score_conversation, score_record
from programs.conversation import ConversationQA
from programs.turns import PastTurn, Turn, read_turn, turn_record
from programs.worlds.documents import earlier_turns
from programs.worlds.report import ReportState

logger = logging.getLogger(__name__)

_FAILURES_SHOWN = 3


class ConversationTask(Task[ConversationRecord, Turn, ScoreT]):
    """Conversations about reports; the parts that do not depend on the kind of gold.

    Args:
        data: The conversations.
        answer: Whether a program with a fitted confidence may abstain.
    """

    run_kind: RunKind = "evaluate"

    def __init__(self, data: LoadedData, answer: Literal["confident", "always"] = "always") -> None:
        self.data = data
        self.answers = answer
        self.name = data.name
        self._failures = 0

    def items(self, limit: int | None = None) -> Sequence[ConversationRecord]:
        """Returns the conversations."""
        conversations = self.data.conversations[:limit]
        if not conversations:
            raise DataError("has no conversation that can be evaluated", file=self.name)
        if any(conversation.answers is None and conversation.gold is None for conversation in conversations):
            raise DataError("has no gold answers to evaluate against", file=self.name)
        return conversations

    def prepared(self, saved: SavedProgram) -> SavedProgram:
        """Returns the program with the task's rule for abstention."""
        turn, scorer = getattr(saved.program, "turn", None), getattr(saved.program, "scorer", None)
        evidence = getattr(turn, "evidence", None)
        if evidence is None or scorer is None or scorer.confidence is None or evidence.answer == self.answers:
            return saved
        program = saved.program.deepcopy()
        program.evidence = dataclasses.replace(evidence, answer=self.answers)
        return dataclasses.replace(saved, program=program)

    def size(self, item: ConversationRecord) -> int:
        """Returns the number of questions."""
        return len(item.questions)

    def source(self, item: ConversationRecord) -> str:
        """Returns the report's id."""
        return item.report.id

    def answer(
        self,
        program: ConversationQA,
        item: ConversationRecord,
        done: Sequence[Answered[Turn]],
        config: EvaluationConfig,
    ) -> Iterator[Answered[Turn]]:
        """Yields the turns that are not done."""
        past = _gold_history(item) if config.history == "gold" else None
        try:
            kept = done[-1].histories if done else ()
            state = program.start(program.world(item.report), [one.turn for one in done], kept)
        except Exception as error:  # noqa: BLE001 - a report that cannot be used costs its own turns only
            message = self._message(item, error)
            now = time.time_ns()
            for index, question in list(enumerate(item.questions))[len(done) :]:
                yield Answered(item.id, index, Turn(question, failure="error", message=message), start=now, end=now)
            return
        for index in range(len(done), len(item.questions)):
            recorder = TurnRecorder()
            with recorder.recording():
                if past is not None:
                    state = program.start(state.world, earlier_turns(past[:index]))
                state = self._ask(program, item, state, index)
            yield Answered(item.id, index, state.turns[-1], state.kept(), recorder.spans, recorder.start, recorder.end)

    def _ask(
        self,
        program: ConversationQA,
        item: ConversationRecord,
        state: ReportState,
        index: int,
    ) -> ReportState:
        question = item.questions[index]
        try:
            after: ReportState = program.ask(state, question)
            return after
        except Exception as error:  # noqa: BLE001 - any error costs this turn only; it is counted
            failed = Turn(question, failure="error", message=self._message(item, error))
            return state.after(failed)

    def _message(self, item: ConversationRecord, error: Exception) -> str:
        """Returns the error in words; the first ones are logged, all are on the run."""
        message = f"{type(error).__name__}: {error}"
        self._failures += 1
        if self._failures <= _FAILURES_SHOWN:
            logger.warning("a turn about %s failed: %s", item.report.id, message)
        return message

    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns program, model, data, history, limit and seed."""
        return convfinqa_run.describe(saved, self.data, config)

    def log_start(self, run: Run, saved: SavedProgram, items: Sequence[ConversationRecord]) -> None:
        """Logs the data, the reports and the ontology."""
        run.log_data(DataInput(self.data.name, self.data.sha256, self.data.split, len(items)))
        if run.id is not None:
            convfinqa_run.log_inputs(run, saved, [one.report for one in items])


class ConvFinQA(ConversationTask[TurnScore]):
    """Conversations with gold programs."""

    def score(self, item: ConversationRecord, answered: Answered[Turn]) -> TurnScore:
        """Returns the score of a turn, before the rest of its conversation is answered."""
        assert item.programs is not None
        assert item.answers is not None
        place = answered.index
        alone = dataclasses.replace(
            item,
            questions=item.questions[place : place + 1],
            programs=item.programs[place : place + 1],
            answers=item.answers[place : place + 1],
        )
        [score] = score_conversation(alone, [answered.turn])
        return dataclasses.replace(score, turn_index=place)

    def is_right(self, score: TurnScore) -> bool:
        """Whether the official metric counts the turn as right."""
        return score.exact

    def figures(self, scored: Sequence[Scored[Turn, TurnScore]], *, seed: int) -> dict[str, Any]:
        """Returns the official figures, tokens and failures."""
        return convfinqa_run.result_figures([one.score for one in scored], seed=seed)

    def record(self, scored: Scored[Turn, TurnScore]) -> dict[str, Any]:
        """Returns the turn and its score as JSON."""
        return {"score": score_record(scored.score), "turn": turn_record(scored.answered.turn)}

    def read(self, line: Mapping[str, Any]) -> tuple[Turn, TurnScore]:
        """Returns the turn and the score of a line."""
        return read_turn(line["turn"]), read_score(line["score"])

    def log_results(self, run: Run, figures: Mapping[str, Any], done: Sequence[Scored[Turn, TurnScore]]) -> None:
        """Logs the figures and both tables."""
        convfinqa_run.log_results(run, figures, done)

    def log_pages(
        self, run: Run, items: Sequence[ConversationRecord], done: Sequence[Scored[Turn, TurnScore]], count: int
    ) -> None:
        """Logs pages of the first conversations that have a wrong turn."""
        groups: dict[str, list[ScoredTurn]] = {}
        for one in done:
            turn = ScoredTurn(one.source, one.score, one.answered.turn)
            groups.setdefault(one.score.conversation_id, []).append(turn)
        failed = [turns for turns in groups.values() if not all(turn.score.exact for turn in turns)]
        log_pages(run, make_pages(failed[:count], {one.report.id: one.report for one in items}, run.name))

    def trace(self, run: Run, program: str, scored: Scored[Turn, TurnScore]) -> Trace:
        """Returns the turn's trace with its gold and its verdict."""
        return convfinqa_run.trace_of(run, program, scored)


def _gold_history(conversation: ConversationRecord) -> tuple[PastTurn, ...]:
    assert conversation.programs is not None
    derivations = [Derivation.parse(program) for program in conversation.programs]
    return tuple(
        PastTurn(question, derivation, derivation.execute(conversation.report.table))
        for question, derivation in zip(conversation.questions, derivations, strict=True)
    )
