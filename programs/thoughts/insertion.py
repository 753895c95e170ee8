"""The INSERT branch: calls of tools, types that the schema lacks, and updates that a tool's output states.

    insertion.insert("the insurer of the Port of Varna")

A tool's output becomes typed operations, which are checked against the schema and the output. Where the settings allow
it, the model first proposes the types that the output needs and the schema lacks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kg.errors import SchemaError
from kg.growing import AddNode, Applied, Origin, Update, parse_update, supporting_span
from programs.thoughts.steps import GraphStep
from programs.thoughts.types import calls_type, operations_type
from programs.thoughts.work import NAVIGATION, Work
from programs.tools import NOTHING, ToolManager
from programs.turns import ToolCall
from programs.wording import rendered_types
from signatures.thoughts import ToolRequest

if TYPE_CHECKING:
    from programs.thoughts.loop import KnowledgeGraphOfThoughts

MOST_ROUNDS = 4
"""Choices of calls in one insert, where the earlier ones stated no facts."""


class Insertion:
    """The insertion of facts for one question.

    Args:
        program: The predictors.
        work: The question and its record.
        tools: The tools that return facts.
        type_tools: The tools that propose types; none where new types are not allowed.
    """

    def __init__(
        self, program: KnowledgeGraphOfThoughts, work: Work, tools: ToolManager, type_tools: ToolManager
    ) -> None:
        self.program, self.work, self.tools, self.type_tools = program, work, tools, type_tools
        self.apply = GraphStep("apply_updates", self._applied)

    def insert(self, missing: str) -> None:
        """Calls the tools that the model chooses, and inserts what they return.

        After calls that only list the files, or that found nothing, the model chooses again.
        """
        for _ in range(MOST_ROUNDS):
            made = self._called(missing)
            stating = [call for call in made if call.tool not in NAVIGATION and not call.output.startswith(NOTHING)]
            for call in stating:
                self._propose_types(call)
                self._update(call)
            if stating or not made:
                return

    def _called(self, missing: str) -> list[ToolCall]:
        """Makes the calls that the model chooses, and returns those that did not fail."""
        work, predict = self.work, self.program.define_tool_calls
        most = work.config.calls
        reply = work.ask(
            predict,
            signature=predict.signature.with_updated_fields("calls", type_=calls_type(self.tools.arguments(), most)),
            tools=self.tools.described(),
            calls_made=work.calls_made(),
            missing=missing or work.question,
        )
        wanted: Sequence[ToolRequest] = reply.calls if reply is not None else ()
        found = []
        for call in wanted[:most]:
            if work.is_repeated(call.tool, call.arguments):
                work.refused.append(f"{call.tool} was called with these arguments already")
                continue
            made = self.tools.call(call.tool, call.arguments)
            work.calls.append(made)
            if not made.failed:
                found.append(made)
        return found

    def _propose_types(self, made: ToolCall) -> None:
        """Proposes types that a tool's output needs; refused proposals are repaired a bounded number of times."""
        work, predict, names = self.work, self.program.propose_types, self.type_tools.names
        if not names:
            return
        calls = calls_type(self.type_tools.arguments(), work.config.calls * 2, least=0)
        problem = "none"
        for attempt in range(work.config.repairs + 1):
            work.repairs["types"] += attempt > 0
            reply = work.ask(
                predict,
                signature=predict.signature.with_updated_fields("calls", type_=calls),
                tools=self.type_tools.described(),
                types=rendered_types(work.graph.schema, work.graph.scope),
                information=made.output,
                problem=problem,
            )
            wanted: Sequence[ToolRequest] = reply.calls if reply is not None else ()
            # A proposal that was refused may hold now, because a type that it leads to has been made.
            new = [call for call in wanted if not work.is_repeated(call.tool, call.arguments, failed=False)]
            proposed = [self._proposed(call) for call in new]
            failed = [one.output for one in proposed if one.failed]
            if reply is not None and not failed:
                return
            problem = "\n".join(failed) if failed else work.unread

    def _proposed(self, call: ToolRequest) -> ToolCall:
        made = self.type_tools.call(call.tool, call.arguments)
        self.work.calls.append(made)
        if made.failed:
            self.work.refused.append(made.output)
        return made

    def _update(self, made: ToolCall) -> None:
        """Inserts a tool's output as operations that pass the schema, after a bounded number of repairs."""
        work, predict = self.work, self.program.update_graph
        schema, scope = work.graph.schema, work.graph.scope
        if not schema.node_types(scope):
            work.refused.append("the graph has no type, so nothing can be inserted")
            return
        problem = "none"
        for attempt in range(work.config.repairs + 1):
            work.repairs["update"] += attempt > 0
            reply = work.ask(
                predict,
                signature=predict.signature.with_updated_fields("updates", type_=operations_type(schema, scope)),
                types=rendered_types(schema, scope),
                information=made.output,
                problem=problem,
            )
            if reply is None:
                problem = work.unread
                continue
            try:
                work.applied += self.apply(updates=reply.updates, made=made).applied
            except SchemaError as error:
                problem = str(error)
                work.refused.append(problem)
                continue
            return

    def _applied(self, updates: Sequence[Any], made: ToolCall) -> dict[str, Applied]:
        """Writes operations with the passages of a tool's output that state them.

        Raises:
            SchemaError: An operation is not well-formed, or the output does not state it.
        """
        graph = self.work.graph
        arguments = json.dumps(made.arguments, sort_keys=True, default=str)
        written = _operations(updates)
        graph.check(written)
        added = [update.key for update in written if isinstance(update, AddNode)]
        source = f"{made.output}\n{arguments}"
        spans = [supporting_span(update, source, graph, added) for update in written]
        return {"applied": graph.apply(written, Origin(made.tool, arguments), spans=spans)}


def _operations(written: Sequence[Any]) -> list[Update]:
    plain = [entry.model_dump() if hasattr(entry, "model_dump") else entry for entry in written]
    return [parse_update(entry, place) for place, entry in enumerate(plain)]
