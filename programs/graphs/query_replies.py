"""Replies of a language model as queries over a graph.

    >>> Replies(graph, shown, today).parse(GraphQuery(start="Larkspur", steps=[QueryStep(...)]))
    Parse(query=Follow(...), ...)

A reply names what :class:`Shown` lists: names and classes to start at, and relations. Each of its steps gives a result,
and a later one may take it up by its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from math import prod

from kg.algebra import (
    Comparison,
    Evaluator,
    NamedNodes,
    Query,
    difference,
    numbers_of,
    plain,
    rounded,
    time_between,
    values_of,
)
from kg.errors import QueryError
from kg.graphs import FactGraph
from kg.parsing import Parse, read_bound
from kg.search import Answer
from kg.text import Period
from signatures.queries import CLASS_RELATION, NOTHING, GraphQuery, QueryAnswer, QueryStep

SIGNS: dict[str, Comparison] = {"more than": ">", "less than": "<", "at least": ">=", "at most": "<=", "equal to": "="}


@dataclass(frozen=True)
class Shown:
    """The names, earlier answers and readings that a prompt shows of a graph.

    Attributes:
        names: Nodes by their names.
        classes: Classes by their names.
        relations: Relations by their names.
        answers: The nodes of earlier answers, by what a prompt calls these.
        readings: The beam's readings, in order.
        inputs: The inputs of the prompt.
    """

    names: Mapping[str, int]
    classes: Mapping[str, int]
    relations: Mapping[str, int]
    answers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    readings: tuple[Parse, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def starts(self) -> list[str]:
        """The names that a query may start at."""
        return [*self.names, *self.classes, *self.answers]


class Replies:
    """The queries of replies over one graph.

    Args:
        graph: The graph.
        shown: What the prompt shows of it.
        today: The day to which a time lasts.
    """

    def __init__(self, graph: FactGraph, shown: Shown, today: date) -> None:
        self.graph, self.shown, self.today = graph, shown, today
        self.evaluator = Evaluator(graph)

    def parse(self, reply: GraphQuery) -> Parse:
        """The parse of a reply; without nodes where the graph has no answer.

        Raises:
            QueryError: A reading is not among those shown, a name is not of the graph, or a step takes no such value.
        """
        if not 0 <= reply.reading <= len(self.shown.readings):
            raise QueryError(f"reading must be at most {len(self.shown.readings)}, got {reply.reading}")
        if reply.reading:
            return self.shown.readings[reply.reading - 1]
        if reply.answer == "not in the graph":
            return Parse(NamedNodes(()), 0.0, ())
        results = [self._begun(reply.start, ())]
        final: tuple[int, ...] = ()
        for step in reply.steps:
            results.append(self._after(step, results))
            if step.operation.startswith("follow"):
                final = (self._relation(step),)
        return self._answered(reply.answer, results[-1], final)

    def _answered(self, answer: QueryAnswer, query: Query, final: tuple[int, ...]) -> Parse:
        nodes = query.nodes
        if answer == "yes or no":
            values = [self.graph.values[node] for node in nodes]
            holds = bool(nodes) and not all(one.kind == "boolean" and one.text == "no" for one in values)
            return Parse(query, 0.0, nodes, holds=holds, final=final, operation="check")
        if answer == "count":
            return Parse(query, 0.0, nodes, number=Decimal(len(nodes)), final=final, operation="count")
        if not nodes:
            return Parse(NamedNodes(()), 0.0, ())
        if answer == "entities or values":
            return Parse(query, 0.0, nodes, final=final)
        number, operation = self._amount(answer, query)
        return Parse(query, 0.0, nodes, number=number, final=final, operation=operation)

    def _amount(self, answer: QueryAnswer, query: Query) -> tuple[Decimal, str]:
        """A calculated amount, and its operation as :class:`kg.parsing.Parse` names it."""
        values = values_of(query, self.graph)
        numbers = numbers_of(query, self.graph)
        if answer in ("sum", "average", "product"):
            if not numbers:
                raise QueryError(f"{answer} needs numbers, and the last step has none")
            total = sum(numbers, Decimal(0))
            if answer == "product":
                return rounded(prod(numbers, start=Decimal(1))), "product"
            return (plain(total), "sum") if answer == "sum" else (rounded(total / len(numbers)), "mean")
        if answer == "ratio":
            if len(numbers) != 2 or not numbers[1]:
                raise QueryError(f"ratio needs two numbers in the last step, the second not 0, got {len(numbers)}")
            return rounded(numbers[0] / numbers[1]), "ratio"
        if answer == "difference":
            number = difference(values[0], values[1], self.graph) if len(values) == 2 else None
            if number is None:
                raise QueryError("difference needs two numbers or two dates in the last step")
            return number, "difference"
        days = sorted(period.first for node in values if (period := self.graph.values[node].period) is not None)
        if not 0 < len(days) <= 2:
            raise QueryError(f"{answer} needs one date or two in the last step, got {len(days)}")
        begin, end = days if len(days) == 2 else sorted((*days, self.today))
        return time_between(begin, end, answer), answer

    def _begun(self, name: str, results: Sequence[Query]) -> Query:
        """The query of a name, a class, an earlier answer or an earlier step."""
        if name in self.shown.names:
            return NamedNodes((self.shown.names[name],))
        if name in self.shown.classes:
            return self.evaluator.members(self.shown.classes[name])
        if name in self.shown.answers:
            return NamedNodes(self.shown.answers[name])
        earlier = _earlier(name, results)
        if earlier is not None:
            return earlier
        if name in ("", NOTHING):
            raise QueryError("start must be a name of the graph, got none")
        return NamedNodes(self._nodes(name))

    def _after(self, step: QueryStep, results: Sequence[Query]) -> Query:
        """The result of a step after earlier ones."""
        query, evaluator, operation = results[-1], self.evaluator, step.operation
        if operation == "start":
            return self._begun(step.value, results)
        if operation in ("or", "and", "without"):
            other = self._begun(step.value, results)
            if operation == "or":
                return evaluator.either(NamedNodes(()), other, query)
            return evaluator.both(query, other) if operation == "and" else evaluator.complement(query, other)
        if step.relation == CLASS_RELATION and operation in ("only", "not"):
            inside = evaluator.of_class(query, self._class(step.value))
            return inside if operation == "only" else evaluator.complement(query, inside)
        relation = self._relation(step)
        if operation in ("follow", "follow back"):
            return evaluator.follow(query, relation, inverse=operation == "follow back")
        inverse = self._is_inverse(query, relation)
        if operation == "lacking":
            return evaluator.lacking(query, relation, inverse=inverse)
        if operation in ("largest", "smallest"):
            rank = int(step.value) if step.value.strip().isdigit() else 1
            sign = 1 if operation == "largest" else -1
            counted = self._is_counted(relation)
            return evaluator.extreme(
                query, relation, sign, counted=counted, inverse=counted and inverse, rank=max(rank, 1)
            )
        if operation in SIGNS:
            return self._compared(query, step, relation, results)
        if not step.value and operation == "only":
            return evaluator.lacking(query, relation, inverse=inverse, present=True)
        target = self._begun(step.value, results)
        return evaluator.having(query, relation, target, inverse=inverse, negated=operation == "not")

    def _compared(self, query: Query, step: QueryStep, relation: int, results: Sequence[Query]) -> Query:
        sign, counted = SIGNS[step.operation], self._is_counted(relation)
        if step.value in self.shown.relations and not self._named(step.value):
            return self.evaluator.matched(query, relation, sign, self.shown.relations[step.value])
        standard = self._standard(step.value, results)
        bound: Decimal | Period | None
        if standard is None:
            bound = read_bound(step.value)
        else:
            ends = self.graph.follow(standard, relation) or (standard,)
            value = self.graph.values[ends[0]]
            bound = value.number if value.number is not None else value.period
        if counted and isinstance(bound, Decimal):
            inverse = self._is_inverse(query, relation)
            return self.evaluator.counted(query, relation, sign, bound, inverse=inverse)
        if bound is None or counted:
            raise QueryError(f"value must be a number, a date or a name that has one, got {step.value!r}")
        own = standard if standard is not None and self.graph.is_entity(standard) else None
        return self.evaluator.compared(query, relation, sign, bound, own)

    def _standard(self, value: str, results: Sequence[Query]) -> int | None:
        """The node that others are compared with, if the value is no number or date of its own."""
        earlier = _earlier(value, results)
        nodes = earlier.nodes if earlier is not None else self._named(value)
        if earlier is not None and len(nodes) != 1:
            raise QueryError(f"{value} must have one result to compare with, got {len(nodes)}")
        return nodes[0] if earlier is not None or (nodes and self.graph.is_entity(nodes[0])) else None

    def _is_counted(self, relation: int) -> bool:
        """Whether what a relation joins is counted, as it has no order of its own."""
        return self.graph.relations[relation].kind not in ("number", "date")

    def _is_inverse(self, query: Query, relation: int) -> bool:
        """Whether a relation leads to a set, not from it."""
        nodes = query.nodes
        return not any(self.graph.follow(node, relation) for node in nodes) and any(
            self.graph.follow(node, relation, inverse=True) for node in nodes
        )

    def _relation(self, step: QueryStep) -> int:
        if step.relation not in self.shown.relations:
            raise QueryError(f"relation must be one of the graph, got {step.relation!r}")
        return self.shown.relations[step.relation]

    def _class(self, name: str) -> int:
        wanted = name.casefold().strip()
        for kind, one in enumerate(self.graph.classes):
            if any(other.casefold() == wanted for other in one.names):
                return kind
        raise QueryError(f"value must be a class of the graph, got {name!r}")

    def _named(self, name: str) -> tuple[int, ...]:
        wanted = name.casefold().strip()
        return tuple(
            node for node, names in enumerate(self.graph.names) if any(one.casefold() == wanted for one in names)
        )

    def _nodes(self, name: str) -> tuple[int, ...]:
        nodes = self._named(name)
        if not nodes:
            raise QueryError(f"value must be a name or value of the graph, got {name!r}")
        return nodes


def _earlier(value: str, results: Sequence[Query]) -> Query | None:
    """The result of an earlier step by its number, such as ``#1``; ``None`` for any other value."""
    written = value.strip()
    if not written.startswith("#") or not written[1:].isdigit():
        return None
    number = int(written[1:])
    if number >= len(results):
        raise QueryError(f"{written} must be an earlier step, of which there are {len(results) - 1}")
    return results[number]


def parse_answer(graph: FactGraph, parse: Parse) -> Answer | tuple[str, ...]:
    """The answer of a parse: yes or no, a number, or names."""
    if parse.holds is not None:
        return "yes" if parse.holds else "no"
    if parse.number is not None:
        return parse.number
    if len(parse.nodes) == 1 and (number := graph.values[parse.nodes[0]].number) is not None:
        return number
    return tuple(dict.fromkeys(graph.name(node) for node in parse.nodes))
