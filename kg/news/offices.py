"""Who holds, held and will hold which office of a company, by the facts about people.

offices.answer(parse_question("Who is the boss of OSTL now?", directory))
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kg.news.facts import Fact
from kg.news.question import NewsQuestion, base
from kg.sentences import plain_name

_HEADS = frozenset(("chief executive", "interim chief executive", "managing director"))
_FINANCE = frozenset(("chief financial officer", "finance director"))
_CHAIRS = frozenset(("chairman", "chair", "chairwoman"))
_OFFICE_WORDS = frozenset(
    [
        "job",
        "post",
        "take",
        "over",
        "serve",
        "hold",
        "become",
        "appoint",
        "name",
        "succeed",
        "replace",
        "role",
        "position",
        "company",
        "work",
        "join",
        "come",
        "make",
    ]
)


@dataclass(frozen=True)
class _Term:
    person: str
    role: str
    company: str
    since: str
    fact: Fact


class Offices:
    """The offices of companies.

    Args:
        facts: All facts, the oldest first.
    """

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._facts = facts
        self._terms = [
            _Term(f.subject, f.role, f.company, f.valid_from or f.published, f)
            for f in facts
            if f.role and f.company and f.relation in ("appointed_at", "works_for", "role")
        ]
        self._left = {(f.subject, plain_name(f.object)): f for f in facts if f.relation == "departs"}

    def answer(self, asked: NewsQuestion) -> tuple[tuple[str, ...], tuple[Fact, ...]] | None:
        """Returns the answer of a question about an office with its facts, or ``None``."""
        allowed = {base(word) for word in _OFFICE_WORDS} | {base(w) for w in ("who", "boss")}
        if any(word not in allowed for word, _ in asked.words):
            return None
        companies = {plain_name(entity[1]) for entity, _ in asked.entities if entity[0] == "company"}
        people = {entity[1] for entity, _ in asked.entities if entity[0] == "person"}
        terms = [t for t in self._terms if plain_name(t.company) in companies and same_office(asked.role, t.role)]
        exact = [t for t in terms if t.role == asked.role]
        terms = exact if exact and asked.role not in _HEADS | _FINANCE else terms
        if not companies or not terms:
            return None
        if asked.kinds[:1] in (("place",), ("company",)) or re.search(
            r"\bwork before\b|\bcome from\b|\bjoin from\b", asked.lower
        ):
            return self._employer(terms)
        if asked.kinds[:1] not in (("person",),) and not re.search(r"\bwho\b", asked.lower):
            return None
        return self._holder(asked, terms, people)

    def people(self, asked: NewsQuestion) -> tuple[tuple[str, ...], tuple[Fact, ...]] | None:
        """Answers where a person worked before, whom a person replaces, and who replaces a person."""
        named = [(entity[1], at) for entity, at in asked.entities if entity[0] == "person"]
        if len(named) != 1 or asked.polar:
            return None
        person, place = named[0]
        if re.search(
            r"\b(?:work|employed|come|came|join|joined|job)\b.*\b(?:before|previously|formerly|from)\b", asked.lower
        ):
            companies = {plain_name(entity[1]) for entity, _ in asked.entities if entity[0] == "company"}
            left = [f for f in self._facts if (f.relation, f.subject) == ("departs", person)]
            left = [f for f in left if plain_name(f.object) not in companies]
            return ((left[-1].object,), (left[-1],)) if left else None
        verb = re.search(r"\b(?:replac\w+|succeed\w*|take over from|took over from|takes over from)\b", asked.lower)
        if verb is None or asked.kinds[:1] != ("person",):
            return None
        relation = (
            "departs" if place < verb.start() and not re.search(r"\b(?:by|was|is)\b", asked.lower) else "appointed_at"
        )
        documents = {
            f.document for f in self._facts if f.subject == person and f.relation in ("departs", "appointed_at")
        }
        found = [f for f in self._facts if f.relation == relation and f.document in documents and f.subject != person]
        names = dict.fromkeys(f.subject for f in found)
        return (tuple(names), (found[-1],)) if len(names) == 1 else None

    def _holder(
        self, asked: NewsQuestion, terms: Sequence[_Term], people: set[str]
    ) -> tuple[tuple[str, ...], tuple[Fact, ...]] | None:
        order = sorted(terms, key=lambda term: (term.since, term.fact.published))
        if people and re.search(r"\b(?:before|preceded|predecessor|replaced|succeeded)\b", asked.lower):
            since = min((t.since for t in order if t.person in people), default="")
            earlier = [t for t in order if t.person not in people and (t.since < since or self._gone(t))]
            departed = self._departed(asked, people)
            found = earlier[-1] if earlier else None
            return ((found.person,), (found.fact,)) if found else departed
        if people:
            return None
        if re.search(r"\b(?:former|previous(?:ly)?|before|used to|was the last|left|leaving|outgoing)\b", asked.lower):
            gone = [t for t in order if (t.person, plain_name(t.company)) in self._left]
            return ((gone[-1].person,), (gone[-1].fact,)) if gone else self._departed(asked, people)
        if asked.period is not None:
            until = asked.period.last.isoformat()
            order = [
                t for t in order if t.since[:10] <= until and not self._left_before(t, asked.period.first.isoformat())
            ]
        future = re.search(r"\b(?:will|next|take over|takes over|incoming)\b", asked.lower)
        newest = max((fact.published for fact in self._facts), default="")
        if asked.period is None and not future:
            order = [t for t in order if t.since[:10] <= newest]
            order = [t for t in order if not self._left_before(t, newest)]
        return ((order[-1].person,), (order[-1].fact,)) if order else None

    def _left_before(self, term: _Term, day: str) -> bool:
        gone = self._left.get((term.person, plain_name(term.company)))
        return gone is not None and gone.published >= term.fact.published and (gone.valid_to or gone.published) <= day

    def _gone(self, term: _Term) -> bool:
        return (term.person, plain_name(term.company)) in self._left

    def _departed(self, asked: NewsQuestion, people: set[str]) -> tuple[tuple[str, ...], tuple[Fact, ...]] | None:
        companies = {plain_name(entity[1]) for entity, _ in asked.entities if entity[0] == "company"}
        found = [f for f in self._facts if f.relation == "departs" and plain_name(f.object) in companies]
        found = [f for f in found if f.subject not in people and same_office(asked.role, f.role)]
        return ((found[-1].subject,), (found[-1],)) if found else None

    def _employer(self, terms: Sequence[_Term]) -> tuple[tuple[str, ...], tuple[Fact, ...]] | None:
        """Returns where the newest holder worked before."""
        newest = max(terms, key=lambda term: (term.since, term.fact.published))
        left = [
            f
            for f in self._facts
            if f.relation == "departs"
            and f.subject == newest.person
            and plain_name(f.object) != plain_name(newest.company)
        ]
        return ((left[-1].object,), (left[-1],)) if left else None


def same_office(one: str, other: str) -> bool:
    """Whether two titles of people name one office."""
    return one == other or any(one in group and other in group for group in (_HEADS, _FINANCE, _CHAIRS))
