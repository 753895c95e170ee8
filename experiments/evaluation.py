"""Evaluation of a program on a task: answers, scores, and a run with both.

    evaluation = evaluate(find_program("beam"), ConvFinQA(load_conversations("sample:dev")), tracker=tracker)
    evaluation.figures["exe_accuracy"]     # 0.71, with exe_accuracy_low and _high
    evaluation.run_id                      # for compare and inspect

An exception in a turn costs this turn only; it counts as failed, apart from wrong answers. Every answered item (a
conversation or a question) is a line of a journal in the user's cache (``FINPATH_CACHE`` names another folder) until
the evaluation is finished. A stopped evaluation, also one stopped by ``kill -9``, keeps it, and ``resume=True``
continues with the other items.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dspy
from threadpoolctl import threadpool_limits

from experiments.console import progress, say
from experiments.lms import LMConfig, reach_lm
from experiments.saved import SavedProgram
from experiments.traces import CONVERSATION_TAG, Span, TraceFacts, TraceWriter, TurnRecorder, search_traces
from experiments.tracking import (
    REVISION_TAG,
    DataInput,
    Run,
    RunKind,
    RunRecord,
    Tracker,
    describe_environment,
    is_written,
    open_run,
)
from kg.errors import ConfigError, TrackingError
from kg.files import cache_folder
from programs.lm import EXPENSES, GuardedLM
from programs.turns import concurrently, read_turn, turn_record

KEY_TAG = "finpath.key"
"""The tag with the hash of an evaluation's settings."""

TURNS, DETAILS = "turns", "details"
"""The tables of an evaluation's run: one row a turn with its scores, and one with the program's whole result."""

ONTOLOGY = "ontology.ttl"
"""The artifact with the ontology of the program."""


@dataclass(frozen=True)
class EvaluationConfig:
    """Settings of an evaluation.

    Attributes:
        lm: The language model of the program.
        limit: At most this many items, the first of the data.
        seed: Seed of the intervals.
        threads: Items at a time; ``None`` for 1, or 8 with a remote model.
        traces: Whether a trace of each turn is logged.
    """

    lm: LMConfig = field(default_factory=LMConfig)
    limit: int | None = None
    seed: int = 0
    threads: int | None = None
    traces: bool = True

    def __post_init__(self) -> None:
        for name, value in (("limit", self.limit), ("threads", self.threads)):
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}")

    @property
    def thread_count(self) -> int:
        """The number of items at a time."""
        return self.threads if self.threads is not None else self.lm.default_threads


@dataclass(frozen=True)
class Scored:
    """A turn that a program has answered, with its score.

    Attributes:
        item: The id of its conversation or question.
        index: Its place in the item, from 0.
        turn: The program's result.
        score: Its score.
        right: Whether the answer is right.
        spans: The calls of modules, tools and language models.
        start: Its start, in nanoseconds since 1970.
        end: Its end.
    """

    item: str
    index: int
    turn: Any
    score: Any
    right: bool
    spans: Sequence[Span] = ()
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Description:
    """The program, settings and data of an evaluation, for its run.

    Attributes:
        program: The program, with the settings that the task asks for.
        key: The settings that determine the turns: equal keys, equal turns.
        params: Settings under their stable names.
        tags: Hashes and versions.
        figures: Names and settings that accompany the figures.
        data: The data set.
    """

    program: Any
    key: Mapping[str, Any]
    params: Mapping[str, object]
    tags: Mapping[str, str]
    figures: Mapping[str, Any]
    data: DataInput


