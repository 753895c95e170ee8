"""Evaluation of a program on a task: answers, scores, and a run with both.

    evaluation = evaluate(find_program("beam"), ConvFinQA(load_conversations("sample:dev")), tracker=tracker)
    evaluation.figures["exe_accuracy"]     # 0.71, with exe_accuracy_low and _high
    evaluation.run_id                      # for compare and inspect

An exception in a turn costs this turn only; it counts as failed, apart from wrong answers. A stopped evaluation, also
one stopped by ``kill -9``, keeps every answered turn, and ``resume=True`` continues it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic

from experiments.console import progress, say
from experiments.engines import Engine, LocalEngine
from experiments.evaluation.journal import ARTIFACT, Journal
from experiments.evaluation.log import ENGINE_TAG, KEY_TAG, REVISION_TAG, run_tags
from experiments.evaluation.loop import Answering
from experiments.evaluation.records import Evaluation, EvaluationConfig
from experiments.evaluation.results import Results
from experiments.evaluation.stopped import (
    Stopped,
    check_not_under_way,
    find_stopped,
    journal_of,
    mark_killed,
    resumed_alone,
)
from experiments.evaluation.task import Description, ItemT, Scored, ScoreT, Task, TurnT
from experiments.lms import reach_lm
from experiments.saved import SavedProgram
from experiments.tracking import Run, TraceWriter, Tracker, describe_environment, open_run
from kg.errors import ConfigError


def evaluate(
    saved: SavedProgram,
    task: Task[ItemT, TurnT, ScoreT],
    config: EvaluationConfig | None = None,
    *,
    tracker: Tracker | None = None,
    parent: Run | None = None,
    run_name: str | None = None,
    resume: bool = False,
    journal: Path | None = None,
    engine: Engine | None = None,
    lm: Mapping[str, Any] | None = None,
) -> Evaluation[TurnT, ScoreT]:
    """Runs a program on a task and scores every turn.

    Args:
        saved: The program.
        task: The items with their gold.
        config: Settings.
        tracker: The tracking store of the run; ``None`` to log nothing.
        parent: The run that this evaluation is a part of.
        run_name: The run's name; by default that of the program, with the settings that differ from the defaults, and
            that of the data.
        resume: Whether to continue the newest stopped evaluation of the same program, data and settings. Without one,
            the evaluation starts from the beginning.
        journal: A file of the caller's own for the journal, which stays; an evaluation always continues from it.
        engine: The engine that runs the items; by default threads of this process.
        lm: The settings of ``dspy.context`` with a language model that is ready; by default those of ``config.lm``.

    Raises:
        DataError: The data has no gold, or no item.
        ConfigError: The program cannot be evaluated on this task, or the journal is of another evaluation.
        LMError: The language model does not answer at all.
    """
    config = config if config is not None else EvaluationConfig()
    saved = task.prepared(saved)
    items = task.items(config.limit)
    about = task.describe(saved, config)
    key = _hash(about.key)
    own = _own_journal(journal, key)
    settings = lm if lm is not None else reach_lm(config.lm, saved.program)
    chosen = engine if engine is not None else LocalEngine(config.thread_count)
    name = run_name if run_name is not None else f"{written_program(saved, config)} on {task.name}"
    stopped = _prepare(tracker, task, key, resume=resume)
    resumed = stopped.record.id if stopped is not None else None
    tags = {**run_tags(config.seed), **about.tags, KEY_TAG: key, ENGINE_TAG: json.dumps(dict(chosen.description))}
    with (
        resumed_alone(tracker, stopped),
        open_run(tracker, task.run_kind, name, parent=parent, tags=tags, resumed=resumed) as run,
    ):
        results = Results(task, items, own if own is not None else journal_of(run.id), lambda: _spent(settings))
        if stopped is not None:
            results.load(stopped.journal.read())  # as it is now that no other process writes to it
            run.log_tags({"finpath.resumed": _resumed_words(stopped)})
        else:
            results.load(own.read() if own is not None else ())
            run.log_params(about.params)
            task.log_start(run, saved, items)
        work = _Work(saved, results, config, about, run, tracker)
        try:
            work.answer_all(settings, chosen)
        except BaseException:
            # An error in this clean-up must not hide the first one.
            with suppress(Exception):
                work.log_end()
                run.log_text(ARTIFACT, results.journal.text())
            raise
        figures = work.log_end()
    if own is None:
        results.journal.remove()
    done = results.all()
    turns = {(one.answered.item, one.answered.index): one.answered.turn for one in done}
    return Evaluation(name, figures, [one.score for one in done], turns)


def written_program(saved: SavedProgram, config: EvaluationConfig) -> str:
    """A program's name with the settings that differ from the defaults: ``beam (local, first 20)``."""
    different = [] if config.lm.is_none else [config.lm.name]
    different += [f"first {config.limit}"] if config.limit is not None else []
    different += ["gold history"] if config.history == "gold" else []
    different += saved.changes
    return f"{saved.name} ({', '.join(different)})" if different else saved.name


