"""The INSERT branch: calls of tools, types that the schema lacks, and updates that a tool's output states.

A tool's output becomes typed operations, which are checked against the schema and the output. Where the settings allow
it, the model first proposes the types that the output needs and the schema lacks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import dspy
from pydantic import TypeAdapter

from kg.errors import SchemaError
from kg.growing import AddEdge, AddNode, Applied, Origin, SetProperty, Update, supporting_span
from programs.thoughts.work import NAVIGATION, GraphStep, Work
from programs.tools import NOTHING, ToolManager
from programs.turns import ToolCall
from programs.wording import rendered_types
from signatures.thoughts import DefineToolCalls, ProposeTypes, ToolRequest, UpdateGraph

_READERS = {kind.__name__: TypeAdapter[Update](kind) for kind in (AddNode, AddEdge, SetProperty)}

MOST_ROUNDS = 4
"""Choices of calls in one insert, where the earlier ones stated no facts."""


class Insert(dspy.Module):
    """Calls the tools that the model chooses, and inserts the facts that they return."""

    def __init__(self) -> None:
        super().__init__()
        self.define_tool_calls = dspy.Predict(DefineToolCalls)
        self.propose_types = dspy.Predict(ProposeTypes)
        self.update_graph = dspy.Predict(UpdateGraph)

    def forward(self, work: Work, tools: ToolManager, type_tools: ToolManager, missing: str) -> dspy.Prediction:
        """Returns the calls that were made, as ``calls``; after calls that stated no facts the model chooses again.

        Args:
            work: The question and its record.
            tools: The tools that return facts.
            type_tools: The tools that propose types; none where new types are not allowed.
            missing: The facts that are missing, in words.
        """
        calls: list[ToolCall] = []
        for _ in range(MOST_ROUNDS):
            made = self._called(work, tools, missing)
            calls += made
            stating = [call for call in made if call.tool not in NAVIGATION and not call.output.startswith(NOTHING)]
            for call in stating:
                if type_tools.names:
                    self._propose(work, type_tools, call)
                self._update(work, call)
            if stating or not made:
                break
        return dspy.Prediction(calls=calls)

    def _called(self, work: Work, tools: ToolManager, missing: str) -> list[ToolCall]:
        """Makes the calls that the model chooses, and returns those that did not fail."""
        about = {"tools": tools.described(), "calls_made": work.calls_made(), "missing": missing or work.question}
        reply = work.ask(self.define_tool_calls, **about)
        requests: Sequence[ToolRequest] = reply.calls if reply is not None else ()
        made = []
        for request in requests[: work.config.calls]:
            if work.is_repeated(request.tool, request.arguments):
                work.refused.append(f"{request.tool} was called with these arguments already")
                continue
            call = tools.call(request.tool, request.arguments)
            work.calls.append(call)
            if not call.failed:
                made.append(call)
        return made

    def _propose(self, work: Work, tools: ToolManager, made: ToolCall) -> None:
        """Proposes types that a tool's output needs; refused proposals are repaired a bounded number of times."""
        about = {"tools": tools.described(), "information": made.output}
        problem = "none"
        for attempt in range(work.config.repairs + 1):
            work.repairs["types"] += attempt > 0
            types = rendered_types(work.graph.schema)
            reply = work.ask(self.propose_types, types=types, problem=problem, **about)
            requests: Sequence[ToolRequest] = reply.calls if reply is not None else ()
            # A proposal that was refused may hold now, because a type that it leads to has been made.
            new = [call for call in requests if not work.is_repeated(call.tool, call.arguments, failed=False)]
            proposals = [tools.call(request.tool, request.arguments) for request in new]
            problems = [call.output for call in proposals if call.failed]
            work.calls += proposals
            work.refused += problems
            if reply is not None and not problems:
                return
            problem = "\n".join(problems) if problems else work.unread

    def _update(self, work: Work, made: ToolCall) -> None:
        """Inserts a tool's output as operations that pass the schema, after a bounded number of repairs."""
        types, problem = rendered_types(work.graph.schema), "none"
        apply = GraphStep(lambda updates: {"applied": _applied(work, updates, made)})
        for attempt in range(work.config.repairs + 1):
            work.repairs["update"] += attempt > 0
            reply = work.ask(self.update_graph, types=types, information=made.output, problem=problem)
            if reply is None:
                problem = work.unread
                continue
            try:
                work.applied += apply(updates=reply.updates).applied
            except SchemaError as error:
                problem = str(error)
                work.refused.append(problem)
                continue
            return


def _applied(work: Work, updates: Sequence[Any], made: ToolCall) -> Applied:
    """Writes operations with the passages of a tool's output that state them.

    Raises:
        SchemaError: An operation does not fit the schema, or the output does not state it.
    """
    graph, arguments = work.graph, json.dumps(made.arguments, sort_keys=True, default=str)
    written: list[Update] = [_READERS[update.op].validate_python(update.model_dump()) for update in updates]
    graph.check(written)
    spans = [supporting_span(update, f"{made.output}\n{arguments}", graph) for update in written]
    return graph.apply(written, Origin(made.tool, arguments), spans=spans)
