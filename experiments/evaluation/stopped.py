"""Evaluations that were stopped: found again by their key, marked as killed, and gone on with.

    stopped = find_stopped(tracker, key)                 # the newest that was not finished, if there is one
    mark_killed(tracker)                                 # what `kill -9` left as RUNNING

A run says on which machine and in which process it is written. One that is still marked as running though its process
is gone was killed so hard that it could not say so: the next command that opens the store says it, with the figures of
the turns that its journal holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.console import say
from experiments.evaluation.journal import ARTIFACT, Journal, journals_folder
from experiments.evaluation.log import KEY_TAG, log_results, result_figures
from experiments.evaluation.results import Scored, read_scored
from experiments.tracking.environment import is_gone
from experiments.tracking.records import PROCESS_TAG, RunRecord
from experiments.tracking.tracker import Tracker
from kg.errors import TrackingError

_KINDS = ("evaluate", "compile", "compare", "ontology")


@dataclass(frozen=True)
class Stopped:
    """A run that can go on.

    Attributes:
        record: The run.
        journal: Its journal, which is there.
        lines: What the journal holds.
    """

    record: RunRecord
    journal: Journal
    lines: Sequence[dict[str, Any]]

    @property
    def turns(self) -> int:
        """How many turns are done."""
        return sum(line.get("kind") == "turn" for line in self.lines)


def journal_of(run_id: str | None) -> Journal:
    """The journal of a run; one that keeps nothing for a run that is not tracked."""
    return Journal(journals_folder() / f"{run_id}.jsonl" if run_id is not None else None)


def find_stopped(tracker: Tracker, key: str) -> Stopped | None:
    """The newest evaluation of this key that was stopped and has turns to go on from."""
    if tracker.config.new_store is not None:
        return None
    for record in tracker.search(("evaluate",), tags={KEY_TAG: key}, without=("FINISHED",)):
        if record.status == "RUNNING" and not is_gone(record.tags.get(PROCESS_TAG, "")):
            continue
        journal = journal_of(record.id)
        if not journal.text():
            _fetch(tracker, record, journal)
        lines = journal.read()
        if any(line.get("kind") == "turn" for line in lines):
            return Stopped(record, journal, lines)
    return None


def find_finished(tracker: Tracker, key: str) -> RunRecord | None:
    """The newest evaluation of this key that was finished."""
    if tracker.config.new_store is not None:
        return None
    found = tracker.search(("evaluate",), limit=1, tags={KEY_TAG: key}, without=("RUNNING", "FAILED", "KILLED"))
    return next(iter(found), None)


def mark_killed(tracker: Tracker) -> list[RunRecord]:
    """Marks the runs of this machine whose process is gone as killed; their journals stay, so they can go on."""
    if tracker.config.new_store is not None:
        return []
    marked = []
    for record in tracker.search(_KINDS, without=("FINISHED", "FAILED", "KILLED")):
        if not is_gone(record.tags.get(PROCESS_TAG, "")):
            continue
        journal = journal_of(record.id)
        done = _scored_lines(journal)
        with tracker.closing(record, "KILLED") as run:
            if done:
                scored, last = [one for one, _ in done], done[-1][1]
                seed = int(record.params.get("seed", "0"))
                figures = result_figures(scored, seed=seed, seconds=last["seconds"], spent=last["spent"])
                log_results(run, figures, scored)
                run.log_text(ARTIFACT, journal.text())
        say(f"note: the run {record.name} ({record.id}) was killed; {len(done)} turns of it are done")
        marked.append(record)
    return marked


def _scored_lines(journal: Journal) -> list[tuple[Scored, Mapping[str, Any]]]:
    """Returns the turns of a journal with their lines; a line of another revision is reported and skipped."""
    found: list[tuple[Scored, Mapping[str, Any]]] = []
    for line in journal.read():
        try:
            if line["kind"] == "turn":
                found.append((read_scored(line), line))
        except (KeyError, TypeError, ValueError) as error:
            say(f"note: a turn in {journal.path} cannot be read ({type(error).__name__}: {error})")
    return found


def _fetch(tracker: Tracker, record: RunRecord, journal: Journal) -> None:
    """The copy that a run keeps, for a journal that was written on another machine."""
    try:
        text = tracker.text(record, ARTIFACT)
    except TrackingError:
        return  # it was killed before it could keep one
    journal.restore(text)
