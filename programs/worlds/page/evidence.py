"""Candidates with the figures that they use, for a language model that chooses among them.

    [r1c1] 206588 thousand (currency): net cash from operations | 2009
    s0: the company sold [s0n0] 5 stores in 2009 .
    1. subtract([r1c1], [r1c2]) = 25587
    2. greater([r1c1], [r1c2]) = yes: [r1c1] is greater

Each figure occurs once, with its row, column, unit and scale, or in its sentence. Candidates of the same calculation,
which differ only in whether a percentage is read as 12 or 0.12, are one.
"""

from __future__ import annotations

from collections.abc import Sequence

from kg.calculations import Candidate, ReportIndex
from kg.reports import CellSource, Observation, Report
from kg.search import Derivation, PastTurn
from programs.lm import plain_text
from programs.wording import written_number, written_quantity
from programs.worlds.page.document import PageLines
from programs.worlds.page.figures import without_identifiers
from programs.worlds.page.writing import written_calculation

_MOST_SENTENCE = 700


def merged(
    candidates: Sequence[Candidate], past: Sequence[PastTurn] = (), named: int | None = None
) -> list[tuple[int, ...]]:
    """The places of candidates with the same calculation, in order; the first of each group represents it.

    That is the one that the model named, or else the most probable one that reads all its percentages alike.

    Args:
        candidates: The candidates.
        past: The turns before the question.
        named: The candidate that the model named.
    """
    groups: dict[str, list[int]] = {}
    for place, candidate in enumerate(candidates):
        groups.setdefault(written_calculation(candidate.derivation, past), []).append(place)

    def order(place: int) -> tuple[bool, bool, int]:
        return place != named, _is_mixed(candidates[place].derivation), place

    return [tuple(sorted(places, key=order)) for places in groups.values()]


def _is_mixed(derivation: Derivation) -> bool:
    """Whether some percentages count as 12 and others as 0.12."""
    fractions = any(number.text.endswith("%") for number in derivation.numbers)
    points = (
        one.path is not None and one.path.endswith("%") and not one.text.endswith("%") for one in derivation.numbers
    )
    return fractions and any(points)


def written_evidence(
    candidates: Sequence[Candidate],
    report: Report,
    index: ReportIndex,
    past: Sequence[PastTurn] = (),
) -> str:
    """The figures of some candidates, then one numbered line a candidate.

    Args:
        candidates: In the order in which they are shown.
        report: The report.
        index: Its index.
        past: The turns before the question.
    """
    known = {one.id: one for one in index.observations}
    used = dict.fromkeys(number.source for one in candidates for number in one.derivation.numbers)
    figures = [known[source] for source in used if source is not None and source in known]
    lines = PageLines(report, index)
    legend = [_cell(one) for one in figures if isinstance(one.source, CellSource)]
    sentences: dict[int, set[str]] = {}
    for one in figures:
        if not isinstance(one.source, CellSource):
            sentences.setdefault(one.source.sentence, set()).add(one.id)
    legend += [_sentence(lines, number, only) for number, only in sorted(sentences.items())]
    shown = [f"{number}. {_candidate(candidate, past)}" for number, candidate in enumerate(candidates, start=1)]
    return "\n".join([*legend, *shown])


def _cell(one: Observation) -> str:
    places = (one.section, one.label, one.column_label)
    where = " | ".join(without_identifiers(plain_text(part)) for part in places if part)
    period = f" ({one.period})" if one.period and one.period not in where else ""
    return f"[{one.id}] {written_quantity(one.quantity)}: {where}{period}"


def _sentence(lines: PageLines, number: int, only: set[str]) -> str:
    text = lines.sentence(number, only)
    if len(text) <= _MOST_SENTENCE:
        return text
    places = [text.find(f"[{one}]") for one in only]
    start = max(0, min(places) - _MOST_SENTENCE // 2)
    end = max(max(places) + _MOST_SENTENCE // 2, start + _MOST_SENTENCE)
    return f"{text[: text.find(' ')]} {'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _candidate(one: Candidate, past: Sequence[PastTurn]) -> str:
    line = f"{written_calculation(one.derivation, past)} = {written_number(one.answer)}"
    return line + _verdict(one, past) if isinstance(one.answer, str) else line


def _verdict(one: Candidate, past: Sequence[PastTurn]) -> str:
    """The greater of two figures."""
    step = one.derivation.steps[-1]
    if step.operation != "greater":
        return ""
    names = written_calculation(one.derivation, past).rpartition("greater(")[2].rstrip(")").split(", ")
    greater = names[0] if one.answer == "yes" else names[-1]
    return f": {greater} is greater" if len(names) == 2 else ""
