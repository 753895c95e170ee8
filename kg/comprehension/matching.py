"""Statements matched with questions: the words, names and roles that they share, as features of each possible answer.

>>> match = StatementMatch(asked, statement, library)
>>> [(candidate.value, candidate.features["words"]) for candidate in match.candidates()]
[('Corvex Resources', 1.0)]
"""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import cached_property

from kg.clauses import (
    AGENT,
    NAMES,
    OTHER,
    PATIENT,
    Library,
    ParsedSentence,
    agreement,
    are_converse,
    clause_of,
    is_negated,
    moves_of,
    role_of,
    similarity,
    with_particle,
)
from kg.comprehension.candidates import (
    FORMER,
    SpanCandidate,
    TermMatch,
    in_period,
    is_container,
    own_date,
    own_span,
    title_fit,
)
from kg.comprehension.questions import ELSEWHERE, Asked, Term
from kg.news import same_office
from kg.sentences import Mention, noun_class, plain_name
from kg.text import singular

NEAR, ALIAS, ABOUT, CLOSE, INSIDE = 1.0, 0.9, 0.7, 0.6, 0.3
"""How near a name of the question is: named, meant by a pronoun, the document's, just before, elsewhere."""

_CONVERSE_ROLES = {AGENT: "to", PATIENT: PATIENT, "from": AGENT, "to": AGENT}
"""The role in "X sold Y to Z" of what has a role in "Z bought Y from X"."""


_PEOPLE = frozenset(("people", "person", "staff", "personnel", "man", "woman", "adult", "child"))
"""Nouns for people of any kind."""

_PAIRS = ({"money", "percent"}, {"person", "company"}, {"duration", "measure"}, {"date", "duration"})
"""Pairs of kinds of which a question asks for either."""


