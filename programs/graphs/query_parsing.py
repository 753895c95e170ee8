"""Questions parsed by a language model to the algebra of :mod:`kg.parsing`, held to the names of the graph.

    >>> LMQueryParser().parse("who made Alien?", reader, reading, past)
    (Parse(query=Follow(...), ...), Usage(lm_calls=1, ...))

The reply chooses one of the beam's readings, or has a start and relations of the graph, which the signature lists. Its
values must be names of the graph, numbers or dates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

import dspy
import numpy as np
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.exceptions import LMError as DSPyLMError
from pydantic import Field, create_model

from kg.algebra import Compared, Evaluator, Extreme, Follow, Having, Lacking, Members, Named, Query, read_bound
from kg.errors import LMError, QueryError
from kg.facts import FactGraph
from kg.parsing import Parse, PastTurn, QuestionReader, Reading, telling
from programs.lm import CallMeter, suited_adapter
from programs.turns import Usage
from signatures.queries import GraphQuery, ParseQuestion, QueryStep

MOST_RELATIONS, MOST_CLASSES, MOST_NAMES, MOST_READINGS = 60, 30, 40, 8
_NOT_IN_THE_GRAPH, _AGREED, _OTHERWISE, _LISTED = 0.3, 0.2, 0.75, 0.8
"""Confidence if the model finds no answer in the graph; the share of doubt that agreement leaves; confidence in a parse
of the model alone, and in one that the beam has further down. They are set by hand."""

_BY = {"more than": ">", "less than": "<", "equal to": "="}


class LMQueryParser(dspy.Module):
    """Asks the language model that is set in DSPy for a query.

    Attributes:
        refused: The number of replies that are no query over the graph.
    """

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(ParseQuestion)
        self.refused = 0

    def parse(
        self, question: str, reader: QuestionReader, reading: Reading, past: Sequence[PastTurn]
    ) -> tuple[Parse | None, Usage]:
        """The model's parse; without nodes where it finds nothing in the graph, ``None`` if the reply is refused.

        Args:
            question: The question.
            reader: The reader of the graph.
            reading: The beam's reading, whose names are shown.
            past: The turns before it.
        """
        graph, meter = reader.graph, CallMeter()
        shown = _Shown.of(question, reader, reading, past)
        if not shown.starts or not shown.relations:
            return None, Usage()
        adapter = dspy.settings.adapter if dspy.settings.adapter is not None else suited_adapter(dspy.settings.lm)
        used = Usage()
        try:
            with (
                dspy.context(adapter=adapter, callbacks=[*dspy.settings.callbacks, meter]),
                dspy.track_usage() as tracker,
            ):
                reply = self.predict(
                    signature=query_signature(shown.starts, list(shown.relations), self.predict.signature),
                    **shown.inputs,
                )
            sent = [entry for entries in tracker.usage_data.values() for entry in entries]
            used = Usage(
                lm_calls=meter.calls,
                prompt_tokens=sum(int(entry.get("prompt_tokens") or 0) for entry in sent),
                completion_tokens=sum(int(entry.get("completion_tokens") or 0) for entry in sent),
            )
            return _Reply(graph, shown).parse(reply.query), used
        except (AdapterParseError, DSPyLMError, LMError, QueryError):
            self.refused += 1
            return None, Usage(lm_calls=meter.calls) if not used.lm_calls else used


def joined(reading: Reading, parse: Parse | None) -> Reading:
    """A reading with the model's parse: agreement raises the confidence, and one of low confidence is replaced."""
    if parse is None:
        return reading
    if not parse.nodes and parse.holds is None and parse.number is None:
        return replace(reading, confidence=min(reading.confidence, _NOT_IN_THE_GRAPH))
    same = next((one for one in reading.parses if one.answer == parse.answer), None)
    if same is not None and same is reading.parses[0]:
        return replace(reading, confidence=1 - (1 - reading.confidence) * _AGREED)
    if reading.confidence >= _OTHERWISE:
        return reading
    first = parse if same is None else same
    rest = tuple(one for one in reading.parses if one is not same)
    return replace(reading, parses=(first, *rest), confidence=_OTHERWISE if same is None else _LISTED)


def query_signature(
    starts: Sequence[str], relations: Sequence[str], signature: type[dspy.Signature] = ParseQuestion
) -> Any:
    """The signature whose replies start at these names and use these relations alone."""
    start: Any = Literal[tuple(dict.fromkeys(starts))]
    relation: Any = Literal[tuple(dict.fromkeys(relations))]
    described = QueryStep.model_fields["relation"].description
    step = create_model("QueryStep", __base__=QueryStep, relation=(relation, Field(description=described)))
    query = create_model(
        "GraphQuery",
        __base__=GraphQuery,
        start=(start, Field(default="", description=GraphQuery.model_fields["start"].description)),
        steps=(list[step], Field(default=[], description=GraphQuery.model_fields["steps"].description)),  # type: ignore[valid-type]
    )
    return signature.with_updated_fields("query", type_=query)


