"""Queries over a graph as the replies of a language model that would write them, for demonstrations.

>>> written(graph, shown, parse)
GraphQuery(start="Larkspur", steps=[QueryStep(operation="follow", relation="captain")])
"""

from __future__ import annotations

from decimal import Decimal
from typing import cast

from kg.algebra import (
    Both,
    Compared,
    Complement,
    Either,
    Extreme,
    Follow,
    Having,
    Lacking,
    Matched,
    Members,
    NamedNodes,
    OfClass,
    Query,
    read_bound,
)
from kg.facts import FactGraph
from kg.parsing import Parse
from programs.graphs.query_replies import SIGNS, Shown
from signatures.queries import CLASS_RELATION, MOST_STEPS, GraphQuery, QueryAnswer, QueryOperation, QueryStep

_WORDS = {sign: word for word, sign in SIGNS.items()}


def written(graph: FactGraph, shown: Shown, parse: Parse) -> GraphQuery | None:
    """The reply that means a parse: the reading that it is and its steps, as far as there are any; else ``None``.

    Args:
        graph: The graph.
        shown: What the prompt shows of it.
        parse: The parse.
    """
    readings = enumerate(shown.readings, 1)
    meant = (parse.answer, parse.query)  # a wrong query may have the right answer by chance
    reading = next((number for number, one in readings if (one.answer, one.query) == meant), 0)
    reply = _Writer(graph, shown).reply(parse)
    if reply is None:
        return GraphQuery(reading=reading) if reading else None
    return reply.model_copy(update={"reading": reading})


class _UnwritableError(Exception):
    """No steps express a query."""


_FORMS: dict[str, QueryAnswer] = {"": "entities or values", "count": "count", "sum": "sum", "mean": "average"}
"""The answers of operations that need nothing but the query; others are calculated from more than it."""


class _Writer:
    """One query in steps."""

    def __init__(self, graph: FactGraph, shown: Shown) -> None:
        self.graph, self.shown = graph, shown
        self.start = ""
        self.steps: list[QueryStep] = []

    def reply(self, parse: Parse) -> GraphQuery | None:
        """The reply of a parse, or ``None``."""
        is_plain_check = parse.operation == "check" and parse.holds == bool(parse.query.nodes)
        if not is_plain_check and parse.operation not in _FORMS:
            return None
        try:
            self._write(parse.query)
        except _UnwritableError:
            return None
        if len(self.steps) > MOST_STEPS:
            return None
        answer = "yes or no" if is_plain_check else _FORMS[parse.operation]
        return GraphQuery(start=self.start, steps=self.steps, answer=answer)

    def _write(self, query: Query) -> str:
        """Writes a query, and returns the number of its result."""
        if isinstance(query, NamedNodes | Members):
            return self._begin(query)
        if isinstance(query, Either | Both | Complement):
            return self._joined(query)
        if isinstance(query, Having) and not (isinstance(query.target, NamedNodes) and len(query.target.nodes) == 1):
            value = self._write(query.target)
        else:
            value = ""
        self._write(query.source)
        return self._add(self._step(query, value))

    def _joined(self, query: Either | Both | Complement) -> str:
        if isinstance(query, Either):
            first = self._write(query.first)
            self._write(query.second)
            return self._add(QueryStep(operation="or", value=first))
        other, main = (query.other, query.source) if isinstance(query, Both) else (query.source, query.whole)
        number = self._write(other)
        self._write(main)
        return self._add(QueryStep(operation="and" if isinstance(query, Both) else "without", value=number))

    def _begin(self, query: NamedNodes | Members) -> str:
        """Writes names or classes, the first as the start."""
        if isinstance(query, NamedNodes):
            earlier = next((name for name, nodes in self.shown.answers.items() if nodes == query.nodes), None)
            names = list(map(self.graph.name, query.nodes))
            names = [earlier] if earlier is not None and len(names) > 1 else names
        else:
            names = [self.graph.classes[kind].names[0] for kind in query.kinds]
        if not names or any(name not in self.shown.starts for name in names):
            raise _UnwritableError
        number = self._begun(names[0])
        for name in names[1:]:
            self._begun(name)
            number = self._add(QueryStep(operation="or", value=number))
        return number

    def _begun(self, name: str) -> str:
        if not self.start:
            self.start = name
            return "#0"
        return self._add(QueryStep(operation="start", value=name))

    def _add(self, step: QueryStep) -> str:
        self.steps.append(step)
        return f"#{len(self.steps)}"

    def _step(self, query: Query, value: str) -> QueryStep:
        """The step of a query after its source; ``value`` is the number of what it takes up, if it does."""
        if isinstance(query, OfClass):
            return QueryStep(operation="only", relation=CLASS_RELATION, value=self.graph.classes[query.kind].names[0])
        if not isinstance(query, Follow | Having | Lacking | Compared | Extreme | Matched):
            raise _UnwritableError
        relation = self.graph.relations[query.relation].names[0]
        if relation not in self.shown.relations:
            raise _UnwritableError
        operation: str
        if isinstance(query, Follow):
            operation = "follow back" if query.inverse else "follow"
        elif isinstance(query, Lacking):
            operation = "only" if query.present else "lacking"
        elif isinstance(query, Compared):
            operation, value = _WORDS[query.comparison], self._bound(query)
        elif isinstance(query, Matched):
            operation, value = _WORDS[query.comparison], self.graph.relations[query.other].names[0]
        elif isinstance(query, Having):
            assert value or isinstance(query.target, NamedNodes)
            operation, value = "not" if query.negated else "only", value or self.graph.name(query.target.nodes[0])
        else:
            operation, value = "largest" if query.sign > 0 else "smallest", str(query.rank) if query.rank > 1 else ""
        return QueryStep(operation=cast(QueryOperation, operation), relation=relation, value=value)

    def _bound(self, query: Compared) -> str:
        if query.standard is not None:
            return self.graph.name(query.standard)
        if isinstance(query.bound, Decimal):
            return str(query.bound)
        days = query.bound
        year = str(days.first.year)
        if read_bound(year) == days:
            return year
        if days.first != days.last:
            raise _UnwritableError
        return days.first.isoformat()
