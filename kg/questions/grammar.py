"""The grammar of questions about a graph: every way in which its phrases denote sets of entities and values.

    the company that issued the asset MRDN          companies, narrowed by what follows "that"
    the sector of Helixon Inc.                      sectors, joined with Helixon by the one relation that may join them
    energy companies based in Norway since 2026     narrowed by a name before, a value after, a date

A reading is built from left to right and ends at a word that fits nowhere; no word is skipped. Types decide which
phrases join: "events that affect Calder Foods since 5 November" are events since then, for a company has no date.
Words of direction ("insured by", "insures", "was insured") decide where the types allow both directions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kg.questions.comparisons import Comparisons, PhraseReading
from kg.questions.graph import EntityGraph
from kg.questions.sets import UNSAID, Denotation, fitting
from kg.questions.tagging import Tag, known_entities
from kg.questions.words import (
    ARTICLES,
    AUXILIARY,
    BE,
    COMPARATORS,
    DO_AND_MODALS,
    EXCLUDING,
    HAVE,
    POSSESSIVE,
    PREPOSITIONS,
    RELATIVE,
    YEARS,
    is_participle,
    steps_of,
)
from kg.text import Period, year

_FARTHER = 1
"""The cost of a phrase that belongs to more than the word before it."""


class PhraseGrammar(Comparisons):
    """Reads the phrases of one question.

    Args:
        graph: The graph.
        tags: The question.
    """

    def __init__(self, graph: EntityGraph, tags: Sequence[Tag]) -> None:
        super().__init__(graph, tags)
        self._phrases: dict[int, list[PhraseReading]] = {}

    # Names with what is said of them

    def phrase(self, place: int) -> list[PhraseReading]:
        """The sets that a noun phrase at a place may stand for: "the sector of the company that issued MRDN"."""
        if place not in self._phrases:
            self._phrases[place] = []  # a phrase that begins where it is read already is none
            self._phrases[place] = list(self._coordinated(place))
        return self._phrases[place]

    def _coordinated(self, place: int) -> Iterator[PhraseReading]:
        if self.word(place) == "both":
            yield from ((replace(found, each=True), end) for found, end in self._coordinated(place + 1) if found.parts)
        for found, end in self._single(self.skipped(place, ARTICLES)):
            yield found, end
            if self.word(end) in ("and", "or"):
                for other, last in self._coordinated(end + 1):
                    alike = found.kinds & other.kinds or (found.values and other.values)
                    if alike and not (found.bare or other.bare):
                        yield from self._owned(self.sets.union(found, other, both=self.word(end) == "and"), last)
            elif found.named and end < len(self.tags) and self.tags[end].entities:  # "Germany, France and Spain"
                for other, last in self._coordinated(end):
                    if other.parts and other.named:
                        yield from self._owned(self.sets.union(found, other, both=True), last)

    def _single(self, place: int) -> Iterator[PhraseReading]:
        if place >= len(self.tags):
            return
        tag = self.tags[place]
        yield from self.superlative(place)
        yield from self.calculated(place)
        if tag.word == "other":
            for found, end in self._single(place + 1):
                if not found.values:
                    yield found.without(known_entities(self.tags)), end
        if tag.word == "same":
            yield from self._same(place + 1)
        for found, end in self._head(place):
            yield from self._owning(found, end)

    def _same(self, place: int) -> Iterator[PhraseReading]:
        """Reads "the same country as Osprey Rail": what the noun says of the other."""
        if self.word(place + 1) == "as":
            for other, end in self.phrase(place + 2):
                for found in self._of(self.tags[place], other):
                    yield found, end

    def _owning(self, found: Denotation, place: int) -> Iterator[PhraseReading]:
        """A name with its property or its description: "Helixon's sector", "companies in Norway"."""
        yield from self._described(found, place)
        yield from self._possessed(found, place)

    def _owned(self, found: Denotation, place: int) -> Iterator[PhraseReading]:
        """A set with what it owns: "France and Spain's capitals"."""
        yield found, place
        if found.named:
            yield from self._possessed(found, place)

    def _possessed(self, found: Denotation, place: int) -> Iterator[PhraseReading]:
        if self.word(place) not in POSSESSIVE:
            return
        rank, count, at, degree = self._superlative_at(place + 1)
        noun = at + 1 if degree is not None else place + 1
        for owned in self._of(self.tags[noun], found) if noun < len(self.tags) else ():
            if degree is None:
                yield from self._owning(owned, noun + 1)
            else:
                for best, end in self._most(owned, noun + 1, degree, rank, count):
                    yield from self._owning(best, end)

    def _head(self, place: int) -> Iterator[PhraseReading]:
        """The noun of a phrase with the names before it."""
        if place >= len(self.tags):
            return
        tag = self.tags[place]
        if tag.entities:
            yield self.sets.entities(tag.entities), place + 1
        for kind in tag.classes:
            every = self.sets.kind(kind)
            yield every, place + 1
            named = self.skipped(place + 1, ARTICLES)
            if named < len(self.tags) and self.tags[named].entities:  # "the sector Energy"
                same = self.sets.shared(self.sets.entities(self.tags[named].entities), every)
                if same is not None and same.members:
                    yield replace(same, named=True), named + 1
        for prop, text in tag.values:
            if self.graph.lexicon.properties[prop].classifies:
                yield replace(self.sets.with_value(prop, [text]), cost=1), place + 1
        if tag.values or tag.entities:  # "lawsuit events", "energy companies"
            for found, end in self._head(place + 1):
                if found.bare or not found.named:
                    for one in self._narrowed_by_tag(found, tag):
                        yield one, end
        if self.word(place + 1) == "of":
            for found, end in self.phrase(place + 2):
                for owned in self._of(tag, found):
                    yield owned, end

    def _narrowed_by_tag(self, found: Denotation, tag: Tag) -> Iterator[Denotation]:
        for prop, text in tag.values:
            if found.kinds & self.sets.owners(prop):
                yield self.sets.having(found, prop, [text])
        if tag.entities:
            yield from self.sets.joined(found, self.sets.entities(tag.entities))

    def _of(self, tag: Tag, owner: Denotation) -> Iterator[Denotation]:
        """Reads a noun with its owner: values, the ends of a relation, or the class that is joined with the owner."""
        if owner.values:
            return
        for prop in tag.properties:
            if self.graph.lexicon.properties[prop].literal:
                values = self.sets.values(owner, prop)
                if values is not None:
                    yield values
        for step in steps_of(self.graph, tag):
            found = self.sets.followed(owner, step)
            if found is not None:
                yield found
        if not owner.bare:
            for kind in tag.classes:
                yield from self.sets.joined(self.sets.kind(kind), owner)

    # What is said behind a name

    def _described(self, found: Denotation, place: int, depth: int = 0) -> Iterator[PhraseReading]:
        """A set with any number of descriptions behind it."""
        yield found, place
        if place >= len(self.tags) or found.values or depth > 5:
            return
        for narrowed, end in self._description(found, place):
            yield from self._described(narrowed, end, depth + 1)

    def _description(self, found: Denotation, place: int) -> Iterator[PhraseReading]:
        word = self.word(place)
        if word in RELATIVE:
            yield from self.said(found, place + 1)
            yield from self._object_relative(found, place + 1)
        if word == "whose" and place + 1 < len(self.tags):
            yield from self._whose(found, place + 1)
        if word in EXCLUDING or (word == "other" and self.word(place + 1) == "than"):
            for gone, end in self.phrase(place + (2 if word == "other" else 1)):
                if gone.named:
                    yield found.without(gone.members), end
        yield from self._verb(found, place, passive=False)
        yield from self._preposition(found, place)
        yield from self._date(found, place)
        if word in ("with", "having"):
            yield from self._verb(found, self.skipped(place + 1, ARTICLES), passive=False, only_values=True)
            yield from self._has_compared(found, place + 1)

    def _whose(self, found: Denotation, place: int) -> Iterator[PhraseReading]:
        """Reads "whose country is Norway"."""
        for prop in self.tags[place].properties:
            if self.graph.lexicon.properties[prop].literal:
                yield from self._valued(found, prop, self.skipped(place + 1, BE))

    def _object_relative(self, found: Denotation, place: int) -> Iterator[PhraseReading]:
        """Reads "the events that Harbour Wire reported": the subject, then the verb."""
        for subject, end in self.phrase(self.skipped(place, DO_AND_MODALS)):
            yield from self.asked_of(found, subject, end, passive=False, verb=True)

    def said(self, subject: Denotation, place: int) -> Iterator[PhraseReading]:
        """A set narrowed by what a verb phrase says: "is based in Norway and affects Helixon Inc."."""
        for found, end in self._said_once(subject, place):
            yield found, end
            if self.word(end) == "and":
                yield from self.said(found, end + 2 if self.word(end + 1) in RELATIVE else end + 1)

    def _said_once(self, subject: Denotation, place: int) -> Iterator[PhraseReading]:
        start = self.skipped(place, AUXILIARY)
        be = any(word in BE for word in self.words[place:start])
        have = any(word in HAVE for word in self.words[place:start])
        if start >= len(self.tags):
            return
        for found, end in self._verb(subject, start, passive=be):
            yield from self.dated(found, end)
        if have:
            yield from self._verb(subject, self.skipped(start, ARTICLES), passive=False, only_values=True)
            yield from self._has_compared(subject, start)
        if be:
            yield from self._is_compared(subject, start)
            yield from self._preposition(subject, start)
            yield from self._date(subject, start)
            yield from self._is(subject, start)
            noun = self.skipped(start, ARTICLES)  # "is a member of the European Union"
            if noun > start:
                yield from self._verb(subject, noun, passive=False)

    def _is(self, subject: Denotation, place: int) -> Iterator[PhraseReading]:
        """Reads "is a regulator", "is Helixon's insurer"."""
        for other, end in self.phrase(place):
            same = self.sets.shared(subject, other) if not other.values else None
            if same is not None:
                yield same, end

    def _verb(
        self, subject: Denotation, place: int, *, passive: bool, only_values: bool = False
    ) -> Iterator[PhraseReading]:
        """A relation or property with what it leads to: "affects Helixon", "issued by Helixon", "based in Norway"."""
        if place >= len(self.tags):
            return
        tag = self.tags[place]
        for prop in tag.properties:
            if self.graph.lexicon.properties[prop].literal and subject.kinds & self.sets.owners(prop):
                yield from self._valued(subject, prop, place + 1)
        if only_values:
            return
        by = self.word(place + 1) == "by"
        turned = by or (passive and is_participle(tag))
        behind = self.skipped(place + 1, PREPOSITIONS)
        objects = [*self.phrase(behind), *self._objects_in(tag, place + 1)]
        for step in steps_of(self.graph, tag):
            for other, end in objects:
                if other.values or other.bare:
                    continue
                for found in self.sets.all_linked(subject, step.turned() if turned else step, other):
                    yield found, end

    def _objects_in(self, tag: Tag, place: int) -> Iterator[PhraseReading]:
        """The ends of a relation whose own name has the class: "in sectors that belong to Equities"."""
        noun = self.graph.lexicon.tags(tag.text.split()[-1])[-1] if " " in tag.word else None
        for kind in noun.classes if noun is not None else ():
            yield from self._described(self.sets.kind(kind), place)

    def _valued(self, subject: Denotation, prop: str, place: int) -> Iterator[PhraseReading]:
        """The members of a set with the value, or the date, that stands at a place."""
        if self.graph.lexicon.properties[prop].temporal:
            yield from self._date(subject, place, prop)
            return
        said_at = start = self.skipped(place, PREPOSITIONS | ARTICLES)
        if start < len(self.tags) and prop in self.tags[start].properties:
            start += 1  # "based in the country Norway"
        texts, end = self._texts(prop, start)
        if texts:
            yield self.sets.having(subject, prop, texts), end
        for found, last in self.phrase(said_at):  # "based in the country of the Nordic Central Bank"
            said = [str(value.value) for value, _ in found.values if value.property == prop]
            if said and len(said) == len(found.values):
                yield self.sets.having(subject, prop, said), last

    def _texts(self, prop: str, place: int) -> tuple[list[str], int]:
        """The values of a property that stand at a place: one, or several with "or" or "and" between."""
        texts: list[str] = []
        end = place
        while place < len(self.tags):
            own = [text for named, text in self.tags[place].values if named == prop]
            if not own:
                break
            texts += own
            end = place + 1
            if self.word(end) not in ("or", "and"):
                break
            place = self.skipped(end + 1, PREPOSITIONS | ARTICLES)
        return texts, end

    def _preposition(self, subject: Denotation, place: int) -> Iterator[PhraseReading]:
        """Reads a preposition without a verb: "in the sector Energy", "from Harbour Wire"."""
        if self.word(place) not in PREPOSITIONS:
            return
        for other, end in self.phrase(place + 1):
            if not other.values and not other.bare:
                for found in self.sets.joined(subject, other, self.word(place)):
                    yield found, end
        start = self.skipped(place + 1, ARTICLES)
        for prop in dict.fromkeys(prop for prop, _ in self.tags[start].values) if start < len(self.tags) else ():
            texts, end = self._texts(prop, start)
            if subject.kinds & self.sets.owners(prop):
                narrowed = self.sets.having(subject, prop, texts)
                yield replace(narrowed, cost=narrowed.cost + UNSAID), end

    # Dates

    def dated(self, found: Denotation, place: int) -> Iterator[PhraseReading]:
        """Reads a date after a phrase; it may belong to the subject."""
        yield found, place
        for dated, end in self._date(found, place):
            yield replace(dated, cost=dated.cost + _FARTHER), end

    def _date(self, subject: Denotation, place: int, prop: str | None = None) -> Iterator[PhraseReading]:
        """The members of a set from before, after or in a time; of several dates that they have, none is meant."""
        times = [prop] if prop is not None else self.sets.times_of(subject)
        comparator = COMPARATORS.get(self.word(place))
        if comparator is None or len(times) != 1 or not subject.members:
            return
        start = self.skipped(place + 1, frozenset(("than", "the")))
        period = self._period(start)
        if period is None:
            return
        if comparator == "between":
            until = self._period(start + 2) if self.word(start + 1) == "and" else None
            if until is not None:
                yield self.sets.dated(subject, times[0], fitting("in", period, until)), start + 3
            return
        yield self.sets.dated(subject, times[0], fitting(comparator, period)), start + 1

    def _period(self, place: int) -> Period | None:
        tag = self.tags[place] if place < len(self.tags) else None
        if tag is None:
            return None
        is_year = tag.number is not None and tag.number == int(tag.number) and int(tag.number) in YEARS
        return year(int(tag.number)) if is_year and tag.number is not None else tag.period

    # What is asked of a set

    def asked_of(
        self, wanted: Denotation, subject: Denotation, place: int, *, passive: bool, verb: bool = False
    ) -> Iterator[PhraseReading]:
        """The members of ``wanted`` that a set leads to: "[which sector does] Helixon belong to".

        Args:
            wanted: What is asked for.
            subject: Of what it is asked.
            place: Behind the subject: at a verb, or the end.
            passive: Whether the verb is passive.
            verb: Whether there must be a verb.
        """
        start = self.skipped(place, ARTICLES)  # "is Oslo the capital of"
        tag = self.tags[start] if start < len(self.tags) else None
        if tag is not None:
            behind = self.skipped(start + 1, PREPOSITIONS)
            by = any(word == "by" for word in self.words[start + 1 : behind])
            for step in steps_of(self.graph, tag):
                turned = by or (passive and is_participle(tag))
                found = self.sets.linked(wanted, (step if turned else step.turned()), subject)
                if found is not None:
                    yield found, behind
        if not verb:
            behind = self.skipped(place, PREPOSITIONS)  # "which country is Kraków in"
            for found in self.sets.joined(wanted, subject, self.word(place)):
                yield found, behind
