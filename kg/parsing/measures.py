"""The adjectives of degree in a question, and its numbers and dates with their comparisons.

>>> degrees_of(["second", "largest", "lake"])
[DegreeMention(words=3, degree=..., rank=2)]
>>> text = "which devices were bought before 2013?"
>>> bounds_of(text, words(text))[-1].comparison
'<'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import combinations, pairwise
from typing import NamedTuple

from kg.algebra import Comparison
from kg.graphs import Relation, dimension_of, unit_of
from kg.parsing.names import Word, mask, places, words
from kg.parsing.words import COMPARISONS, DEGREES, ORDINALS, SEPARATE, Degree, degree_of
from kg.text import SCALES, Period, find_number_words, find_quantities, periods, year

_GROUP = re.compile(r"\b(\d{1,3}) (?=\d{3}\b)")
_MULTIPLES = {"k": 1000, "mn": 10**6, "mln": 10**6, "bn": 10**9, "dozen": 12, "lakh": 10**5, "crore": 10**7, **SCALES}
_PREFIXES = frozenset(("square", "sq", "cubic", "us"))
_SQUARED, _AN_HOUR = {"m": "m²", "km": "km²"}, {"km": "km/h", "miles": "mph"}
_BEFORE_AN_AMOUNT = frozenset(("than", "over", "under", "least", "most", "above", "below", "exactly", "within"))
_AFTER = {"better": ">", "worse": "<"}
_ONWARDS = frozenset(("on", "onward", "onwards", "upward", "upwards"))

_BOUND_WORDS = sorted(COMPARISONS, key=lambda one: -len(one.split()))

_LEAST_YEAR = 1000
"""The least number that may be a year."""


class Bound(NamedTuple):
    """A number or a date with its comparison and its unit if there is one; ``words`` is a bit mask."""

    words: int
    comparison: Comparison
    value: Decimal | Period
    unit: str = ""


class DegreeMention(NamedTuple):
    """An adjective of degree; ``rank`` is 2 for "second largest", and ``words`` is a bit mask."""

    words: int
    degree: Degree
    rank: int = 1


def degrees_of(low: Sequence[str]) -> list[DegreeMention]:
    """The adjectives of degree among the words of a question."""
    mentions: list[DegreeMention] = []
    for place, word in enumerate(low):
        rank = ORDINALS.get(low[place - 1], 0) if place else 0
        degree, after = degree_of(word), degree_of(low[place + 1]) if place + 1 < len(low) else None
        start = place - bool(rank)
        if word in SEPARATE and after is not None and after.level == 0:
            sign = after.sign if word in ("more", "most") else -after.sign
            degree = replace(after, level=2 if word in ("most", "least") else 1, sign=sign)
            mentions.append(DegreeMention(mask(start, place + 2), degree, max(rank, 1)))
        elif degree is not None and degree.level > 0:
            mentions.append(DegreeMention(mask(start, place + 1), degree, max(rank, 1)))
    return mentions


def sign_of(degree: Degree, relation: Relation) -> int:
    """The sign of a degree for a relation: "old" asks for less of a date, "longest since" too, "fast" for less time."""
    if degree.of_dates and relation.kind == "number":
        return -degree.sign if "age" in degree.measures else degree.sign
    is_late = relation.kind == "date" and not degree.of_dates and bool(degree.measures)
    is_short = "speed" in degree.measures and dimension_of(relation.unit) == "duration"
    return -degree.sign if is_late or is_short else degree.sign


def bounds_of(text: str, found: Sequence[Word]) -> list[Bound]:
    """The numbers and dates with the comparisons before them."""
    bounds: list[Bound] = []
    low = [word.low for word in found]
    for first, end, value, unit in sorted(_values(text, found), key=lambda one: one[:2]):
        start, comparison = _comparison(low, first)
        if low[start] in ("older", "younger"):
            # an older person has a larger age, an older house an earlier year
            is_age = isinstance(value, Decimal) and value < _LEAST_YEAR
            comparison = ">" if (low[start] == "older") == is_age else "<"
        after = _comparison_after(low[end : end + 3]) if comparison == "=" else None
        if after is not None:
            comparison, end = after[0], end + after[1]
        elif low[start] == "from" and low[end : end + 1] and low[end] in _ONWARDS:
            comparison, end = ">=", end + 1
        bounds.append(Bound(mask(start, end), comparison, value, unit))
    return _with_ranges(text, found, bounds)


def _values(text: str, found: Sequence[Word]) -> Iterator[tuple[int, int, Decimal | Period, str]]:
    """The dates, ordinals, amounts and years: the first word, the place after the last, the value and the unit."""
    taken = 0
    for start, end, period in periods(text):
        if inside := [place for place, word in enumerate(found) if word.start >= start and word.end <= end]:
            taken |= mask(inside[0], inside[-1] + 1)
            yield inside[0], inside[-1] + 1, period, ""
    for place, (word, after) in enumerate(zip(found, [*found[1:], None], strict=False)):
        decade = re.fullmatch(r"(\d{3}0)s", word.low)
        rank = ORDINALS.get(word.low, int(word.low) if word.low.isdigit() and len(word.low) < 3 else 0)
        if decade or (rank and after is not None and after.low == "century"):  # "the 1990s", "the 19th century"
            first, years = (int(decade[1]), 10) if decade else (100 * rank - 100, 100)
            taken |= mask(place, place + 1)
            yield place, place + 1 + (not decade), Period(date(first, 1, 1), date(first + years - 1, 12, 31)), ""
        elif word.low in ORDINALS:
            yield place, place + 1, Decimal(ORDINALS[word.low]), ""
    for first, end, value, unit in _amounts(text, found):
        if not taken >> first & 1:
            yield first, end, value, unit
            written = found[first].low
            if written.isdigit() and len(written) == 4 and _LEAST_YEAR <= int(written) <= 2100:
                yield first, first + 1, year(int(written)), ""


def _amounts(text: str, found: Sequence[Word]) -> Iterator[tuple[int, int, Decimal, str]]:
    """The numbers with their units: "3.5 million euros", "80kg", "over an hour"."""
    low = [word.low for word in found]
    spaced = _GROUP.sub(r"\1,", text)  # "40 000"
    numbers = [(one.start, one.end, one.value * one.scale) for one in find_quantities(spaced)]
    numbers += [(start, end, Decimal(number)) for start, end, number in find_number_words(spaced)]
    for begin, until, value in numbers:
        own = [place for place, word in enumerate(found) if word.start < until and word.end > begin]
        attached = text[until : found[own[-1]].end].lower() if own and not low[own[-1]].isdigit() else ""
        if own and (not attached or attached in _MULTIPLES or unit_of(attached)):
            number = value * _MULTIPLES.get(attached, 1)
            first, end, unit = own[0], own[-1] + 1, unit_of(attached) if attached else ""
            is_money = first > 0 and dimension_of(unit_of(low[first - 1])) == "money"  # "Rs. 500"
            is_minus = first > 0 and low[first - 1] == "minus"
            number, end, further = _unit_after(low, end, -number if is_minus else number)
            unit = unit or further or (unit_of(low[first - 1]) if is_money else "")
            yield first - (is_money or is_minus), end, number, unit
    for place, word in enumerate(low):
        if word in ("a", "an", "one", "half") and place and low[place - 1] in _BEFORE_AN_AMOUNT:
            start = place + 1 + (word == "half" and low[place + 1 : place + 2] in (["a"], ["an"]))
            number, end, unit = _unit_after(low, start, Decimal("0.5") if word == "half" else Decimal(1))
            if unit or word == "one" or number > 1:
                yield place, end, number, unit


def _unit_after(low: Sequence[str], end: int, number: Decimal) -> tuple[Decimal, int, str]:
    """A number with the multiple and the unit of the words from a place on, and the place after them."""
    if low[end : end + 1] and low[end] in _MULTIPLES:
        number, end = number * _MULTIPLES[low[end]], end + 1
    prefix = low[end] if low[end : end + 1] and low[end] in _PREFIXES else ""
    after = end + bool(prefix)
    unit = unit_of(low[after]) if after < len(low) else ""
    if not unit:
        return number, end, ""
    if low[after + 1 : after + 3] in (["an", "hour"], ["per", "hour"]):
        return number, after + 3, _AN_HOUR.get(unit, unit)
    return number, after + 1, _SQUARED.get(unit, unit) if prefix in ("square", "sq") else unit


def read_bound(text: str) -> Decimal | Period | None:
    """The number or the days of a text such as "1,640 m" or "2013"; ``None`` for any other."""
    bounds = bounds_of(text, words(text))
    dates = [one.value for one in bounds if isinstance(one.value, Period)]
    return dates[0] if dates else next((one.value for one in bounds), None)


def _comparison(low: Sequence[str], first: int) -> tuple[int, Comparison]:
    if first > 1 and low[first - 1] == "the":
        first -= 1
    for phrase in _BOUND_WORDS:
        parts = phrase.split()
        if first >= len(parts) and list(low[first - len(parts) : first]) == parts:
            return first - len(parts), COMPARISONS[phrase]  # type: ignore[return-value]
    if first >= 2 and low[first - 1] == "than" and low[first - 2] in DEGREES:
        degree = DEGREES[low[first - 2]]
        sign = -degree.sign if degree.of_dates else degree.sign
        return first - 2, ">" if sign > 0 else "<"
    return first, "="


def _comparison_after(words_after: Sequence[str]) -> tuple[Comparison, int] | None:
    """The comparison after a number or date with its end: "or more", "points or better", "and over", "or earlier"."""
    for place, (join, word) in enumerate(pairwise(words_after)):
        sign = _AFTER.get(word) or COMPARISONS.get(word, "=")[0]
        degree = DEGREES.get(word)
        if sign == "=" and degree is not None and degree.level == 1:
            sign = ">" if degree.sign > 0 else "<"
        if join in ("or", "and") and sign != "=":
            return (">=" if sign == ">" else "<="), place + 2
    return None


def _with_ranges(text: str, found: Sequence[Word], bounds: Sequence[Bound]) -> list[Bound]:
    """Reads "between 1960 and 1970", "1960 to 1970" and "5-8 km" as one bound of dates, or as two of numbers."""
    kept, joined = list(bounds), list[Bound]()
    for one, other in combinations(bounds, 2):
        start = _range_start(text, found, places(one.words), places(other.words))
        if start is None:
            continue
        middle, end = places(one.words)[-1] + 1, places(other.words)[-1] + 1
        if isinstance(one.value, Period) and isinstance(other.value, Period):
            joined.append(Bound(mask(start, end), "=", Period(one.value.first, other.value.last)))
        elif isinstance(one.value, Decimal) and isinstance(other.value, Decimal) and one.value < other.value:
            kept = [bound for bound in kept if bound not in (one, other)]
            joined.append(Bound(mask(start, middle), ">=", one.value, one.unit or other.unit))
            joined.append(Bound(mask(middle, end), "<=", other.value, other.unit))
    return kept + joined


def _range_start(text: str, found: Sequence[Word], first: Sequence[int], second: Sequence[int]) -> int | None:
    """The place where a range of two bounds begins; ``None`` if they are none."""
    if second[0] <= first[-1]:
        return None
    join = text[found[first[-1]].end : found[second[0]].start].strip().lower()
    before = found[first[0] - 1].low if first[0] else ""
    is_range = join in ("to", "till", "through", "-", "–", "—") or (before == "between" and join == "and")
    return first[0] - (before in ("between", "from")) if is_range else None
