"""Figures in sentences, with their labels and periods.

    >>> mentions = read_sentence("net cash was $ 206.6 million and $ 181.0 million in 2009 and 2008 , respectively .")
    >>> [(m.quantity.text, m.period, m.is_date) for m in mentions]
    [('206.6', '2009', False), ('181.0', '2008', False), ('2009', '2009', True), ('2008', '2008', True)]
    >>> mentions[1].label
    'net cash was and in and respectively'

The **label** of a figure is the words around it. Its **period** is found by three rules, in this order:

1. the year at its index, for a list of figures and a list of years of equal length ("$ 1 and $ 2 in 2009 and 2008"),
2. its year, if figures and years alternate ("$ 1 in 2009 compared to $ 2 in 2008"),
3. the nearest year of the sentence; ties go to the year after the figure.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kg.text import Date, Quantity, find_dates, find_quantities

_WORD = re.compile(r"[a-z][a-z&'-]*[a-z]|[a-z]", re.IGNORECASE)
_BETWEEN = re.compile(
    r"[\s,;()%$€£¥|:-]*(?:(?:and|or|to|versus|compared (?:to|with)|in|of|for|at|by|from|as|ended|december 31 ,)?"
    r"[\s,;()%$€£¥-]*){0,2}(?:(?:thousand|million|billion)s?)?[\s,;()%-]*(?:and|or|to)?[\s,;()%$€£¥-]*",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\b(?:notes?|sections?|items?|pages?|exhibits?|forms?|figures?|parts?|topics?|asu|sfas|fas|fin|fsp|eitf|no\s?\."
    r"|number|rules?|paragraphs?|footnotes?|chapters?|s&p|levels?|tiers?)\s*$",
    re.IGNORECASE,
)
_NOT_LABEL = frozenset({"thousand", "million", "billion", "thousands", "millions", "billions", "s", "a", "d"})
_SPREADING = frozenset({("currency", "per-share"), ("plain", "shares"), ("plain", "years")})
_WORDS_BEFORE, _WORDS_AFTER = 10, 6


@dataclass(frozen=True)
class FigureMention:
    """A figure of a sentence.

    Attributes:
        quantity: The figure.
        label: The words around it, without figures.
        period: Its year, or ``None`` if the sentence has none.
        is_date: Whether it is a year, a part of a date or word, a reference such as "note 7", or overlong.
        before: The words before it, nearest last.
        after: The words after it, nearest first.
    """

    quantity: Quantity
    label: str
    period: str | None
    is_date: bool
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def read_sentence(sentence: str) -> list[FigureMention]:
    """The figures of a sentence, in order; empty without figures."""
    if not any(map(str.isdigit, sentence)):
        return []
    quantities = find_quantities(sentence)
    dates = find_dates(sentence)
    matches = [match for match in _WORD.finditer(sentence) if match[0].lower() not in _NOT_LABEL]
    words, starts = [match[0] for match in matches], [match.start() for match in matches]
    in_date = [_within(quantity, dates) for quantity in quantities]
    glued = [q.is_overlong or _is_glued(sentence, q) or _is_reference(sentence, q) for q in quantities]
    periods = _periods(sentence, quantities, in_date, dates)
    quantities = _spread_units(sentence, quantities, in_date)
    mentions: list[FigureMention] = []
    for quantity, period, date, stuck in zip(quantities, periods, in_date, glued, strict=True):
        before, after = _around(words, starts, quantity)
        mentions.append(
            FigureMention(quantity, " ".join(before + after), period, date is not None or stuck, before, after)
        )
    return mentions


def _spread_units(sentence: str, quantities: Sequence[Quantity], in_date: Sequence[Date | None]) -> list[Quantity]:
    """Applies a list's last unit and scale to its other figures: "$ 5 and $ 6 million", "$ 1.2 and $ 1.3 per share"."""
    found = list(quantities)
    figures = [place for place, date in enumerate(in_date) if date is None]
    for run in _runs(sentence, [(found[place].start, found[place].end) for place in figures]):
        last = found[figures[run[-1]]]
        for place in (figures[place] for place in run[:-1]):
            figure = found[place]
            like = figure.unit == last.unit or (figure.unit, last.unit) in _SPREADING
            if like and (figure.scale, figure.unit) != (last.scale, last.unit) and figure.scale == 1:
                found[place] = replace(figure, unit=last.unit, scale=last.scale)
    return found


