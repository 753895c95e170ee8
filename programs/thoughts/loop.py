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

from kg.growing import GrowingGraph, QueryResult, TypeMeaning, TypeProposals
from kg.paths import LearnedRelationScorer, RelationScorer
from programs.lm import failure_of, metered
from programs.thoughts.config import GrowingWorld, Thoughts, ThoughtsConfig
from programs.thoughts.insert import Insert
from programs.thoughts.retrieve import Retrieve, Rows
from programs.thoughts.work import TYPE_TOOLS, Work
from programs.tools import ToolManager, ToolSettings, load_tools
from programs.turns import Kept, State, Turn, Vote, majority
from signatures.thoughts import DefineNextStep

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
        self.config = config if config is not None else ThoughtsConfig()
        self.define_next_step = dspy.Predict(DefineNextStep)
        self.insert = Insert()
        self.retrieve = Retrieve(scorer if scorer is not None else LearnedRelationScorer.untrained())

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
        work = Work(question, graph, today if today is not None else datetime.now(UTC).date(), self.config)
        thoughts = self._thoughts(work)
        return dspy.Prediction(thoughts=thoughts, answer=thoughts.answer)

    def _thoughts(self, work: Work) -> Thoughts:
        """Inserts until there is enough, then retrieves; where there are no tools, it only retrieves."""
        tools = self.tools.for_question()
        if not tools.names:
            return self._without_tools(work)
        names = TYPE_TOOLS if self.config.types != "never" else ()
        proposals = TypeProposals(work.graph, self.config.types, self.meaning)
        type_tools = load_tools(names, ToolSettings(types=proposals))
        lacking = "the graph is empty" if work.graph.facts() == 0 else ""
        while work.iterations < self.config.max_iterations:
            work.iterations += 1
            step, missing = ("insert", work.question) if lacking else self._next_step(work)
            lacking = ""
            if step == "insert":
                self.insert(work=work, tools=tools, type_tools=type_tools, missing=missing)
                continue
            rows = self.retrieve(work=work).rows
            if rows is not None and rows[1].rows:
                return self.retrieve.answer(work, *rows, forced=False)
            # The votes would be the same again, for nothing has changed: what was not found is missing.
            lacking = "a query found nothing" if rows is not None else "no query could be answered"
            work.refused.append(lacking)
        rows = self.retrieve(work=work, forced=True).rows
        return self.retrieve.answer(work, *rows, forced=True) if rows is not None else work.result(forced=True)

    def _without_tools(self, work: Work) -> Thoughts:
        """One query with its repairs, for nothing can be inserted; of an empty graph not even that."""
        work.iterations = 1
        rows: Rows | None = ("", QueryResult((), (), more=False))
        if work.graph.facts():
            rows = self.retrieve(work=work, rows_wanted=True).rows
        if rows is None:
            return work.result(forced=True)
        return self.retrieve.answer(work, *rows, forced=not rows[1].rows)

    def _next_step(self, work: Work) -> Vote:
        """Returns the majority of the votes and its first voter's missing facts."""

        def vote(sampled: dict[str, Any]) -> Vote | None:
            reply = work.ask(self.define_next_step, config=sampled, calls_made=work.calls_made())
            return (reply.next_step, reply.missing) if reply is not None else None

        majority_vote = majority(vote, self.config.votes)
        return majority_vote if majority_vote is not None else ("retrieve", "")  # the graph may suffice

    def load_state(self, state: dict[str, Any], **options: Any) -> None:
        """Reads a saved state; earlier versions have all predictors in the loop itself."""
        own = {name.rpartition(".")[2]: name for name, _ in self.named_parameters()}
        super().load_state({own.get(name, name): value for name, value in state.items()}, **options)

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
                failure, message = failure_of(error, measured)
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
