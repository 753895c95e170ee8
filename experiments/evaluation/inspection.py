"""Reads a tracked evaluation back: its turns and its reports.

    turns = read_turns(tracker.find("latest"), tracker)
    [turn.score.question for turn in turns if not turn.score.exact]

Everything comes from the run itself: its tables, its traces and its reports.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from experiments.evaluation.task import DETAILS, REPORTS, TURNS
from experiments.tracking import RunRecord, Tracker
from kg.errors import TrackingError
from kg.reports import Report
from optimize.metrics import ScoredTurn, read_score
from programs.turns import read_turn


def read_turns(record: RunRecord, tracker: Tracker) -> list[ScoredTurn]:
    """All turns of an evaluation, in the order of the data.

    Raises:
        TrackingError: The run has no turns, or another revision of finpath wrote them in another form.
    """
    try:
        details = {(row["conversation_id"], row["turn_index"]): row for row in tracker.table(record, DETAILS)}
        return [
            ScoredTurn(row["report"], read_score(row), read_turn(details[row["conversation_id"], row["turn_index"]]))
            for row in tracker.table(record, TURNS)
        ]
    except (KeyError, TypeError) as error:
        rule = f"its turns were written by another revision of finpath ({type(error).__name__}: {error})"
        raise TrackingError(f"the run {record.name} ({record.id}) cannot be read: {rule}") from error


def choose_turn(turns: Sequence[ScoredTurn], reference: str) -> ScoredTurn:
    """The turn that ``CONVERSATION:NUMBER`` names; a part of the conversation's id will do where it is unique.

    Turns count from 1.

    Raises:
        TrackingError: There is none, or more than one.
    """
    conversation, _, index = reference.rpartition(":")
    if not index.isdecimal() or int(index) < 1 or not conversation:
        raise TrackingError(f"turn must be CONVERSATION:NUMBER, with numbers from 1, got {reference!r}")
    at_index = [turn for turn in turns if turn.score.turn_index == int(index) - 1]
    exact = [turn for turn in at_index if turn.score.conversation_id == conversation]
    found = exact or [turn for turn in at_index if conversation in turn.score.conversation_id]
    if len(found) != 1:
        raise TrackingError(f"turn {reference!r} names {len(found)} turns of the run; it must name one")
    return found[0]


def read_reports(record: RunRecord, tracker: Tracker) -> dict[str, Report]:
    """The reports that an evaluation was about, by id.

    Raises:
        TrackingError: The run has none.
    """
    kept: dict[str, dict[str, Any]] = json.loads(tracker.text(record, REPORTS))
    return {name: Report.from_dict({"id": name, **texts}) for name, texts in kept.items()}
