"""Self-contained questions about a graph of entities, answered from its words and triples; no language model.

    >>> answer = answer_entities(graph, "Which of France and Spain has the larger population?")
    >>> [graph.lexicon.label(node) for node in answer.entities], answer.facts[0]
    (['France'], 'France -> population -> 64757000')

What is read: an entity's properties and those of what it leads to ("the currency of the largest neighbour of
Moldova"), members of classes, superlatives and comparatives with ordinals, thresholds, counts, sums, averages,
differences and quotients, and questions for yes or no. What cannot be read is an error, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Literal

from kg.errors import QueryError
from kg.questions.answer import EntityAnswer, Value, plain
from kg.questions.facts import FactReader
from kg.questions.graph import EntityGraph
from kg.questions.items import (
    AUXILIARIES,
    EXCLUDING,
    MARKS,
    Extreme,
    Item,
    domain_of,
    is_standard,
    items_of,
    unknown_name,
    unknown_word,
)
from kg.questions.lexicon import Tag, known_entities
from kg.questions.reader import UnreadError, read_question
from kg.text import nearest

_SHARES = frozenset(("share", "percentage", "percent", "fraction", "proportion"))
_SUMS = frozenset(("total", "combined", "sum", "together", "altogether", "overall"))
_AVERAGES = frozenset(("average", "mean"))


def answer_entities(graph: EntityGraph, question: str) -> EntityAnswer:
    """Answers a question that refers to nothing outside itself.

    Args:
        graph: The graph.
        question: The question.

    Raises:
        QueryError: It names what the graph does not have, cannot be read, or the graph has no value for it.
    """
    try:
        return read_question(graph, question)
    except UnreadError:  # a comparison or a calculation, or nothing that can be answered: the reader below says which
        return _checked(graph, question, _Reader(graph, question).answer())


def _checked(graph: EntityGraph, question: str, found: EntityAnswer) -> EntityAnswer:
    """An answer of the class that was asked for.

    Raises:
        QueryError: "Which company ..." came to something else, because words were passed over.
    """
    tags = graph.lexicon.tags(question)
    if found.entities and not found.facts and tags[0].word == "what" and not found.subjects and found.answer is None:
        raise QueryError("the question does not say of what")
    asked = tags[1] if len(tags) > 1 and tags[0].word in ("which", "what") else None
    if asked is None or not asked.classes or asked.properties:
        return found
    fitting = found.entities and all(graph.is_a(node, kind) for node in found.entities for kind in asked.classes[:1])
    named = set(known_entities(tags)) if any(tag.word in ("other", "same") for tag in tags) else set()
    if not fitting or named & set(found.entities):
        raise QueryError("the question cannot be read whole with the graph's words")
    return found


class _Reader(FactReader):
    """One question while it is read."""

    def __init__(self, graph: EntityGraph, question: str) -> None:
        super().__init__(graph)
        self.tags = graph.lexicon.tags(question)
        self.words = [tag.word for tag in self.tags]

    def answer(self) -> EntityAnswer:
        unknown = unknown_name(self.tags)
        if unknown is not None:
            labels = [self.graph.lexicon.label(node) for node in self.graph.lexicon.types]
            raise QueryError(f"the graph has no {unknown!r}; {nearest(unknown, labels)}")
        if not any(tag.named for tag in self.tags):
            raise QueryError("the question names nothing that the graph has")
        strange = unknown_word([tag for tag in self.tags if tag.known or not tag.named])
        if strange is not None or "not" in self.words:
            raise QueryError(f"{(strange or 'not')!r} is no word of the graph, and the question is not read without it")
        if not all(tag.known or not tag.named for tag in self.tags):  # values, dates and verbs said the other way round
            raise QueryError("the question cannot be read whole with the graph's words")
        if self.words[0] in AUXILIARIES:
            return self._done(answer=self._yes_or_no())
        calculation = self._calculation()
        if calculation is not None:
            return calculation
        return self._select()

    def _done(
        self,
        entities: Sequence[str] = (),
        values: Sequence[Value] = (),
        answer: Decimal | Literal["yes", "no"] | None = None,
    ) -> EntityAnswer:
        return EntityAnswer(
            tuple(entities),
            tuple(values),
            answer,
            tuple(known_entities(self.tags)),
            tuple(dict.fromkeys(self.properties)),
            tuple(dict.fromkeys(self.facts)),
        )

    # Sets and values

    def _select(self) -> EntityAnswer:
        found = self._evaluate(self.tags)
        text = " ".join(self.words)
        counted = "how many" in text or "number of" in text
        if isinstance(found, list) and found and isinstance(found[0], Value):
            return self._of_values([one for one in found if isinstance(one, Value)])
        nodes = [one for one in found if isinstance(one, str)]
        if counted:
            return self._done(nodes, answer=Decimal(len(nodes)))
        if not nodes:
            raise QueryError("the graph has nothing that fits")
        if not self.properties and not self.facts and set(nodes) <= set(known_entities(self.tags)) and len(nodes) < 2:
            known = sorted(
                {
                    self.graph.lexicon.label(edge.predicate)
                    for edge in self.graph.edges(nodes[0])
                    if edge.predicate in self.graph.lexicon.properties and edge.subject == nodes[0]
                }
            )
            raise QueryError(f"the question does not say what of {self._label(nodes[0])} is asked: {', '.join(known)}")
        return self._done(nodes)

    def _of_values(self, values: list[Value]) -> EntityAnswer:
        single = values[0].value if len(values) == 1 else None
        return self._done(values=values, answer=single if isinstance(single, Decimal) else None)

    def _evaluate(self, tags: Sequence[Tag]) -> list[str] | list[Value]:
        """The entities or values that a phrase stands for."""
        domain, rest = domain_of(tags)
        items = items_of(self.graph, rest)
        if domain is None:
            names = [place for place, item in enumerate(items) if isinstance(item, Tag) and item.entities]
            names = [place for place in names if not is_standard(items, place)]
            if names:
                return self._from_names(items, names)
            domain, items = self._members(items)
        return self._constrained(domain, items)

    def _members(self, items: list[Item]) -> tuple[list[str], list[Item]]:
        for place, item in enumerate(items):
            if isinstance(item, Tag) and item.classes:
                members = self.graph.members(item.classes[0])
                return members, [*items[:place], *items[place + 1 :]]
        raise QueryError("the question does not say of what")

    def _from_names(self, items: list[Item], names: list[int]) -> list[str] | list[Value]:
        """Follows the properties from the named entities: those behind them, then those before, nearest first."""
        first, last = names[0], names[-1]
        contiguous = [item for item in items[first : last + 1] if isinstance(item, Tag) and item.entities]
        between = [item for item in items[first : last + 1] if not (isinstance(item, Tag) and item.entities)]
        nodes = known_entities(contiguous)
        both = any(isinstance(item, Tag) and item.word == "both" for item in items)
        behind, before = list(items[last + 1 :]), list(items[:first])
        if between and any(isinstance(item, Tag) and item.word in ("'s", "’s") for item in between):
            between = [item for item in between if isinstance(item, Extreme) or item.known]
        behind = [*between, *behind]
        owned = behind and isinstance(behind[0], Tag) and behind[0].word in ("'s", "’s")
        current: list[str] | list[Value] = nodes
        later = [item for item in behind if isinstance(item, Extreme)]
        for place, item in enumerate(behind):
            if isinstance(item, Tag) and item.known:
                if owned and place and isinstance(behind[place - 1], Extreme):
                    current = self._apply(current, item, both)
                    current = self._apply(current, behind[place - 1], both)
                    later = [one for one in later if one is not behind[place - 1]]
                else:
                    current = self._apply(current, item, both)
        for item in reversed(before):
            current = self._apply(current, item, both)
        for extreme in later:
            current = self._apply(current, extreme, both)
        excluded = [items[i] for i in range(len(items)) if is_standard(items, i) and isinstance(items[i], Tag)]
        if any(isinstance(item, Tag) and (item.word == "other" or item.word in EXCLUDING) for item in items):
            gone = known_entities([item for item in excluded if isinstance(item, Tag)])
            current = [one for one in current if isinstance(one, str) and one not in gone]
        return current

    def _apply(self, current: list[str] | list[Value], item: Item, both: bool = False) -> list[str] | list[Value]:
        """One more step from the entities found so far."""
        nodes = [one for one in current if isinstance(one, str)]
        if isinstance(item, Tag) and item.word in MARKS:
            return current
        if current and not nodes:
            if isinstance(item, Extreme) or item.known:
                return current  # "how many people": words that only repeat what was asked
            raise QueryError(f"{item.text!r} cannot be asked of a value")
        if isinstance(item, Extreme):
            if item.degree.level == 0:  # "how large is France?"
                return self._values(nodes, self._measure(item, nodes))
            return self._extreme(nodes, item)
        if item.classes and nodes and all(self.graph.is_a(node, item.classes[0]) for node in nodes) and self.facts:
            return nodes
        if item.classes and any(self.graph.is_a(node, item.classes[0]) for node in nodes) and self.facts:
            return [node for node in nodes if self.graph.is_a(node, item.classes[0])]
        if item.properties:
            found = self._property(nodes, item.properties[0], both)
            if found or not item.classes:
                return found
        if item.classes:
            return self._joined([self._linked(node, item.classes[0]) for node in nodes], both)
        return current

    # Comparisons

    def _constrained(self, domain: list[str], items: Sequence[Item]) -> list[str] | list[Value]:
        """The entities of a set that fit what a question says of them."""
        current = list(domain)
        relation: str | None = None
        place = 0
        while place < len(items):
            item = items[place]
            if isinstance(item, Extreme):
                current, place = self._compared(current, items, place)
            elif item.entities and not is_standard(items, place):
                node = item.entities[0]
                current = [one for one in current if self._is_connected(one, node, relation)]
                relation = None
            elif item.properties and not item.classes:
                if self.graph.lexicon.properties[item.properties[0]].literal:
                    after = items[place + 1] if place + 1 < len(items) else None
                    if isinstance(after, Extreme) and after.measure is None:  # "a population of more than 5 million"
                        items = [*items[: place + 1], replace(after, measure=item.properties[0]), *items[place + 2 :]]
                        place += 1
                        continue
                    self.properties.append(item.properties[0])
                    return self._values(current, item.properties[0])
                relation = item.properties[0]
                self.properties.append(relation)
            place += 1
        return current

    def _compared(self, nodes: list[str], items: Sequence[Item], place: int) -> tuple[list[str], int]:
        """What a superlative or comparative leaves of a set, and the place of the last item that it used."""
        extreme = items[place]
        assert isinstance(extreme, Extreme)
        for later in range(place + 1, len(items)):
            item = items[later]
            is_named = isinstance(item, Tag) and bool(item.entities) and is_standard(items, later)
            if isinstance(item, Tag) and (item.number is not None or is_named):
                return self._filtered(nodes, extreme, item), later
        return self._extreme(nodes, extreme), place

    def _filtered(self, nodes: list[str], extreme: Extreme, standard: Tag) -> list[str]:
        measure = self._measure(extreme, nodes)
        if standard.number is not None:
            bound = standard.number
        else:
            found = self._values([standard.entities[0]], measure)[0].value
            bound = found if isinstance(found, Decimal) else Decimal(0)
        kept = []
        for node in nodes:
            value = self.graph.value(node, measure)
            if value is not None and node not in standard.entities and (value - bound) * extreme.degree.sign > 0:
                kept.append(node)
                self._state(node, measure, value)
        return kept

    def _extreme(self, nodes: Sequence[str], extreme: Extreme) -> list[str]:
        """The entity that has most (or least) of a measure; those that share the value all count."""
        measure = self._measure(extreme, nodes)
        known = [(node, self.graph.value(node, measure)) for node in nodes]
        ranked = sorted(
            ((value, node) for node, value in known if value is not None),
            key=lambda pair: -extreme.degree.sign * pair[0],
        )
        values = list(dict.fromkeys(value for value, _ in ranked))
        if len(values) < extreme.rank:
            raise QueryError(f"the graph has no {self.graph.lexicon.label(measure)} of enough of them")
        wanted = values[extreme.rank - 1 : extreme.rank - 1 + extreme.count]
        for value, node in ranked[: extreme.rank + extreme.count + 1]:
            self._state(node, measure, value)
        return self.graph.ordered(node for value, node in ranked if value in wanted)

    # Yes or no, and calculations

    def _yes_or_no(self) -> Literal["yes", "no"]:
        items = items_of(self.graph, self.tags)
        names = [item for item in items if isinstance(item, Tag) and item.entities]
        extreme = next((item for item in items if isinstance(item, Extreme)), None)
        number = next((item.number for item in items if isinstance(item, Tag) and item.number is not None), None)
        if extreme is not None and names and (len(names) > 1 or number is not None):
            measure = self._named_measure(items) or self._measure(extreme, [names[0].entities[0]])
            first = self._number(names[0].entities[0], measure)
            second = number if number is not None else self._number(names[1].entities[0], measure)
            return "yes" if (first - second) * extreme.degree.sign > 0 else "no"
        relation = next((i for i in items if isinstance(i, Tag) and i.properties and not i.entities), None)
        if len(names) > 1:
            prop = relation.properties[0] if relation is not None else None
            if prop is not None:
                self.properties.append(prop)
            subjects, others = (names[:-1], names[-1:]) if "any" in self.words else (names[:1], names[1:])
            linked = [self._is_connected(a.entities[0], b.entities[0], prop) for a in subjects for b in others]
            return "yes" if (any(linked) if "any" in self.words else all(linked)) else "no"
        kind = next((item.classes[0] for item in items if isinstance(item, Tag) and item.classes), None)
        if names and kind is not None:
            return "yes" if self.graph.is_a(names[0].entities[0], kind) else "no"
        raise QueryError("the question does not say what is to be checked")

    def _named_measure(self, items: Sequence[Item]) -> str | None:
        """A literal property that stands apart from the adjective: "is its population larger than ..."."""
        named = (
            item.properties[0] for item in items if isinstance(item, Tag) and item.properties and not item.entities
        )
        return next((prop for prop in named if self.graph.lexicon.properties[prop].literal), None)

    def _calculation(self) -> EntityAnswer | None:
        text = " ".join(self.words)
        if "difference" in self.words or ("how much" in text and self._has_comparative()):
            return self._of_two(lambda first, second: first - second, signed="difference" not in self.words)
        if "times" in self.words or "ratio" in self.words:
            return self._of_two(_divided, signed=True)
        if _SHARES & set(self.words):
            return self._of_two(lambda whole, part: _divided(part, whole), signed=True)
        wanted = _SUMS if _SUMS & set(self.words) else _AVERAGES if _AVERAGES & set(self.words) else None
        if wanted is None:
            return None
        found = [one for one in self._evaluate(self.tags) if isinstance(one, Value) and isinstance(one.value, Decimal)]
        if not found:
            raise QueryError("the question does not say of which values")
        total = sum((one.value for one in found if isinstance(one.value, Decimal)), Decimal(0))
        answer = total if wanted is _SUMS else total / len(found)
        self.facts.append(f"{'sum' if wanted is _SUMS else 'average'} of {len(found)} values = {plain(answer)}")
        return self._done(values=found, answer=answer)

    def _has_comparative(self) -> bool:
        return any(tag.degree is not None and tag.degree.level == 1 for tag in self.tags)

    def _of_two(self, operation: Callable[[Decimal, Decimal], Decimal], *, signed: bool) -> EntityAnswer:
        """A calculation over one property of two entities, or two properties of one."""
        items = items_of(self.graph, self.tags)
        nodes = known_entities([item for item in items if isinstance(item, Tag)])
        extremes = [item for item in items if isinstance(item, Extreme)]
        literal = [
            item.properties[0]
            for item in items
            if isinstance(item, Tag) and item.properties and self.graph.lexicon.properties[item.properties[0]].literal
        ]
        if len(nodes) == 2 and (literal or extremes):
            measure = literal[0] if literal else self._measure(extremes[0], nodes)
            self.properties.append(measure)
            first, second = (Value(node, measure, self._number(node, measure)) for node in nodes)
        elif len(nodes) == 1 and len(literal) == 2:
            first, second = (Value(nodes[0], prop, self._number(nodes[0], prop)) for prop in literal)
            self.properties += literal
        else:
            raise QueryError("a comparison needs two values: one property of two entities, or two of one")
        assert isinstance(first.value, Decimal)
        assert isinstance(second.value, Decimal)
        result = operation(first.value, second.value)
        result = result if signed else abs(result)
        if extremes and extremes[0].degree.sign < 0:
            result = -result if operation is not _divided else _divided(Decimal(1), result)
        self.facts.append(f"from {plain(first.value)} and {plain(second.value)}: {plain(result)}")
        return self._done(values=[first, second], answer=result)


def _divided(first: Decimal, second: Decimal) -> Decimal:
    if second == 0:
        raise QueryError("a quotient by zero has no value")
    return first / second
