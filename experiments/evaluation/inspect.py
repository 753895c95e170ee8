"""Reads a tracked evaluation back: its turns, its examples, its tools, its reports and graphs, its prompts.

    turns = read_turns(tracker.find("latest"), tracker)
    [turn.score.question for turn in turns if not turn.score.exact]
    tool_use(turns)["query_kg"].mean_seconds
    report_graph(tracker.find("latest"), tracker, "JKHY/2009/page_28.pdf")

Everything comes from the run itself: its tables, its traces, and the reports and the ontology that it keeps.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.evaluation.log import DETAILS, ONTOLOGY, REPORTS, TURNS
from experiments.evaluation.results import read_score
from experiments.tracking.tracker import RunRecord, Tracker
from kg.errors import TrackingError
from kg.reports import Report
from optimize.metrics import TurnScore
from programs.turns import Turn, read_turn

if TYPE_CHECKING:
    from kg.reports import ReportGraph


@dataclass(frozen=True)
class InspectedTurn:
    """A turn as its run kept it.

    Attributes:
        report: The report's id.
        score: The turn beside its gold.
        turn: What the program returned.
    """

    report: str
    score: TurnScore
    turn: Turn

    @property
    def name(self) -> str:
        """``CONVERSATION:INDEX``, as ``--turn`` takes it."""
        return f"{self.score.conversation_id}:{self.score.turn_index}"


@dataclass(frozen=True)
class Example:
    """A conversation as its run kept it.

    Attributes:
        conversation_id: Its id.
        report: The report's id.
        turns: How many turns it has.
        right: How many of them are right.
        failed_turns: The indices of those that are not, from 0.
        tool_calls: Calls of tools, over all turns.
        lm_calls: Calls of a language model.
        seconds: Wall time.
    """

    conversation_id: str
    report: str
    turns: int
    right: int
    failed_turns: tuple[int, ...]
    tool_calls: int
    lm_calls: int
    seconds: float

    @property
    def accuracy(self) -> float:
        """The share of its turns that are right, in [0, 1]."""
        return self.right / self.turns


@dataclass(frozen=True)
class ToolUse:
    """How a tool was used in a run.

    Attributes:
        count: Calls.
        mean_seconds: Mean wall time of a call.
        errors: Calls that gave an error.
        turns: Turns in which it was called.
        right: How many of these are right.
    """

    count: int
    mean_seconds: float
    errors: int
    turns: int
    right: int


def read_turns(record: RunRecord, tracker: Tracker) -> list[InspectedTurn]:
    """All turns of an evaluation, in the order of the data.

    Raises:
        TrackingError: The run kept no turns, or another revision of finpath wrote them in another form.
    """
    try:
        details = {(row["conversation_id"], row["turn_index"]): row for row in tracker.table(record, DETAILS)}
        return [
            InspectedTurn(row["report"], read_score(row), read_turn(details[row["conversation_id"], row["turn_index"]]))
            for row in tracker.table(record, TURNS)
        ]
    except (KeyError, TypeError) as error:
        rule = f"its turns were written by another revision of finpath ({type(error).__name__}: {error})"
        raise TrackingError(f"the run {record.name} ({record.id}) cannot be read: {rule}") from error


def choose_turn(turns: Sequence[InspectedTurn], reference: str) -> InspectedTurn:
    """The turn that ``CONVERSATION:INDEX`` names; a part of the conversation's id will do where it is unique.

    Raises:
        TrackingError: There is none, or more than one.
    """
    conversation, _, index = reference.rpartition(":")
    if not index.isdecimal() or not conversation:
        raise TrackingError(f"turn must be CONVERSATION:INDEX, got {reference!r}")
    at_index = [turn for turn in turns if turn.score.turn_index == int(index)]
    exact = [turn for turn in at_index if turn.score.conversation_id == conversation]
    found = exact or [turn for turn in at_index if conversation in turn.score.conversation_id]
    if len(found) != 1:
        raise TrackingError(f"turn {reference!r} names {len(found)} turns of the run; it must name one")
    return found[0]


def choose_conversation(turns: Sequence[InspectedTurn], reference: str) -> list[InspectedTurn]:
    """The turns of the conversation that ``reference`` names, or of the one whose id has it as a part.

    Raises:
        TrackingError: There is none, or more than one.
    """
    names = list(dict.fromkeys(turn.score.conversation_id for turn in turns))
    found = [name for name in names if name == reference] or [name for name in names if reference in name]
    if len(found) != 1:
        some = ", ".join((found or names)[:3])
        raise TrackingError(
            f"{reference!r} names {len(found)} conversations of the run, it must name one ({some}, ...)"
        )
    return [turn for turn in turns if turn.score.conversation_id == found[0]]


def examples(turns: Sequence[InspectedTurn]) -> list[Example]:
    """The conversations of a run, in the order of the data."""
    groups: dict[str, list[InspectedTurn]] = {}
    for turn in turns:
        groups.setdefault(turn.score.conversation_id, []).append(turn)
    return [
        Example(
            conversation_id=name,
            report=group[0].report,
            turns=len(group),
            right=sum(one.score.exact for one in group),
            failed_turns=tuple(one.score.turn_index for one in group if not one.score.exact),
            tool_calls=sum(len(one.turn.tool_calls) for one in group),
            lm_calls=sum(one.score.lm_calls for one in group),
            seconds=sum(one.score.seconds for one in group),
        )
        for name, group in groups.items()
    ]


def tool_use(turns: Sequence[InspectedTurn]) -> dict[str, ToolUse]:
    """How often each tool was called and how long a call took, the most used first; empty where none was."""
    calls: dict[str, list[tuple[InspectedTurn, float, bool]]] = {}
    for turn in turns:
        for call in turn.turn.tool_calls:
            calls.setdefault(call.tool, []).append((turn, call.seconds, call.failed))
    uses = {}
    for name, made in sorted(calls.items(), key=lambda item: (-len(item[1]), item[0])):
        asked = {turn.name: turn.score.exact for turn, _, _ in made}
        uses[name] = ToolUse(
            count=len(made),
            mean_seconds=sum(seconds for _, seconds, _ in made) / len(made),
            errors=sum(failed for *_, failed in made),
            turns=len(asked),
            right=sum(asked.values()),
        )
    return uses


def read_reports(record: RunRecord, tracker: Tracker) -> dict[str, Report]:
    """The reports that an evaluation was about, by id.

    Raises:
        TrackingError: The run kept none.
    """
    kept: dict[str, dict[str, Any]] = json.loads(tracker.text(record, REPORTS))
    return {name: Report.from_dict({"id": name, **texts}) for name, texts in kept.items()}


def choose_report(reports: dict[str, Report], reference: str) -> Report:
    """The report that ``reference`` names: its id, a conversation's about it, or a part that only one has.

    Raises:
        TrackingError: There is none, or more than one.
    """
    found = [name for name in reports if name == reference] or [name for name in reports if reference in name]
    found = found or [name for name in reports if name in reference]
    if len(found) != 1:
        some = ", ".join((found or list(reports))[:3])
        raise TrackingError(f"{reference!r} names {len(found)} reports of the run, it must name one ({some}, ...)")
    return reports[found[0]]


def report_graph(record: RunRecord, tracker: Tracker, reference: str) -> tuple[Report, ReportGraph]:
    """A report of an evaluation with its graph, built again from what the run keeps.

    Raises:
        TrackingError: The run kept no reports or no ontology, or ``reference`` does not name one report.
        FinpathError: The graph cannot be built.
    """
    from kg.reports import Ontology, build_report_graph

    report = choose_report(read_reports(record, tracker), reference)
    return report, build_report_graph(report, Ontology.from_turtle(tracker.text(record, ONTOLOGY)))
