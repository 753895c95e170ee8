"""The INSERT branch: calls of tools, the rows that a model states of their outputs, and types that the schema lacks.

What a tool returns is read as sentences. A row is a property of a node or an edge under the schema, and its sentence
must state it. Where rows fit no type and the settings allow it, the model proposes the types that are missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import dspy

from kg.errors import SchemaError
from kg.growing import AddEdge, AddNode, NodeKey, Origin, Schema, Update, without_legal_form
from kg.news import applicable, number_of
from kg.text import split_sentences
from programs.thoughts.sources import Sources
from programs.thoughts.work import LISTING, Work
from programs.tools import NOTHING, ToolManager
from programs.turns import ToolCall
from programs.wording import rendered_types
from signatures.thoughts import DefineToolCalls, ProposeTypes, StatedRow, StateRows, ToolRequest

MOST_SENTENCES = 80
"""Sentences of an output that a model states rows of."""

_TOGETHER = 3
"""Sentences up to that of a row, one of which may name its subject; so does the first line of a text or a table."""

_VERBATIM = 6
"""Words up to which a text must be the source's own; longer ones may sum it up."""


class Insert(dspy.Module):
    """Calls the tools that the model chooses, and inserts what they return."""

    def __init__(self) -> None:
        super().__init__()
        self.define_tool_calls = dspy.Predict(DefineToolCalls)
        self.propose_types = dspy.Predict(ProposeTypes)
        self.state_rows = dspy.Predict(StateRows)

    def forward(
        self, work: Work, sources: Sources, tools: ToolManager, type_tools: ToolManager, missing: str
    ) -> dspy.Prediction:
        """Returns the calls that were made, as ``calls``.

        Args:
            work: The question and its record.
            sources: Receives the sentences.
            tools: The tools that return facts.
            type_tools: The tools that propose types; none where new types are not allowed.
            missing: The question, or its part, that has no answer yet.
        """
        work.step("choose calls of tools")
        about = {"tools": tools.described(), "calls_made": work.calls_made(), "question": missing}
        reply = work.ask(self.define_tool_calls, **about)
        requests: Sequence[ToolRequest] = reply.calls if reply is not None else ()
        made: list[ToolCall] = []
        for request in requests[: work.config.calls]:
            if (request.tool, request.arguments) in [(call.tool, call.arguments) for call in work.calls]:
                work.refused.append(f"{request.tool} was called with these arguments already")
                continue
            work.step(f"{request.tool} {json.dumps(request.arguments, ensure_ascii=False, default=str)[:80]}")
            call = tools.call(request.tool, request.arguments)
            work.calls.append(call)
            made.append(call)
            if not (call.failed or call.tool == LISTING or call.output.startswith(NOTHING)):
                self._insert(work, sources, type_tools, call, missing)
        return dspy.Prediction(calls=made)

    def _insert(self, work: Work, sources: Sources, tools: ToolManager, made: ToolCall, missing: str) -> None:
        """Adds an output as sentences, and the rows that the model states of them to the graph."""
        lines = (one for line in made.output.splitlines() for one in split_sentences(line))
        sentences = [line for line in lines if line.strip()]
        origin = Origin(made.tool, json.dumps(made.arguments, sort_keys=True, default=str))
        sources.add(f"{origin.document} {origin.place}", sentences, work.today)
        work.step(f"state rows of {len(sentences)} sentences")
        sentences = sentences[:MOST_SENTENCES]
        shown = "\n".join(f"[{number}] {line}" for number, line in enumerate(sentences, 1))
        about = {"types": rendered_types(work.graph.schema), "sentences": shown, "question": missing}
        reply = work.ask(self.state_rows, **about)
        rows: Sequence[StatedRow] = reply.rows if reply is not None else ()
        unfit = _write(work, rows, sentences, origin)
        if unfit and tools.names:
            self._propose(work, tools, shown, "\n".join(unfit.values()), missing)
            unfit = _write(work, [rows[place] for place in unfit], sentences, origin)
        work.refused += unfit.values()

    def _propose(self, work: Work, tools: ToolManager, shown: str, problem: str, missing: str) -> None:
        """Proposes types that rows need."""
        work.step("propose types")
        about = {"types": rendered_types(work.graph.schema), "information": shown, "question": missing}
        reply = work.ask(self.propose_types, tools=tools.described(), problem=problem, **about)
        requests: Sequence[ToolRequest] = reply.calls if reply is not None else ()
        proposals = [tools.call(request.tool, request.arguments) for request in requests]
        work.calls += proposals
        work.refused += [call.output for call in proposals if call.failed]


def _write(work: Work, rows: Sequence[StatedRow], sentences: Sequence[str], origin: Origin) -> dict[int, str]:
    """Writes the rows that fit the schema and that their sentences state; returns why others do not, by place."""
    pairs: list[tuple[Update, str]] = []
    problems: dict[int, str] = {}
    for place, row in enumerate(rows):
        end = row.sentence if 0 < row.sentence <= len(sentences) else len(sentences)
        source = "\n".join([sentences[0], *sentences[max(end - _TOGETHER, 1) : end]])
        try:
            _check_stated(row, source)
            own = [(update, sentences[end - 1]) for update in _updates(row, work.graph.schema)]
        except SchemaError as error:
            problems[place] = f"{row.subject} {row.relation} {row.object}: {error}"
            continue
        taken, refused = applicable(work.graph, [*pairs, *own])
        pairs = taken if not refused else pairs
        problems |= {place: refused[0]} if refused else {}
    if pairs:
        given, spans = [update for update, _ in pairs], [span for _, span in pairs]
        work.applied += work.graph.apply(given, origin, spans=spans)
    return problems


def _check_stated(row: StatedRow, source: str) -> None:
    """Raises SchemaError where a source lacks a word of the subject or the object; half of long texts suffices."""
    flat = source.casefold().replace(",", "")
    for text in (without_legal_form(row.subject), row.object):
        words = re.findall(r"\w+", text.casefold().replace(",", ""))
        # Words outside of ASCII may have another ending in the source.
        stems = (rf"{word}\b" if word.isascii() else word[: max(len(word) - 2, 4)] for word in words)
        count = sum(re.search(rf"\b{stem}", flat) is not None for stem in stems)
        if not words or count < len(words) * (1.0 if len(words) <= _VERBATIM else 0.5):
            raise SchemaError(f"{text!r} is not in the sentence")


def _updates(row: StatedRow, schema: Schema) -> Iterator[Update]:
    """Yields the operations of a row.

    Raises:
        SchemaError: It fits no type.
    """
    kind = schema.node_type(row.subject_type)
    if row.relation in kind.properties:
        number = (
            number_of(row.object)
            if kind.properties_schema["properties"][row.relation].get("type") == "number"
            else None
        )
        yield AddNode(kind.name, row.subject, {row.relation: row.object if number is None else number})
        return
    edge = schema.edge_type(row.relation)
    target = row.object_type or next(iter(edge.target_types), kind.name)
    schema.check_edge(edge.name, kind.name, target)
    yield AddNode(kind.name, row.subject)
    yield AddNode(target, row.object)
    yield AddEdge(edge.name, NodeKey(kind.name, row.subject), NodeKey(target, row.object))
