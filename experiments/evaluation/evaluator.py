"""Evaluation of a program on a task: answers, scores, and a run with both.

    evaluation = evaluate(find_program("beam"), ConvFinQA(load_conversations("sample:dev")), tracker=tracker)
    evaluation.figures["exe_accuracy"]     # 0.71, with exe_accuracy_low and _high
    evaluation.run_id                      # for compare and inspect

An exception in a turn costs this turn only; it counts as failed, apart from wrong answers. Every answered turn is a
line of a journal in the user's cache (``FINPATH_CACHE`` names another folder) until the evaluation is finished. A
stopped evaluation, also one stopped by ``kill -9``, keeps them, and ``resume=True`` goes on with the items that are not
complete. A run that is still marked as running although its process is gone could not mark itself: the next evaluation
marks it as killed, with the figures of its journal.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic

from experiments import engines
from experiments.console import progress, say
from experiments.evaluation.task import Description, Evaluation, EvaluationConfig, ItemT, Scored, ScoreT, Task, TurnT
from experiments.lms import reach_lm
from experiments.saved import SavedProgram
from experiments.tracking import (
    CONVERSATION_TAG,
    PROCESS_TAG,
    REVISION_TAG,
    TURN_TAG,
    Run,
    RunRecord,
    TraceWriter,
    Tracker,
    TurnRecorder,
    describe_environment,
    is_alive,
    is_gone,
    open_run,
    run_tags,
    search_traces,
)
from kg.errors import ConfigError, FinpathError, TrackingError
from kg.files import cache_folder
from kg.locks import BusyError, FileLock
from programs.lm import Expenses, GuardedLM
from programs.turns import Turn, read_turn, turn_record

KEY_TAG = "finpath.key"
"""The tag with the hash of an evaluation's settings."""

_MARKED_KINDS = ("compile", "compare")


