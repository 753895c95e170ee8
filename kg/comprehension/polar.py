"""Questions for yes or no: a statement that says the same, or the opposite, and what a reader says of documents."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from kg.clauses import EQUAL, Library, ParsedSentence, are_opposite, direction, is_negated
from kg.comprehension.candidates import FORMER
from kg.comprehension.matching import ALIAS, NEAR, StatementMatch
from kg.comprehension.questions import Asked
from kg.comprehension.ranking import Ranked, nearest_of, read_texts
from kg.comprehension.status import status_in
from kg.news import Passage, number_of
from kg.sentences import asks_of_plans, plain_name

Ranking = Callable[[Asked], list[Ranked]]

_LEAST = 0.75
"""The share of a question's words that a statement must have."""


@dataclass(frozen=True)
class Verdict:
    """An answer to a question for yes or no.

    Attributes:
        value: ``yes`` or ``no``.
        passage: The sentence that says so.
        features: How far it is to be trusted.
    """

    value: str
    passage: Passage
    features: dict[str, float]


def read_polar(asked: Asked, library: Library) -> Verdict | None:
    """Returns what the installed reader says, with the sentence nearest to the question of the document that says so.

    A "yes" by a sentence of what is planned, possible or failed is none.

    Args:
        asked: The question.
        library: The documents.
    """
    nearest = nearest_of(asked, library)
    read = read_texts(asked.text, nearest.texts)
    if not read.polar:
        return None
    document, value, score = max(read.polar, key=lambda one: one[2])
    other = max(one for _, verdict, one in read.polar if verdict != value)
    own = [match for match in nearest.matches if match.text.name == document]
    best = max(own, key=lambda match: (match.score, nearest.features[id(match)]["meaning"]))
    if value == "yes" and not asks_of_plans(asked.text) and _status(asked, best.statement):
        return None
    features = {
        "polar read": math.exp(score - read.total),
        "polar lead": min(score - other, 10.0) / 5,
        "polar none": math.exp(-read.total),
    }
    return Verdict(value, best.statement.passage, features)


def _status(asked: Asked, statement: ParsedSentence) -> str:
    """Returns the status of the act that a question asks for in a statement, as ``pending``; empty if it happened."""
    verbs = [token for token in asked.parse.tokens if token.relation == "ROOT" and token.part == "VERB"]
    return status_in(statement.parse, verbs[0].lemma) if verbs else ""


def polar_answer(asked: Asked, library: Library, ranked: Ranking) -> Verdict | None:
    """Returns the verdict of the statement that fits a question best, or ``None``.

    Args:
        asked: The question.
        library: The documents.
        ranked: Ranks the answers of an open question.
    """
    if re.search(r"\b(?:more|less|fewer|higher|lower|larger|smaller|better|worse)\b.*\bthan\b", asked.text):
        return None
    title = next((term for term in asked.terms if term.title), None)
    people = [(entity, place) for entity, place in asked.entities if entity[0] == "person"]
    if title is not None and len(people) == 1:
        return _holds_office(asked, people[0][0][1], library, ranked)
    best: tuple[tuple[float, float], Verdict] | None = None
    for statement in library.statements:
        match = StatementMatch(asked, statement, library)
        if any(strength < ALIAS - 0.25 for _, strength in match.names) or not match.terms:
            continue
        verdict = _verdict(asked, match) or _compared(match)
        if verdict is None:
            continue
        day = statement.passage.published
        inside = asked.period is None or asked.period.first <= day <= asked.period.last
        dated = float(inside) + sum(strength == NEAR for _, strength in match.names) / max(len(match.names), 1)
        if asked.first or asked.earlier:
            key = (-float(day.toordinal()), _strength(match))
        else:
            key = (round(_strength(match) + 0.2 * dated, 1), float(day.toordinal()))
        if best is None or key > best[0]:
            features = {"polar strength": _strength(match), "polar named": dated, "polar verb": _verb(asked, match)}
            best = key, Verdict(verdict, statement.passage, features)
    return best[1] if best is not None else None


def _verb(asked: Asked, match: StatementMatch) -> float:
    """The similarity of the verb of the question to the nearest one of the statement; 0.5 without a verb."""
    found = [one.similarity for one in match.terms if asked.parse.tokens[one.term.place].part == "VERB"]
    return abs(max(found, key=abs)) if found else 0.5


def _strength(match: StatementMatch) -> float:
    """The share of a question's words that a statement has, or has the opposite of."""
    lemmas = set(match.parse.places)
    found = 0.0
    for one in match.terms:
        opposed = any(are_opposite(one.term.lemma, lemma) for lemma in lemmas)
        found += max(abs(one.similarity), 0.9 * opposed) * one.term.weight
    return found / match.total


def _compared(match: StatementMatch) -> str | None:
    """Compares the two values of a statement: "profit was 286 million (2025: 301 million)" for "did it grow?"."""
    turned = [one for one in match.terms if direction(one.term.lemma) and abs(one.similarity) < 0.5]
    others = [one for one in match.terms if one not in turned and one.term.weight > 0.5]
    if len(turned) != 1 or not others or any(one.similarity < 0.7 for one in others):
        return None
    amounts = [one for one in match.statement.mentions if one.kind in ("money", "count", "percent")]
    former = [one for one in amounts if FORMER.search(match.parse.text[: one.start])]
    current = [one for one in amounts if one not in former]
    if len(former) != 1 or not current or former[0].kind != current[0].kind:
        return None
    before, now = number_of(former[0].value or former[0].text), number_of(current[0].value or current[0].text)
    if before is None or now is None or before == now:
        return None
    return "yes" if (now > before) == (direction(turned[0].term.lemma) > 0) else "no"


def _opposed(match: StatementMatch) -> int:
    """The number of the question's words that the statement contradicts."""
    lemmas = set(match.parse.places)
    return sum(
        one.similarity < -0.5 or (one.similarity < 0.9 and any(are_opposite(one.term.lemma, lemma) for lemma in lemmas))
        for one in match.terms
    )


def _verdict(asked: Asked, match: StatementMatch) -> str | None:
    if _strength(match) < _LEAST:
        return None
    opposite = _opposed(match)
    if opposite > 1:
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
    verbs = [one for one in verbs if asked.parse.tokens[one.term.place].relation == "ROOT"]
    status = status_in(match.parse, verbs[0].term.lemma) if verbs and not asks_of_plans(asked.text) else ""
    if status in ("pending", "possible"):
        return None  # neither done nor given up
    return "no" if negated or status == "failed" else "yes"


def _holds_office(asked: Asked, person: str, library: Library, ranked: Ranking) -> Verdict | None:
    """Whether a person is the one who holds an office."""
    rest = tuple((entity, place) for entity, place in asked.entities if entity[1] != person)
    terms = tuple(term for term in asked.terms if term.title)
    open_question = replace(
        asked, entities=rest, terms=terms, kinds=("person",), noun="", predicate=terms[0].place, gap=EQUAL, latest=True
    )
    left = library.departures.get(plain_name(person))
    if left is not None and (asked.latest or asked.period is None) and not asked.earlier:
        return Verdict("no", left, {"polar office": 1.0})
    values = ranked(open_question)
    if not values or values[0].probability < 0.5:
        return None
    same = plain_name(values[0].value) == plain_name(person)
    passage = values[0].candidates[0].statement.passage
    return Verdict("yes" if same else "no", passage, {"polar office": values[0].probability})
