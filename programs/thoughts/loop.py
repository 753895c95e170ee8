"""Knowledge Graph of Thoughts: the graph grows until it can answer a question, then a query retrieves the answer.

    >>> program = KnowledgeGraphOfThoughts(tools)
    >>> found = program(question="who insures the Port of Varna?", graph=graph).thoughts
    >>> found.answer, found.iterations, found.applied.nodes
    ('Meridian Re', 2, 5)

Each iteration the language model votes. *insert* calls tools and writes their results as typed operations, which are
checked against the schema. Where the settings allow it, the model first proposes types that the schema lacks.
*retrieve* writes a query, which can only read. The question itself never enters the graph. After ``max_iterations`` a
last query and an answer are forced, and the result is marked. After Besta et al. 2025, arXiv:2504.02670; code from a
model is run only by the tool ``run_python``, in a sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import dspy

from kg.growing import GrowingGraph, QueryResult, TypeProposals
from kg.paths import LearnedRelationScorer, RelationScorer
from kg.schema import TypeMeaning
from programs.lm import failure_of, metered
from programs.thoughts.config import GrowingWorld, Thoughts, ThoughtsConfig
from programs.thoughts.insertion import Insertion
from programs.thoughts.retrieval import Retrieval
from programs.thoughts.types import query_examples
from programs.thoughts.work import TYPE_TOOLS, Work
from programs.tools import ToolManager, ToolSettings, load_tools
from programs.turns import Kept, State, Turn, Vote, majority
from signatures import thoughts as ask

ThoughtsTurn = Turn[tuple[str, ...], Thoughts]
"""A turn about a growing graph."""


class KnowledgeGraphOfThoughts(dspy.Module):
    """Answers a question from a graph that it lets grow.

    Args:
        tools: The tools.
        config: The loop's settings.
        scorer: The scorer of the beam's relations; by default it matches the words of their names.
        meaning: The comparison of new types with the present ones by meaning, where new types are allowed.
    """

    needs_lm = True

    def __init__(
        self,
        tools: ToolManager,
        config: ThoughtsConfig | None = None,
        scorer: RelationScorer | None = None,
        meaning: TypeMeaning | None = None,
    ) -> None:
        super().__init__()
        self.tools = tools
        self.meaning = meaning
        self.scorer = scorer if scorer is not None else LearnedRelationScorer.untrained()
        self.config = config if config is not None else ThoughtsConfig()
        self.define_next_step = dspy.Predict(ask.DefineNextStep)
        self.define_tool_calls = dspy.Predict(ask.DefineToolCalls)
        self.propose_types = dspy.Predict(ask.ProposeTypes)
        self.update_graph = dspy.Predict(ask.UpdateGraph)
        self.define_query = dspy.Predict(ask.DefineQuery)
        self.define_query.demos = query_examples()
        self.need_for_math = dspy.Predict(ask.NeedForMath)
        self.parse_solution = dspy.Predict(ask.ParseSolution)
        self.forced_query = dspy.Predict(ask.ForcedQuery)
        self.forced_solution = dspy.Predict(ask.ForcedSolution)
        self.explain_answer = dspy.Predict(ask.ExplainAnswer)

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
        self.program, self.config, self.tools = program, program.config, program.tools.for_question()
        self.work = Work(question, graph, today, program.config)
        names = TYPE_TOOLS if self.config.types != "never" else ()
        proposals = TypeProposals(graph, self.config.types, program.meaning)
        type_tools = load_tools(names, ToolSettings(types=proposals))
        self.insertion = Insertion(program, self.work, self.tools, type_tools)
        self.retrieval = Retrieval(program, self.work)
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
                self.insertion.insert(missing)
                continue
            found = self.retrieval.found(self.program.define_query)
            if found is not None and found[1].rows:
                return self._solve(*found, forced=False)
            # The votes would be the same again, for nothing has changed: what was not found is missing.
            self.lacking = "a query found nothing" if found is not None else "no query could be answered"
            self.work.refused.append(self.lacking)
        found = self.retrieval.found(self.program.forced_query)
        if found is None:
            return self._result(forced=True)
        return self._solve(*found, forced=True)

    def _without_tools(self) -> Thoughts:
        """One query with its repairs, for nothing can be inserted; of an empty graph not even that."""
        self.iterations = 1
        found: tuple[str, QueryResult] | None = ("", QueryResult((), (), more=False))
        if self.work.graph.facts():
            found = self.retrieval.found(self.program.define_query, rows_wanted=True)
        if found is None:
            return self._result(forced=True)
        return self._solve(*found, forced=not found[1].rows)

    def _next_step(self) -> tuple[str, str]:
        """Returns the majority of the votes and its first voter's missing facts; no vote where one step is certain."""
        if self.lacking:
            self.lacking = ""
            return "insert", self.work.question
        found = majority(self._vote, self.config.votes)
        return found if found is not None else ("retrieve", "")  # without a readable vote the graph may suffice

    def _vote(self, sampled: dict[str, Any]) -> Vote | None:
        reply = self.work.ask(self.program.define_next_step, config=sampled, calls_made=self.work.calls_made())
        return (reply.next_step, reply.missing) if reply is not None else None

    def _solve(self, query: str, rows: QueryResult, *, forced: bool) -> Thoughts:
        return self.retrieval.solve(self._result(forced=forced), query, rows)

    def _result(self, *, forced: bool) -> Thoughts:
        work = self.work
        return Thoughts(
            iterations=self.iterations,
            tool_calls=tuple(work.calls),
            applied=work.applied,
            repairs={name: count for name, count in work.repairs.items() if count},
            refused=tuple(work.refused),
            forced=forced,
        )
