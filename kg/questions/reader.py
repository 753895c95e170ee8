"""Semantic parsing of self-contained questions about a graph of entities, without a language model.

    >>> answer = answer_entities(graph, "In which sector is the company that issued the asset MRDN?")
    >>> [graph.lexicon.label(node) for node in answer.entities], answer.facts
    (['Insurance'], ('MRDN -> issued by -> Meridian Re AG', 'Meridian Re AG -> in sector -> Insurance'))

The parser builds all readings of a question (:mod:`kg.questions.grammar`) and keeps those that use every word. It
selects the reading that supplies least of its own. Where two such readings differ in their answers, it abstains.
Questions begin with which, what, who, when, where or how, ask for yes or no, or name a set to list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from kg.errors import QueryError
from kg.questions.answer import EntityAnswer
from kg.questions.grammar import PhraseGrammar
from kg.questions.graph import EntityGraph
from kg.questions.problems import UnreadError, problem_of
from kg.questions.quantities import QuantityQuestions, QuestionParse, auxiliary
from kg.questions.sets import Denotation
from kg.questions.tagging import Question, Tag, known_entities
from kg.questions.words import (
    AUXILIARY,
    BE,
    PREPOSITIONS,
    SHARES,
    WHO,
    is_participle,
    steps_of,
    unknown_name,
)

_LIST = frozenset(("list", "name", "show", "give", "tell"))
_POLITE = frozenset(("please", "can", "could", "you", "me", "us"))
_WHICH = frozenset(("which", "what", "whose"))
_NOISE = frozenset(("there", "please", "currently", "now"))


def answer_entities(graph: EntityGraph, question: Question | str) -> EntityAnswer:
    """Answers a question that refers to nothing outside itself.

    Args:
        graph: The graph.
        question: The question; a text is tagged by the graph's lexicon.

    Raises:
        UnreadError: The graph does not have a word or a name of the question, or the sentence cannot be read.
        QueryError: The graph has nothing that fits, or the question can be read in two ways.
    """
    asked = graph.lexicon.question(question) if isinstance(question, str) else question
    tags = [tag for tag in asked.tags if tag.word not in _NOISE or tag.known]
    readings = [] if unknown_name(tags) else list(_Questions(graph, tags).readings())
    if not readings:
        raise UnreadError(problem_of(graph, tags))
    return _answer(graph, tags, _chosen(readings))


def _chosen(readings: Sequence[QuestionParse]) -> QuestionParse:
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


def _answer(graph: EntityGraph, tags: Sequence[Tag], asked: QuestionParse) -> EntityAnswer:
    found = asked.found
    if any(tag.word == "same" for tag in tags) and not found.values:  # whom others are like is none of them
        found = found.without(known_entities(tags))
    subjects, properties = tuple(known_entities(tags)), found.properties
    if found.values:
        calculation = found.result[1:] if found.result is not None else ()
        facts = tuple(dict.fromkeys((*(fact for _, facts in found.values for fact in facts), *calculation)))
        values = tuple(value for value, _ in found.values)
        single = found.result[0] if found.result is not None else values[0].value if len(values) == 1 else None
        answer = single if isinstance(single, Decimal) else None
        return EntityAnswer((), values, answer, subjects, properties, facts)
    nodes = tuple(graph.ordered(found.members))
    facts = tuple(dict.fromkeys((*found.basis, *(fact for node in nodes for fact in found.members[node]))))
    if asked.form == "yes or no":
        return EntityAnswer((), (), "yes" if asked.holds else "no", subjects, properties, facts)
    if asked.form == "count":
        return EntityAnswer(nodes, (), Decimal(len(nodes)), subjects, properties, facts)
    if not nodes:
        raise QueryError(f"the graph has no {found.lacking}" if found.lacking else "the graph has nothing that fits")
    return EntityAnswer(nodes, (), None, subjects, properties, facts)


class _Questions(QuantityQuestions):
    """The whole readings of one question."""

    def readings(self) -> Iterator[QuestionParse]:
        """All of them."""
        start = self.grammar.skipped(0, _POLITE)
        if start >= self.end:
            return
        word = self.grammar.word(start)
        if word in _LIST:
            yield from self._listed(self.grammar.skipped(start + 1, _POLITE))
        elif word == "how":
            yield from self.how(start + 1)
        elif word in AUXILIARY:
            yield from self._checked(start + 1, passive=word in BE)
        elif word == "when":
            yield from self._when(start + 1)
        elif word == "where":
            yield from self._where(start + 1)
        elif word in WHO | _WHICH | PREPOSITIONS:
            yield from self._asked(start)
        else:  # "negative events about Helixon": a set alone is asked for
            yield from self._listed(start)

    def _listed(self, place: int) -> Iterator[QuestionParse]:
        """Reads "List the companies in the sector Energy.": also what a question with "which" asks."""
        for found, end in self.grammar.phrase(place):
            yield from self._whole(found, end)
        if self.grammar.word(place) in WHO:
            yield from self._asked(place)

    def _counted(self, place: int) -> Iterator[QuestionParse]:
        for one in self._which(place, passive_by=False):
            if not one.found.values:
                yield QuestionParse(one.found, "count")
        for found, end in self.grammar.phrase(place):
            end = self.grammar.skipped(end, BE)
            if end == self.end and not found.named and not found.values:
                yield QuestionParse(found, "count")

    def _checked(self, place: int, *, passive: bool) -> Iterator[QuestionParse]:
        """Reads "Is Helixon Inc. based in Germany?": whether anything is left of the subject."""
        either = self.grammar.word(place) in ("any", "either") and self.grammar.word(place + 1) == "of"
        for subject, end in self.grammar.phrase(place + 2 if either else place):
            if subject.values:
                for found, last in self.grammar.values_compared(subject, end) if passive else ():
                    if last == self.end:
                        yield QuestionParse(found, "yes or no")
                continue
            if end == self.end and not subject.bare and not subject.named and passive:  # "are there events that ..."
                yield QuestionParse(subject, "yes or no")
            if subject.bare:
                continue
            every = tuple(subject.members) if subject.parts and subject.named and not either else ()
            for found, last in self._predicate(subject, end, passive=passive):
                if last == self.end:
                    yield QuestionParse(found, "yes or no", every)

    def _predicate(self, subject: Denotation, place: int, *, passive: bool) -> Iterator[tuple[Denotation, int]]:
        """Reads the words after a subject as if the question's auxiliary came directly before them."""
        moved = PhraseGrammar(self.graph, [*self.tags[:place], auxiliary(passive), *self.tags[place:]])
        for found, end in moved.said(subject, place):
            yield found, end - 1

    def _when(self, place: int) -> Iterator[QuestionParse]:
        for subject, end in self.grammar.phrase(self.grammar.skipped(place, AUXILIARY)):
            if subject.values or subject.bare:
                continue
            times = self.grammar.sets.times_of(subject)
            if end == self.end - 1:  # "published", "occur"
                times = [prop for prop in times if prop in self.tags[end].properties]
                end += 1
            if end == self.end and len(times) == 1:
                yield from self._valued(subject, times[0])

    def _where(self, place: int) -> Iterator[QuestionParse]:
        """Reads "[where] is X based", "[in which year] did Greece join the EU": the verb names the property."""
        for subject, end in self.grammar.phrase(self.grammar.skipped(place, AUXILIARY)):
            if end >= self.end or subject.values or not self._ends_with(subject, end + 1):
                continue
            for prop in self.tags[end].properties:
                if self.graph.lexicon.properties[prop].literal:
                    yield from self._valued(subject, prop)

    def _ends_with(self, subject: Denotation, place: int) -> bool:
        """Whether a question ends at a place, or with a phrase that a relation joins with its subject."""
        joined = (
            found.members
            for other, end in (self.grammar.phrase(place) if place < self.end else ())
            if end == self.end and not other.values and not other.bare
            for found in self.grammar.sets.joined(subject, other)
        )
        return place == self.end or any(joined)

    def _asked(self, place: int) -> Iterator[QuestionParse]:
        """Reads what begins with "which", "in which", "what is", "who"."""
        lead = self.grammar.skipped(place, PREPOSITIONS)
        by = "by" in self.grammar.words[place:lead]
        word = self.grammar.word(lead)
        if word in _WHICH:
            yield from self._which(lead + 1, passive_by=by)
            if self.grammar.word(lead + 1) == "year":
                yield from self._where(lead + 2)
            if self.grammar.word(lead + 1) in SHARES:
                yield from self._share(lead + 2)
        if word in WHO:
            yield from self._who(lead + 1, passive_by=by)
        if word in WHO and self.grammar.word(lead + 1) in BE and lead == place:  # "What is the ticker of ...?"
            for found, end in self.grammar.phrase(lead + 2):
                if not found.bare:
                    yield from self._whole(found, end)

    def _which(self, place: int, *, passive_by: bool) -> Iterator[QuestionParse]:
        """Reads "[which] companies are in Norway", "[which] sector does Helixon belong to"."""
        listed = self.grammar.word(place) == "of"
        place += listed
        for wanted, end in self.grammar.phrase(place):
            if wanted.values or (wanted.named and not listed):
                continue
            for found, last in self.grammar.said(wanted, end):
                yield from self._whole(found, last)
            if not wanted.bare and self.grammar.skipped(end, BE) == self.end > end:  # "what negative events were there"
                yield from self._whole(wanted, self.end)
            if self.grammar.word(end) in AUXILIARY:
                yield from self._object(wanted, end, passive_by=passive_by)
        yield from self._property_of(place)

    def _object(self, wanted: Denotation, place: int, *, passive_by: bool) -> Iterator[QuestionParse]:
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

    def _by_value(self, wanted: Denotation, place: int) -> Iterator[QuestionParse]:
        """Reads "[which news did] Harbour Wire publish": the subject is a value of what the verb names."""
        if place + 1 >= self.end:
            return
        for prop, text in self.tags[place].values:
            if prop in self.tags[place + 1].properties and wanted.kinds & self.grammar.sets.owners(prop):
                for found, end in self.grammar.dated(self.grammar.sets.having(wanted, prop, [text]), place + 2):
                    yield from self._whole(found, end)

    def _property_of(self, place: int) -> Iterator[QuestionParse]:
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

    def _who(self, place: int, *, passive_by: bool) -> Iterator[QuestionParse]:
        """Reads a verb whose other end has no class: "[who] issued HLXN"."""
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
            yield from self._reached(subject, end, behind, turned=turned)

    def _doer(self, place: int, *, passive: bool) -> Iterator[QuestionParse]:
        """Reads "[who] published the news ...", "[who] insures Varna", "[what] is affected by ..."."""
        by = self.grammar.word(place + 1) == "by"
        turned = by or (passive and is_participle(self.tags[place]))
        for other, end in self.grammar.phrase(self.grammar.skipped(place + 1, PREPOSITIONS)):
            if other.values or other.bare:
                continue
            yield from self._reached(other, place, end, turned=not turned)
            if end != self.end:
                continue
            for prop in self.tags[place].properties if not passive else ():
                words = self.graph.lexicon.properties[prop]
                if words.literal and not words.temporal:
                    yield from self._valued(other, prop)

    def _reached(self, subject: Denotation, verb: int, end: int, *, turned: bool) -> Iterator[QuestionParse]:
        """Reads the end of a question: nothing, or a date of what is reached ("[what happened to X] in March")."""
        for step in steps_of(self.graph, self.tags[verb]):
            found = self.grammar.sets.followed(subject, step.turned() if turned else step)
            if found is None:
                continue
            for one, last in self.grammar.dated(found, end):
                if last == self.end:
                    yield QuestionParse(one)