@dataclass(frozen=True)
class _Shown:
    """The names that a prompt shows, and its inputs."""

    names: dict[str, int]
    classes: dict[str, int]
    relations: dict[str, int]
    readings: tuple[Parse, ...]
    inputs: dict[str, str]

    @classmethod
    def of(cls, question: str, reader: QuestionReader, reading: Reading, past: Sequence[PastTurn]) -> _Shown:
        graph = reader.graph
        relations, names = _nearest(reader, question), _names(graph, reading, past)
        classes = {one.names[0]: number for number, one in enumerate(graph.classes[:MOST_CLASSES])}
        readings = reading.parses[:MOST_READINGS]
        inputs = {
            "relations": "\n".join(_example(graph, relation) for relation in relations.values()),
            "classes": "; ".join(f"{name} ({len(graph.classes[one].members)})" for name, one in classes.items()),
            "entities": "; ".join(names) or "none",
            "history": "\n".join(_line(graph, turn) for turn in past[-4:]) or "none",
            "readings": "\n".join(f"{number}. {telling(one, graph)}" for number, one in enumerate(readings, 1))
            or "none",
            "question": question,
        }
        return cls(names, classes, relations, readings, inputs)

    @property
    def starts(self) -> list[str]:
        return [*self.names, *self.classes]


def labelled_example(
    reading: Reading, reader: QuestionReader, parse: Parse, past: Sequence[PastTurn]
) -> dict[str, Any] | None:
    """The inputs of a question with a parse as its reply; ``None`` if no reading is it and no steps can write it.

    Args:
        reading: The question as read.
        reader: The reader of the graph.
        parse: The parse that is right.
        past: The turns before it.
    """
    shown = _Shown.of(reading.question, reader, reading, past)
    written = _Written(reader.graph, shown).query(parse)
    return None if written is None else {**shown.inputs, "query": written}


class _Written:
    """Parses as replies."""

    def __init__(self, graph: FactGraph, shown: _Shown) -> None:
        self.graph, self.shown = graph, shown

    def query(self, parse: Parse) -> GraphQuery | None:
        """The reply of a parse: the reading that it is and its steps, as far as there are any; else ``None``."""
        readings = enumerate(self.shown.readings, 1)
        meant = (parse.answer, parse.query)  # a wrong query may have the right answer by chance
        reading = next((number for number, one in readings if (one.answer, one.query) == meant), 0)
        written = self._in_steps(parse)
        if written is None:
            return GraphQuery(reading=reading) if reading else None
        return written.model_copy(update={"reading": reading})

    def _in_steps(self, parse: Parse) -> GraphQuery | None:
        """A parse in steps; ``None`` if it needs another operation, or a name that is not shown."""
        steps: list[QueryStep] = []
        query = parse.query
        while not isinstance(query, Named | Members):
            step = self._step(query)
            if step is None:
                return None
            steps.insert(0, step)
            query = query.source
        if isinstance(query, Named):
            start = self.graph.name(query.nodes[0]) if len(query.nodes) == 1 else ""
        else:
            start = self.graph.classes[query.kinds[0]].names[0] if len(query.kinds) == 1 else ""
        is_plain = parse.operation in ("", "count", "check") and start in self.shown.starts
        if not is_plain or any(step.relation not in self.shown.relations for step in steps):
            return None
        if parse.holds is not None and parse.holds != bool(parse.query.nodes):
            return None
        form: Any = "yes or no" if parse.holds is not None else "count" if parse.operation else "entities or values"
        return GraphQuery(start=start, steps=steps, answer=form)

    def _step(self, query: Query) -> QueryStep | None:
        """One step; ``None`` for an operation that no reply has."""
        if not isinstance(query, Follow | Having | Lacking | Compared | Extreme):
            return None
        relation = self.graph.relations[query.relation].names[0]
        if isinstance(query, Follow):
            return QueryStep(operation="follow back" if query.inverse else "follow", relation=relation)
        if isinstance(query, Lacking):
            return QueryStep(operation="lacking", relation=relation)
        if isinstance(query, Compared):
            words = {sign: word for word, sign in _BY.items()}
            if query.comparison not in words:
                return None
            bound = query.bound if isinstance(query.bound, Decimal) else query.bound.first.isoformat()
            return QueryStep(operation=words[query.comparison], relation=relation, value=str(bound))  # type: ignore[arg-type]
        if isinstance(query, Having):
            if not isinstance(query.target, Named) or len(query.target.nodes) != 1:
                return None
            value = self.graph.name(query.target.nodes[0])
            return QueryStep(operation="not" if query.negated else "only", relation=relation, value=value)
        if query.rank > 1:
            return None
        return QueryStep(operation="largest" if query.sign > 0 else "smallest", relation=relation)


