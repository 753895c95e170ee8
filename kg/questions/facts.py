"""Values and links of entities, read from a graph while a question is answered, each remembered as a fact.

>>> reader = FactReader(graph)
>>> reader._values([MALTA], AREA)[0].value, reader.facts
(Decimal('316'), ['Malta -> area -> 316'])
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from kg.errors import QueryError
from kg.questions.answer import Value, plain
from kg.questions.graph import EntityGraph
from kg.questions.items import Extreme


class FactReader:
    """Reads a graph for one question.

    Attributes:
        graph: The graph.
        facts: What was read, as paths.
        properties: The properties that were asked for.
    """

    def __init__(self, graph: EntityGraph) -> None:
        self.graph = graph
        self.facts: list[str] = []
        self.properties: list[str] = []

    def _property(self, nodes: list[str], prop: str, both: bool) -> list[str] | list[Value]:
        words = self.graph.lexicon.properties[prop]
        self.properties.append(prop)
        if words.literal:
            return self._values(nodes, prop)
        parts = []
        for node in nodes:
            part = self.graph.follow([node], prop)
            self.facts += [f"{self._label(node)} -> {words.label} -> {self._label(other)}" for other in part]
            parts.append(part)
        return self._joined(parts, both)

    def _joined(self, parts: list[list[str]], both: bool) -> list[str]:
        if both and parts:
            shared = set(parts[0]).intersection(*parts[1:])
            return self.graph.ordered(shared)
        return self.graph.ordered(node for part in parts for node in part)

    def _linked(self, node: str, kind: str) -> list[str]:
        relation, found = self.graph.linked(node, kind)
        if relation is not None:
            label = self.graph.lexicon.label(relation)
            self.properties.append(relation)
            self.facts += [f"{self._label(node)} <-> {label} <-> {self._label(other)}" for other in found]
        return found

    def _values(self, nodes: Sequence[str], prop: str) -> list[Value]:
        result: list[Value] = []
        for node in nodes:
            number = self.graph.value(node, prop)
            texts = [] if number is not None else self.graph.texts(node, prop)
            value: Decimal | str | None = number if number is not None else next(iter(texts), None)
            if value is not None:
                result.append(Value(node, prop, value))
                self._state(node, prop, value)
        if not result:
            names = ", ".join(self._label(node) for node in nodes[:3]) or "nothing"
            raise QueryError(f"the graph has no {self.graph.lexicon.label(prop)} of {names}")
        return result

    def _state(self, node: str, prop: str, value: Decimal | str) -> None:
        words = self.graph.lexicon.properties[prop]
        if words.ratio is not None:
            over, under = words.ratio
            for part in (over, under):
                number = self.graph.value(node, part)
                self.facts.append(f"{self._label(node)} -> {self.graph.lexicon.label(part)} -> {plain(number)}")
        shown = plain(value) if isinstance(value, Decimal) else value
        self.facts.append(f"{self._label(node)} -> {words.label} -> {shown}")

    def _is_connected(self, node: str, other: str, relation: str | None) -> bool:
        found = self.graph.connected(node, other, relation)
        if found is not None:
            self.facts.append(f"{self._label(node)} -> {self.graph.lexicon.label(found)} -> {self._label(other)}")
        return found is not None

    def _measure(self, extreme: Extreme, nodes: Sequence[str]) -> str:
        """What an adjective measures of these entities: the property beside it, or the first of its own they have."""
        options = (extreme.measure,) if extreme.measure is not None else extreme.degree.properties
        for prop in options:
            if prop is not None and any(self.graph.value(node, prop) is not None for node in nodes):
                self.properties.append(prop)
                return prop
        raise QueryError("the question does not say what is to be compared, or the graph does not have it")

    def _number(self, node: str, prop: str) -> Decimal:
        found = self._values([node], prop)[0].value
        if not isinstance(found, Decimal):
            raise QueryError(f"the {self.graph.lexicon.label(prop)} of {self._label(node)} is no number")
        return found

    def _label(self, node: str) -> str:
        return self.graph.lexicon.label(node)
