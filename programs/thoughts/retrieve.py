"""The RETRIEVE branch: BeamQA over the growing graph, an exact calculation, the answer, and the facts that it rests on.

*Understand* writes a SPARQL query, which is executed. A refused query is written again with the reason, a bounded
number of times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.errors import ProgramError, QueryError
from kg.growing import BasicFact, QueryResult, facts_behind
from kg.search import Derivation
from programs.aggregate import Choice, EvidenceConfig, EvidencePlan, Execution, ScoredCandidates
from programs.beam import BeamQA
from programs.thoughts.work import GraphStep, Thoughts, Work
from programs.turns import AnyTurn, Turn
from programs.wording import figures_in, is_grounded, node_names, rendered_rows, types_for
from programs.worlds.base import Search
from signatures.thoughts import DefineQuery, NeedForMath, ParseSolution
from signatures.understand import Understanding

_FOUND_NOTHING = (
    "write names as the graph has them, properties as prop:, edges as edge: from the type left of their arrow to "
    "the one right of it, and what is selected as a variable of the pattern"
)
_NO_SPARQL = "this is no SPARQL: write SELECT ?name WHERE { ?node a type:... ; ... }, without FROM"

Rows = tuple[str, QueryResult]
"""A query and its rows."""


class GrowingSearch(Search):
    """The search for one question in a growing graph.

    Args:
        work: The question and its record.
        rows_wanted: Whether a query without rows is refused too.
    """

    signature = DefineQuery

    def __init__(self, work: Work, *, rows_wanted: bool = False) -> None:
        self.work, self.rows_wanted = work, rows_wanted
        self.question, self.attempts = work.question, work.config.repairs + 1  # type: ignore[misc]
        self.rows: Rows | None = None
        self._queries: list[str] = []
        self._problem, self._place = "none", 0
        self._run = GraphStep(lambda query: {"rows": _bound_rows(work, query)})

    def asks(self, plan: EvidencePlan, lm: Any) -> bool:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.asks`."""
        return True

    def prompt(self, config: EvidenceConfig, predict: Any) -> dict[str, Any]:  # noqa: ARG002
        """See :meth:`programs.worlds.base.Search.prompt`; the record of the question adds the graph and the day."""
        return {"types": types_for(self.work.graph, self.question, self.work.config.shown)}

    def reply(self, predict: Any, **inputs: Any) -> Any:
        """Asks for a query; repairs are sampled, as small models repeat their query whatever the error message."""
        self.work.repairs["query"] += self._place > 0
        sampled = {"rollout_id": self._place, "temperature": 0.7} if self._place else {}
        self._place += 1
        return self.work.ask(predict, config=sampled, problem=self._problem, **inputs)

    def understanding(self, reply: Any, refused: Sequence[str]) -> Understanding:
        """See :meth:`programs.worlds.base.Search.understanding`."""
        query = reply.query if reply is not None else "none"
        return Understanding(description=self.question, calculation=query, refused=list(refused))

    def execute(self, reply: Any, refused: Sequence[str] = ()) -> Execution:
        """See :meth:`programs.worlds.base.Search.execute`."""
        work = self.work
        if reply is None:
            self._problem = work.unread
            raise QueryError(work.unread)
        query = _unfenced(reply.query)
        if query in self._queries:
            raise QueryError("the query was written before")
        self._queries.append(query)
        try:
            self.rows = query, self._run(query=query).rows
        except QueryError as error:
            self._refuse(f"{query}\n{error if '{' in query else _NO_SPARQL}", str(error))
            raise
        if self.rows_wanted and not self.rows[1].rows:
            self._refuse(f"{query}\nit found nothing: {_FOUND_NOTHING}", f"found nothing: {' '.join(query.split())}")
            raise QueryError("the query found nothing")
        return Execution(self.understanding(reply, refused), self.rows)

    def _refuse(self, problem: str, reason: str) -> None:
        self._problem = problem
        self.work.refused.append(reason)

    def combine(self, execution: Execution | None) -> Choice:
        """The rows of the query."""
        candidates = (self.rows,) if self.rows is not None else ()
        understanding = execution.understanding if execution is not None else None
        return Choice(candidates, ScoredCandidates((1.0,) * len(candidates), 0.0), understanding=understanding)

    def turn(self, choice: Choice, config: EvidenceConfig) -> AnyTurn:  # noqa: ARG002
        """The turn with the rows that the query found."""
        return Turn(self.question, understanding=choice.understanding, detail=next(iter(choice.candidates), None))

    def grounds(self, turn: AnyTurn) -> dict[str, str]:
        """See :meth:`programs.worlds.base.Search.grounds`."""
        query, rows = turn.detail if turn.detail is not None else ("", None)
        return {"calculation": query, "facts": rendered_rows(rows, node_names(self.work.graph)) if rows else "none"}


