"""How conversations, line items and candidates are written for a language model, and answers for a person."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from kg.candidate import Candidate, merge_key
from kg.derivation import Answer
from kg.history import PastTurn
from kg.report_index import ReportIndex
from programs.turn import Turn

_LONGEST = 60


def written_number(answer: Answer) -> str:
    """An answer with at most five decimal places and no trailing zeros; ``yes`` and ``no`` as they are."""
    if isinstance(answer, str):
        return answer
    rounded = merge_key(answer)
    return format(rounded.normalize() if isinstance(rounded, Decimal) and rounded else Decimal(0), "f")


def written_answer(turn: Turn) -> str:
    """The answer of a turn, or why there is none."""
    return written_number(turn.answer) if turn.answer is not None else f"no answer ({turn.failure})"


def written_history(past: Sequence[PastTurn]) -> str:
    """One line a question and answer; ``none`` at the start of a conversation."""
    lines = [
        f"Q{number}: {turn.question} -> {written_number(turn.answer) if turn.answer is not None else 'not answered'}"
        for number, turn in enumerate(past, start=1)
    ]
    return "\n".join(lines) if lines else "none"


def written_line_items(index: ReportIndex) -> str:
    """The labels of the report's rows with their periods, on one line."""
    labels: dict[str, None] = {}
    periods: dict[str, None] = {}
    for place, observation in enumerate(index.observations):
        if index.row[place] < 0 or observation.in_header:
            continue
        labels.setdefault(_shortened(observation.label))
        if observation.period is not None:
            periods.setdefault(observation.period)
    return f"{'; '.join(labels)} | periods: {', '.join(periods) if periods else 'none'}"


def written_candidates(candidates: Sequence[Candidate]) -> str:
    """One numbered line a candidate: its arithmetic over paths, and the result."""
    return "\n".join(
        f"{number}. {candidate.path} = {written_number(candidate.answer)}"
        for number, candidate in enumerate(candidates, start=1)
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
