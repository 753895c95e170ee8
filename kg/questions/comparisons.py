"""Phrases that compare by number: "the second largest city", "larger than Spain", "the average area of …".

    the largest neighbour of Moldova                 a superlative, with a rank or a count before it
    countries with more than 50 million inhabitants  a threshold
    larger than Austria by population                a comparison, with the measure after it
    the combined population of Spain and France      a sum, an average, a difference or a quotient

The grammar of questions (:mod:`kg.questions.grammar`) is built on these productions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from decimal import Decimal

from kg.questions.graph import EntityGraph
from kg.questions.measures import MeasuredSets, single_values
from kg.questions.sets import Denotation, Support
from kg.questions.tagging import DegreeTag, Tag
from kg.questions.words import ARTICLES, AVERAGES, BE, DIFFERENCES, NUMBERS, ORDINALS, PREPOSITIONS, RATIOS, SUMS

PhraseReading = tuple[Denotation, int]
"""The set that a phrase denotes, and the place after the phrase."""


class Comparisons(ABC):
    """The productions that compare by number.

    Args:
        graph: The graph.
        tags: The question.
    """

    def __init__(self, graph: EntityGraph, tags: Sequence[Tag]) -> None:
        self.graph = graph
        self.sets = MeasuredSets(graph)
        self.tags = list(tags)
        self.words = [tag.word for tag in tags]

    @abstractmethod
    def phrase(self, place: int) -> list[PhraseReading]:
        """Returns the sets that a noun phrase at a place may denote."""

    @abstractmethod
    def _single(self, place: int) -> Iterator[PhraseReading]:
        """Yields the readings of a noun phrase without coordination."""

    def skipped(self, place: int, words: frozenset[str]) -> int:
        """Returns the place after some words, if they occur here."""
        while place < len(self.tags) and self.words[place] in words and not self.tags[place].entities:
            place += 1
        return place

    def word(self, place: int) -> str:
        """Returns the word at a place, or an empty text after the end."""
        return self.words[place] if place < len(self.tags) else ""

    # Superlatives

    def superlative(self, place: int) -> Iterator[PhraseReading]:
        """Reads "the three largest cities" and "the latest news about Helixon Inc."."""
        rank, count, at, degree = self._superlative_at(place)
        if degree is not None:
            for found, end in self._single(at + 1):
                yield from self._most(found, end, degree, rank, count)

    def _superlative_at(self, place: int) -> tuple[int, int, int, DegreeTag | None]:
        """The rank, the count, the place and the adjective of a superlative, if there is one."""
        rank, count = ORDINALS.get(self.word(place), 1), self._count(place)
        at = place + 1 if rank > 1 or count else place
        return rank, count or 1, at, self._degree(at, 2)

    def _count(self, place: int) -> int:
        tag = self.tags[place] if place < len(self.tags) else None
        if tag is not None and tag.number is not None and tag.number == int(tag.number):
            return int(tag.number)
        return NUMBERS.get(self.word(place), 0)

    def _degree(self, place: int, level: int) -> DegreeTag | None:
        tag = self.tags[place] if place < len(self.tags) else None
        degree = tag.degree if tag is not None and not tag.entities else None
        return degree if degree is not None and degree.level == level else None

    def _most(self, found: Denotation, place: int, degree: DegreeTag, rank: int, count: int) -> Iterator[PhraseReading]:
        if found.values:
            return
        times = [prop for prop in self.sets.times_of(found) if prop in degree.properties]
        if len(times) == 1 and rank == 1:
            yield self.sets.latest(found, times[0], degree.sign, count), place
        for prop, end in self.measures(found, degree, place):
            best = self.sets.extreme(found, prop, degree.sign, rank, count)
            if best is not None:
                yield best, end

    def measures(self, found: Denotation, degree: DegreeTag, place: int) -> Iterator[tuple[str, int]]:
        """Yields the measure of an adjective: its own, and the one that "by" names at a place."""
        own = self.sets.measure(found, degree)
        if own is not None:
            yield own, place
        if self.word(place) == "by":
            start = self.skipped(place + 1, ARTICLES)
            for named in self.tags[start].properties if start < len(self.tags) else ():
                if self.sets.measure(found, degree, named) is not None:
                    yield named, start + 1

    # Comparatives

    def _is_compared(self, subject: Denotation, place: int) -> Iterator[PhraseReading]:
        """Reads "[is] larger than Spain", "[is] the second largest by area", "[is] larger" of several."""
        rank, count, at, superlative = self._superlative_at(self.skipped(place, ARTICLES))
        if superlative is not None:
            yield from self._most(subject, at + 1, superlative, rank, count)
        degree = self._degree(place, 1)
        if degree is None or subject.values:
            return
        if self.word(place + 1) != "than":
            if len(subject.members) > 1:
                yield from self._most(subject, place + 1, degree, 1, 1)
            return
        for bound, end in self._bounds(place + 2):
            for prop, last in self.measures(subject, degree, end):
                yield from self._beyond(subject, prop, degree, bound, last)

    def _has_compared(self, subject: Denotation, place: int) -> Iterator[PhraseReading]:
        """Reads "[has] the largest area", "[has] more than 5 million inhabitants", "[has] an area of less than 2"."""
        start = self.skipped(place, ARTICLES)
        rank, count, at, degree = self._superlative_at(start)
        degree = degree if degree is not None else self._degree(at, 1)
        if degree is None:
            yield from self._threshold(subject, start)
            return
        for prop in self.tags[at + 1].properties if at + 1 < len(self.tags) else ():
            if self.sets.measure(subject, degree, prop) is None:
                continue
            if self.word(at + 2) == "than":
                for bound, end in self._bounds(at + 3):
                    yield from self._beyond(subject, prop, degree, bound, end)
            else:
                best = self.sets.extreme(subject, prop, degree.sign, rank, count)
                if best is not None:
                    yield best, at + 2
        if self.word(at + 1) == "than":
            for bound, end in self._bounds(at + 2):
                for prop in self.tags[end].properties if end < len(self.tags) else ():
                    if self.sets.measure(subject, degree, prop) is not None:
                        yield from self._beyond(subject, prop, degree, bound, end + 1)

    def _threshold(self, subject: Denotation, place: int) -> Iterator[PhraseReading]:
        """Reads "[has] a population of more than 50 million"."""
        at = self.skipped(place + 1, PREPOSITIONS)
        degree = self._degree(at, 1)
        if degree is None or at == place + 1 or self.word(at + 1) != "than":
            return
        for prop in self.tags[place].properties:
            if self.sets.measure(subject, degree, prop) is not None:
                for bound, end in self._bounds(at + 2):
                    yield from self._beyond(subject, prop, degree, bound, end)

    def _bounds(self, place: int) -> Iterator[tuple[Denotation | Decimal, int]]:
        """Yields the number or the phrase after "than"."""
        number = self.tags[place].number if place < len(self.tags) else None
        if number is not None:
            yield number, place + 1
        yield from self.phrase(place)

    def _beyond(
        self, subject: Denotation, prop: str, degree: DegreeTag, bound: Denotation | Decimal, place: int
    ) -> Iterator[PhraseReading]:
        known: tuple[Decimal, Support] | None = (bound, ()) if isinstance(bound, Decimal) else None
        if not isinstance(bound, Decimal):
            known = self.sets.number_of(bound, prop)
        if known is not None:
            yield self.sets.compared(subject, prop, degree.sign, *known), place

    def values_compared(self, found: Denotation, place: int) -> Iterator[PhraseReading]:
        """Reads "[France's population] larger than 70 million": the owners whose value is above or below."""
        degree = self._degree(place, 1)
        if degree is None or self.word(place + 1) != "than" or len(found.values) != 1:
            return
        prop = found.values[0][0].property
        owner = Denotation({found.values[0][0].entity: ()}, properties=found.properties, cost=found.cost)
        for bound, end in self._bounds(place + 2):
            yield from self._beyond(owner, prop, degree, bound, end)

    # Calculations

    def calculated(self, place: int) -> Iterator[PhraseReading]:
        """Reads "combined population of …", "average area of …", "difference between …"."""
        word = self.word(place)
        if word in SUMS | AVERAGES:
            start = self.skipped(place + 1, PREPOSITIONS | ARTICLES)
            for found, end in self.phrase(start):
                combined = self.sets.combined(found, average=word in AVERAGES) if found.values else None
                if combined is not None:
                    yield combined, end
        if word in DIFFERENCES | RATIOS:
            for found, end in self.phrase(self.skipped(place + 1, PREPOSITIONS | frozenset(("between",)))):
                both = list(single_values(found))
                ratio = word in RATIOS
                result = self.sets.of_two(*both, quotient=ratio, sign=int(ratio)) if len(both) == 2 else None
                if result is not None:
                    yield result, end

    def difference(self, place: int) -> Iterator[PhraseReading]:
        """Reads "[how] much larger is France than Spain", "[how] many times larger is …"."""
        quotient = self.word(place + 1) == "times"
        at = place + 1 + quotient
        degree = self._degree(at, 1)
        if degree is None or self.word(at + 1) not in BE:
            return
        for first, end in self.phrase(at + 2):
            if self.word(end) != "than":
                continue
            for second, behind in self.phrase(end + 1):
                both = self.sets.union(first, second)
                for prop, last in self.measures(both, degree, behind):
                    sides = [self.sets.values(one, prop) if not one.values else one for one in (first, second)]
                    result = (
                        self.sets.of_two(sides[0], sides[1], quotient=quotient, sign=degree.sign)
                        if sides[0] is not None and sides[1] is not None
                        else None
                    )
                    if result is not None:
                        yield result, last
