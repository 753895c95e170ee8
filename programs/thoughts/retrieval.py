"""The RETRIEVE branch: a query or the beam, an exact calculation, the answer, and the facts that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import dspy

from kg.derivations import Derivation
from kg.errors import ProgramError, QueryError
from kg.growing import BasicFact, QueryResult, facts_behind, retrieved_paths
from programs.thoughts.config import Thoughts
from programs.thoughts.grounding import figures_in, is_grounded
from programs.thoughts.steps import GraphStep
from programs.wording import completed, node_names, rendered_rows, types_for

if TYPE_CHECKING:
    from programs.thoughts.loop import KnowledgeGraphOfThoughts
    from programs.thoughts.work import Work

_FOUND_NOTHING = (
    "write names as the graph has them, properties as prop:, edges as edge: from the type left of their arrow to "
    "the one right of it, and what is selected as a variable of the pattern"
)
_NO_SPARQL = "this is no SPARQL: write SELECT ?name WHERE { ?node a type:... ; ... }, without FROM"


class Retrieval:
    """The retrieval of an answer for one question.

    Args:
        program: The predictors.
        work: The question and its record.
    """

    def __init__(self, program: KnowledgeGraphOfThoughts, work: Work) -> None:
        self.program, self.work = program, work
        self.run_query = GraphStep("run_query", self._rows)
        self.search_paths = GraphStep("search_paths", self._paths)

    def found(self, predict: dspy.Predict, *, rows_wanted: bool = False) -> tuple[str, QueryResult] | None:
        """Returns the rows of a query or the beam, by the settings; a beam's query is empty."""
        work = self.work
        found = self._queried(predict, rows_wanted=rows_wanted) if work.config.retrieve != "beam" else None
        if work.config.retrieve == "query" or (found is not None and found[1].rows):
            return found
        try:
            return "", self.search_paths(question=work.question).found
        except QueryError as error:
            work.refused.append(f"the beam found nothing: {error}")
            return found

    def solve(self, result: Thoughts, query: str, rows: QueryResult) -> Thoughts:
        """Returns a result with the answer from some rows, and the facts that it rests on.

        Args:
            result: The result so far; ``forced`` selects the prompt.
            query: The query that found the rows; empty where the beam did.
            rows: The rows.
        """
        work, program = self.work, self.program
        calculation, value = self._calculate(rows)
        retrieved = self._rendered(rows) + (f"\n{calculation} = {value}" if calculation else "")
        reply = work.ask(program.forced_solution if result.forced else program.parse_solution, retrieved=retrieved)
        answer = reply.answer.strip() or None if reply is not None else None
        grounded = answer is None or (bool(rows.rows) and is_grounded(answer, retrieved, work.question))
        facts = self._facts(query, rows) if answer is not None and grounded else ()
        explanation = self._explained(answer, facts, retrieved) if answer is not None else ""
        return replace(
            result,
            answer=answer,
            retrieved=rows,
            query=query,
            calculation=calculation,
            grounded=grounded,
            facts=facts,
            explanation=explanation,
            refused=tuple(work.refused),
            repairs={name: count for name, count in work.repairs.items() if count},
        )

    def _rows(self, query: str) -> Mapping[str, Any]:
        found = self.work.graph.query(query, self.work.config.limits)
        # A variable that is not in the pattern is unbound in every row.
        bound = tuple(row for row in found.rows if any(value is not None for value in row))
        return {"found": replace(found, rows=bound)}

    def _paths(self, question: str) -> Mapping[str, Any]:
        work = self.work
        return {"found": retrieved_paths(work.graph, question, self.program.scorer, work.config.limits.rows)}

    def _queried(self, predict: dspy.Predict, *, rows_wanted: bool = False) -> tuple[str, QueryResult] | None:
        """Returns a query and its rows; a failed query, or with ``rows_wanted`` an empty result, is repaired.

        Repairs are sampled, as small models repeat their query whatever the error message.
        """
        work = self.work
        types = types_for(work.graph, work.question, work.config.shown)
        problem, found, written = "none", None, set[str]()
        for attempt in range(work.config.repairs + 1):
            work.repairs["query"] += attempt > 0
            sampled = {"rollout_id": attempt, "temperature": 0.7} if attempt else {}
            reply = work.ask(predict, config=sampled, types=types, problem=problem)
            if reply is None:
                problem = work.unread
                continue
            query = self._completed(_unfenced(reply.query))
            if query in written:
                continue
            written.add(query)
            try:
                found = query, self.run_query(query=query).found
            except QueryError as error:
                problem = f"{query}\n{error if '{' in query else _NO_SPARQL}"
                work.refused.append(str(error))
                continue
            if found[1].rows or not rows_wanted:
                return found
            problem = f"{query}\nit found nothing: {_FOUND_NOTHING}"
            work.refused.append(f"found nothing: {' '.join(query.split())}")
        return found

    def _completed(self, query: str) -> str:
        graph = self.work.graph
        whole = completed(query, graph.schema, graph.scope)
        self.work.repairs["completed"] += whole != query
        return whole

    def _rendered(self, rows: QueryResult) -> str:
        return rendered_rows(rows, node_names(self.work.graph))

    def _calculate(self, rows: QueryResult) -> tuple[str, str]:
        """The calculation that is needed and its exact result; both empty if none is, or there are no figures."""
        work = self.work
        retrieved = self._rendered(rows)
        known = figures_in(retrieved)
        if not known:
            return "", ""
        for attempt in range(work.config.repairs + 1):
            work.repairs["calculation"] += attempt > 0
            reply = work.ask(self.program.need_for_math, retrieved=retrieved)
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
                work.refused.append(str(error))
        return "", ""

    def _facts(self, query: str, rows: QueryResult) -> tuple[BasicFact, ...]:
        """Returns the facts that the rows rest on: triples of the query's pattern, or the paths of the beam."""
        if not query:
            return tuple(BasicFact(str(row[-1])) for row in rows.rows)
        try:
            return facts_behind(self.work.graph, query, rows, self.work.config.limits)
        except QueryError as error:
            self.work.refused.append(f"the facts of the answer cannot be listed: {error}")
            return ()

    def _explained(self, answer: str, facts: tuple[BasicFact, ...], retrieved: str) -> str:
        """Returns an explanation of the answer that the facts support; empty if none is wanted or supported."""
        work = self.work
        if not (work.config.explain and facts):
            return ""
        stated = "\n".join(map(str, facts))
        reply = work.ask(self.program.explain_answer, facts=stated, answer=answer)
        explanation = reply.explanation.strip() if reply is not None else ""
        if explanation and not is_grounded(explanation, f"{stated}\n{retrieved}\n{answer}", work.question):
            work.refused.append(f"the explanation says more than the facts: {explanation}")
            return ""
        return explanation


def _unfenced(query: str) -> str:
    """A query without the marks of a code block."""
    lines = [line for line in query.strip().splitlines() if not line.strip().startswith("```")]
    return "\n".join(lines)
