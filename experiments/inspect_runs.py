"""Shows the turns of a tracked evaluation: what was asked, answered and right, and what else the beam proposed.

turns = read_turns(tracker.find("latest"), tracker)
[turn.score.question for turn in turns if not turn.score.exact]
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from experiments.console import format_table, show, write_answer, write_json
from experiments.evaluate import DETAILS, TURNS
from experiments.evaluation_results import read_score
from experiments.tracking import RunRecord, Tracker, TrackingConfig
from kg.errors import TrackingError
from optimize.metrics import TurnScore

_CANDIDATES_SHOWN = 5


@dataclass(frozen=True)
class InspectedTurn:
    """A turn as its run kept it.

    Attributes:
        report: The report's id.
        score: The turn beside its gold.
        pick: Index of the chosen candidate.
        understanding: What was made of the question, if that module ran.
        candidates: What the beam proposed, best first: ``answer``, ``score``, ``program``, ``path``, ``sources``.
    """

    report: str
    score: TurnScore
    pick: int | None
    understanding: str | None
    candidates: tuple[dict[str, Any], ...]

    @property
    def name(self) -> str:
        """``CONVERSATION:INDEX``, as ``--turn`` takes it."""
        return f"{self.score.conversation_id}:{self.score.turn_index}"


def read_turns(record: RunRecord, tracker: Tracker) -> list[InspectedTurn]:
    """All turns of an evaluation, in the order of the data.

    Raises:
        TrackingError: The run kept no turns.
    """
    details = {(row["conversation_id"], row["turn_index"]): row for row in tracker.table(record, DETAILS)}
    turns = []
    for row in tracker.table(record, TURNS):
        detail = details[row["conversation_id"], row["turn_index"]]
        turns.append(
            InspectedTurn(
                report=row["report"],
                score=read_score(row),
                pick=detail["pick"],
                understanding=str(detail["understanding"]) if detail["understanding"] is not None else None,
                candidates=tuple(detail["candidates"]),
            )
        )
    return turns


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


def describe_turn(turn: InspectedTurn, candidates: int = _CANDIDATES_SHOWN) -> str:
    """A turn in words, with at most ``candidates`` of its candidates."""
    score = turn.score
    answer = "none" if score.answer is None else f"{write_answer(score.answer)}  =  {score.program}"
    lines = [
        f"{turn.name}  ({'right' if score.exact else score.stage.replace('_', ' ')})",
        f"  question   {score.question}",
        f"  answer     {answer}",
        f"  gold       {write_answer(score.gold_answer)}  =  {score.gold_program}",
        f"  rank       {score.rank if score.rank is not None else 'the gold answer is not among the candidates'}",
    ]
    if score.difference is not None:
        lines.append(f"  wrong in   {score.difference.replace('_', ' ')}")
    if score.failure is not None:
        lines.append(f"  failure    {score.failure}: {score.message}")
    if turn.understanding is not None:
        lines.append(f"  understood {turn.understanding}")
    rows = [
        [
            f"    {'>' if place == turn.pick else ' '}",
            place + 1,
            f"{one['score']:.2f}",
            _short(one["answer"]),
            one["program"],
        ]
        for place, one in enumerate(turn.candidates[:candidates])
    ]
    if rows:
        lines.append(format_table(["    ", "", "score", "answer", "calculation"], rows, right={2}))
    return "\n".join(lines)


def _short(answer: str) -> str:
    return answer if answer in ("yes", "no") else write_answer(Decimal(answer))


def run_command(options: argparse.Namespace) -> None:
    """``finpath inspect``."""
    tracker = Tracker(TrackingConfig.from_environment())
    record = tracker.find(options.run_reference)
    turns = read_turns(record, tracker)
    if options.turn:
        chosen = [choose_turn(turns, options.turn)]
        show(describe_turn(chosen[0], candidates=len(chosen[0].candidates)))
        show("\n".join(f"  path {place + 1}: {one['path']}" for place, one in enumerate(chosen[0].candidates[:5])))
    else:
        matching = [turn for turn in turns if not (options.failed and turn.score.exact)]
        chosen = matching[: options.limit]
        show("\n\n".join(describe_turn(turn) for turn in chosen))
        what = "turns that are wrong or have no answer" if options.failed else "turns"
        show(f"\n{len(chosen)} of {len(matching)} {what} in {record.name} ({record.id})")
    if options.json:
        write_json(options.json, {"run_id": record.id, "turns": [_plain(turn) for turn in chosen]})


def _plain(turn: InspectedTurn) -> dict[str, Any]:
    values = dataclasses.asdict(turn)
    return {**values.pop("score"), **values}
