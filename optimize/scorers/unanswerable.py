"""Questions that a report does not answer, from questions that it does: all text about their figures is removed.

>>> smaller = without_figures(report, [observation])     # without its row or sentence
>>> turn = unanswerable_turn(conversation, place, reader, idf)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from kg.calculations import ReportIndex
from kg.reports import CellSource, Observation, Report
from optimize.scorers.turns import TrainingTurn, training_turns

MOST_PLACES = 6
"""Rows and sentences that are removed at the most; a figure in more of them is too common to be meant in all."""


def without_figures(report: Report, observations: Iterable[Observation]) -> Report:
    """Returns the report without the rows and sentences of some observations."""
    rows, sentences = _places(observations)
    starts = [part.start - sum(row < part.start for row in rows) for part in report.parts]
    before = len(report.pre_text)
    return replace(
        report,
        table=tuple(row for number, row in enumerate(report.table) if number not in rows),
        pre_text=tuple(one for number, one in enumerate(report.pre_text) if number not in sentences),
        post_text=tuple(one for number, one in enumerate(report.post_text, start=before) if number not in sentences),
        parts=tuple(replace(part, start=start) for part, start in zip(report.parts, starts, strict=True)),
    )


def unanswerable_turn(
    report: Report,
    turns: Sequence[TrainingTurn],
    programs: Sequence[str],
    place: int,
    read: Callable[[Report], ReportIndex],
) -> TrainingTurn | None:
    """Returns a turn of a conversation whose report does not have its figures any more.

    Args:
        report: The report.
        turns: The conversation's turns.
        programs: Their gold programs.
        place: The number of the turn.
        read: Builds a report's graph and index.

    Returns:
        ``None`` where the turn has no figures of its own, where an earlier turn has figures in the same rows or
        sentences, or where too much of the report would have to be removed.
    """
    turn = turns[place]
    index = turn.index
    earlier = {abs(number.value) for one in turns[:place] for number in one.derivation.numbers}
    own = {abs(number.value) for number in turn.derivation.numbers} - earlier
    reported = dict(enumerate(index.reported()))
    gold = {int(index.base[item]) for item, value in enumerate(index.values) if abs(value) in own} & set(reported)
    removed = [one for one in (reported[number] for number in sorted(gold)) if not one.in_header]
    rows, sentences = _places(removed)
    earlier_figures = {number for one in turn.history for number in one.all_figures} & set(reported)
    used = _places(reported[number] for number in earlier_figures)
    if not 0 < len(rows) + len(sentences) <= MOST_PLACES or rows & used[0] or sentences & used[1]:
        return None
    smaller = read(without_figures(report, removed))
    found = training_turns(turn.group, smaller, turn.questions, programs[: place + 1])
    return found[place] if len(smaller) and len(found) > place else None


def _places(observations: Iterable[Observation]) -> tuple[set[int], set[int]]:
    """The rows and the sentences of some observations."""
    sources = [one.source for one in observations]
    rows = {source.row for source in sources if isinstance(source, CellSource)}
    return rows, {source.sentence for source in sources if not isinstance(source, CellSource)}