class Task(ABC):
    """A set of items (conversations or questions) with gold: everything in which evaluations differ.

    Attributes:
        run_kind: The kind of its runs.
        name: The data's name.
    """

    run_kind: RunKind
    name: str

    @abstractmethod
    def items(self, limit: int | None = None) -> Sequence[Any]:
        """Returns the items, at most ``limit``, each with an ``id`` of its own.

        Raises:
            DataError: There are none, or an item has no gold.
        """

    @abstractmethod
    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns the settings of an evaluation.

        Raises:
            ConfigError: The program cannot be evaluated on this task with these settings.
        """

    @abstractmethod
    def answer(self, program: Any, item: Any) -> Iterator[Any]:
        """Yields the turns of an item.

        A turn that fails is a turn too; an exception ends the whole evaluation.
        """

    @abstractmethod
    def score(self, item: Any, index: int, turn: Any) -> tuple[Any, bool]:
        """Returns the score of a turn, and whether it is right."""

    @abstractmethod
    def figures(self, scored: Sequence[Scored], *, seed: int) -> dict[str, Any]:
        """Returns the figures under their stable names, with intervals."""

    @abstractmethod
    def log(self, run: Run, saved: SavedProgram, figures: Mapping[str, Any], scored: Sequence[Scored]) -> None:
        """Logs figures, tables and pages; also called for a part of the items, after a stop, and without tracking."""

    @abstractmethod
    def trace(self, scored: Scored) -> TraceFacts:
        """Returns the content of a turn's trace in addition to its calls."""


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation.

    Attributes:
        name: The run's name.
        figures: All figures under their stable names, with ``run_id`` (``None`` without a run) and the settings.
            Figures of turns count each call of a turn (``lm_calls_per_turn``). ``lm_calls``, ``lm_cache_hits``,
            ``lm_prompt_tokens``, ``lm_completion_tokens`` and ``lm_usd`` are totals of the evaluation, with the first
            short question to the model. All are 0 without a model.
        scores: The score of every turn.
        turns: Every turn as the program returned it, by item and index.
    """

    name: str
    figures: Mapping[str, Any]
    scores: Sequence[Any]
    turns: Mapping[tuple[str, int], Any]

    @property
    def run_id(self) -> str | None:
        """The MLflow run, if there is one."""
        run_id: str | None = self.figures["run_id"]
        return run_id


def evaluate(
    saved: SavedProgram,
    task: Task,
    config: EvaluationConfig | None = None,
    *,
    tracker: Tracker | None = None,
    parent: Run | None = None,
    run_name: str | None = None,
    resume: bool = False,
    lm: Mapping[str, Any] | None = None,
) -> Evaluation:
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
    items = task.items(config.limit)
    about = task.describe(saved, config)
    saved = replace(saved, program=about.program)
    shaped = json.dumps({**about.key, "finpath": describe_environment().finpath}, sort_keys=True, default=str)
    key = hashlib.sha256(shaped.encode()).hexdigest()[:32]
    settings = lm if lm is not None else reach_lm(config.lm, saved.program)
    name = run_name if run_name is not None else f"{_named(saved, config)} on {task.name}"
    stopped = _stopped(tracker, task.run_kind, key, resume=resume)
    tags = {"finpath.seed": str(config.seed), **about.tags, KEY_TAG: key}
    resumed = stopped.id if stopped is not None else None
    with open_run(tracker, task.run_kind, name, parent=parent, tags=tags, resumed=resumed) as run:
        writer = TraceWriter(tracker, run) if tracker is not None and config.traces else None
        work = _Work(saved, task, {item.id: item for item in items}, config, about, run, settings, writer)
        if stopped is None or tracker is None:
            run.log_params(about.params)
            run.log_data(about.data)
        else:
            work.load(stopped, tracker)
        try:
            work.answer_all()
        except BaseException:
            with suppress(Exception):  # an error in this clean-up must not hide the first one
                work.log_end()
            raise
        figures = work.log_end()
    work.journal.remove()
    turns = {(scored.item, scored.index): scored.turn for scored in work.all()}
    return Evaluation(name, figures, [scored.score for scored in work.all()], turns)


def _named(saved: SavedProgram, config: EvaluationConfig) -> str:
    """A program's name with the settings that differ from the defaults: ``beam (local, first 20)``."""
    different = [] if config.lm.is_none else [config.lm.name]
    different += [f"first {config.limit}"] if config.limit is not None else []
    different += saved.changes
    return f"{saved.name} ({', '.join(different)})" if different else saved.name