class _Reply:
    """The query of a reply over one graph."""

    def __init__(self, graph: FactGraph, shown: _Shown) -> None:
        self.graph, self.shown = graph, shown
        self.evaluator = Evaluator(graph)

    def parse(self, reply: GraphQuery) -> Parse:
        """The parse of a reply; without nodes where the graph has no answer.

        Raises:
            QueryError: A reading is not among those shown, or a name is not of the graph.
        """
        if reply.reading > len(self.shown.readings):
            raise QueryError(f"reading must be at most {len(self.shown.readings)}, got {reply.reading}")
        if reply.reading:
            return self.shown.readings[reply.reading - 1]
        if reply.answer == "not in the graph":
            return Parse(Named(()), 0.0, ())
        if reply.start in self.shown.names:
            query: Query = Named((self.shown.names[reply.start],))
        elif reply.start in self.shown.classes:
            query = self.evaluator.members(self.shown.classes[reply.start])
        else:
            raise QueryError(f"start must be a name of the graph, got {reply.start!r}")
        final: tuple[int, ...] = ()
        for step in reply.steps:
            if step.relation not in self.shown.relations:
                raise QueryError(f"relation must be one of the graph, got {step.relation!r}")
            relation = self.shown.relations[step.relation]
            query = self._after(query, step, relation)
            final = (relation,) if step.operation.startswith("follow") else final
        if reply.answer == "yes or no":
            return Parse(query, 0.0, query.nodes, holds=bool(query.nodes), final=final, operation="check")
        if reply.answer == "count":
            number = Decimal(len(query.nodes))
            return Parse(query, 0.0, query.nodes, number=number, final=final, operation="count")
        if not query.nodes:
            return Parse(Named(()), 0.0, ())
        return Parse(query, 0.0, query.nodes, final=final)

    def _after(self, query: Query, step: QueryStep, relation: int) -> Query:
        evaluator, operation = self.evaluator, step.operation
        if operation in ("follow", "follow back"):
            return evaluator.follow(query, relation, inverse=operation == "follow back")
        if operation == "lacking":
            return evaluator.lacking(query, relation)
        if operation in ("largest", "smallest"):
            sign = 1 if operation == "largest" else -1
            counted = self.graph.relations[relation].kind not in ("number", "date")
            return evaluator.extreme(query, relation, sign, counted=counted)
        if operation in _BY:
            bound = read_bound(step.value)
            if bound is None:
                raise QueryError(f"value must be a number or a date, got {step.value!r}")
            return evaluator.compared(query, relation, _BY[operation], bound)  # type: ignore[arg-type]
        target = Named(self._nodes(step.value))
        inverse = not any(self.graph.follow(node, relation) for node in query.nodes)
        return evaluator.having(query, relation, target, inverse=inverse, negated=operation == "not")

    def _nodes(self, name: str) -> tuple[int, ...]:
        wanted = name.casefold().strip()
        nodes = tuple(
            node for node, names in enumerate(self.graph.names) if any(one.casefold() == wanted for one in names)
        )
        if not nodes:
            raise QueryError(f"value must be a name or value of the graph, got {name!r}")
        return nodes


def _nearest(reader: QuestionReader, question: str) -> dict[str, int]:
    """The relations that are shown, by name: all, or the nearest to the words of the question."""
    graph = reader.graph
    order = list(range(len(graph.relations)))
    if len(order) > MOST_RELATIONS:
        likeness = reader.vocabulary.likeness(question.lower().split()).max(axis=0)[: len(order)]
        order = np.argsort(-likeness, kind="stable")[:MOST_RELATIONS].tolist()
    return {graph.relations[relation].names[0]: int(relation) for relation in reversed(order)}


def _names(graph: FactGraph, reading: Reading, past: Sequence[PastTurn]) -> dict[str, int]:
    """The nodes that are named, referred to, or were spoken of, by name; the first of a name."""
    nodes = [node for some in reading.named for node in some]
    for turn in reversed(past[-4:]):
        nodes += turn.parse.nodes[:10] if turn.parse is not None else ()
        nodes += [node for some in turn.named for node in some]
    found: dict[str, int] = {}
    for node in nodes:
        if len(found) < MOST_NAMES and graph.values[node].kind in ("entity", "text"):
            found.setdefault(graph.name(node), node)
    return found


def _example(graph: FactGraph, relation: int) -> str:
    """A relation with one of its facts: "captain: Larkspur -> Mara Stenhouse"."""
    described = graph.relations[relation]
    for node in range(len(graph.values)):
        for other in graph.follow(node, relation)[:1]:
            unit = f" {described.unit}" if described.unit else ""
            return f"{described.names[0]}: {graph.name(node)} -> {graph.name(other)}{unit}"
    return described.names[0]


def _line(graph: FactGraph, turn: PastTurn) -> str:
    if turn.parse is None:
        return f"Q: {turn.text} -> not answered"
    answer = turn.parse.number if turn.parse.number is not None else turn.parse.holds
    names = ", ".join(graph.name(node) for node in turn.parse.nodes[:8])
    return f"Q: {turn.text} -> {names if answer is None else answer}"
