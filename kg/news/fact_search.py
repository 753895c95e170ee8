"""The facts that a question about news may ask for: its relation, its names, and the words that a fact covers.

FactSearch(facts, directory).candidates(parse_question("Who sued Quorate?", directory))
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache

from kg.news.facts import Fact
from kg.news.offices import Offices
from kg.news.question import NewsQuestion, base, base_words, parse_question
from kg.sentences import Directory, Entity, RelationWords, amounts, asks_of_plans, frames, language, plain_name

CHANGE = frozenset(
    base(word)
    for word in [
        "raise",
        "lift",
        "increase",
        "rise",
        "up",
        "more",
        "grow",
        "higher",
        "gain",
        "improve",
        "better",
        "cut",
        "lower",
        "fall",
        "drop",
        "down",
        "less",
        "decline",
        "decrease",
        "reduce",
        "trim",
        "worse",
        "shrink",
        "lose",
        "go",
        "make",
        "have",
    ]
)
"""Words of a change of a value."""


@dataclass(frozen=True)
class FactCandidate:
    """A fact that may answer a question, with the value asked for and the score of the match."""

    fact: Fact
    value: str
    score: float


@cache
def cues(name: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Returns the words that ask for a relation, the words beside them, and the words it needs."""
    relation = frames().relations[name]
    words = _word_set(relation.words)
    beside = _word_set((*relation.also, *relation.subject, *relation.object))
    return words, beside, _word_set(relation.needs)


def asks_of_act(name: str, words: Iterable[str]) -> bool:
    """Whether words ask for the act that a relation only proposes: "bought" of a bid, but not "offered to buy"."""
    cue, beside, _ = cues(name)
    proposed = _word_set(frames().relations[name].proposes)
    asked = set(words)
    return bool(proposed & asked) and not ((cue | beside) - proposed) & asked


@cache
def all_words() -> frozenset[str]:
    """Returns the words that ask for some relation: another relation cannot ignore them."""
    return frozenset(word for name in frames().relations for word in cues(name)[0])


@cache
def _describing() -> frozenset[str]:
    """Returns the words that describe a named company or thing and ask for nothing."""
    nouns = (*language().organisation_nouns, *language().anaphors)
    more = [
        "drug",
        "product",
        "medicine",
        "brand",
        "model",
        "money",
        "cash",
        "deal",
        "plan",
        "total",
        "amount",
        "say",
        "announce",
        "report",
        "expect",
        "exactly",
        "actually",
        "people",
        "person",
    ]
    return frozenset(base(noun) for noun in (*nouns, *more) if " " not in noun)


def _word_set(words: Iterable[str]) -> frozenset[str]:
    return frozenset(base(part) for word in words for part in (*word.split(), word) if " " not in part)


