"""The settings of the loop of thoughts, its result, and the record of one question on its way through the loop."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.errors import ConfigError
from kg.growing import Applied, BasicFact, GrowingGraph, QueryLimits, QueryResult, TypePolicy
from programs.turns import ToolCall
from programs.wording import rendered_graph


@dataclass(frozen=True)
class ThoughtsConfig:
    """Settings of the loop.

    Attributes:
        max_iterations: Inserts and retrieves together, at least 1.
        repairs: Repeated attempts after a failed query or update, at least 0.
        calls: Tool calls an iteration, at least 1.
        shown: Nodes that a prompt shows, those nearest to the question first; at least 1.
        limits: The limits of a query.
        types: Whether new types of nodes and edges can be proposed: ``never``, or by which policy
            (:class:`kg.growing.TypeProposals`).
        explain: Whether the model also explains the answer in sentences, from the facts that it rests on.
    """

    max_iterations: int = 5
    repairs: int = 2
    calls: int = 3
    shown: int = 40
    limits: QueryLimits = field(default_factory=QueryLimits)
    types: TypePolicy = "never"
    explain: bool = False

    def __post_init__(self) -> None:
        for name in ("max_iterations", "calls", "shown"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.repairs < 0:
            raise ConfigError(f"repairs must be at least 0, got {self.repairs}")


@dataclass(frozen=True)
class Thoughts:
    """The record of a question that was answered from a growing graph.

    Attributes:
        answer: The answer, or ``None``.
        retrieved: The rows that support it.
        query: The query that found them.
        calculation: The calculation with them, if any.
        iterations: Decisions taken.
        tool_calls: Every call, in order.
        applied: The insertions.
        repairs: The number of repeated attempts by ``query``, ``update`` and ``calculation``.
        refused: Calls and operations that were refused, one line each.
        forced: Whether the iterations ended before the graph held enough.
        facts: The facts that the answer rests on, with their sources and passages.
        explanation: The answer's explanation in sentences that the facts support; empty where none was asked for.
        grounded: Whether rows support the answer, and every figure of it occurs in them or was calculated from them.
    """

    answer: str | None = None
    retrieved: QueryResult | None = None
    query: str = ""
    calculation: str = ""
    iterations: int = 0
    tool_calls: tuple[ToolCall, ...] = ()
    applied: Applied = field(default_factory=Applied)
    repairs: Mapping[str, int] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    forced: bool = False
    grounded: bool = True
    facts: tuple[BasicFact, ...] = ()
    explanation: str = ""

    @property
    def proposed(self) -> tuple[tuple[str, str], ...]:
        """The types that the model proposed, each with what became of it."""
        return tuple(
            (str(call.arguments.get("name")), call.output) for call in self.tool_calls if call.tool in TYPE_TOOLS
        )

    @property
    def supported(self) -> tuple[str | None, str]:
        """The answer if rows of the graph support it; else ``None`` with the reason."""
        if self.answer is None or self.answer.casefold().strip(" .") in ("unknown", "none", "no answer"):
            return None, "; ".join(self.refused[-3:]) or "nothing was found"
        if self.retrieved is None or not self.retrieved.rows:
            return None, f"nothing in the graph says so; the model alone says {self.answer!r}"
        if not self.grounded:
            return None, f"what was found does not say so; the model alone says {self.answer!r}"
        return self.answer, ""


TYPE_TOOLS = ("create_node_type", "create_edge_type")
"""Tools that change the schema and return no facts."""

NAVIGATION = ("list_documents", "extract_archive")
"""Tools that list the files; their outputs are no facts."""

_SHOWN, _LISTED = 120, 2_000
"""Characters of an output, and of a list of files, that later prompts show."""


class GraphStep(dspy.Module):
    """A step on the graph that asks no language model, as a module so that a trace shows its inputs and outputs.

    >>> run_query = GraphStep(lambda query: {"rows": graph.query(query).rows})
    >>> run_query(query="SELECT ?name WHERE { ?c a type:Company ; rdfs:label ?name }").rows
    (('Helixon Inc.',),)

    Args:
        work: Takes the step's inputs by name and returns its outputs by name.
    """

    def __init__(self, work: Callable[..., Mapping[str, Any]]) -> None:
        super().__init__()
        self._work = work

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Returns the step's outputs."""
        return dspy.Prediction(**self._work(**inputs))


class Work:
    """A question, its graph, and what was done for it.

    Args:
        question: The question.
        graph: The graph, which grows.
        today: The date by which freshness is judged.
        config: The loop's settings.

    Attributes:
        calls: Every call of a tool, in order.
        refused: Calls and operations that were refused, one line each.
        repairs: Repeated attempts, by kind.
        applied: The insertions.
        unread: The problem of the last reply that could not be read.
        iterations: Decisions taken.
    """

    def __init__(self, question: str, graph: GrowingGraph, today: date, config: ThoughtsConfig) -> None:
        self.question, self.graph, self.today, self.config = question, graph, today, config
        self.calls: list[ToolCall] = []
        self.refused: list[str] = []
        self.repairs: Counter[str] = Counter()
        self.applied = Applied()
        self.unread = ""
        self.iterations = 0

    def __repr__(self) -> str:
        return f"Work({self.question!r})"

    def result(self, *, forced: bool, **answer: Any) -> Thoughts:
        """Returns the record of the question, with the fields of an answer if there is one."""
        return Thoughts(
            iterations=self.iterations,
            tool_calls=tuple(self.calls),
            applied=self.applied,
            repairs={name: count for name, count in self.repairs.items() if count},
            refused=tuple(self.refused),
            forced=forced,
            **answer,
        )

    def ask(self, predict: dspy.Predict, **inputs: Any) -> Any:
        """Returns a reply, or ``None`` if it cannot be parsed; passes graph and question where they are fields."""
        fields = predict.signature.input_fields
        if "graph" in fields:
            inputs["graph"] = rendered_graph(self.graph, self.question, self.config.shown)
        given = {"question": self.question, "today": self.today.isoformat()}
        inputs |= {name: value for name, value in given.items() if name in fields}
        try:
            return predict(**inputs)
        except (AdapterParseError, RecursionError) as error:
            self.unread = f"the reply could not be read: {' '.join(str(error).split())[:200]}"
            self.refused.append(self.unread)
            return None

    def calls_made(self) -> str:
        """Returns the calls of tools with the beginnings of their outputs, for a prompt."""
        lines = [f"{call.tool}({json.dumps(call.arguments, default=str)}): {_short(call)}" for call in self.calls]
        return "\n".join(lines) if lines else "none"

    def is_repeated(self, tool: str, arguments: dict[str, Any], *, failed: bool = True) -> bool:
        """Whether a call was made already; calls that failed count if ``failed``."""
        made = [call for call in self.calls if failed or not call.failed]
        return any((call.tool, call.arguments) == (tool, arguments) for call in made)


def _short(call: ToolCall) -> str:
    flat, most = " ".join(call.output.split()), _LISTED if call.tool in NAVIGATION else _SHOWN
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