class Retrieve(BeamQA):
    """Retrieves the answer of a question from a graph that may hold it."""

    def __init__(self) -> None:
        super().__init__(signature=DefineQuery, explain=True)
        self.need_for_math = dspy.Predict(NeedForMath)
        self.parse_solution = dspy.Predict(ParseSolution)

    def forward(self, work: Work, *, rows_wanted: bool = False) -> dspy.Prediction:  # type: ignore[override]
        """Returns ``rows``, the :data:`Rows` of a query; ``None`` where no query could be executed.

        Args:
            work: The question and its record.
            rows_wanted: Whether a query without rows is repaired too.
        """
        search = GrowingSearch(work, rows_wanted=rows_wanted)
        choice = self.aggregate(search, self.evidence, self._understood(search, self.evidence))
        return dspy.Prediction(rows=next(iter(choice.candidates), None))

    def solve(self, work: Work, query: str, rows: QueryResult, *, forced: bool) -> Thoughts:
        """Returns the answer from some rows, with the facts that it rests on.

        Args:
            work: The question and its record.
            query: The query that found the rows.
            rows: The rows.
            forced: Whether the iterations ended before the graph held enough.
        """
        text = rendered_rows(rows, node_names(work.graph))
        calculation, value = self._calculation(work, text)
        retrieved = text + (f"\n{calculation} = {value}" if calculation else "")
        reply = work.ask(self.parse_solution, retrieved=retrieved)
        answer = reply.answer.strip() or None if reply is not None else None
        grounded = answer is None or (bool(rows.rows) and is_grounded(answer, retrieved, work.question))
        facts = facts_behind(work.graph, rows) if answer is not None and grounded else ()
        explanation = self._explanation(work, answer, facts, calculation) if answer is not None else ""
        return work.result(
            forced=forced,
            answer=answer,
            retrieved=rows,
            query=query,
            calculation=calculation,
            grounded=grounded,
            facts=facts,
            explanation=explanation,
        )

    def _calculation(self, work: Work, retrieved: str) -> tuple[str, str]:
        """Returns the calculation that is needed and its exact result; both empty if none is, or without figures."""
        known = figures_in(retrieved)
        if not known:
            return "", ""
        for attempt in range(work.config.repairs + 1):
            work.repairs["calculation"] += attempt > 0
            reply = work.ask(self.need_for_math, retrieved=retrieved)
            written = "none" if reply is None else reply.calculation.strip()
            if not written or written.lower().rstrip(".") == "none":
                return "", ""
            try:
                derivation = Derivation.parse(written)
                if not {Decimal(number.text.rstrip("%")) for number in derivation.numbers} <= known:
                    raise ProgramError(f"{written} uses figures that were not retrieved")
                return written, str(derivation.execute())
            except (ProgramError, InvalidOperation) as error:
                work.refused.append(str(error))
        return "", ""

    def _explanation(self, work: Work, answer: str, facts: tuple[BasicFact, ...], calculation: str) -> str:
        """Returns an explanation of the answer that the facts support; empty if none is wanted or supported."""
        if not (work.config.explain and facts):
            return ""
        grounds = {"calculation": calculation or "none", "facts": "\n".join(map(str, facts))}
        try:
            return self.answer.explanation(work.question, answer, **grounds)
        except (AdapterParseError, RecursionError):
            return ""


def _bound_rows(work: Work, query: str) -> QueryResult:
    """Returns the rows of a query but those without a value: a variable may be missing in the pattern."""
    rows = work.graph.query(query, work.config.limits)
    return replace(rows, rows=tuple(row for row in rows.rows if any(value is not None for value in row)))


def _unfenced(query: str) -> str:
    """A query without the marks of a code block."""
    lines = [line for line in query.strip().splitlines() if not line.strip().startswith("```")]
    return "\n".join(lines)