def evaluate(
    saved: SavedProgram,
    task: Task[ItemT, TurnT, ScoreT],
    config: EvaluationConfig | None = None,
    *,
    tracker: Tracker | None = None,
    parent: Run | None = None,
    run_name: str | None = None,
    resume: bool = False,
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
        lm: The settings of ``dspy.context`` with a language model that is ready; by default those of ``config.lm``.

    Raises:
        DataError: The data has no gold, or no item.
        ConfigError: The program cannot be evaluated on this task, or the evaluation is under way in another process.
        LMError: The language model does not answer at all.
    """
    config = config if config is not None else EvaluationConfig()
    saved = task.prepared(saved)
    items = task.items(config.limit)
    about = task.describe(saved, config)
    key = _hash(about.key)
    settings = lm if lm is not None else reach_lm(config.lm, saved.program)
    name = run_name if run_name is not None else f"{written_program(saved, config)} on {task.name}"
    stopped = _stopped(tracker, task, key, resume=resume)
    tags = {**run_tags(config.seed), **about.tags, KEY_TAG: key}
    resumed = stopped.id if stopped is not None else None
    with (
        _alone(tracker, stopped),
        open_run(tracker, task.run_kind, name, parent=parent, tags=tags, resumed=resumed) as run,
    ):
        work = _Work(saved, task, items, config, about, run, tracker, settings)
        if stopped is None:
            run.log_params(about.params)
            if about.data is not None:
                run.log_data(about.data)
        else:
            work.load(stopped)
        try:
            work.answer_all()
        except BaseException:
            with suppress(Exception):  # an error in this clean-up must not hide the first one
                work.log_end()
            raise
        figures = work.log_end()
    work.journal.remove()
    done = work.all()
    turns = {(one.item, one.index): one.turn for one in done}
    return Evaluation(name, figures, [one.score for one in done], turns)


def written_program(saved: SavedProgram, config: EvaluationConfig) -> str:
    """A program's name with the settings that differ from the defaults: ``beam (local, first 20)``."""
    different = [] if config.lm.is_none else [config.lm.name]
    different += [f"first {config.limit}"] if config.limit is not None else []
    different += saved.changes
    return f"{saved.name} ({', '.join(different)})" if different else saved.name


def _hash(key: Mapping[str, Any]) -> str:
    shaped = {**key, "finpath": describe_environment().finpath}
    return hashlib.sha256(json.dumps(shaped, sort_keys=True, default=str).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class _Answering(Generic[ItemT, TurnT, ScoreT]):
    """Answers and scores the turns of an item."""

    program: Any
    task: Task[ItemT, TurnT, ScoreT]
    traces: bool

    def __call__(self, item: ItemT) -> Iterator[Scored[TurnT, ScoreT]]:
        """Yields the turns."""
        answers = self.task.answer(self.program, item)
        for index in range(self.task.size(item)):
            recorder = TurnRecorder()
            with recorder.recording():
                turn, score, right = next(answers)
            spans = recorder.spans if self.traces else ()
            source = self.task.source(item)
            yield Scored(item.id, index, turn, score, right, source, spans, recorder.start, recorder.end)


class _Work(Generic[ItemT, TurnT, ScoreT]):
    """The turns of one evaluation, from the journal and new ones, and the end of its run."""

    def __init__(
        self,
        saved: SavedProgram,
        task: Task[ItemT, TurnT, ScoreT],
        items: Sequence[ItemT],
        config: EvaluationConfig,
        about: Description,
        run: Run,
        tracker: Tracker | None,
        settings: Mapping[str, Any],
    ) -> None:
        self.saved, self.task, self.config, self.about, self.run = saved, task, config, about, run
        self.items = {item.id: item for item in items}
        self.journal = journal_of(run.id)
        self.tracker = tracker
        self.settings = settings
        self.writer = TraceWriter(tracker, run) if tracker is not None and config.traces else None
        self._turns: dict[str, list[Scored[TurnT, ScoreT]]] = {}
        self._lock = threading.Lock()
        self._loaded, self._spent_before, self._seconds_before = 0, dict[str, float](), 0.0
        self._start = time.perf_counter()

    def load(self, stopped: RunRecord) -> None:
        """Takes over the complete items of a stopped run."""
        try:
            done = read_scored(self.task, self.journal.read())
        except (KeyError, TypeError, ValueError) as error:
            rule = f"another revision of finpath wrote it ({type(error).__name__}: {error})"
            raise TrackingError(f"the journal {self.journal.path} cannot be resumed: {rule}") from error
        for scored, costs in done:
            self._turns.setdefault(scored.item, []).append(scored)
            self._spent_before, self._seconds_before = costs["spent"], costs["seconds"]
        self._turns = {
            name: turns
            for name, turns in self._turns.items()
            if name in self.items and len(turns) == self.task.size(self.items[name])
        }
        self._loaded = sum(map(len, self._turns.values()))
        before, now = stopped.tags.get(REVISION_TAG), describe_environment().git_revision
        words = f"with {self._loaded} turns done"
        if before != now:
            say(f"note: the code has changed since the stop ({before or 'unknown'} then, {now or 'unknown'} now)")
            words += f" by revision {before or 'unknown'}"
        self.run.log_tags({"finpath.resumed": words})
        say(f"* going on with the run {stopped.id}, of which {self._loaded} {self.task.unit} are done")
        if self.tracker is not None and self.writer is not None:
            tags = [trace.info.tags for trace in search_traces(self.tracker, stopped)]
            known = {(one.get(CONVERSATION_TAG), one.get(TURN_TAG)) for one in tags}
            self._trace(one for one in self.all() if (one.item, str(one.index)) not in known)

    def answer_all(self) -> None:
        """Answers and keeps all turns that are not done."""
        bar = progress(sum(map(self.task.size, self.items.values())), self.task.unit, "answering")
        bar.update(self._loaded)
        count, right = self._loaded, sum(one.right for one in self.all())

        def keep(scored: Scored[TurnT, ScoreT]) -> None:
            nonlocal count, right
            with self._lock:
                turns = self._turns.setdefault(scored.item, [])
                turns.append(scored)
                count, right = count + 1, right + scored.right
                self.journal.append(_line(self.task, scored, {"spent": self.spent(), "seconds": self.seconds()}))
            if len(turns) == self.task.size(self.items[scored.item]):
                self._trace(turns)
            bar.update()
            bar.set_postfix_str(f"{100 * right / count:.1f}% right")

        waiting = [item for name, item in self.items.items() if name not in self._turns]
        try:
            work = _Answering(self.saved.program, self.task, self.config.traces)
            engines.run(work, waiting, keep, threads=self.config.thread_count, settings=self.settings)
        finally:
            bar.close()

    def log_end(self) -> dict[str, Any]:
        """Logs the turns that are done, all of them or a part; returns their figures."""
        done = self.all()
        if not done:
            return {}
        figures = {
            **self.task.figures(done, seed=self.config.seed),
            "seconds": self.seconds(),
            "resumed_turns": self._loaded,
            **self.spent(),
            **self.about.figures,
            "run_id": self.run.id,
            "run_name": self.run.name,
            "seed": self.config.seed,
        }
        self.task.log(self.run, figures, done)
        if self.run.id is not None:
            self.task.log_items(self.run, self.saved, list(self.items.values()), done)
        if self.writer is not None:
            self.writer.flush()
            if self.writer.failed:
                self.run.log_metrics({"traces_failed": self.writer.failed})
        return figures

    def all(self) -> list[Scored[TurnT, ScoreT]]:
        """Returns every turn that is done, in the order of the data."""
        with self._lock:
            return [scored for name in self.items for scored in self._turns.get(name, ())]

    def spent(self) -> dict[str, float]:
        """Returns the cost of the language model over all parts of the evaluation; zeros without one."""
        lm = self.settings["lm"]
        now = (lm.spent if isinstance(lm, GuardedLM) else Expenses()).figures()
        return {name: value + self._spent_before.get(name, 0) for name, value in now.items()}

    def seconds(self) -> float:
        """Returns the wall time over all parts of the evaluation."""
        return self._seconds_before + time.perf_counter() - self._start

    def _trace(self, turns: Iterable[Scored[TurnT, ScoreT]]) -> None:
        for one in turns:
            facts = self.task.trace(one) if self.writer is not None else None
            if self.writer is not None and facts is not None:
                tags = {"finpath.program": self.saved.name, "finpath.correct": str(one.right).lower(), **facts.tags}
                facts = replace(facts, tags=tags)
                self.writer.add((one.item, one.index), facts, one.spans, one.start, one.end)


class Journal:
    """Lines of JSON in an append-only file.

    Args:
        path: The file; ``None`` for no journal.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def append(self, line: Mapping[str, Any]) -> None:
        """Adds a line; it is on the disk when this returns."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(json.dumps(line, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> list[dict[str, Any]]:
        """Returns all lines; one that a killed process did not finish is removed, and a broken one is reported."""
        if self.path is None or not self.path.exists():
            return []
        content = self.path.read_bytes()
        complete = content[: content.rfind(b"\n") + 1]
        if len(complete) < len(content):
            os.truncate(self.path, len(complete))
        lines = []
        for number, text in enumerate(complete.split(b"\n")[:-1], start=1):
            try:
                lines.append(dict(json.loads(text)))
            except (ValueError, TypeError, RecursionError):
                say(f"note: line {number} of the journal {self.path} is broken; it is skipped")
        return lines

    def remove(self) -> None:
        """Removes the file; the run has its content."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def journals_folder() -> Path:
    """Returns the folder of the journals of unfinished evaluations."""
    return cache_folder() / "evaluations"


def journal_of(run_id: str | None) -> Journal:
    """Returns the journal of a run; one without a file for a run that is not tracked."""
    return Journal(journals_folder() / f"{run_id}.jsonl" if run_id is not None else None)


def _line(task: Task[Any, Any, Any], scored: Scored[Any, Any], costs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a line of the journal; a turn is typed, or JSON already."""
    typed = isinstance(scored.turn, Turn)
    turn = turn_record(scored.turn) if typed else scored.turn
    return {**vars(scored), "turn": turn, "typed": typed, "score": task.score_record(scored.score), **costs}


def read_scored(
    task: Task[Any, TurnT, ScoreT], lines: Iterable[Mapping[str, Any]]
) -> list[tuple[Scored[TurnT, ScoreT], Mapping[str, Any]]]:
    """Returns the turns of a journal with the costs until each; those of an item that was answered again only once."""
    done: dict[tuple[str, int], tuple[Scored[TurnT, ScoreT], Mapping[str, Any]]] = {}
    for line in lines:
        values = {name: line[name] for name in Scored.__dataclass_fields__}
        turn: Any = read_turn(line["turn"]) if line["typed"] else line["turn"]
        scored = Scored[Any, Any](**{**values, "turn": turn, "score": task.read_score(line["score"], turn)})
        done[scored.item, scored.index] = scored, {"spent": line["spent"], "seconds": line["seconds"]}
    return list(done.values())


def find_stopped(tracker: Tracker, key: str, kind: str = "evaluate") -> RunRecord | None:
    """Returns the newest stopped evaluation of this key that has answered turns.

    Raises:
        ConfigError: A process of this machine runs an evaluation of this key at the moment.
    """
    for record in tracker.search((kind,), tags={KEY_TAG: key}, without=("FINISHED",)):
        process = record.tags.get(PROCESS_TAG, "")
        if record.status == "RUNNING" and is_alive(process):
            raise ConfigError(f"the run {record.id} with these settings is under way in another process: wait for it")
        if (record.status != "RUNNING" or is_gone(process)) and journal_of(record.id).read():
            return record
    return None


def _stopped(tracker: Tracker | None, task: Task[Any, Any, Any], key: str, *, resume: bool) -> RunRecord | None:
    """Returns the run to resume, if any; marks killed runs on the way."""
    if tracker is None:
        if resume:
            say("note: nothing is tracked, so there is nothing to resume")
        return None
    mark_killed(tracker, task)
    stopped = find_stopped(tracker, key, task.run_kind) if resume else None
    if resume and stopped is None:
        say("note: no evaluation with these settings was stopped; this one starts from the beginning")
    return stopped


@contextmanager
def _alone(tracker: Tracker | None, stopped: RunRecord | None) -> Iterator[None]:
    """Lets no other process of this machine resume the same run inside the context.

    Raises:
        ConfigError: Another process resumes it, or has finished it meanwhile.
    """
    if tracker is None or stopped is None:
        yield
        return
    lock = journals_folder() / f".{stopped.id}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        file_lock = FileLock(lock, wait=False)
    except BusyError as error:
        raise ConfigError(f"the run {stopped.id} is resumed by another process") from error
    try:
        if tracker.find(stopped.id, kinds=(stopped.kind,)).status == "FINISHED":
            raise ConfigError(f"the run {stopped.id} was finished by another process")
        yield
    finally:
        file_lock.release(remove=True)


def mark_killed(tracker: Tracker, task: Task[Any, Any, Any]) -> list[RunRecord]:
    """Marks runs of this machine whose process is gone as killed, and logs the figures of their turns.

    Args:
        tracker: The tracking store.
        task: A task of the kind whose evaluations are marked; its items are not read.
    """
    marked = []
    for record in tracker.search((task.run_kind, *_MARKED_KINDS), without=("FINISHED", "FAILED", "KILLED")):
        if not is_gone(record.tags.get(PROCESS_TAG, "")):
            continue
        done: Sequence[tuple[Scored[Any, Any], Mapping[str, Any]]] = ()
        try:
            done = read_scored(task, journal_of(record.id).read())
        except (KeyError, TypeError, ValueError, AttributeError, FinpathError) as error:
            say(f"note: the journal of {record.id} cannot be read ({type(error).__name__}: {error})")
        with tracker.adding(record, "KILLED") as run:
            if done:
                scored, last = [one for one, _ in done], done[-1][1]
                figures = task.figures(scored, seed=int(record.params.get("seed", "0")))
                task.log(run, {**figures, "seconds": last["seconds"], **last["spent"]}, scored)
        say(f"note: the run {record.name} ({record.id}) was killed; {len(done)} turns of it are done")
        marked.append(record)
    return marked
