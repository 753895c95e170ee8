"""Results of an evaluation so far: every answered turn with its score, each written to the journal at once.

results = Results(task, items, journal, spent=lambda: {"lm_calls": 12})
results.load(journal.read())     # the turns of a run that was stopped
results.add(scored)              # one more; safe to call from several threads
results.all()                    # in the order of the data
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic

from experiments.evaluation.journal import Journal
from experiments.evaluation.task import Answered, ItemT, Scored, ScoreT, Task, TurnT
from kg.errors import TrackingError

Key = tuple[str, int]


class Results(Generic[ItemT, TurnT, ScoreT]):
    """The turns that are done; items may come in any order.

    Args:
        task: The task.
        items: All items of the evaluation.
        journal: The journal of the turns.
        spent: Returns the cost of the language model until now, under stable names.

    Attributes:
        loaded: The number of turns from an earlier part.
        count: The number of turns that are done.
        right: The number of right turns.
    """

    def __init__(
        self,
        task: Task[ItemT, TurnT, ScoreT],
        items: Sequence[ItemT],
        journal: Journal,
        spent: Callable[[], Mapping[str, float]],
    ) -> None:
        self.task = task
        self.items = {item.id: item for item in items}
        self.journal = journal
        self.traced: set[Key] = set()
        self._done: dict[str, list[Scored[TurnT, ScoreT]]] = {}
        self._lock = threading.Lock()
        self._spent_now = spent
        self._spent_before: Mapping[str, float] = {}
        self._seconds_before = 0.0
        self._started = time.perf_counter()
        self.loaded = self.count = self.right = 0

    def load(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Adds the turns of an earlier part of this evaluation from its journal.

        Raises:
            TrackingError: Another revision of finpath wrote the journal in another form.
        """
        try:
            for line in lines:
                self._load(line)
        except (KeyError, TypeError, ValueError) as error:
            rule = f"another revision of finpath wrote it ({type(error).__name__}: {error})"
            raise TrackingError(f"the journal {self.journal.path} cannot be resumed: {rule}") from error

    def _load(self, line: Mapping[str, Any]) -> None:
        if line.get("kind") == "traced":
            self.traced |= {(name, index) for name, index in line["turns"]}
        if line.get("kind") != "turn":
            return
        self._spent_before, self._seconds_before = line["spent"], line["seconds"]
        known = self._done.get(line["conversation"], [])
        # A turn after a broken line of its conversation is asked again: its history is not complete.
        if line["index"] == len(known):
            self._keep(read_scored(self.task, line))
            self.loaded += 1

    def add(self, scored: Scored[TurnT, ScoreT]) -> None:
        """Keeps a turn and writes it to the journal."""
        answered = scored.answered
        with self._lock:
            self._keep(scored)
            self.journal.append(
                {
                    "kind": "turn",
                    "conversation": answered.item,
                    "index": answered.index,
                    "report": scored.source,
                    **self.task.record(scored),
                    "histories": answered.histories,
                    "spans": answered.spans,
                    "start": answered.start,
                    "end": answered.end,
                    "spent": self.spent(),
                    "seconds": self.seconds(),
                }
            )

    def mark_traced(self, keys: Sequence[Key]) -> None:
        """Notes that the traces of these turns are in the store."""
        self.journal.append({"kind": "traced", "turns": [list(key) for key in keys]})

    def spent(self) -> dict[str, float]:
        """Returns the cost of the language model over all parts of the evaluation."""
        return {name: value + self._spent_before.get(name, 0) for name, value in self._spent_now().items()}

    def seconds(self) -> float:
        """Returns the wall time over all parts of the evaluation."""
        return self._seconds_before + time.perf_counter() - self._started

    def done(self, item: ItemT) -> list[Scored[TurnT, ScoreT]]:
        """Returns the turns of an item that are done."""
        return list(self._done.get(item.id, ()))

    def waiting(self) -> list[ItemT]:
        """Returns the items that have turns that are not done."""
        return [one for one in self.items.values() if len(self.done(one)) < self.task.size(one)]

    def all(self) -> list[Scored[TurnT, ScoreT]]:
        """Returns every turn that is done, in the order of the data."""
        with self._lock:
            return [scored for name in self.items for scored in list(self._done.get(name, ()))]

    def _keep(self, scored: Scored[TurnT, ScoreT]) -> None:
        self._done.setdefault(scored.answered.item, []).append(scored)
        self.count += 1
        self.right += self.task.is_right(scored.score)


def read_scored(task: Task[Any, TurnT, ScoreT], line: Mapping[str, Any]) -> Scored[TurnT, ScoreT]:
    """Returns the turn of a line of a journal, without the data that it was scored with."""
    turn, score = task.read(line)
    answered = Answered(
        line["conversation"], line["index"], turn, line["histories"], line["spans"], line["start"], line["end"]
    )
    return Scored(answered, score, line["report"])