@dataclass
class _Work:
    """The turns of one evaluation, from the journal and new ones, and the end of its run."""

    saved: SavedProgram
    task: Task
    items: Mapping[str, Any]
    config: EvaluationConfig
    about: Description
    run: Run
    settings: Mapping[str, Any]
    writer: TraceWriter | None

    def __post_init__(self) -> None:
        self.journal = journal_of(self.run.id)
        self._done: dict[str, list[Scored]] = {}
        self._lock = threading.Lock()
        self._resumed, self._spent_before, self._start = 0, dict[str, float](), time.perf_counter()

    def load(self, stopped: RunRecord, tracker: Tracker) -> None:
        """Takes over the answered items of a stopped run."""
        for line in self.journal.read():
            try:
                item = self.items[line["item"]]
                turns = enumerate(line["turns"])
                self._done[item.id] = [self._scored(item, place, read_turn(own["turn"]), own) for place, own in turns]
            except (KeyError, TypeError, ValueError) as error:
                rule = f"another revision of finpath wrote it ({type(error).__name__}: {error})"
                raise TrackingError(f"the journal {self.journal.path} cannot be resumed: {rule}") from error
            self._spent_before = line["spent"]
        self._resumed = len(self.all())
        before, now = stopped.tags.get(REVISION_TAG), describe_environment().git_revision
        if before != now:
            say(f"note: the code has changed since the stop ({before or 'unknown'} then, {now or 'unknown'} now)")
        self.run.log_tags({"finpath.resumed": f"with {self._resumed} turns done by revision {before or 'unknown'}"})
        say(f"* going on with the run {stopped.id}, of which {self._resumed} turns are done")
        if self.writer is not None:
            known = {trace.info.tags.get(CONVERSATION_TAG) for trace in search_traces(tracker, stopped)}
            self._trace(scored for scored in self.all() if scored.item not in known)

    def answer_all(self) -> None:
        """Answers and keeps all items that are not done."""
        waiting = [item for name, item in self.items.items() if name not in self._done]
        bar = progress(len(self.items), "items", "answering")
        bar.update(len(self.items) - len(waiting))
        stop = threading.Event()  # the first error ends the work: no further item is begun

        def answer(item: Any) -> None:
            if stop.is_set():
                return
            try:
                turns = self._answer(item)
            except BaseException:
                stop.set()
                raise
            times = [{"spans": own.spans, "start": own.start, "end": own.end} for own in turns]
            kept = [{"turn": turn_record(own.turn), **about} for own, about in zip(turns, times, strict=True)]
            with self._lock:
                self._done[item.id] = turns
                self.journal.append({"item": item.id, "turns": kept, "spent": self._spent()})
            self._trace(turns)
            bar.update()
            done = self.all()
            bar.set_postfix_str(f"{100 * sum(scored.right for scored in done) / len(done):.1f}% right")

        # The matrices are small, and threads that each ask BLAS for more threads wait for each other.
        with closing(bar), dspy.context(**self.settings), threadpool_limits(limits=1, user_api="blas"):
            for _ in concurrently(answer, waiting, self.config.thread_count):
                pass

    def _answer(self, item: Any) -> list[Scored]:
        """Returns the turns of an item."""
        answers, turns = self.task.answer(self.saved.program, item), list[Scored]()
        while True:
            recorder = TurnRecorder()
            with recorder.recording():
                turn = next(answers, None)
            if turn is None:
                return turns
            spans = recorder.spans if self.config.traces else ()
            about = {"spans": spans, "start": recorder.start, "end": recorder.end}
            turns.append(self._scored(item, len(turns), turn, about))

    def _scored(self, item: Any, index: int, turn: Any, about: Mapping[str, Any]) -> Scored:
        """Scores a turn; those of the journal are scored again."""
        score, right = self.task.score(item, index, turn)
        return Scored(item.id, index, turn, score, right, about["spans"], about["start"], about["end"])

    def log_end(self) -> dict[str, Any]:
        """Logs the items that are done, all of them or a part; returns their figures."""
        done = self.all()
        if not done:
            return {}
        figures = {
            **self.task.figures(done, seed=self.config.seed),
            "resumed_turns": self._resumed,
            **self._spent(),
            **self.about.figures,
            "run_id": self.run.id,
            "run_name": self.run.name,
            "seed": self.config.seed,
        }
        self.task.log(self.run, self.saved, figures, done)
        if self.writer is not None:
            self.writer.flush()
            if self.writer.failed:
                self.run.log_metrics({"traces_failed": self.writer.failed})
        return figures

    def all(self) -> list[Scored]:
        """Returns every turn that is done, in the order of the data."""
        with self._lock:
            return [scored for name in self.items for scored in self._done.get(name, ())]

    def _spent(self) -> dict[str, float]:
        """Returns the wall time and the cost of the language model over all parts of the evaluation."""
        lm = self.settings["lm"]
        spent = lm.spent.figures() if isinstance(lm, GuardedLM) else dict.fromkeys(EXPENSES, 0)
        now = {"seconds": time.perf_counter() - self._start, **spent}
        return {name: value + self._spent_before.get(name, 0) for name, value in now.items()}

    def _trace(self, turns: Iterable[Scored]) -> None:
        for scored in turns if self.writer is not None else ():
            facts = self.task.trace(scored)
            tags = {"finpath.program": self.saved.name, "finpath.correct": str(scored.right).lower(), **facts.tags}
            assert self.writer is not None
            place = scored.item, scored.index
            self.writer.add(place, replace(facts, tags=tags), scored.spans, scored.start, scored.end)


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


def journal_of(run_id: str | None) -> Journal:
    """Returns the journal of a run; one without a file for a run that is not tracked."""
    return Journal(cache_folder() / "evaluations" / f"{run_id}.jsonl" if run_id is not None else None)


def find_stopped(tracker: Tracker, key: str, kind: RunKind = "evaluate") -> RunRecord | None:
    """Returns the newest stopped evaluation of this key that has answered items.

    Raises:
        ConfigError: A process of this machine runs an evaluation of this key at the moment.
    """
    for record in tracker.search((kind,), tags={KEY_TAG: key}, without=("FINISHED",)):
        if is_written(record.id):
            raise ConfigError(f"the run {record.id} with these settings is under way in another process: wait for it")
        if journal_of(record.id).read():
            return record
    return None


def _stopped(tracker: Tracker | None, kind: RunKind, key: str, *, resume: bool) -> RunRecord | None:
    """Returns the run to resume, if any; marks killed runs on the way."""
    if tracker is None:
        if resume:
            say("note: nothing is tracked, so there is nothing to resume")
        return None
    for record in tracker.mark_killed():
        say(f"note: the run {record.name} ({record.id}) was killed; --resume continues an evaluation")
    stopped = find_stopped(tracker, key, kind) if resume else None
    if resume and stopped is None:
        say("note: no evaluation with these settings was stopped; this one starts from the beginning")
    return stopped
