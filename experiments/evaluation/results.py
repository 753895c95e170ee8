"""What an evaluation has so far: every answered turn with its score, kept in a journal as it comes in.

results = Results(conversations, journal, spent=lambda: {"lm_calls": 12})
results.load(journal.read())     # the turns of a run that was stopped
results.add(answered)            # one more; safe to call from several threads
results.scores()                 # in the order of the data
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.data.conversations import Conversation
from experiments.evaluation.journal import Journal
from experiments.evaluation.loop import AnsweredTurn
from kg.errors import TrackingError
from optimize.metrics import TurnScore, read_score, score_conversation, score_record
from programs.turns import Turn, read_turn, turn_record

Key = tuple[str, int]


@dataclass(frozen=True)
class Scored:
    """A turn that is done, beside its gold.

    Attributes:
        answered: The turn.
        score: Its score.
        report: The report's id.
    """

    answered: AnsweredTurn
    score: TurnScore
    report: str


class Results:
    """The turns that are done; conversations may come in any order.

    Args:
        conversations: All that are to be answered.
        journal: Where each turn is kept at once.
        spent: What the language model has taken until now, under stable names.

    Attributes:
        loaded: How many turns were taken over from an earlier part.
        count: How many turns are done.
        right: How many of them are right.
    """

    def __init__(
        self, conversations: Sequence[Conversation], journal: Journal, spent: Callable[[], Mapping[str, float]]
    ) -> None:
        self.conversations = {conversation.id: conversation for conversation in conversations}
        self.journal = journal
        self.traced: set[Key] = set()
        self._done: dict[str, list[Scored]] = {}
        self._lock = threading.Lock()
        self._spent_now = spent
        self._spent_before: Mapping[str, float] = {}
        self._seconds_before = 0.0
        self._started = time.perf_counter()
        self.loaded = self.count = self.right = 0

    def load(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Takes over the turns of an earlier part of this evaluation from its journal.

        Raises:
            TrackingError: The journal was written by another revision of finpath, which kept other things of a turn.
        """
        try:
            self._load(lines)
        except (KeyError, TypeError, ValueError) as error:
            rule = f"another revision of finpath wrote it ({type(error).__name__}: {error})"
            raise TrackingError(f"the journal {self.journal.path} cannot be gone on with: {rule}") from error

    def _load(self, lines: Iterable[Mapping[str, Any]]) -> None:
        for line in lines:
            if line["kind"] == "traced":
                self.traced |= {(name, index) for name, index in line["turns"]}
                continue
            self._spent_before, self._seconds_before = line["spent"], line["seconds"]
            answered = _read_answered(line)
            # A turn after a broken line of its conversation is asked again: its history is not complete.
            if answered.index == len(self._done.get(answered.conversation_id, ())):
                self._keep(answered)
                self.loaded += 1

    def add(self, answered: AnsweredTurn) -> Scored:
        """Scores a turn and keeps it."""
        with self._lock:
            scored = self._keep(answered)
            self.journal.append(
                {
                    "kind": "turn",
                    "conversation": answered.conversation_id,
                    "index": answered.index,
                    "report": scored.report,
                    "score": score_record(scored.score),
                    "turn": turn_record(answered.turn),
                    "histories": answered.histories,
                    "spans": answered.spans,
                    "start": answered.start,
                    "end": answered.end,
                    "spent": self.spent(),
                    "seconds": self.seconds(),
                }
            )
        return scored

    def mark_traced(self, keys: Sequence[Key]) -> None:
        """Remembers that the traces of these turns are in the store."""
        self.journal.append({"kind": "traced", "turns": [list(key) for key in keys]})

    def spent(self) -> dict[str, float]:
        """What the language model has taken for all turns that are done, over all parts of the evaluation."""
        return {name: value + self._spent_before.get(name, 0) for name, value in self._spent_now().items()}

    def seconds(self) -> float:
        """Wall time over all parts of the evaluation."""
        return self._seconds_before + time.perf_counter() - self._started

    def done(self) -> dict[str, list[AnsweredTurn]]:
        """The turns that are done, by conversation."""
        return {name: [one.answered for one in scored] for name, scored in self._done.items()}

    def all(self) -> list[Scored]:
        """Every turn that is done, in the order of the data."""
        with self._lock:
            return [scored for name in self.conversations for scored in list(self._done.get(name, ()))]

    def scores(self) -> list[TurnScore]:
        """The scores of :meth:`all`."""
        return [one.score for one in self.all()]

    def turns(self) -> dict[Key, Turn]:
        """The turns of :meth:`all`."""
        return {(one.answered.conversation_id, one.answered.index): one.answered.turn for one in self.all()}

    def _keep(self, answered: AnsweredTurn) -> Scored:
        conversation = self.conversations[answered.conversation_id]
        scored = Scored(answered, score_turn(conversation, answered), conversation.report.id)
        self._done.setdefault(answered.conversation_id, []).append(scored)
        self.count += 1
        self.right += scored.score.exact
        return scored


def score_turn(conversation: Conversation, answered: AnsweredTurn) -> TurnScore:
    """A turn beside its gold, before the rest of its conversation is answered."""
    assert conversation.programs is not None
    assert conversation.answers is not None
    place = answered.index
    alone = dataclasses.replace(
        conversation,
        questions=conversation.questions[place : place + 1],
        programs=conversation.programs[place : place + 1],
        answers=conversation.answers[place : place + 1],
    )
    [score] = score_conversation(alone, [answered.turn])
    return dataclasses.replace(score, turn_index=place)


def read_scored(line: Mapping[str, Any]) -> Scored:
    """A turn from its line in a journal, without the data that it was scored against."""
    return Scored(_read_answered(line), read_score(line["score"]), line["report"])


def _read_answered(line: Mapping[str, Any]) -> AnsweredTurn:
    return AnsweredTurn(
        line["conversation"],
        line["index"],
        read_turn(line["turn"]),
        line["histories"],
        line["spans"],
        line["start"],
        line["end"],
    )
