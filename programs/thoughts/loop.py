"""Knowledge Graph of Thoughts: the graph grows until it can answer a question, then a query retrieves the answer.

    >>> program = KnowledgeGraphOfThoughts(tools)
    >>> found = program(question="who insures the Port of Varna?", graph=graph).thoughts
    >>> found.answer, found.iterations, found.applied.nodes
    ('Meridian Re', 2, 5)

Each iteration the language model votes. *insert* calls tools and writes their results as typed operations, which are
checked against the schema. *retrieve* writes a query, which can only read. The question itself never enters the graph.
After ``max_iterations`` a last query and an answer are forced, and the result is marked. After Besta et al. 2025,
arXiv:2504.02670; code from a model is never run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.derivations import Derivation
from kg.errors import ProgramError, QueryError, SchemaError
from kg.growing import (
    AddNode,
    Applied,
    GrowingGraph,
    Origin,
    QueryResult,
    TypeProposals,
    Update,
    parse_update,
    retrieved_paths,
    supporting_span,
)
from kg.paths import LearnedRelationScorer, RelationScorer
from programs.lm import failure_of, metered
from programs.thoughts.config import GrowingWorld, Thoughts, ThoughtsConfig
from programs.thoughts.grounding import figures_in, is_grounded
from programs.thoughts.types import calls_type, operations_type, query_examples
from programs.tools import ToolManager, ToolSettings, load_tools
from programs.turns import Kept, State, ToolCall, Turn, Vote, majority
from programs.wording import completed, node_names, rendered_graph, rendered_rows, rendered_types, types_for
from signatures import thoughts as ask

TYPE_TOOLS = ("create_node_type", "create_edge_type")
"""Tools that change the schema and return no facts."""

_FOUND_NOTHING = (
    "write names as the graph has them, properties as prop:, edges as edge: from the type left of their arrow to "
    "the one right of it, and what is selected as a variable of the pattern"
)
_NO_SPARQL = "this is no SPARQL: write SELECT ?name WHERE { ?node a type:... ; ... }, without FROM"


ThoughtsTurn = Turn[tuple[str, ...], Thoughts]
"""A turn about a growing graph."""


class KnowledgeGraphOfThoughts(dspy.Module):
    """Answers a question from a graph that it lets grow.

    Args:
        tools: The tools.
        config: The loop's settings.
        scorer: The scorer of the beam's relations; by default it matches the words of their names.
    """

    needs_lm = True

    def __init__(
        self, tools: ToolManager, config: ThoughtsConfig | None = None, scorer: RelationScorer | None = None
    ) -> None:
        super().__init__()
        self.tools = tools
        self.scorer = scorer if scorer is not None else LearnedRelationScorer.untrained()
        self.config = config if config is not None else ThoughtsConfig()
        self.define_next_step = dspy.Predict(ask.DefineNextStep)
        self.define_tool_calls = dspy.Predict(ask.DefineToolCalls)
        self.update_graph = dspy.Predict(ask.UpdateGraph)
        self.define_query = dspy.Predict(ask.DefineQuery)
        self.define_query.demos = query_examples()
        self.need_for_math = dspy.Predict(ask.NeedForMath)
        self.parse_solution = dspy.Predict(ask.ParseSolution)
        self.forced_query = dspy.Predict(ask.ForcedQuery)
        self.forced_solution = dspy.Predict(ask.ForcedSolution)

    def forward(self, question: str, graph: GrowingGraph, today: date | None = None) -> dspy.Prediction:
        """Answers a question.

        Args:
            question: The question.
            graph: The graph, which grows; pass a copy of one that is to stay as it is.
            today: The date by which freshness is judged; by default the day it is.

        Returns:
            A prediction with ``thoughts`` (a :class:`Thoughts`) and ``answer``.

        Raises:
            FinpathError: The language model failed.
        """
        found = _Loop(self, question, graph, today if today is not None else datetime.now(UTC).date()).answered()
        return dspy.Prediction(thoughts=found, answer=found.answer)

    def start(
        self,
        world: GrowingWorld,
        turns: Sequence[ThoughtsTurn] = (),
        kept: Kept = (),  # noqa: ARG002
    ) -> State[GrowingWorld]:
        """See :class:`programs.turns.program.TurnProgram`; the turns share a copy of the graph, which alone grows."""
        return State(replace(world, graph=world.graph.copy()), tuple(turns))

    def ask(self, state: State[GrowingWorld], question: str) -> State[GrowingWorld]:
        """See :class:`programs.turns.program.TurnProgram`."""
        with metered() as measured:
            try:
                found = self.forward(question, state.world.graph, state.world.today).thoughts
                turn = _turn(question, found)
            except Exception as error:  # noqa: BLE001 - failure_of raises all but the model's and the data's again
                failure, message = failure_of(error, measured.meter)
                turn = ThoughtsTurn(question, failure=failure, message=message)
        return state.after(replace(turn, usage=measured.usage))


def _turn(question: str, found: Thoughts) -> ThoughtsTurn:
    if found.answer is None or not found.grounded:
        unsupported = () if found.answer is None else (f"nothing in the graph says {found.answer!r}",)
        message = "; ".join((*found.refused, *unsupported))
        return ThoughtsTurn(
            question, failure="not_answered", message=message, tool_calls=found.tool_calls, detail=found
        )
    return ThoughtsTurn(question, answer=(found.answer,), words=found.answer, tool_calls=found.tool_calls, detail=found)


class _Loop:
    """One question on its way through the loop."""

    def __init__(self, program: KnowledgeGraphOfThoughts, question: str, graph: GrowingGraph, today: date) -> None:
        self.program, self.question, self.graph, self.today = program, question, graph, today
        self.config = program.config
        self.tools = program.tools
        if self.config.types != "never":
            proposals = ToolSettings(types=TypeProposals(graph, self.config.types))
            self.tools = self.tools.extended(load_tools(TYPE_TOOLS, proposals))
        self.calls: list[ToolCall] = []
        self.refused: list[str] = []
        self.repairs: Counter[str] = Counter()
        self.applied = Applied()
        self.iterations = 0
        self.lacking = "the graph is empty" if graph.facts() == 0 else ""

    def answered(self) -> Thoughts:
        """Inserts until there is enough, then retrieves; where there are no tools, it only retrieves."""
        if not self.tools.names:
            return self._without_tools()
        while self.iterations < self.config.max_iterations:
            self.iterations += 1
            step, missing = self._next_step()
            if step == "insert":
                self._insert(missing)
                continue
            found = self._found(self.program.define_query)
            if found is not None and found[1].rows:
                return self._solve(*found, forced=False)
            # The votes would be the same again, for nothing has changed: what was not found is missing.
            self.lacking = "a query found nothing" if found is not None else "no query could be answered"
            self.refused.append(self.lacking)
        found = self._found(self.program.forced_query)
        if found is None:
            return self._result(None, forced=True)
        return self._solve(*found, forced=True)

    def _without_tools(self) -> Thoughts:
        """One query with its repairs, for nothing can be inserted; of an empty graph not even that."""
        self.iterations = 1
        found: tuple[str, QueryResult] | None = ("", QueryResult((), (), more=False))
        if self.graph.facts():
            found = self._found(self.program.define_query, rows_wanted=True)
        if found is None:
            return self._result(None, forced=True)
        return self._solve(*found, forced=not found[1].rows)

    def _next_step(self) -> tuple[str, str]:
        """Returns the majority of the votes and its first voter's missing facts; no vote where one step is certain."""
        if self.lacking:
            self.lacking = ""
            return "insert", self.question
        found = majority(self._vote, self.config.votes)
        return found if found is not None else ("retrieve", "")  # without a readable vote the graph may suffice

    def _vote(self, sampled: dict[str, Any]) -> Vote | None:
        reply = self._ask(self.program.define_next_step, config=sampled, calls_made=self._calls_made())
        return (reply.next_step, reply.missing) if reply is not None else None

    def _insert(self, missing: str) -> None:
        signature = self.program.define_tool_calls.signature.with_updated_fields(
            "calls", type_=calls_type(self.tools.arguments(), self.config.calls)
        )
        reply = self._ask(
            self.program.define_tool_calls,
            signature=signature,
            tools=self.tools.described(),
            calls_made=self._calls_made(),
            missing=missing or self.question,
        )
        wanted: Sequence[ask.ToolRequest] = reply.calls if reply is not None else ()
        for call in wanted[: self.config.calls]:
            if any((made.tool, made.arguments) == (call.tool, call.arguments) for made in self.calls):
                self.refused.append(f"{call.tool} was called with these arguments already")
                continue
            made = self.tools.call(call.tool, call.arguments)
            self.calls.append(made)
            if not made.failed and made.tool not in TYPE_TOOLS:
                self._update(made)

    def _update(self, made: ToolCall) -> None:
        """Inserts a tool's output as operations that pass the schema, after a bounded number of repairs."""
        schema, scope = self.graph.schema, self.graph.scope
        signature = self.program.update_graph.signature.with_updated_fields(
            "updates", type_=operations_type(schema, scope)
        )
        problem = "none"
        for attempt in range(self.config.repairs + 1):
            self.repairs["update"] += attempt > 0
            reply = self._ask(
                self.program.update_graph,
                signature=signature,
                types=rendered_types(schema, scope),
                information=made.output,
                problem=problem,
            )
            if reply is None:
                problem = "the reply could not be read"
                continue
            try:
                arguments = json.dumps(made.arguments, sort_keys=True, default=str)
                updates, spans = self._supported(reply.updates, f"{made.output}\n{arguments}")
                applied = self.graph.apply(updates, Origin(made.tool, arguments), spans=spans)
            except SchemaError as error:
                problem = str(error)
                self.refused.append(problem)
                continue
            self.applied += applied
            return

    def _supported(self, written: Sequence[Any], source: str) -> tuple[list[Update], list[str]]:
        """Returns the operations with the passages of a tool's output that state them.

        Raises:
            SchemaError: An operation is not well-formed, or the output does not state it.
        """
        updates = _operations(written)
        self.graph.check(updates)
        added = [update.key for update in updates if isinstance(update, AddNode)]
        return updates, [supporting_span(update, source, self.graph, added) for update in updates]

    def _found(self, predict: dspy.Predict, *, rows_wanted: bool = False) -> tuple[str, QueryResult] | None:
        """Returns the rows of a query or the beam, by the settings; a beam's query is empty."""
        found = self._retrieve(predict, rows_wanted=rows_wanted) if self.config.retrieve != "beam" else None
        if self.config.retrieve == "query" or (found is not None and found[1].rows):
            return found
        try:
            return "", retrieved_paths(self.graph, self.question, self.program.scorer, self.config.limits.rows)
        except QueryError as error:
            self.refused.append(f"the beam found nothing: {error}")
            return found

    def _retrieve(self, predict: dspy.Predict, *, rows_wanted: bool = False) -> tuple[str, QueryResult] | None:
        """Returns a query and its rows; a failed query, or with ``rows_wanted`` an empty result, is repaired.

        Repairs are sampled, as small models repeat their query whatever the error message.
        """
        types = types_for(self.graph, self.question, self.config.shown)
        problem, found, written = "none", None, set[str]()
        for attempt in range(self.config.repairs + 1):
            self.repairs["query"] += attempt > 0
            sampled = {"rollout_id": attempt, "temperature": 0.7} if attempt else {}
            reply = self._ask(predict, config=sampled, types=types, problem=problem)
            if reply is None:
                problem = "the reply could not be read"
                continue
            query = self._completed(_unfenced(reply.query))
            if query in written:
                continue
            written.add(query)
            try:
                found = query, _bound(self.graph.query(query, self.config.limits))
            except QueryError as error:
                problem = f"{query}\n{error if '{' in query else _NO_SPARQL}"
                self.refused.append(str(error))
                continue
            if found[1].rows or not rows_wanted:
                return found
            problem = f"{query}\nit found nothing: {_FOUND_NOTHING}"
            self.refused.append(f"found nothing: {' '.join(query.split())}")
        return found

    def _completed(self, query: str) -> str:
        whole = completed(query, self.graph.schema, self.graph.scope)
        self.repairs["completed"] += whole != query
        return whole

    def _solve(self, query: str, rows: QueryResult, *, forced: bool) -> Thoughts:
        calculation, result = self._calculate(rows)
        retrieved = self._rendered(rows) + (f"\n{calculation} = {result}" if calculation else "")
        reply = self._ask(self.program.forced_solution if forced else self.program.parse_solution, retrieved=retrieved)
        found = self._result(reply.answer.strip() or None if reply is not None else None, forced=forced)
        grounded = found.answer is None or (bool(rows.rows) and is_grounded(found.answer, retrieved, self.question))
        return replace(found, retrieved=rows, query=query, calculation=calculation, grounded=grounded)

    def _rendered(self, rows: QueryResult) -> str:
        return rendered_rows(rows, node_names(self.graph))

    def _calculate(self, rows: QueryResult) -> tuple[str, str]:
        """The calculation that is needed and its exact result; both empty if none is, or there are no figures."""
        retrieved = self._rendered(rows)
        known = figures_in(retrieved)
        if not known:
            return "", ""
        for attempt in range(self.config.repairs + 1):
            self.repairs["calculation"] += attempt > 0
            reply = self._ask(self.program.need_for_math, retrieved=retrieved)
            written = "none" if reply is None else reply.calculation.strip()
            if not written or written.lower().rstrip(".") == "none":
                return "", ""
            try:
                derivation = Derivation.parse(written)
                used = {Decimal(number.text.rstrip("%")) for number in derivation.numbers}
                if not used <= known:
                    raise ProgramError(f"{written} uses figures that were not retrieved")
                return written, str(derivation.execute())
            except (ProgramError, InvalidOperation) as error:
                self.refused.append(str(error))
        return "", ""

    def _ask(self, predict: dspy.Predict, **inputs: Any) -> Any:
        """Returns a reply, or ``None`` if it cannot be parsed; passes graph and question where they are fields."""
        fields = predict.signature.input_fields
        if "graph" in fields:
            inputs["graph"] = rendered_graph(self.graph, self.question, self.config.shown)
        told = {"question": self.question, "today": self.today.isoformat()}
        inputs |= {name: value for name, value in told.items() if name in fields}
        try:
            return predict(**inputs)
        except (AdapterParseError, RecursionError) as error:
            self.refused.append(f"a reply could not be read: {' '.join(str(error).split())[:200]}")
            return None

    def _calls_made(self) -> str:
        lines = [
            f"{call.tool}({json.dumps(call.arguments, default=str)}): {_short(call.output)}" for call in self.calls
        ]
        return "\n".join(lines) if lines else "none"

    def _result(self, answer: str | None, *, forced: bool) -> Thoughts:
        return Thoughts(
            answer=answer,
            iterations=self.iterations,
            tool_calls=tuple(self.calls),
            applied=self.applied,
            repairs={name: count for name, count in self.repairs.items() if count},
            refused=tuple(self.refused),
            forced=forced,
        )


def _operations(written: Sequence[Any]) -> list[Update]:
    plain = [entry.model_dump() if hasattr(entry, "model_dump") else entry for entry in written]
    return [parse_update(entry, place) for place, entry in enumerate(plain)]


def _bound(found: QueryResult) -> QueryResult:
    """Returns the rows with values: a variable that is not in the pattern is unbound in every row."""
    return replace(found, rows=tuple(row for row in found.rows if any(value is not None for value in row)))


def _unfenced(query: str) -> str:
    """A query without the marks of a code block."""
    lines = [line for line in query.strip().splitlines() if not line.strip().startswith("```")]
    return "\n".join(lines)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 120 else flat[:119] + "…"
