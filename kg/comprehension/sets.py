"""Answers of several values, and answers that compare statements: "which brokers", "which share lost the most"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from kg.clauses import NAMES, Library, SyntaxTree
from kg.comprehension.candidates import SpanCandidate
from kg.comprehension.matching import StatementMatch
from kg.comprehension.questions import Asked
from kg.comprehension.ranking import Ranked
from kg.news import number_of
from kg.sentences import Mention, plain_name

_CLOSE = 0.15
"""The share of the best value's probability that a further value must have, where no reader is installed."""

_NEAR = 0.4
"""The same of a value that is joined to the best one and not asked for."""

_LESS_READ, _LESS_JOINED = 1.0, 6.0
"""How much less the reader may say of a further value, and of one that is joined to the best one."""


def listed_values(asked: Asked, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Returns the values that answer a question: the best one, and others where several are asked for.

    A name that is joined to the best one, "founded by Ana Reis and Tom Hale", is one of them without being asked for.

    Args:
        asked: The question.
        ranked: The values, the best first.
    """
    best = ranked[0]
    if read_score(best) is not None:
        return _distinct([best, *_well_read(best, ranked[1:], asked.plural)])
    joined = [one for one in ranked[1:] if _are_joined(best, one)]
    if not asked.plural:
        near = [one for one in joined if one.probability >= _NEAR * best.probability]
        return [best, *(one for one in near if asked.kinds[:1] == ("person",))]
    close = [one for one in ranked[1:] if one.probability >= _CLOSE * best.probability and one not in joined]
    words = best.candidates[0].features["words"]
    close = [one for one in close if one.candidates[0].features["words"] >= 0.9 * words]
    close = [one for one in close if one.candidates[0].features["role"] >= best.candidates[0].features["role"]]
    return _distinct([best, *joined, *close])


def read_score(value: Ranked) -> float | None:
    """Returns what the reader says of a value; ``None`` if none is installed."""
    found = value.candidates[0].features.get("reader")
    return None if found is None else 5 * found


def _well_read(best: Ranked, others: Sequence[Ranked], plural: bool) -> list[Ranked]:
    """Returns the values that the reader says answer, too, without those that share words with a better one."""
    most = read_score(best) or 0.0
    found: list[Ranked] = []
    for one in sorted(others, key=lambda one: -(read_score(one) or 0.0)):
        score, joined = read_score(one) or 0.0, _are_joined(best, one)
        less = _LESS_JOINED if joined and plural else _LESS_READ
        fits = (plural and (joined or score >= 0)) or (joined and one.candidates[0].kind in NAMES)
        enough = fits and score >= most - less
        if enough and not any(_overlap(one, other) for other in (best, *found)):
            found.append(one)
    return found


def _overlap(one: Ranked, other: Ranked) -> bool:
    """Whether two values share words of a sentence."""
    return any(
        mine.statement is its.statement
        and mine.mention.start < its.mention.end
        and its.mention.start < mine.mention.end
        for mine in one.candidates
        for its in other.candidates
    )


def _distinct(values: Sequence[Ranked]) -> list[Ranked]:
    """Returns values without those that are a part of another one's name."""
    words = [set(plain_name(one.value).split()) for one in values]
    return [one for one, own in zip(values, words, strict=True) if not any(own < other for other in words)]


_DIFFERENCE = re.compile(
    r"\b(?:by how (?:much|many)|how (?:much|many) (?:more|less|fewer|\w+er)|how far apart)\b.*"
    r"\b(?:than|exceeds?|exceeded|short of|apart|differ\w*)\b|\bdifference between\b|\bhow far apart\b",
    re.I,
)


def difference_of(asked: Asked, ranked: Sequence[Ranked]) -> tuple[str, tuple[Ranked, Ranked]] | None:
    """Returns how far two amounts are apart, "€450" of "€4,350" and "€3,900", where a question asks for that.

    The amounts are the two likeliest ones of a kind and unit. ``None`` if there are no two.

    Args:
        asked: The question.
        ranked: The values, the best first.
    """
    if not _DIFFERENCE.search(asked.text):
        return None
    amounts = [(one, *found) for one in ranked if (found := scaled_amount(one.value)) is not None]
    for place, (one, number, scale, unit) in enumerate(amounts):
        for other, second, _, its in amounts[place + 1 :]:
            if its == unit and second != number and one.candidates[0].kind == other.candidates[0].kind:
                apart = abs(number - second) / scale
                written = f"{apart.normalize():,f}" if apart >= 1000 else f"{apart.normalize():f}"
                return re.sub(NUMBER, written, one.value, count=1), (one, other)
    return None


NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def scaled_amount(value: str) -> tuple[Decimal, Decimal, str] | None:
    """Returns an amount, the scale of its number, and its unit: the currency, the sign for percent, or nothing."""
    written, number = NUMBER.search(value), number_of(value)
    if written is None or number is None or len(NUMBER.findall(value)) > 1:
        return None
    literal = Decimal(written[0].replace(",", ""))
    if not literal:
        return None
    rest = re.sub(r"\b(?:thousand|million|billion|trillion|bn|m|k)\b", " ", NUMBER.sub(" ", value)).split()
    return abs(number), abs(number) / literal, rest[-1].lower() if rest else ""


def _are_joined(one: Ranked, other: Ranked) -> bool:
    """Whether two values are coordinates in a sentence: "Ana and Beatriz Coelho"."""
    pairs = ((mine, its) for mine in one.candidates for its in other.candidates if mine.statement is its.statement)
    return any(_are_coordinates(*pair) for pair in pairs)


def _are_coordinates(one: SpanCandidate, other: SpanCandidate) -> bool:
    parse = one.statement.parse
    heads = [parse.head_of(each.mention.start, each.mention.end) for each in (one, other)]
    if heads[0] is None or heads[1] is None:
        return False
    chains = [_coordinates(parse, head.place) for head in heads if head is not None]
    return bool(chains[0] & chains[1])


def _coordinates(parse: SyntaxTree, place: int) -> frozenset[int]:
    found = {place}
    while parse.tokens[place].relation == "conj":
        place = parse.tokens[place].head
        found.add(place)
    return frozenset(found)


def extreme_answer(asked: Asked, library: Library) -> str:
    """Returns the company with the largest or smallest amount; ``""`` if fewer than two fit."""
    found: dict[str, tuple[Decimal, str]] = {}
    for statement in library.statements:
        match = StatementMatch(asked, statement, library)
        if (
            match.words < 0.7
            or not match.terms
            or any(one.similarity < 0.5 for one in match.terms if one.term.weight > 0.4)
        ):
            continue
        for company, amount in _pairs(asked, match):
            value = number_of(amount.value or amount.text)
            if value is None:
                continue
            key = plain_name(company)
            if key not in found or abs(value) > found[key][0]:
                found[key] = abs(value), company
    if len(found) < 2:
        return ""
    pick = max if asked.words.extreme > 0 else min
    return pick(found.values(), key=lambda one: one[0])[1]


def _pairs(asked: Asked, match: StatementMatch) -> Iterator[tuple[str, Mention]]:
    """Yields each company with the amount of its clause."""
    nouns = {term.lemma for term in asked.terms}
    kinds = ("count",) if match.counted(nouns) else ("percent",) if nouns & _MOVES else ("money", "percent")
    amounts = [one for one in match.statement.mentions if one.kind in kinds]
    for candidate in match.candidates():
        if candidate.kind != "company" or candidate.features["role opposed"]:
            continue
        after = [one for one in amounts if one.start > candidate.mention.end]
        before = [one for one in amounts if one.end < candidate.mention.start]
        amount = after[0] if after else before[-1] if before else None
        if amount is not None:
            yield candidate.value, amount


_MOVES = frozenset(("fall", "drop", "lose", "rise", "gain", "jump", "share", "stock", "plunge", "climb", "decline"))