class StatementMatch:
    """A question and a statement.

    Args:
        asked: The question.
        statement: The statement.
        library: All documents.
    """

    def __init__(self, asked: Asked, statement: ParsedSentence, library: Library) -> None:
        self.asked, self.statement, self.library = asked, statement, library
        self.parse = statement.parse
        self.text = library.text_of[statement.passage.document]
        self.terms = [self._term(term) for term in asked.terms]
        self.names = [self._name(entity[0], plain_name(entity[1])) for entity, _ in asked.entities]
        self.total = sum(one.term.weight for one in self.terms) or 1.0

    @cached_property
    def words(self) -> float:
        """The share of the question's words that the statement has."""
        return sum(max(one.similarity, 0.0) * one.term.weight for one in self.terms) / self.total

    @cached_property
    def score(self) -> float:
        """A first score, by which statements are chosen."""
        strength = sum(strength for _, strength in self.names)
        return self.words * min(self.total, 2.0) + strength + 0.3 * self._context[0]

    @property
    def headed(self) -> str:
        """The statement after its document's headline."""
        first = self.text.statements[0]
        return self.parse.text if first is self.statement else f"{first.parse.text.rstrip('.')}. {self.parse.text}"

    def _term(self, term: Term) -> TermMatch:
        best, place = 0.0, -1
        if term.title:
            for mention in self.statement.mentions:
                if mention.kind == "role" and same_office(mention.value, term.title):
                    head = self.parse.head_of(mention.start, mention.end)
                    return TermMatch(term, head.place if head is not None else -1, 1.0)
        nearness = self.library.nearness(term.lemma)
        for lemma, places in self.parse.places.items():
            found = similarity(term.lemma, lemma) or nearness.get(lemma, 0.0)
            for number in places if found or term.long != term.lemma else ():
                token = self.parse.tokens[number]
                long = with_particle(self.parse, token)
                close = found
                if long != token.lemma or term.long != term.lemma:
                    close = max(0.85 * found if token.part == "VERB" else found, similarity(term.long, long))
                if abs(close) > abs(best) or (close == -best and close > 0):
                    best, place = close, number
        return TermMatch(term, place, best)

    def _name(self, kind: str, name: str) -> tuple[list[int], float]:
        """Returns the words that stand for a name, and how near it is."""
        places = []
        for mention in self.statement.mentions:
            if mention.kind in NAMES and plain_name(self._full(mention)) == name:
                head = self.parse.head_of(mention.start, mention.end)
                places += [head.place] if head is not None else []
        if places:
            return places, NEAR
        referred = [place for place, full in self.statement.referred if plain_name(full) == name]
        if referred:
            return referred, ALIAS
        if plain_name(self.text.main) == name:
            return [], ABOUT
        if name not in self.text.names:
            return [], 0.0
        number = self.text.statements.index(self.statement)
        before = self.text.statements[max(0, number - 2) : number]
        if kind in ("company", "person"):
            before = (self.text.statements[0], *before)
        near = any(
            mention.kind in NAMES and plain_name(mention.value) == name for one in before for mention in one.mentions
        )
        return [], CLOSE if near else INSIDE

    def _full(self, mention: Mention) -> str:
        known = self.library.directory.find(mention.value or mention.text)
        return known[1] if known is not None else mention.value or mention.text

    @cached_property
    def _context(self) -> tuple[float, float]:
        """The share of the question's words that the statement or its neighbours have, and that of the rarest one."""
        number = self.text.statements.index(self.statement)
        around = {
            lemma
            for other in (*self.text.statements[max(0, number - 2) : number + 2], self.text.statements[0])
            for lemma in other.parse.places
        }
        found = []
        for one in self.terms:
            best = max(one.similarity, 0.0)
            if best < 0.8:
                best = max([best, *(0.8 * similarity(one.term.lemma, lemma) for lemma in around)])
            found.append((best, one.term.weight))
        share = sum(best * weight for best, weight in found) / self.total
        return share, min((best for best, weight in found if weight > 0.5), default=0.5)

    def counted(self, nouns: set[str]) -> bool:
        """Whether the statement counts things of some nouns."""
        return any(
            similarity(noun, singular(word)) > 0.7
            for one in self.statement.mentions
            if one.kind == "count"
            for word in one.noun.lower().split()
            for noun in nouns
        )

    # Candidates

    def candidates(self, read: Collection[Mention] = ()) -> list[SpanCandidate]:
        """Returns the possible answers of the statement: the values of the wanted kinds, and those that are read well.

        Args:
            read: The values and other spans that a reader says may answer, of whatever kind.
        """
        asked_names = {plain_name(entity[1]) for entity, _ in self.asked.entities}
        shared = self._shared()
        found = []
        for mention in dict.fromkeys((*self.statement.values, *read)):
            strong, weak = self._kind(mention)
            named = mention.kind in NAMES and mention.kind != "ticker"
            value = self._full(mention) if named or self.asked.kinds[:1] != ("ticker",) else mention.value
            if mention.kind not in NAMES:
                value = mention.value or mention.text
            if (
                not (strong or weak or mention in read)
                or plain_name(value) in asked_names
                or self._asked_amount(mention)
            ):
                continue
            head = self.parse.head_of(mention.start, mention.end)
            if head is not None:
                features = {**shared, **self._features(mention, head.place, value)}
                features["kind"], features["weak kind"] = float(strong), float(weak)
                features["other kind"] = float(not (strong or weak))
                found.append(SpanCandidate(value, mention.kind, mention, self.statement, features))
        holders = [one for one in found if one.features["title"] > 0]
        moves = any(one.features.get("leaving") or one.features.get("arriving") for one in found)
        return [one for one in found if not holders or one in holders or (moves and one.features["title"] == 0)]

    def _asked_amount(self, mention: Mention) -> bool:
        """Whether an amount or day is in the question itself."""
        return mention.kind in ("money", "percent", "count", "date") and mention.text.lower() in self.asked.text.lower()

    def _kind(self, mention: Mention) -> tuple[bool, bool]:
        kinds = self.asked.kinds
        if mention.kind in kinds[:1]:
            return len(kinds) < 5, len(kinds) > 4
        if mention.kind in kinds[:2] and set(kinds[:2]) in _PAIRS:
            return True, False
        if mention.kind == "ticker":
            return False, "ticker" in kinds
        if mention.kind == "company" and kinds[:1] == ("product",):
            return False, self._described(mention) > 0.7
        if mention.kind in kinds or (mention.kind == "name" and set(kinds) & {"person", "company", "product", "place"}):
            return False, True
        if mention.kind in NAMES and "product" in kinds:
            return False, True
        if mention.kind in ("place", "product") and "company" in kinds and " " in mention.text:
            return False, mention.value not in self.library.containers
        if mention.kind in ("company", "place", "product") and set(kinds) & {"company", "place"}:
            return False, self.asked.noun != "" and self._described(mention) > 0.7
        return False, mention.kind == "phrase" and ("phrase" in kinds or "product" in kinds) and self._is_bare(mention)

    def _is_bare(self, phrase: Mention) -> bool:
        """Whether a noun phrase names no kind that the question names: "renaplimab" where it asks for a drug."""
        noun = singular(self.asked.noun)
        inside = [token.lemma for token in self.parse.inside(phrase.start, phrase.end)]
        return not noun or all(similarity(noun, lemma) <= 0.7 for lemma in inside[:-1])

    def _described(self, mention: Mention) -> float:
        """The similarity of the question's noun and of what the candidate is called."""
        noun = singular(self.asked.noun)
        if mention.kind == "count":
            words = [singular(word) for word in mention.noun.lower().split()] or self._counted(mention)
            people = noun in _PEOPLE and any(noun_class(word) == "person" or word in _PEOPLE for word in words)
            return max([max(similarity(noun, word), 0.0) for word in words] + [0.8 * people])
        if mention.kind in NAMES:
            called = self.library.descriptions.get(plain_name(self._full(mention)), frozenset())
            return max([max(similarity(noun, word), 0.0) for word in called], default=0.0)
        return max([max(similarity(noun, word.lower()), 0.0) for word in mention.text.split()], default=0.0)

    def _counted(self, mention: Mention) -> list[str]:
        """Returns the nouns that a bare number may count: the one of the number before, the subject of its clause."""
        before = [
            one for one in self.statement.mentions if one.kind == "count" and one.end <= mention.start and one.noun
        ]
        if before and mention.start - before[-1].end < 40:
            return [singular(word) for word in before[-1].noun.lower().split()]
        head = self.parse.head_of(mention.start, mention.end)
        if head is None:
            return []
        verb = clause_of(self.parse, head.place)
        return [
            token.lemma
            for token in self.parse.tokens
            if token.part == "NOUN" and token.place < verb and self.parse.distance(token.place, verb) < 4
        ]

    def _shared(self) -> dict[str, float]:
        """Returns the features that all candidates of the statement share."""
        passage, asked = self.statement.passage, self.asked
        strengths = [strength for _, strength in self.names]
        found = {
            "words": self.words,
            "context words": self._context[0],
            "weakest context": self._context[1],
            "best word": max([one.similarity for one in self.terms if one.term.weight > 0.5], default=0.5),
            "missed words": sum(one.term.weight for one in self.terms if one.similarity < 0.5) / 2,
            "unknown words": float(len(asked.unknown) > 0),
            "names": sum(strengths) / max(len(strengths), 1) if strengths else 0.5,
            "weakest name": min(strengths, default=0.6),
            "names missing": float(sum(strength == 0 for strength in strengths)),
            "headline": float(passage.place < 0),
            "negated": float(any(is_negated(self.parse, one.place) for one in self.terms if one.place >= 0)),
            "opposite words": float(sum(one.similarity < -0.5 for one in self.terms)),
            "length": len(self.parse.tokens) / 40,
            "all words": float(self.words > 0.9),
            "weakest word": min([max(one.similarity, 0.0) for one in self.terms if one.term.weight > 0.5], default=0.5),
            "converse": float(
                any(
                    one.place >= 0 and are_converse(one.term.lemma, self.parse.tokens[one.place].lemma)
                    for one in self.terms
                )
            ),
        }
        if asked.period is not None:
            found |= in_period(self.statement, self.text.statements, asked.period.first, asked.period.last)
        return found

    def _features(self, mention: Mention, place: int, value: str) -> dict[str, float]:
        """Returns the features of one candidate."""
        parse, asked = self.parse, self.asked
        matched = [one for one in self.terms if one.place >= 0 and one.similarity >= 0.5]
        tree = line = 0.0
        for one in matched:
            tree += one.strength * math.exp(-parse.distance(place, one.place) / 3)
            line += one.strength * math.exp(-abs(place - one.place) / 6)
        near = [
            max((math.exp(-parse.distance(place, other) / 4) for other in places), default=0.0)
            for places, _ in self.names
        ]
        found = {
            "tree": tree / self.total,
            "line": line / self.total,
            "names near": sum(near) / max(len(near), 1),
            **self._roles(place),
            **own_date(self.statement, mention, asked.period),
            "predicate": self._predicate,
            "name within": self._name_within,
            "no person": float(mention.kind == "company" and any(one.term.title for one in self.terms)),
            **own_span(self.statement, mention, asked.text),
        }
        if asked.noun:
            found["noun"] = self._described(mention)
            found["no noun"] = float(found["noun"] < 0.5)
        former = FORMER.search(self.parse.text[: mention.start]) is not None
        found["former"] = float(former and not asked.earlier)
        found["former asked"] = float(former and asked.earlier)
        found["weekday"] = float(mention.noun == "weekday")
        found["title"] = title_fit(self.statement, mention, [one.term.title for one in self.terms if one.term.title])
        found["phrase"] = float(mention.kind == "phrase")
        found["width"] = min(len(mention.text.split()), 8) / 8
        found["region"] = float(mention.kind in ("place", "name") and value in self.library.containers)
        found["kind conflict"] = float(mention.kind in NAMES and mention.kind not in (*asked.kinds, "name"))
        found["container"] = float(mention.kind == "place" and is_container(self.statement, mention))
        if mention.kind in ("person", "name") and not any(
            max(similarity(one.term.lemma, "leave"), similarity(one.term.long, "step_down")) > 0.7 for one in self.terms
        ):
            leaving, arriving = moves_of(parse, place)
            left = self.library.departures.get(plain_name(value))
            now = not asked.earlier and asked.period is None
            found["gone"] = float(now and left is not None and left.published >= self.statement.passage.published)
            found["leaving"], found["arriving"] = (arriving, leaving) if asked.earlier else (leaving, arriving)
        found["words and names"] = self.words * self._shared_names
        found["role and words"] = found["role"] * self.words
        return found

    @property
    def _shared_names(self) -> float:
        strengths = [strength for _, strength in self.names]
        return sum(strengths) / len(strengths) if strengths else 0.5

    @cached_property
    def _predicate(self) -> float:
        """The similarity of the nearest word to the one that the gap belongs to; 0.5 if it is no term."""
        found = [one.similarity for one in self.terms if one.term.place == self.asked.predicate]
        return max(found, default=0.5)

    @cached_property
    def _name_within(self) -> float:
        """Whether a name only says the kind of a noun, unlike in the question: "the Tarika recall" for "a Tarika"."""
        for (_, asked_place), (places, _) in zip(self.asked.entities, self.names, strict=True):
            inside = {self.parse.tokens[place].relation in ("compound", "poss", "nmod") for place in places}
            if inside != {True} or asked_place == ELSEWHERE:
                continue
            if self.asked.parse.tokens[asked_place].relation not in ("compound", "poss", "nmod"):
                return 1.0
        return 0.0

    def _roles(self, place: int) -> dict[str, float]:
        """Compares the roles of the gap and of the names in both clauses."""
        asked, parse = self.asked, self.parse
        found = dict.fromkeys(("role", "role opposed", "name role", "name role opposed", "same clause"), 0.0)
        anchor = next((one for one in self.terms if one.term.place == asked.predicate and one.place >= 0), None)
        if anchor is None or anchor.similarity < 0.5:
            anchor = max((one for one in self.terms if one.place >= 0), key=lambda one: one.strength, default=None)
        if anchor is None or anchor.similarity < 0.5:
            return found
        gap, own = self._gap(anchor.term), role_of(parse, place, anchor.place)
        if are_converse(anchor.term.lemma, parse.tokens[anchor.place].lemma):
            if gap == AGENT and own == AGENT:
                found["role opposed"] = 1.0
                return found
            gap = _CONVERSE_ROLES.get(gap, OTHER)
        found["role"], found["role opposed"] = agreement(gap, own)
        found["same clause"] = float(clause_of(parse, place) == clause_of(parse, anchor.place))
        for (_, asked_place), (places, _) in zip(asked.entities, self.names, strict=True):
            if asked_place == ELSEWHERE:
                continue
            wanted = role_of(asked.parse, asked_place, anchor.term.place)
            if are_converse(anchor.term.lemma, parse.tokens[anchor.place].lemma):
                wanted = _CONVERSE_ROLES.get(wanted, OTHER)
            for other in places:
                same, opposed = agreement(wanted, role_of(parse, other, anchor.place))
                found["name role"] = max(found["name role"], same)
                found["name role opposed"] = max(found["name role opposed"], opposed)
        return found

    def _gap(self, term: Term) -> str:
        return self.asked.gap if term.place == self.asked.predicate else OTHER
