"""The adjectives of degree in a question, and its numbers and dates with their comparisons.

>>> degrees_of(["second", "largest", "lake"])
[DegreeMention(words=3, degree=..., rank=2)]
>>> text = "which devices were bought before 2013?"
>>> bounds_of(text, words(text))[-1].comparison
'<'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import combinations, pairwise

from kg.algebra import Comparison
from kg.graphs import Relation, dimension_of, unit_of
from kg.parsing.names import Word, mask, places, words
from kg.parsing.words import COMPARISONS, DEGREES, MULTIPLES, NUMBERS, ORDINALS, SEPARATE, Degree, degree_of, rank_of
from kg.text import Period, periods, year

_ATTACHED = re.compile(r"(\d[\d,]*(?:\.\d+)?)([^\d\W]+\d?)")
_PREFIXES = frozenset(("square", "sq", "cubic", "us"))
_GROUP, _THOUSANDS = re.compile(r"\d{1,3}"), re.compile(r"\d{3}")
_MINUS = re.compile(r"(?:^|\s)[-−]$")
_AND_A_HALF = ["and", "a", "half"]
_BEFORE_AN_AMOUNT = frozenset(("than", "over", "under", "least", "most", "above", "below", "exactly", "within"))
_AFTER = {"better": ">", "worse": "<"}
_ONWARDS = frozenset(("on", "onward", "onwards", "upward", "upwards"))

_BOUND_WORDS = sorted(COMPARISONS, key=lambda one: -len(one.split()))

_LEAST_YEAR = 1000
"""The least number that may be a year."""


@dataclass(frozen=True)
class Bound:
    """A number or a date with its comparison and its unit if there is one; ``words`` is a bit mask."""

    words: int
    comparison: Comparison
    value: Decimal | Period
    unit: str = ""


@dataclass(frozen=True)
class DegreeMention:
    """An adjective of degree; ``rank`` is 2 for "second largest", and ``words`` is a bit mask."""

    words: int
    degree: Degree
    rank: int = 1


def degrees_of(low: Sequence[str]) -> list[DegreeMention]:
    """The adjectives of degree among the words of a question."""
    found: list[DegreeMention] = []
    place = 0
    while place < len(low):
        word = low[place]
        after = low[place + 1] if place + 1 < len(low) else ""
        start = place - 1 if place and low[place - 1] in ORDINALS else place
        rank = ORDINALS[low[start]] if start < place else 1
        if word in SEPARATE and after in DEGREES and DEGREES[after].level == 0:
            base = DEGREES[after]
            sign = base.sign if word in ("more", "most") else -base.sign
            level = 2 if word in ("most", "least") else 1
            found.append(DegreeMention(mask(start, place + 2), replace(base, level=level, sign=sign), rank))
            place += 2
            continue
        degree = degree_of(word)
        if degree is not None and degree.level > 0:
            found.append(DegreeMention(mask(start, place + 1), degree, rank))
        place += 1
    return found


def sign_of(degree: Degree, relation: Relation) -> int:
    """The sign of a degree for a relation: "old" asks for less of a date and for more of an age."""
    if degree.of_dates and relation.kind == "number":
        return -degree.sign if "age" in degree.measures else degree.sign
    return degree.sign


def bounds_of(text: str, found: Sequence[Word]) -> list[Bound]:
    """The numbers and dates with the comparisons before them."""
    spans: list[tuple[int, int, Decimal | Period]] = []
    for start, end, period in periods(text):
        inside = [place for place, word in enumerate(found) if word.start >= start and word.end <= end]
        if inside:
            spans.append((inside[0], inside[-1] + 1, period))
    spans += _eras(found)
    spans += [(place, place + 1, Decimal(rank)) for place, word in enumerate(found) if (rank := rank_of(word.low))]
    units: dict[int, str] = {}
    for place, word in enumerate(found):
        if any(first <= place < end for first, end, _ in spans):
            continue
        number, unit, end = _amount(text, found, place)
        if number is not None:
            is_minus = place > 0 and found[place - 1].low == "minus"
            is_money = place > 0 and dimension_of(unit_of(found[place - 1].low)) == "money"  # "Rs. 500"
            first = place - (is_minus or is_money)
            unit = unit or (unit_of(found[place - 1].low) if is_money else "")
            is_below = is_minus or _MINUS.search(text[: word.start]) is not None
            spans.append((first, end, -number if is_below else number))
            units[first] = unit
            if word.low.isdigit() and len(word.low) == 4 and _LEAST_YEAR <= int(word.low) <= 2100:
                spans.append((place, place + 1, year(int(word.low))))
    bounds: list[Bound] = []
    low = [word.low for word in found]
    for first, end, value in sorted(spans, key=lambda one: one[:2]):
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
        bounds.append(Bound(mask(start, end), comparison, value, units.get(first, "")))
    return _with_ranges(text, found, bounds)


def read_bound(text: str) -> Decimal | Period | None:
    """The number or the days of a text such as "1,640 m" or "2013"; ``None`` for any other."""
    found = words(text)
    if not found:
        return None
    bounds = bounds_of(text, found)
    dates = [one.value for one in bounds if isinstance(one.value, Period)]
    return dates[0] if dates else next((one.value for one in bounds), None)


def _eras(found: Sequence[Word]) -> list[tuple[int, int, Decimal | Period]]:
    """Centuries and decades: "the 19th century", "the 1990s"."""
    spans: list[tuple[int, int, Decimal | Period]] = []
    for place, word in enumerate(found):
        after = found[place + 1].low if place + 1 < len(found) else ""
        rank = rank_of(word.low)
        if rank > 1 and after == "century":
            last = rank * 100
            spans.append((place, place + 2, Period(date(last - 100, 1, 1), date(last - 1, 12, 31))))
        decade = re.fullmatch(r"(\d{3}0)s", word.low)
        if decade:
            first = int(decade[1])
            spans.append((place, place + 1, Period(date(first, 1, 1), date(first + 9, 12, 31))))
    return spans


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
    join = [word.low for word in found[first[-1] + 1 : second[0]]]
    before = found[first[0] - 1].low if first[0] else ""
    is_between = before == "between" and join in (["and"], ["to"])
    dash = "" if join else _between(text, found, second[0]).strip()
    if is_between or join in (["to"], ["till"], ["through"]) or dash in ("-", "–", "—"):
        return first[0] - (before in ("between", "from"))
    return None


def _between(text: str, found: Sequence[Word], place: int) -> str:
    """The text between a word and the one before it."""
    return text[found[place - 1].end : found[place].start]


def _amount(text: str, found: Sequence[Word], place: int) -> tuple[Decimal | None, str, int]:
    """A number from a place on, its unit, and the place after both: "3.5 million euros", "80kg", "an hour"."""
    low = [word.low for word in found]
    attached = _ATTACHED.fullmatch(low[place])
    is_multiple = attached is not None and attached[2] in MULTIPLES and attached[2] != "m"
    if attached and not is_multiple and (unit := unit_of(attached[2])):
        return _number(attached[1]), unit, place + 1
    number, end = _number(low[place]), place + 1
    if _GROUP.fullmatch(low[place]) and low[place] != "0":  # "40 000"
        while low[end : end + 1] and _THOUSANDS.fullmatch(low[end]) and _between(text, found, end) == " ":
            number, end = (number or 0) * 1000 + Decimal(low[end]), end + 1
    if attached and is_multiple:
        return Decimal(attached[1].replace(",", "")) * MULTIPLES[attached[2]], "", place + 1
    if low[place] == "half":
        number, end = Decimal("0.5"), end + (low[end : end + 1] in (["a"], ["an"]))
    if number is None and low[place] in ("a", "an", "one") and _is_amount(low, place):
        number = Decimal(1) if low[end : end + 1] and (unit_of(low[end]) or low[end] in MULTIPLES) else None
    if number is None:
        return None, "", end
    if low[end : end + 3] == _AND_A_HALF:
        number, end = number + Decimal("0.5"), end + 3
    while end < len(low) and low[end] in MULTIPLES and not (len(low[end]) == 1 and end - place > 1):
        if low[end] == "m" and not low[end - 1].isdigit():
            break
        is_metre = low[end] == "m" and found[end].start > found[end - 1].end
        if is_metre:
            break
        number, end = number * MULTIPLES[low[end]], end + 1
    prefix = low[end] if end < len(low) and low[end] in _PREFIXES else ""
    after = end + bool(prefix)
    if after < len(low) and (unit := unit_of(low[after])):
        squared = {"m": "m²", "km": "km²"}.get(unit, unit) if prefix in ("square", "sq") else unit
        if low[after + 1 : after + 3] in (["an", "hour"], ["per", "hour"]):
            return number, {"km": "km/h", "miles": "mph"}.get(unit, unit), after + 3
        if low[after + 1 : after + 4] == _AND_A_HALF:
            return number + Decimal("0.5"), squared, after + 4
        return number, squared, after + 1
    return number, "", end


def _is_amount(low: Sequence[str], place: int) -> bool:
    """Whether an article counts: "more than an hour", "an hour or longer", "an hour and a half"."""
    is_compared = place > 0 and low[place - 1] in _BEFORE_AN_AMOUNT
    return is_compared or list(low[place + 2 : place + 3]) == ["or"] or list(low[place + 2 : place + 5]) == _AND_A_HALF


def _number(word: str) -> Decimal | None:
    if word in NUMBERS:
        return Decimal(NUMBERS[word])
    plain = word.replace(",", "")
    if plain.replace(".", "", 1).isdigit():
        return Decimal(plain)
    return None
