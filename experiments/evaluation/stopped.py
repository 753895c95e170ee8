"""Stopped evaluations: found by their key, marked as killed, and resumed.

    stopped = find_stopped(tracker, key)                 # the newest that was not finished, if there is one
    mark_killed(tracker, task)                           # the runs that `kill -9` left as RUNNING

A run has a tag with its machine and process. A run that is still marked as running although its process is gone could
not mark itself. The next evaluation marks it as killed, with the figures of the turns in its journal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from experiments.console import say
from experiments.evaluation.journal import ARTIFACT, Journal, journals_folder
from experiments.evaluation.log import KEY_TAG
from experiments.evaluation.results import read_scored
from experiments.evaluation.task import Scored, Task
from experiments.tracking import PROCESS_TAG, RunRecord, Tracker, is_alive, is_gone
from kg.errors import ConfigError, FinpathError, TrackingError
from kg.locks import BusyError, FileLock

_OTHER_KINDS = ("compile", "compare", "ontology")


@dataclass(frozen=True)
class Stopped:
    """A run that can be resumed.

    Attributes:
        record: The run.
        journal: Its journal.
        lines: The journal's lines.
    """

    record: RunRecord
    journal: Journal
    lines: Sequence[dict[str, Any]]

    @property
    def turns(self) -> int:
        """The number of turns that are done."""
        return sum(line.get("kind") == "turn" for line in self.lines)


def journal_of(run_id: str | None) -> Journal:
    """Returns the journal of a run; one without a file for a run that is not tracked."""
    return Journal(journals_folder() / f"{run_id}.jsonl" if run_id is not None else None)


def find_stopped(tracker: Tracker, key: str, kind: str = "evaluate") -> Stopped | None:
    """Returns the newest stopped evaluation of this key that has answered turns."""
    if tracker.config.new_store is not None:
        return None
    for record in tracker.search((kind,), tags={KEY_TAG: key}, without=("FINISHED",)):
        if record.status == "RUNNING" and not is_gone(record.tags.get(PROCESS_TAG, "")):
            continue
        journal = journal_of(record.id)
        if not journal.text():
            _fetch(tracker, record, journal)
        lines = journal.read()
        if any(line.get("kind") == "turn" for line in lines):
            return Stopped(record, journal, lines)
    return None


def check_not_under_way(tracker: Tracker, key: str, kind: str = "evaluate") -> None:
    """Raises ConfigError where a process of this machine runs an evaluation of this key at the moment."""
    if tracker.config.new_store is not None:
        return
    for record in tracker.search((kind,), tags={KEY_TAG: key}, without=("FINISHED", "FAILED", "KILLED")):
        if is_alive(record.tags.get(PROCESS_TAG, "")):
            raise ConfigError(f"the run {record.id} with these settings is under way in another process: wait for it")


@contextmanager
def resumed_alone(tracker: Tracker | None, stopped: Stopped | None) -> Iterator[None]:
    """Lets no other process of this machine resume the same run inside the context.

    Raises:
        ConfigError: Another process resumes it, or has finished it meanwhile.
    """
    if tracker is None or stopped is None:
        yield
        return
    record = stopped.record
    lock = journals_folder() / f".{record.id}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(lock, wait=False)
    except BusyError as error:
        raise ConfigError(f"the run {record.id} is resumed by another process") from error
    try:
        if tracker.find(record.id, kinds=(record.kind,)).status == "FINISHED":
            raise ConfigError(f"the run {record.id} was finished by another process")
        yield
    finally:
        held.release(remove=True)


def find_finished(tracker: Tracker, key: str) -> RunRecord | None:
    """Returns the newest finished evaluation of this key."""
    if tracker.config.new_store is not None:
        return None
    found = tracker.search(("evaluate",), limit=1, tags={KEY_TAG: key}, without=("RUNNING", "FAILED", "KILLED"))
    return next(iter(found), None)


def mark_killed(tracker: Tracker, task: Task[Any, Any, Any]) -> list[RunRecord]:
    """Marks runs of this machine whose process is gone as killed, and logs the figures of their turns.

    Args:
        tracker: The tracking store.
        task: A task of the kind whose evaluations are marked; its items are not read.
    """
    if tracker.config.new_store is not None:
        return []
    marked = []
    for record in tracker.search((task.run_kind, *_OTHER_KINDS), without=("FINISHED", "FAILED", "KILLED")):
        if not is_gone(record.tags.get(PROCESS_TAG, "")):
            continue
        journal = journal_of(record.id)
        done = _scored_lines(journal, task)
        with tracker.closing(record, "KILLED") as run:
            if done:
                scored, last = [one for one, _ in done], done[-1][1]
                figures = task.figures(scored, seed=int(record.params.get("seed", "0")))
                task.log_results(run, {**figures, "seconds": last["seconds"], **last["spent"]}, scored)
                run.log_text(ARTIFACT, journal.text())
        say(f"note: the run {record.name} ({record.id}) was killed; {len(done)} turns of it are done")
        marked.append(record)
    return marked


def _scored_lines(journal: Journal, task: Task[Any, Any, Any]) -> list[tuple[Scored[Any, Any], Mapping[str, Any]]]:
    """Returns the turns of a journal with their lines; a line of another revision is reported and skipped."""
    found: list[tuple[Scored[Any, Any], Mapping[str, Any]]] = []
    for line in journal.read():
        try:
            if line.get("kind") == "turn":
                found.append((read_scored(task, line), {"seconds": line["seconds"], "spent": dict(line["spent"])}))
        except (KeyError, TypeError, ValueError, AttributeError, FinpathError) as error:
            say(f"note: a turn in {journal.path} cannot be read ({type(error).__name__}: {error})")
    return found


def _fetch(tracker: Tracker, record: RunRecord, journal: Journal) -> None:
    """Restores a journal that was written on another machine from the run's copy."""
    try:
        text = tracker.text(record, ARTIFACT)
    except TrackingError:
        return  # it was killed before it could log one
    journal.restore(text)
