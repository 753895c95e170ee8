"""Questions about a graph that are read whole: which, what, who, when, where, how many, yes or no.

    >>> answer = read_question(graph, "In which sector is the company that issued the asset MRDN?")
    >>> [graph.lexicon.label(node) for node in answer.entities], answer.facts
    (['Insurance'], ('MRDN -> issued by -> Meridian Re AG', 'Meridian Re AG -> in sector -> Insurance'))

All readings of a question are built (:mod:`kg.questions.grammar`); of those that use every word, the one is taken that
supplies least of its own. Where two that supply as little come to different answers, the question is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from kg.errors import QueryError
from kg.questions.answer import EntityAnswer
from kg.questions.grammar import PhraseGrammar
from kg.questions.graph import EntityGraph
from kg.questions.items import unknown_name
from kg.questions.lexicon import Tag, known_entities
from kg.questions.sets import Found
from kg.questions.words import AUXILIARY, BE, COMPARATORS, DO, PREPOSITIONS, is_participle, steps_of
from kg.text import nearest

_LIST = frozenset(("list", "name", "show", "give", "tell"))
_POLITE = frozenset(("please", "can", "could", "you", "me", "us"))
_WHO = frozenset(("who", "whom", "what", "which"))
_WHICH = frozenset(("which", "what", "whose"))
_NOISE = frozenset(("there", "please", "currently", "now"))


class UnreadError(QueryError):
    """A question that these readings do not cover."""


@dataclass(frozen=True)
class _Asked:
    """A whole reading: what it comes to, and how it is answered."""

    found: Found
    form: Literal["set", "count", "yes or no"] = "set"

    @property
    def result(self) -> tuple[str, frozenset[object]]:
        """What tells one answer from another."""
        values = frozenset((value.entity, value.value) for value, _ in self.found.values)
        if self.form == "yes or no":
            return self.form, frozenset([bool(self.found.members)])
        return self.form, frozenset(self.found.members) | values


def read_question(graph: EntityGraph, question: str) -> EntityAnswer:
    """Answers a question whose every word is read.

    Args:
        graph: The graph.
        question: It refers to nothing outside itself.

    Raises:
        UnreadError: A word or the sentence cannot be read.
        QueryError: It was read, and the graph has nothing that fits, or it can be read in two ways.
    """
    tags = [tag for tag in graph.lexicon.tags(question) if tag.word not in _NOISE or tag.known]
    strange = unknown_name(tags)
    if strange is not None:
        labels = [graph.lexicon.label(node) for node in graph.lexicon.types]
        raise UnreadError(f"the graph has no {strange!r}; {nearest(strange, labels)}")
    readings = list(_Questions(graph, tags).readings())
    if not readings:
        raise UnreadError("the question cannot be read whole with the graph's words")
    return _answer(graph, tags, _chosen(readings))


def _chosen(readings: Sequence[_Asked]) -> _Asked:
    """The reading that supplies least; those that find something go before those that find nothing.

    Raises:
        QueryError: Two that are as good come to different answers.
    """
    finding = [one for one in readings if one.found.members or one.found.values] or readings
    least = min(one.found.cost for one in finding)
    best = [one for one in finding if one.found.cost == least]
    if len({one.result for one in best}) > 1:
        raise QueryError("the question can be read in more than one way")
    return best[0]


def _answer(graph: EntityGraph, tags: Sequence[Tag], asked: _Asked) -> EntityAnswer:
    found = asked.found
    if any(tag.word == "same" for tag in tags) and not found.values:  # whom others are like is none of them
        found = found.without(known_entities(tags))
    subjects, properties = tuple(known_entities(tags)), found.properties
    if found.values:
        facts = tuple(dict.fromkeys(fact for _, facts in found.values for fact in facts))
        values = tuple(value for value, _ in found.values)
        single = values[0].value if len(values) == 1 else None
        answer = single if isinstance(single, Decimal) else None
        return EntityAnswer((), values, answer, subjects, properties, facts)
    nodes = tuple(graph.ordered(found.members))
    facts = tuple(dict.fromkeys(fact for node in nodes for fact in found.members[node]))
    if asked.form == "yes or no":
        return EntityAnswer((), (), "yes" if nodes else "no", subjects, properties, facts)
    if asked.form == "count":
        return EntityAnswer(nodes, (), Decimal(len(nodes)), subjects, properties, facts)
    if not nodes:
        raise QueryError(f"the graph has no {found.lacking}" if found.lacking else "the graph has nothing that fits")
    return EntityAnswer(nodes, (), None, subjects, properties, facts)


class _Questions:
    """The whole readings of one question."""

    def __init__(self, graph: EntityGraph, tags: Sequence[Tag]) -> None:
        self.graph = graph
        self.grammar = PhraseGrammar(graph, _with_date_behind(tags))
        self.tags = self.grammar.tags
        self.end = len(self.tags)

    def readings(self) -> Iterator[_Asked]:
        """All of them."""
        start = self.grammar.skipped(0, _POLITE)
        if start >= self.end:
            return
        word = self.grammar.word(start)
        if word in _LIST:
            yield from self._listed(self.grammar.skipped(start + 1, _POLITE))
        elif word == "how" and self.grammar.word(start + 1) == "many":
            yield from self._counted(start + 2)
        elif word in AUXILIARY:
            yield from self._checked(start + 1, passive=word in BE)
        elif word == "when":
            yield from self._when(start + 1)
        elif word == "where":
            yield from self._where(start + 1)
        else:
            yield from self._asked(start)

    def _whole(self, found: Found, end: int) -> Iterator[_Asked]:
        if end == self.end and not found.named:
            yield _Asked(found)

    def _listed(self, place: int) -> Iterator[_Asked]:
        """Reads "List the companies in the sector Energy.": also what a question with "which" asks."""
        for found, end in self.grammar.phrase(place):
            yield from self._whole(found, end)
        if self.grammar.word(place) in _WHO:
            yield from self._asked(place)

    def _counted(self, place: int) -> Iterator[_Asked]:
        for one in self._which(place, passive_by=False):
            if not one.found.values:
                yield _Asked(one.found, "count")
        for found, end in self.grammar.phrase(place):
            end = self.grammar.skipped(end, BE)
            if end == self.end and not found.named and not found.values:
                yield _Asked(found, "count")

    def _checked(self, place: int, *, passive: bool) -> Iterator[_Asked]:
        """Reads "Is Helixon Inc. based in Germany?": whether anything is left of the subject."""
        for subject, end in self.grammar.phrase(place):
            if subject.values:
                continue
            if end == self.end and not subject.bare and not subject.named and passive:  # "are there events that ..."
                yield _Asked(subject, "yes or no")
            if subject.bare:
                continue
            for found, last in self._predicate(subject, end, passive=passive):
                if last == self.end:
                    yield _Asked(found, "yes or no")

    def _predicate(self, subject: Found, place: int, *, passive: bool) -> Iterator[tuple[Found, int]]:
        """What follows the subject of a question, read as if its auxiliary stood behind the subject."""
        moved = PhraseGrammar(self.graph, [*self.tags[:place], _auxiliary(passive), *self.tags[place:]])
        for found, end in moved.said(subject, place):
            yield found, end - 1

    def _when(self, place: int) -> Iterator[_Asked]:
        for subject, end in self.grammar.phrase(self.grammar.skipped(place, AUXILIARY)):
            if subject.values or subject.bare:
                continue
            times = self.grammar.sets.times_of(subject)
            if end == self.end - 1:  # "published", "occur"
                times = [prop for prop in times if prop in self.tags[end].properties]
                end += 1
            if end == self.end and len(times) == 1:
                yield from self._valued(subject, times[0])

    def _where(self, place: int) -> Iterator[_Asked]:
        """The property that the verb names: "Where is Helixon Inc. based?"."""
        for subject, end in self.grammar.phrase(self.grammar.skipped(place, AUXILIARY)):
            if end == self.end - 1 and not subject.values:
                for prop in self.tags[end].properties:
                    if self.graph.lexicon.properties[prop].literal:
                        yield from self._valued(subject, prop)

    def _valued(self, subject: Found, prop: str) -> Iterator[_Asked]:
        values = self.grammar.sets.values(subject, prop)
        if values is not None:
            yield _Asked(values)

    def _asked(self, place: int) -> Iterator[_Asked]:
        """Reads what begins with "which", "in which", "what is", "who"."""
        lead = self.grammar.skipped(place, PREPOSITIONS)
        by = "by" in self.grammar.words[place:lead]
        word = self.grammar.word(lead)
        if word in _WHICH:
            yield from self._which(lead + 1, passive_by=by)
        if word in _WHO:
            yield from self._who(lead + 1, passive_by=by)
        if word in _WHO and self.grammar.word(lead + 1) in BE and lead == place:  # "What is the ticker of ...?"
            for found, end in self.grammar.phrase(lead + 2):
                if not found.bare:
                    yield from self._whole(found, end)

    def _which(self, place: int, *, passive_by: bool) -> Iterator[_Asked]:
        """What is asked for, then what is said of it, or of what it is asked."""
        place = place + 1 if self.grammar.word(place) == "of" else place
        for wanted, end in self.grammar.phrase(place):
            if wanted.values or wanted.named:
                continue
            for found, last in self.grammar.said(wanted, end):
                yield from self._whole(found, last)
            if self.grammar.word(end) in AUXILIARY:
                yield from self._object(wanted, end, passive_by=passive_by)
        yield from self._property_of(place)

    def _object(self, wanted: Found, place: int, *, passive_by: bool) -> Iterator[_Asked]:
        """Reads "... does the sector of Helixon Inc. belong to", "... did Harbour Wire publish"."""
        start = self.grammar.skipped(place, AUXILIARY)
        passive = passive_by or any(word in BE for word in self.grammar.words[place:start])
        for subject, end in self.grammar.phrase(start):
            if subject.values or subject.bare:
                continue
            for found, last in self.grammar.asked_of(wanted, subject, end, passive=passive):
                for one, whole in self.grammar.dated(found, last):
                    yield from self._whole(one, whole)
        yield from self._by_value(wanted, start)

    def _by_value(self, wanted: Found, place: int) -> Iterator[_Asked]:
        """Reads "[which news did] Harbour Wire publish": the subject is a value of what the verb names."""
        if place + 1 >= self.end:
            return
        for prop, text in self.tags[place].values:
            if prop in self.tags[place + 1].properties and wanted.kinds & self.grammar.sets.owners(prop):
                for found, end in self.grammar.dated(self.grammar.sets.having(wanted, prop, [text]), place + 2):
                    yield from self._whole(found, end)

    def _property_of(self, place: int) -> Iterator[_Asked]:
        """Reads "[in which] country is Helixon Inc. based", "[what] type of institution is ..."."""
        if place >= self.end:
            return
        for prop in self.tags[place].properties:
            if not self.graph.lexicon.properties[prop].literal:
                continue
            for kinds, start in self._kind_behind(place + 1):
                begin = self.grammar.skipped(start, AUXILIARY)
                if begin == start:
                    continue
                for subject, end in self.grammar.phrase(begin):
                    if subject.values or subject.bare or (kinds and not kinds & subject.kinds):
                        continue
                    if end < self.end and prop in self.tags[end].properties:  # "country ... based": says it again
                        end = self.grammar.skipped(end + 1, PREPOSITIONS)
                    if end == self.end:
                        yield from self._valued(subject, prop)

    def _kind_behind(self, place: int) -> Iterator[tuple[frozenset[str], int]]:
        """The class that a property is said to be of ("type of institution"), or none."""
        yield frozenset(), place
        if self.grammar.word(place) == "of" and place + 1 < self.end and self.tags[place + 1].classes:
            yield frozenset(self.tags[place + 1].classes), place + 2

    def _who(self, place: int, *, passive_by: bool) -> Iterator[_Asked]:
        """What a verb leads to or from, where nothing says of which class it is: "Who issued HLXN?"."""
        start = self.grammar.skipped(place, AUXILIARY)
        auxiliaries = self.grammar.words[place:start]
        passive = any(word in BE for word in auxiliaries)
        if start < self.end:
            yield from self._doer(start, passive=passive)
        if not auxiliaries:
            return
        for subject, end in self.grammar.phrase(start):  # "What does X affect?", "Who is X insured by?"
            if end >= self.end or subject.values or subject.bare:
                continue
            turned = passive_by or (passive and is_participle(self.tags[end]))
            behind = self.grammar.skipped(end + 1, PREPOSITIONS)
            turned = turned or "by" in self.grammar.words[end + 1 : behind]
            if behind == self.end:
                yield from self._reached(subject, end, turned=turned)

    def _doer(self, place: int, *, passive: bool) -> Iterator[_Asked]:
        """Reads "[who] published the news ...", "[who] insures Varna", "[what] is affected by ..."."""
        by = self.grammar.word(place + 1) == "by"
        turned = by or (passive and is_participle(self.tags[place]))
        for other, end in self.grammar.phrase(self.grammar.skipped(place + 1, PREPOSITIONS)):
            if end != self.end or other.values or other.bare:
                continue
            yield from self._reached(other, place, turned=not turned)
            for prop in self.tags[place].properties if not passive else ():
                words = self.graph.lexicon.properties[prop]
                if words.literal and not words.temporal:
                    yield from self._valued(other, prop)

    def _reached(self, subject: Found, verb: int, *, turned: bool) -> Iterator[_Asked]:
        for step in steps_of(self.graph, self.tags[verb]):
            found = self.grammar.sets.followed(subject, step.turned() if turned else step)
            if found is not None:
                yield _Asked(found)


def _with_date_behind(tags: Sequence[Tag]) -> list[Tag]:
    """A question with the date that it begins with at its end: "since 2026, which ..."."""
    spots = [place for place, tag in enumerate(tags[:4]) if tag.period is not None]
    if not tags or tags[0].word not in COMPARATORS or not spots:
        return list(tags)
    behind = spots[-1] + 1
    return [*tags[behind:], *tags[:behind]]


def _auxiliary(passive: bool) -> Tag:
    word = "is" if passive else next(iter(sorted(DO)))
    return Tag(word, 0, 0, word)
