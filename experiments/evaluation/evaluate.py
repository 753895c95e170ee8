"""Evaluates a program over conversations: answers, the official scores, and a run that keeps both.

    evaluation = evaluate(find_program("beam"), load_conversations("sample:dev"), EvaluationConfig(), tracker=tracker)
    evaluation.figures["exe_accuracy"]     # 0.71, with exe_accuracy_low and _high
    evaluation.run_id                      # for compare and inspect

A turn in which the program raises costs itself only; it is counted as failed, apart from wrong answers. An evaluation
that is stopped, also by ``kill -9``, keeps every turn that was answered, and goes on from there with ``resume=True``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from experiments.console import progress, say
from experiments.data.conversations import Conversation, LoadedData
from experiments.evaluation.journal import ARTIFACT
from experiments.evaluation.log import (
    DETAILS,
    REVISION_TAG,
    TURNS,
    evaluation_key,
    evaluation_params,
    evaluation_tags,
    log_inputs,
    log_results,
    result_figures,
    run_tags,
    summary_table,
    trace_of,
)
from experiments.evaluation.loop import AnsweredTurn, answer_all
from experiments.evaluation.results import Results, Scored
from experiments.evaluation.stopped import Stopped, find_stopped, journal_of, mark_killed
from experiments.lms.config import LMConfig, reach_lm
from experiments.rendering.conversation_pages import ConversationPage, log_pages, make_pages
from experiments.saved.programs import SavedProgram
from experiments.tracking.environment import describe_environment
from experiments.tracking.traces import TraceWriter
from experiments.tracking.tracker import DataInput, Run, Tracker, open_run
from kg.errors import ConfigError, DataError
from optimize.metrics import ScoredTurn, TurnScore
from programs.turns import Turn

__all__ = [
    "DETAILS",
    "TURNS",
    "Evaluation",
    "EvaluationConfig",
    "TracesKept",
    "evaluate",
    "run_tags",
    "summary_table",
]

logger = logging.getLogger(__name__)

TracesKept = Literal["none", "failed", "all"]
"""Of which turns a trace is kept: of none, of those that are wrong or have no answer, or of all."""

_THREADS_WITH_LM = 8


@dataclass(frozen=True)
class EvaluationConfig:
    """How a program is evaluated.

    Attributes:
        lm: The language model that it asks.
        history: What a turn sees of the turns before it: the program's own answers, or the gold ones (a diagnosis of
            how far errors carry over; never a headline).
        limit: At most this many conversations, the first of the data.
        seed: Seed of the intervals.
        threads: Conversations at a time; ``None`` for 1, or 8 where a remote model is waited for.
        traces: Of which turns a trace is kept on the run.
        pages: Of how many conversations that went wrong, the first of the data, a page is kept on the run.
    """

    lm: LMConfig = field(default_factory=LMConfig)
    history: Literal["own", "gold"] = "own"
    limit: int | None = None
    seed: int = 0
    threads: int | None = None
    traces: TracesKept = "all"
    pages: int = 10

    def __post_init__(self) -> None:
        for name in ("limit", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}")
        if self.traces not in ("none", "failed", "all"):
            raise ConfigError(f"traces must be none, failed or all, got {self.traces!r}")
        if self.pages < 0:
            raise ConfigError(f"pages must be at least 0, got {self.pages}")

    @property
    def thread_count(self) -> int:
        """The number of threads that is meant."""
        if self.threads is not None:
            return self.threads
        return 1 if self.lm.is_none or self.lm.is_local else _THREADS_WITH_LM


@dataclass(frozen=True)
class Evaluation:
    """What came of an evaluation.

    Attributes:
        name: The run's name.
        figures: All figures under their stable names, with ``run_id`` and what they were got with. Those of the turns
            count each call that a turn made (``lm_calls_per_turn``); ``lm_calls``, ``lm_cache_hits``,
            ``lm_prompt_tokens``, ``lm_completion_tokens`` and ``lm_usd`` are what the language model took for the whole
            evaluation, with the short question that it is asked first; all are 0 without one.
        scores: Every turn beside its gold.
        turns: Every turn as the program returned it, by conversation and index.
    """

    name: str
    figures: Mapping[str, Any]
    scores: Sequence[TurnScore]
    turns: Mapping[tuple[str, int], Turn]

    @property
    def run_id(self) -> str | None:
        """The MLflow run, if there is one."""
        run_id: str | None = self.figures["run_id"]
        return run_id


def evaluate(
    saved: SavedProgram,
    data: LoadedData,
    config: EvaluationConfig,
    *,
    tracker: Tracker | None = None,
    parent: Run | None = None,
    run_name: str | None = None,
    resume: bool = False,
) -> Evaluation:
    """Runs a program over conversations and scores every turn.

    Args:
        saved: The program.
        data: Conversations with gold.
        config: How.
        tracker: Where to log the run; ``None`` to log nothing.
        parent: The run that this evaluation is a part of.
        run_name: The run's name; by default the program's name and the data's.
        resume: Whether to go on with the newest evaluation of the same program, data and settings that was stopped:
            the turns that it answered are not asked again. Where there is none, it starts from the beginning.

    Raises:
        DataError: The data has no gold, or no conversation that can be read.
        LMError: The language model does not answer at all.
    """
    conversations = _checked(data, config)
    lm = reach_lm(config.lm, saved.program)
    name = run_name if run_name is not None else f"{saved.name} on {data.name}"
    stopped = _prepare(tracker, evaluation_key(saved, data, config), resume=resume)
    tags = evaluation_tags(saved, data, config)
    resumed = stopped.record.id if stopped is not None else None
    with open_run(tracker, "evaluate", name, parent=parent, tags=tags, resumed=resumed) as run:
        results = Results(conversations, journal_of(run.id), lambda: _spent(lm))
        if stopped is not None:
            results.load(stopped.lines)
            run.log_tags({"finpath.resumed": _resumed_words(stopped)})
        else:
            _log_start(run, saved, data, config, conversations)
        writer = TraceWriter(tracker, run, results.mark_traced) if tracker is not None and run.id else None
        about = _about(saved, data, config, run)
        try:
            _answer_all(saved, results, config, lm, _Keeper(results, writer, run, saved.name, config))
        except BaseException:
            # What is left of the work must not hide why it ended.
            with suppress(Exception):
                _log_end(run, results, config, about, writer)
                run.log_text(ARTIFACT, results.journal.text())
            raise
        figures = _log_end(run, results, config, about, writer)
    results.journal.remove()
    return Evaluation(name, figures, results.scores(), results.turns())


def _checked(data: LoadedData, config: EvaluationConfig) -> Sequence[Conversation]:
    conversations = data.conversations[: config.limit]
    if not conversations:
        raise DataError("has no conversation that can be evaluated", file=data.name)
    if any(conversation.answers is None for conversation in conversations):
        raise DataError("has no gold answers to evaluate against", file=data.name)
    return conversations


def _prepare(tracker: Tracker | None, key: str, *, resume: bool) -> Stopped | None:
    """What to go on from, if anything; runs that were killed are marked on the way."""
    if tracker is None:
        if resume:
            say("note: nothing is tracked, so there is nothing to go on from")
        return None
    mark_killed(tracker)
    if not resume:
        return None
    stopped = find_stopped(tracker, key)
    if stopped is None:
        say("note: no evaluation with these settings was stopped; this one starts from the beginning")
    else:
        say(f"* going on with the run {stopped.record.id}, of which {stopped.turns} turns are done")
    return stopped


def _resumed_words(stopped: Stopped) -> str:
    """That a run went on, and with which code where that is another than it began with."""
    before, now = stopped.record.tags.get(REVISION_TAG), describe_environment().git_revision
    words = f"with {stopped.turns} turns done"
    if before == now:
        return words
    say(f"note: the code is another than when it was stopped ({before or 'unknown'} then, {now or 'unknown'} now)")
    return f"{words} by revision {before or 'unknown'}"


def _log_start(
    run: Run, saved: SavedProgram, data: LoadedData, config: EvaluationConfig, conversations: Sequence[Conversation]
) -> None:
    run.log_params(evaluation_params(saved, data, config))
    run.log_data(DataInput(data.name, data.sha256, data.split, len(conversations)))
    if run.id is not None:
        log_inputs(run, saved, [conversation.report for conversation in conversations])


class _Keeper:
    """Takes each answered turn: scores it, keeps it in the journal, and hands its trace to the writer."""

    def __init__(
        self, results: Results, writer: TraceWriter | None, run: Run, program: str, config: EvaluationConfig
    ) -> None:
        self.results = results
        self._writer = writer if config.traces != "none" else None
        self._run = run
        self._program = program
        self._failed_only = config.traces == "failed"

    def __call__(self, answered: AnsweredTurn) -> None:
        self._trace(self.results.add(answered))

    def trace_earlier(self) -> None:
        """Hands over the traces that a run which was stopped had not written yet."""
        for one in self.results.all():
            if (one.answered.conversation_id, one.answered.index) not in self.results.traced:
                self._trace(one)

    def _trace(self, one: Scored) -> None:
        if self._writer is not None and not (self._failed_only and one.score.exact):
            self._writer.add(trace_of(self._run, self._program, one))


def _answer_all(
    saved: SavedProgram, results: Results, config: EvaluationConfig, lm: Mapping[str, Any], keeper: _Keeper
) -> None:
    conversations = list(results.conversations.values())
    bar = progress(sum(len(one.questions) for one in conversations), "turns", "answering")
    bar.update(results.loaded)
    keeper.trace_earlier()

    def keep(answered: AnsweredTurn) -> None:
        keeper(answered)
        bar.update()
        bar.set_postfix_str(f"{100 * results.right / results.count:.1f}% right")

    try:
        answer_all(
            saved.program,
            conversations,
            done=results.done(),
            gold_history=config.history == "gold",
            threads=config.thread_count,
            lm=lm,
            sink=keep,
        )
    finally:
        bar.close()


def _log_end(
    run: Run, results: Results, config: EvaluationConfig, about: Mapping[str, Any], writer: TraceWriter | None
) -> dict[str, Any]:
    """Logs what was done, all of it or a part; its figures."""
    if writer is not None:
        writer.flush()
    done = results.all()
    if not done:
        return {}
    measured = result_figures(
        done, seed=config.seed, seconds=results.seconds(), spent=results.spent(), resumed=results.loaded
    )
    figures = {**measured, **about}
    log_results(run, figures, done)
    if run.id is not None and config.pages:
        log_pages(run, _failed_pages(results, done, run.name, config.pages))
    if writer is not None and writer.failed:
        run.log_metrics({"traces_failed": writer.failed})
    return figures


def _failed_pages(results: Results, done: Sequence[Scored], name: str, count: int) -> list[ConversationPage]:
    """Pages of the first conversations of which a turn is wrong."""
    groups: dict[str, list[ScoredTurn]] = {}
    for one in done:
        turn = ScoredTurn(one.report, one.score, one.answered.turn)
        groups.setdefault(one.score.conversation_id, []).append(turn)
    failed = [turns for turns in groups.values() if not all(turn.score.exact for turn in turns)]
    reports = {one.report.id: one.report for one in results.conversations.values()}
    return make_pages(failed[:count], reports, name)


def _about(saved: SavedProgram, data: LoadedData, config: EvaluationConfig, run: Run) -> dict[str, Any]:
    """What figures were got with."""
    return {
        "run_id": run.id,
        "run_name": run.name,
        "program": saved.name,
        "lm": config.lm.name,
        "history": config.history,
        "seed": config.seed,
        "limit": config.limit,
        "data": data.name,
        "data_sha256": data.sha256,
        "split": data.split,
        "data_problems": len(data.problems),
    }


def _spent(lm: Mapping[str, Any]) -> dict[str, float]:
    """What the language model took altogether: calls, cache hits, tokens and dollars; zeros where there is none."""
    from programs.lm import GuardedLM, Spent

    asked = lm["lm"]
    return (asked.spent if isinstance(asked, GuardedLM) else Spent()).figures()
