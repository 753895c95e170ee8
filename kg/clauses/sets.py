"""Answers of several values, and answers that compare statements: "which brokers", "which share lost the most"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from kg.clauses.candidates import Candidate
from kg.clauses.documents import Library
from kg.clauses.matching import StatementMatch
from kg.clauses.parser import Parse
from kg.clauses.questions import Asked
from kg.clauses.ranking import Ranked
from kg.news import Mention, number_of, plain_name

_CLOSE = 0.15
"""The share of the best value's probability that a further value must have."""


def listed_values(asked: Asked, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Returns the values that answer a question: the best one, and others where several are asked for.

    Args:
        asked: The question.
        ranked: The values, the best first.
    """
    best = ranked[0]
    joined = [one for one in ranked[1:] if _are_joined(best.candidates[0], one.candidates[0])]
    if not asked.plural:
        return [best, *(one for one in joined if "found" in {term.lemma for term in asked.terms})]
    close = [one for one in ranked[1:] if one.probability >= _CLOSE * best.probability and one not in joined]
    words = best.candidates[0].features["words"]
    close = [one for one in close if one.candidates[0].features["words"] >= 0.9 * words]
    close = [one for one in close if one.candidates[0].features["role"] >= best.candidates[0].features["role"]]
    return [best, *joined, *close]


def _are_joined(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates of a sentence are coordinates: "Ana and Beatriz Coelho"."""
    if one.statement is not other.statement or one.kind != other.kind:
        return False
    parse = one.statement.parse
    heads = [parse.head_of(each.mention.start, each.mention.end) for each in (one, other)]
    if heads[0] is None or heads[1] is None:
        return False
    chains = [_coordinates(parse, head.place) for head in heads if head is not None]
    return bool(chains[0] & chains[1])


def _coordinates(parse: Parse, place: int) -> frozenset[int]:
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
