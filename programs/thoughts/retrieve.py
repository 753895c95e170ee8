"""The RETRIEVE branch: a query or the beam, an exact calculation, the answer, and the facts that it rests on."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, InvalidOperation

import dspy

from kg.derivations import Derivation
from kg.errors import ProgramError, QueryError
from kg.growing import BasicFact, QueryResult, facts_behind, retrieved_paths
from kg.paths import RelationScorer
from programs.thoughts.config import Thoughts
from programs.thoughts.types import query_examples
from programs.thoughts.work import GraphStep, Work
from programs.wording import completed, figures_in, is_grounded, node_names, rendered_rows, types_for
from signatures.thoughts import (
    DefineQuery,
    ExplainAnswer,
    ForcedQuery,
    ForcedSolution,
    NeedForMath,
    ParseSolution,
)

_FOUND_NOTHING = (
    "write names as the graph has them, properties as prop:, edges as edge: from the type left of their arrow to "
    "the one right of it, and what is selected as a variable of the pattern"
)
_NO_SPARQL = "this is no SPARQL: write SELECT ?name WHERE { ?node a type:... ; ... }, without FROM"

Rows = tuple[str, QueryResult]
"""A query and its rows; the query is empty where the beam found the rows."""


class Retrieve(dspy.Module):
    """Retrieves the answer of a question from a graph that may hold it.

    Args:
        scorer: The scorer of the beam's relations.
    """

    def __init__(self, scorer: RelationScorer) -> None:
        super().__init__()
        self.scorer = scorer
        self.define_query = dspy.Predict(DefineQuery)
        self.define_query.demos = query_examples()
        self.need_for_math = dspy.Predict(NeedForMath)
        self.parse_solution = dspy.Predict(ParseSolution)
        self.forced_query = dspy.Predict(ForcedQuery)
        self.forced_solution = dspy.Predict(ForcedSolution)
        self.explain_answer = dspy.Predict(ExplainAnswer)

    def forward(self, work: Work, *, forced: bool = False, rows_wanted: bool = False) -> dspy.Prediction:
        """Returns ``rows``, the :data:`Rows` of a query or the beam by the settings; ``None`` where neither has any.

        Args:
            work: The question and its record.
            forced: Whether the iterations are over.
            rows_wanted: Whether a query without rows is repaired too.
        """
        predict = self.forced_query if forced else self.define_query
        rows = self._queried(work, predict, rows_wanted) if work.config.retrieve != "beam" else None
        if work.config.retrieve != "query" and (rows is None or not rows[1].rows):
            try:
                search = GraphStep("search_paths", lambda question: {"rows": self._paths(work, question)})
                rows = "", search(question=work.question).rows
            except QueryError as error:
                work.refused.append(f"the beam found nothing: {error}")
        return dspy.Prediction(rows=rows)

    def _paths(self, work: Work, question: str) -> QueryResult:
        return retrieved_paths(work.graph, question, self.scorer, work.config.limits.rows)

    def _queried(self, work: Work, predict: dspy.Predict, rows_wanted: bool) -> Rows | None:
        """Returns a query and its rows; a failed query, or with ``rows_wanted`` an empty result, is repaired.

        Repairs are sampled, as small models repeat their query whatever the error message.
        """
        run_query = GraphStep("run_query", lambda query: {"rows": _bound_rows(work, query)})
        types = types_for(work.graph, work.question, work.config.shown)
        problem, rows, written = "none", None, set[str]()
        for attempt in range(work.config.repairs + 1):
            work.repairs["query"] += attempt > 0
            sampled = {"rollout_id": attempt, "temperature": 0.7} if attempt else {}
            reply = work.ask(predict, config=sampled, types=types, problem=problem)
            if reply is None:
                problem = work.unread
                continue
            bare = _unfenced(reply.query)
            query = completed(bare, work.graph.schema, work.graph.scope)
            work.repairs["completed"] += query != bare
            if query in written:
                continue
            written.add(query)
            try:
                rows = query, run_query(query=query).rows
            except QueryError as error:
                problem = f"{query}\n{error if '{' in query else _NO_SPARQL}"
                work.refused.append(str(error))
                continue
            if rows[1].rows or not rows_wanted:
                return rows
            problem = f"{query}\nit found nothing: {_FOUND_NOTHING}"
            work.refused.append(f"found nothing: {' '.join(query.split())}")
        return rows

    def answer(self, work: Work, query: str, rows: QueryResult, *, forced: bool) -> Thoughts:
        """Returns the answer from some rows, with the facts that it rests on.

        Args:
            work: The question and its record.
            query: The query that found the rows; empty where the beam did.
            rows: The rows.
            forced: Whether the iterations ended before the graph held enough, which selects the prompt.
        """
        text = rendered_rows(rows, node_names(work.graph))
        calculation, value = self._calculation(work, text)
        retrieved = text + (f"\n{calculation} = {value}" if calculation else "")
        reply = work.ask(self.forced_solution if forced else self.parse_solution, retrieved=retrieved)
        answer = reply.answer.strip() or None if reply is not None else None
        grounded = answer is None or (bool(rows.rows) and is_grounded(answer, retrieved, work.question))
        facts = _facts(work, query, rows) if answer is not None and grounded else ()
        explanation = self._explanation(work, answer, facts, retrieved) if answer is not None else ""
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

    def _explanation(self, work: Work, answer: str, facts: tuple[BasicFact, ...], retrieved: str) -> str:
        """Returns an explanation of the answer that the facts support; empty if none is wanted or supported."""
        if not (work.config.explain and facts):
            return ""
        lines = "\n".join(map(str, facts))
        reply = work.ask(self.explain_answer, facts=lines, answer=answer)
        explanation: str = reply.explanation.strip() if reply is not None else ""
        if explanation and not is_grounded(explanation, f"{lines}\n{retrieved}\n{answer}", work.question):
            work.refused.append(f"the explanation says more than the facts: {explanation}")
            return ""
        return explanation


def _bound_rows(work: Work, query: str) -> QueryResult:
    """Returns the rows of a query but those without a value: a variable may be missing in the pattern."""
    rows = work.graph.query(query, work.config.limits)
    return replace(rows, rows=tuple(row for row in rows.rows if any(value is not None for value in row)))


def _facts(work: Work, query: str, rows: QueryResult) -> tuple[BasicFact, ...]:
    """Returns the facts that the rows rest on: triples of the query's pattern, or the paths of the beam."""
    if not query:
        return tuple(BasicFact(str(row[-1])) for row in rows.rows)
    try:
        return facts_behind(work.graph, query, rows, work.config.limits)
    except QueryError as error:
        work.refused.append(f"the facts of the answer cannot be listed: {error}")
        return ()


def _unfenced(query: str) -> str:
    """A query without the marks of a code block."""
    lines = [line for line in query.strip().splitlines() if not line.strip().startswith("```")]
    return "\n".join(lines)
