"""Questions for yes or no: a statement that says the same, or the opposite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kg.clauses.documents import Library
from kg.clauses.lexicon import direction
from kg.clauses.matching import ALIAS, NEAR, StatementMatch
from kg.clauses.questions import Asked
from kg.clauses.ranking import Ranked
from kg.clauses.roles import EQUAL, is_negated
from kg.news import Passage, plain_name

Ranking = Callable[[Asked], list[Ranked]]

_LEAST = 0.75
"""The share of a question's words that a statement must have."""


def polar_answer(asked: Asked, library: Library, ranked: Ranking) -> tuple[str, Passage] | None:
    """Returns ``yes`` or ``no`` with the statement that says so, or ``None``.

    Args:
        asked: The question.
        library: The documents.
        ranked: Ranks the answers of an open question.
    """
    title = next((term for term in asked.terms if term.title), None)
    people = [(entity, place) for entity, place in asked.entities if entity[0] == "person"]
    if title is not None and len(people) == 1:
        return _holds_office(asked, people[0][0][1], ranked)
    best: tuple[tuple[float, float], str, Passage] | None = None
    for statement in library.statements:
        match = StatementMatch(asked, statement, library)
        if any(strength < ALIAS - 0.25 for _, strength in match.names) or not match.terms:
            continue
        verdict = _verdict(asked, match)
        if verdict is None:
            continue
        day = statement.passage.published
        inside = asked.period is None or asked.period.first <= day <= asked.period.last
        dated = float(inside) + sum(strength == NEAR for _, strength in match.names) / max(len(match.names), 1)
        key = (_strength(match) + 0.2 * dated, float(day.toordinal()))
        if best is None or key > best[0]:
            best = key, verdict, statement.passage
    return (best[1], best[2]) if best is not None else None


def _strength(match: StatementMatch) -> float:
    """The share of a question's words that a statement has, or has the opposite of."""
    found = sum(abs(one.similarity) * one.term.weight for one in match.terms)
    return found / match.total


def _verdict(asked: Asked, match: StatementMatch) -> str | None:
    if _strength(match) < _LEAST:
        return None
    opposite = [one for one in match.terms if one.similarity < -0.5]
    if len(opposite) > 1:
        return None
    negated = any(
        is_negated(match.parse, one.place) for one in match.terms if one.place >= 0 and abs(one.similarity) > 0.7
    )
    if opposite:
        return "no" if not negated else None
    turned = [one for one in match.terms if direction(one.term.lemma) and one.similarity > 0.7]
    verbs = [one for one in match.terms if asked.parse.tokens[one.term.place].part == "VERB" and one.similarity > 0.7]
    if not (turned or verbs):
        return None
    return "no" if negated else "yes"


def _holds_office(asked: Asked, person: str, ranked: Ranking) -> tuple[str, Passage] | None:
    """Whether a person is the one who holds an office."""
    rest = tuple((entity, place) for entity, place in asked.entities if entity[1] != person)
    terms = tuple(term for term in asked.terms if term.title)
    open_question = replace(
        asked, entities=rest, terms=terms, kinds=("person",), noun="", predicate=terms[0].place, gap=EQUAL, latest=True
    )
    values = ranked(open_question)
    if not values or values[0].probability < 0.5:
        return None
    same = plain_name(values[0].value) == plain_name(person)
    return ("yes" if same else "no"), values[0].candidates[0].statement.passage