class FactSearch:
    """The facts of a graph, searched by questions.

    Args:
        facts: The facts.
        directory: The names.
    """

    def __init__(self, facts: Sequence[Fact], directory: Directory) -> None:
        self.facts = sorted(facts, key=lambda fact: (fact.published, fact.document))
        self.directory = directory
        self.offices = Offices(self.facts)
        self._by_document: defaultdict[str, list[str]] = defaultdict(list)
        for fact in self.facts:
            self._by_document[fact.document].append(fact.sentence)
        self._document_words = {name: base_words(" ".join(set(texts))) for name, texts in self._by_document.items()}
        self._sentence_words: dict[str, frozenset[str]] = {}

    def candidates(self, asked: NewsQuestion, extra: frozenset[str] = frozenset()) -> list[FactCandidate]:
        """Returns the facts of the relation that the words of a question ask for."""
        words = [word for word, _ in asked.words if word not in extra]
        of_plans = asks_of_plans(asked.text)
        found: list[FactCandidate] = []
        for name, relation in frames().relations.items():
            cue, beside, needs = cues(name)
            if not cue & set(words) or (needs and not needs & set(words)) or asks_of_act(name, words):
                continue
            for fact in self.facts:
                if fact.relation == name and (fact.status != "possible" or of_plans):
                    found += self._fits(asked, fact, relation, words, cue, beside)
        found += self._counts(asked, words)
        found = [one for one in found if one.fact.is_certain] or found
        best = max((one.score for one in found), default=0)
        names = {one.fact.relation for one in found if one.score >= best - 0.01}
        moving = re.search(r"\b(?:will|mov\w+|relocat\w+)\b", asked.lower)
        if moving and any(one.fact.relation.startswith("moves_") for one in found):
            names = {name for name in names if name.startswith("moves_")} or names
        return [one for one in found if one.fact.relation in names and one.score > best - 1.5]

    def _fits(
        self,
        asked: NewsQuestion,
        fact: Fact,
        relation: RelationWords,
        words: Sequence[str],
        cue: frozenset[str],
        beside: frozenset[str],
    ) -> list[FactCandidate]:
        score = self.coverage(fact, words, cue, beside)
        if score is None or not self._names_fit(asked, fact):
            return []
        slots = self._slots(asked, fact, relation)
        direct = {plain_name(fact.subject), plain_name(fact.object), plain_name(fact.company)}
        named = sum(plain_name(entity[1]) in direct for entity, _ in asked.entities)
        score += 0.5 * sum(self._in_sentence(fact, entity) for entity, _ in asked.entities)
        return [FactCandidate(fact, value, score + named + bonus) for value, bonus in slots]

    def coverage(self, fact: Fact, words: Sequence[str], cue: frozenset[str], beside: frozenset[str]) -> float | None:
        """Returns the part of a question's words that a fact covers, or ``None`` if one is covered by nothing."""
        sentence = self._sentence_words.setdefault(fact.sentence, base_words(fact.sentence))
        document = self._document_words[fact.document]
        names = base_words(f"{fact.subject} {fact.object}")
        score = 0.0
        for word in words:
            if word in cue:
                score += 1.0
            elif word in beside or word in names:
                score += 0.8
            elif word in sentence:
                score += 0.7
            elif word in document and word not in all_words():
                score += 0.2
            elif word in _describing() and word not in all_words():
                score += 0.1
            else:
                return None
        return score / max(len(words), 1) * 2

    def _names_fit(self, asked: NewsQuestion, fact: Fact) -> bool:
        """Whether the names of a question are in a fact, one of them as a participant."""
        if not asked.entities:
            return True
        direct = {plain_name(fact.subject), plain_name(fact.object), plain_name(fact.company)}
        inside = 0
        listed = asked.extreme and len(asked.entities) > 2
        before = re.search(r"\bbefore\b", asked.lower)
        for entity, place in asked.entities:
            if before is not None and place > before.start():
                continue
            if plain_name(entity[1]) in direct:
                inside += 1
            elif not listed and not self._mentions(fact, entity):
                return False
        first = asked.entities[0][0]
        return inside > 0 or (not listed and (self._in_sentence(fact, first) or self._beside(fact, first)))

    def _beside(self, fact: Fact, entity: Entity) -> bool:
        """Whether another fact of the document joins the entity with the fact's subject."""
        if fact.object_kind != "money":
            return False
        ends = {plain_name(entity[1]), plain_name(fact.subject)}
        return any(
            other.document == fact.document and {plain_name(other.subject), plain_name(other.object)} == ends
            for other in self.facts
        )

    def _mentions(self, fact: Fact, entity: Entity) -> bool:
        return set(plain_name(entity[1]).split()[:1]) <= {
            w for t in self._by_document[fact.document] for w in plain_name(t).split()
        }

    def _in_sentence(self, fact: Fact, entity: Entity) -> bool:
        return plain_name(entity[1]).split()[0] in plain_name(fact.sentence).split()

    def _slots(self, asked: NewsQuestion, fact: Fact, relation: RelationWords) -> list[tuple[str, float]]:
        """Returns the values of a fact that a question may ask for, each with a bonus."""
        named = {plain_name(entity[1]) for entity, _ in asked.entities}
        found: list[tuple[str, float]] = []
        free_object = plain_name(fact.object) not in named
        free_subject = plain_name(fact.subject) not in named
        wants_object = fact.object_kind in asked.kinds and free_object
        wants_subject = fact.subject_kind in asked.kinds and free_subject
        if asked.extreme:
            return (
                [(fact.subject, 0.5)]
                if fact.subject_kind in asked.kinds or len(named) > 1 or "company" in asked.kinds
                else []
            )
        if wants_object and wants_subject and not relation.symmetric and not named:
            passive = re.search(r"\b(?:was|were|is|are|been|being|get|got) \w+ed\b", asked.lower) is not None
            nouns = {base(word) for word in relation.object}
            to_object = passive or (
                base(asked.noun) in nouns and base(asked.noun) not in {base(w) for w in relation.subject}
            )
            wants_object, wants_subject = to_object, not to_object
        if wants_object and (
            not named or relation.symmetric or self.orientation(asked, fact.subject, relation) != "object"
        ):
            found.append((fact.object, 0.2))
        elif wants_subject and (
            not named or relation.symmetric or self.orientation(asked, fact.object, relation) != "subject"
        ):
            found.append((fact.subject, 0.2))
        elif asked.kinds == ("date",) and fact.object_kind in ("company", "product", "name", "rating"):
            days = [m.value for m in amounts(fact.sentence, date.fromisoformat(fact.published)) if m.noun == "weekday"]
            if days or re.search(r"\btoday\b", fact.sentence):
                found.append((days[0] if days else fact.published, -0.5))
        return found

    def orientation(self, asked: NewsQuestion, name: str, relation: RelationWords) -> str:
        """Returns whether a named participant is the subject or the object of the question's verb."""
        place = next((at for entity, at in asked.entities if plain_name(entity[1]) == plain_name(name)), None)
        cue = _word_set(relation.words)
        verbs = [at for word, at in asked.words if word in cue]
        if (
            place is None
            or not verbs
            or relation.subject_types != ("company",)
            or "company" not in relation.object_types
        ):
            return ""
        verb = asked.text[verbs[0] :].split()[0].lower().strip("?.,")
        if not re.search(r"(?:ed|t|n|s|ing|d|e|y|l)$", verb):
            return ""
        passive = re.search(r"\b(?:was|were|is|are|been|be|being)\b[^?]*$", asked.lower[: verbs[0]]) and re.search(
            r"(?:ed|t|n)$", verb
        )
        by = re.search(r"\bby $", asked.lower[:place]) is not None
        first = by if passive and place > verbs[0] else place < verbs[0] and not passive
        return "subject" if first != relation.passive else "object"

    def _counts(self, asked: NewsQuestion, words: Sequence[str]) -> list[FactCandidate]:
        """Returns counts of things: "how many ships does Bluehull have?"."""
        found = []
        if asked.kinds == ("count",) and asked.noun and asked.entities:
            noun = base(asked.noun)
            for fact in self.facts:
                if fact.relation.startswith("number of ") and base(fact.relation.split()[-1]) == noun:
                    named = {plain_name(entity[1]) for entity, _ in asked.entities}
                    score = self.coverage(
                        fact,
                        [w for w in words if w not in CHANGE],
                        frozenset((noun,)),
                        _word_set(("have", "operate", "own", "run")),
                    )
                    if score is not None and plain_name(fact.subject) in named:
                        found.append(FactCandidate(fact, fact.object, score))
        return found

    def two_steps(self, asked: NewsQuestion) -> list[FactCandidate]:
        """Follows a relative clause: "the laser company that Orvane bought"."""
        clause = re.search(r"(?<=.{6})\b(?:that|which|whom)\b ", asked.lower)
        if clause is None or len(asked.entities) != 1:
            return []
        entity = asked.entities[0][0]
        words = {word for word, _ in asked.words}
        for fact in reversed(self.facts):
            cue, _, needs = (
                cues(fact.relation) if fact.relation in frames().relations else (frozenset(), (), frozenset())
            )
            inner = {word for word, place in asked.words if place >= clause.end()}
            if (needs and not needs & words) or not cue & inner:
                continue
            if plain_name(fact.subject) == plain_name(entity[1]) and fact.object_kind in ("company", "product", "name"):
                nouns = frozenset(base(noun) for noun in (*language().organisation_nouns, "maker"))
                second = parse_question(asked.text, self.directory)
                second.entities = [((fact.object_kind, fact.object), asked.entities[0][1])]
                found = self.candidates(second, frozenset(cue | nouns))
                if found:
                    return found
        return []