def evaluation_key(saved: SavedProgram, task: Task[Any, Any, Any], config: EvaluationConfig) -> str:
    """Returns a hash that is equal for evaluations with the same program, model, data and settings.

    The code's revision is no part of it; the run has it, and resuming with another revision is reported there.
    """
    return _hash(task.describe(saved, config).key)


def _hash(key: Mapping[str, Any]) -> str:
    shaped = {**key, "finpath": describe_environment().finpath}
    return hashlib.sha256(json.dumps(shaped, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _own_journal(path: Path | None, key: str) -> Journal | None:
    """Returns the journal in the caller's file, which is of this very evaluation."""
    if path is None:
        return None
    journal = Journal(path)
    lines = journal.read()
    if not path.exists():
        journal.append({"kind": "evaluation", "key": key})
    elif not lines or lines[0].get("key") != key:
        raise ConfigError(f"{path} is of another evaluation: remove it, or name another file")
    elif len(lines) > 1:
        say(f"* resuming after {len(lines) - 1} turns that are answered already")
    return journal


def _prepare(tracker: Tracker | None, task: Task[Any, Any, Any], key: str, *, resume: bool) -> Stopped | None:
    """Returns the run to resume, if any; marks killed runs on the way."""
    if tracker is None:
        if resume:
            say("note: nothing is tracked, so there is nothing to resume")
        return None
    mark_killed(tracker, task)
    if not resume:
        return None
    stopped = find_stopped(tracker, key, task.run_kind)
    if stopped is None:
        check_not_under_way(tracker, key, task.run_kind)
        say("note: no evaluation with these settings was stopped; this one starts from the beginning")
    else:
        say(f"* going on with the run {stopped.record.id}, of which {stopped.turns} {task.unit} are done")
    return stopped


def _resumed_words(stopped: Stopped) -> str:
    """Returns the value of the tag of a resumed run, with the earlier revision where the code has changed."""
    before, now = stopped.record.tags.get(REVISION_TAG), describe_environment().git_revision
    words = f"with {stopped.turns} turns done"
    if before == now:
        return words
    say(f"note: the code has changed since the stop ({before or 'unknown'} then, {now or 'unknown'} now)")
    return f"{words} by revision {before or 'unknown'}"


class _Work(Generic[ItemT, TurnT, ScoreT]):
    """The work of one evaluation: answering, traces, and the end of its run."""

    def __init__(
        self,
        saved: SavedProgram,
        results: Results[ItemT, TurnT, ScoreT],
        config: EvaluationConfig,
        about: Description,
        run: Run,
        tracker: Tracker | None,
    ) -> None:
        self.saved, self.results, self.config, self.about, self.run = saved, results, config, about, run
        tracked = tracker is not None and run.id is not None and config.traces != "none"
        self.writer = TraceWriter(tracker, run, results.mark_traced) if tracker is not None and tracked else None

    def answer_all(self, lm: Mapping[str, Any], engine: Engine) -> None:
        """Answers and stores all turns that are not done."""
        results = self.results
        total = sum(results.task.size(one) for one in results.items.values())
        bar = progress(total, results.task.unit, "answering")
        bar.update(results.loaded)
        for one in results.all():
            if (one.answered.item, one.answered.index) not in results.traced:
                self._trace(one)

        def keep(scored: Scored[TurnT, ScoreT]) -> None:
            results.add(scored)
            self._trace(scored)
            bar.update()
            bar.set_postfix_str(f"{100 * results.right / results.count:.1f}% right")

        try:
            work = Answering(self.saved.program, results.task, self.config)
            engine.run(work, results.waiting(), keep, done=results.done, settings=lm)
        finally:
            bar.close()

    def log_end(self) -> dict[str, Any]:
        """Logs the turns that are done, all of them or a part; returns their figures."""
        if self.writer is not None:
            self.writer.flush()
        results, task, run = self.results, self.results.task, self.run
        done = results.all()
        if not done:
            return {}
        figures = {
            **task.figures(done, seed=self.config.seed),
            "seconds": results.seconds(),
            "resumed_turns": results.loaded,
            **results.spent(),
            **self.about.figures,
            "run_id": run.id,
            "run_name": run.name,
            "seed": self.config.seed,
        }
        task.log_results(run, figures, done)
        if run.id is not None and self.config.pages:
            task.log_pages(run, list(results.items.values()), done, self.config.pages)
        if self.writer is not None and self.writer.failed:
            run.log_metrics({"traces_failed": self.writer.failed})
        return figures

    def _trace(self, one: Scored[TurnT, ScoreT]) -> None:
        task = self.results.task
        if self.writer is None or (self.config.traces == "failed" and task.is_right(one.score)):
            return
        trace = task.trace(self.run, self.saved.name, one)
        if trace is not None:
            self.writer.add(trace)


def _spent(lm: Mapping[str, Any]) -> dict[str, float]:
    """Returns the total calls, cache hits, tokens and dollars of the language model; zeros without one."""
    from programs.lm import Expenses, GuardedLM

    asked = lm["lm"]
    return (asked.spent if isinstance(asked, GuardedLM) else Expenses()).figures()