def _within(quantity: Quantity, dates: Sequence[Date]) -> Date | None:
    return next((date for date in dates if date.start < quantity.end and quantity.start < date.end), None)


def _is_reference(sentence: str, quantity: Quantity) -> bool:
    """Whether a number is a reference or name: "note 7", "form 10-k", "s&p 500"."""
    return (
        quantity.unit == "plain"
        and _REFERENCE.search(sentence, max(0, quantity.start - 14), quantity.start) is not None
    )


def _is_glued(sentence: str, quantity: Quantity) -> bool:
    before, after = sentence[max(0, quantity.start - 1) : quantity.start], sentence[quantity.end : quantity.end + 1]
    return (before.isalpha() and before.isascii()) or (after.isalpha() and quantity.unit != "ratio")


def _around(words: Sequence[str], starts: Sequence[int], quantity: Quantity) -> tuple[tuple[str, ...], tuple[str, ...]]:
    before = bisect_left(starts, quantity.start)
    after = bisect_left(starts, quantity.end)
    return tuple(words[max(0, before - _WORDS_BEFORE) : before]), tuple(words[after : after + _WORDS_AFTER])


def _periods(
    sentence: str, quantities: Sequence[Quantity], in_date: Sequence[Date | None], dates: Sequence[Date]
) -> list[str | None]:
    years = [date for date in dates if date.year is not None]
    figures = [place for place, date in enumerate(in_date) if date is None]
    in_turn = _in_turn([quantities[place] for place in figures], years)
    near = dict(zip(figures, in_turn or [_nearest(quantities[place], years) for place in figures], strict=True))
    periods = [near[place] if date is None else date.year for place, date in enumerate(in_date)]
    figure_runs = _runs(sentence, [(quantities[place].start, quantities[place].end) for place in figures])
    year_runs = _runs(sentence, [(date.start, date.end) for date in years])
    for figure_run in figure_runs:
        run = _matching_run([quantities[figures[place]] for place in figure_run], year_runs, years)
        for place, year in zip(figure_run, run or (), strict=False):
            periods[figures[place]] = years[year].year
    return periods


def _runs(sentence: str, spans: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Groups spans into lists, whose elements are separated by punctuation and words such as "and"."""
    runs: list[list[int]] = []
    for place, (start, _) in enumerate(spans):
        if place and len(between := sentence[spans[place - 1][1] : start]) < 30 and _BETWEEN.fullmatch(between):
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _matching_run(
    figures: Sequence[Quantity], year_runs: Sequence[list[int]], years: Sequence[Date]
) -> list[int] | None:
    """The nearest list of years of the same length as a list of two figures or more."""
    same = [run for run in year_runs if len(run) == len(figures) > 1]
    start, end = figures[0].start, figures[-1].end
    return min(same, key=lambda run: max(years[run[0]].start - end, start - years[run[-1]].end), default=None)


def _in_turn(figures: Sequence[Quantity], years: Sequence[Date]) -> list[str | None] | None:
    """The years of figures of one unit if figures and years alternate, else ``None``."""
    if len(figures) != len(years) or len(years) < 2 or len({figure.unit for figure in figures}) > 1:
        return None  # in "$ 3 billion for 2013 , 13% lower than 2012" no figure is of 2012
    starts = [(figure.start, year.start) for figure, year in zip(figures, years, strict=True)]
    figure_first = starts[0][0] < starts[0][1]
    flat = [start for pair in starts for start in (pair if figure_first else pair[::-1])]
    return [year.year for year in years] if flat == sorted(flat) else None


def _nearest(quantity: Quantity, years: Sequence[Date]) -> str | None:
    def distance(date: Date) -> tuple[int, int]:
        after = date.start - quantity.end
        return (after, 0) if after >= 0 else (quantity.start - date.end, 1)

    nearest = min(years, key=distance, default=None)
    return None if nearest is None else nearest.year
