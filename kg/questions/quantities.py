"""Questions for a number: how many, how large, how much larger, what share; and the parse of a question.

How many inhabitants does Spain have?       a value, where the graph has one; else the number of entities
How many times larger is Ukraine than Malta?
What share of Germany's population lives in Berlin?
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kg.questions.grammar import PhraseGrammar
from kg.questions.graph import EntityGraph
from kg.questions.sets import Denotation
from kg.questions.tagging import Tag
from kg.questions.words import AUXILIARY, BE, COMPARATORS, DO_AND_MODALS, HAVE, POSSESSIVE, PREPOSITIONS, WHO, steps_of


@dataclass(frozen=True)
class QuestionParse:
    """A reading of a whole question.

    Attributes:
        found: The set that it denotes.
        form: The form of the answer.
        every: Entities joined by "and", of which a yes must hold each.
    """

    found: Denotation
    form: Literal["set", "count", "yes or no"] = "set"
    every: tuple[str, ...] = ()

    @property
    def result(self) -> tuple[str, frozenset[object]]:
        """The answer, for comparison with that of another parse."""
        values = frozenset((value.entity, value.value) for value, _ in self.found.values)
        if self.form == "yes or no":
            return self.form, frozenset([self.holds])
        return self.form, frozenset(self.found.members) | values | {self.found.result}

    @property
    def holds(self) -> bool:
        """Whether a question for yes or no is answered yes: for all that "and" joins, for one of the rest."""
        if self.every:
            return all(node in self.found.members for node in self.every)
        return bool(self.found.members)


class QuantityQuestions(ABC):
    """The parses of one question that asks for a number.

    Args:
        graph: The graph.
        tags: The question.
    """

    def __init__(self, graph: EntityGraph, tags: Sequence[Tag]) -> None:
        self.graph = graph
        self.grammar = PhraseGrammar(graph, _with_date_behind(_spelled_out(tags)))
        self.tags = self.grammar.tags
        self.end = len(self.tags)

    @abstractmethod
    def _counted(self, place: int) -> Iterator[QuestionParse]:
        """Reads "[how many] companies are in Norway"."""

    def how(self, place: int) -> Iterator[QuestionParse]:
        """Reads "[how] many", "[how] much larger is France than Spain", "[how] large is France"."""
        word = self.grammar.word(place)
        if word == "many":
            yield from self._counted(place + 1)
            if place + 1 < self.end:
                yield from self._number_of(place + 1)
        if word == "much" or self.grammar.word(place + 1) == "times":
            for found, end in self.grammar.difference(place):
                yield from self._whole(found, end)
        degree = self.tags[place].degree if place < self.end else None
        if degree is not None and degree.level == 0:
            for subject, end in self.grammar.phrase(self.grammar.skipped(place + 1, BE)):
                for prop, last in self.grammar.measures(subject, degree, end):
                    if last == self.end:
                        yield from self._valued(subject, prop)

    def _number_of(self, place: int) -> Iterator[QuestionParse]:
        """Reads "[how many] inhabitants does Spain have", "[how many] people live in Rome", "[how many] neighbours"."""
        tag = self.tags[place]
        start = self.grammar.skipped(place + 1, AUXILIARY)
        literal = [prop for prop in tag.properties if self.graph.lexicon.properties[prop].literal]
        for subject, end in self.grammar.phrase(start) if start > place + 1 else ():
            if self.grammar.skipped(end, HAVE) == self.end and not subject.values and not subject.bare:
                for prop in literal:
                    yield from self._valued(subject, prop)
                for step in steps_of(self.graph, tag):
                    found = self.grammar.sets.followed(subject, step)
                    if found is not None:
                        yield QuestionParse(found, "count")
        for prop in literal:
            for subject in self._said_again(prop, start):
                yield from self._valued(subject, prop)

    def _said_again(self, prop: str, place: int) -> Iterator[Denotation]:
        """The last phrase of a question, after a verb that names a property again: "[people] live in Rome"."""
        if place < self.end and prop in self.tags[place].properties:
            for subject, end in self.grammar.phrase(self.grammar.skipped(place + 1, PREPOSITIONS)):
                if end == self.end and not subject.values and not subject.bare:
                    yield subject

    def _share(self, place: int) -> Iterator[QuestionParse]:
        """Reads "[what share] of Germany's population lives in Berlin"."""
        for whole, end in self.grammar.phrase(self.grammar.skipped(place, PREPOSITIONS)):
            prop = whole.values[0][0].property if len(whole.values) == 1 else ""
            for subject in self._said_again(prop, end):
                part = self.grammar.sets.values(subject, prop)
                share = self.grammar.sets.of_two(whole, part, quotient=True, sign=-1) if part is not None else None
                if share is not None:
                    yield QuestionParse(share)

    def _valued(self, subject: Denotation, prop: str) -> Iterator[QuestionParse]:
        values = self.grammar.sets.values(subject, prop)
        if values is not None:
            yield QuestionParse(values)

    def _whole(self, found: Denotation, end: int) -> Iterator[QuestionParse]:
        if end == self.end and not found.named:
            yield QuestionParse(found)


def _with_date_behind(tags: Sequence[Tag]) -> list[Tag]:
    """A question with the date that it begins with at its end: "since 2026, which ..."."""
    spots = [place for place, tag in enumerate(tags[:4]) if tag.period is not None]
    if not tags or tags[0].word not in COMPARATORS or not spots:
        return list(tags)
    behind = spots[-1] + 1
    return [*tags[behind:], *tags[:behind]]


def _spelled_out(tags: Sequence[Tag]) -> list[Tag]:
    """A question with "is" in place of the "'s" of "what's"."""
    short = len(tags) > 1 and tags[0].word in WHO and tags[1].word in POSSESSIVE
    return [tags[0], auxiliary(passive=True), *tags[2:]] if short else list(tags)


def auxiliary(passive: bool) -> Tag:
    """Returns the tag of an auxiliary verb that a question leaves out."""
    word = "is" if passive else next(iter(sorted(DO_AND_MODALS)))
    return Tag(word, 0, 0, word)
