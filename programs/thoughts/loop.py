"""Knowledge Graph of Thoughts: the graph grows until it can answer a question, then a query retrieves the answer.

    >>> program = KnowledgeGraphOfThoughts(tools)
    >>> thoughts = program(question="who insures the Port of Varna?", graph=graph).thoughts
    >>> thoughts.answer, thoughts.iterations, thoughts.applied.nodes
    ('Meridian Re', 2, 5)

Each iteration the language model chooses. *insert* calls tools and writes their results as typed operations, which are
checked against the schema. Where the settings allow it, the model first proposes types that the schema lacks.
*retrieve* is :class:`programs.beam.BeamQA` over the graph. The question itself never enters the graph. After
``max_iterations`` a last retrieval is forced, and the result is marked. After Besta et al. 2025, arXiv:2504.02670; no
code that a model writes is run.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

import dspy

from kg.growing import GrowingGraph, TypeMeaning, TypeProposals
from programs.thoughts.insert import Insert
from programs.thoughts.retrieve import Retrieve, Rows
from programs.thoughts.work import TYPE_TOOLS, Thoughts, ThoughtsConfig, Work
from programs.tools import ToolManager, ToolSettings, load_tools
from signatures.thoughts import DefineNextStep


class KnowledgeGraphOfThoughts(dspy.Module):
    """Answers a question from a graph that it lets grow.

    Args:
        tools: The tools.
        config: The loop's settings.
        meaning: The comparison of new types with the present ones by meaning, where new types are allowed.
    """

    needs_lm = True

    def __init__(
        self,
        tools: ToolManager,
        config: ThoughtsConfig | None = None,
        meaning: TypeMeaning | None = None,
    ) -> None:
        super().__init__()
        self.tools = tools
        self.meaning = meaning
        self.config = config if config is not None else ThoughtsConfig()
        self.define_next_step = dspy.Predict(DefineNextStep)
        self.insert = Insert()
        self.retrieve = Retrieve()

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
        if not self.tools.names:
            work.iterations = 1
            return self._solved(work, self.retrieve(work=work, rows_wanted=True).rows if work.graph.facts() else None)
        names = TYPE_TOOLS if self.config.types != "never" else ()
        proposals = TypeProposals(work.graph, self.config.types, self.meaning)
        type_tools = load_tools(names, ToolSettings(types=proposals))
        missing: str | None = work.question if work.graph.facts() == 0 else None
        while work.iterations < self.config.max_iterations:
            work.iterations += 1
            missing = missing if missing is not None else self._missing(work)
            if missing is not None:
                self.insert(work=work, tools=self.tools, type_tools=type_tools, missing=missing)
                missing = None
                continue
            rows = self.retrieve(work=work).rows
            if rows is not None and rows[1].rows:
                return self.retrieve.solve(work, *rows, forced=False)
            # The choice would be the same again, for nothing has changed: what was not found is missing.
            work.refused.append("a query found nothing" if rows is not None else "no query could be answered")
            missing = work.question
        return self._solved(work, self.retrieve(work=work).rows)

    def _solved(self, work: Work, rows: Rows | None) -> Thoughts:
        """The answer from the last rows; there is none without rows."""
        if rows is None or not rows[1].rows:
            return work.result(forced=True)
        return self.retrieve.solve(work, *rows, forced=bool(self.tools.names))

    def _missing(self, work: Work) -> str | None:
        """Returns the facts that are missing, in words; ``None`` where the graph may suffice."""
        reply = work.ask(self.define_next_step, calls_made=work.calls_made())
        return str(reply.missing) if reply is not None and reply.next_step == "insert" else None
