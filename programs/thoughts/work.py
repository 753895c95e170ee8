"""The settings of the loop of thoughts, its result, and the record of one question on its way through the loop."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.errors import ConfigError
from kg.growing import Applied, GrowingGraph, TypePolicy
from kg.news import number_of
from programs.tools import within
from programs.turns import ToolCall
from programs.wording import rendered_graph


@dataclass(frozen=True)
class ThoughtsConfig:
    """Settings of the loop.

    Attributes:
        max_iterations: Retrievals, with an insert between two; at least 1.
        calls: Tool calls an iteration, at least 1.
        types: The policy of new types (:class:`kg.growing.TypeProposals`).
        patience: Seconds of a question, at least 1; then the step that runs is given up.
    """

    max_iterations: int = 4
    calls: int = 3
    types: TypePolicy = "never"
    patience: float = 300.0

    def __post_init__(self) -> None:
        for name in ("max_iterations", "calls", "patience"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")


@dataclass(frozen=True)
class BasicFact:
    """A fact that an answer rests on.

    Attributes:
        statement: A sentence of a source, or a fact of the graph in one line: ``Varna -> insured_by -> Meridian Re``.
        sources: The documents and calls of tools that state it.
    """

    statement: str
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.statement} ({'; '.join(self.sources)})" if self.sources else self.statement


@dataclass(frozen=True)
class Thoughts:
    """The record of a question that was answered from a growing graph.

    Attributes:
        answer: The answer, or ``None``; of a question in parts the answers with ``; `` between.
        why: Why there is none.
        parts: The questions that it was split into.
        queries: The queries of the graph that found answers, as paths.
        iterations: Retrievals.
        tool_calls: Every call, in order.
        applied: The insertions.
        refused: Calls, rows and answers that were refused, one line each.
        facts: The facts that the answer rests on, with their sources.
    """

    answer: str | None = None
    why: str = ""
    parts: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    iterations: int = 0
    tool_calls: tuple[ToolCall, ...] = ()
    applied: Applied = field(default_factory=Applied)
    refused: tuple[str, ...] = ()
    facts: tuple[BasicFact, ...] = ()

    @property
    def proposed(self) -> tuple[tuple[str, str], ...]:
        """The types that the model proposed, each with what became of it."""
        return tuple(
            (str(call.arguments.get("name")), call.output) for call in self.tool_calls if call.tool in TYPE_TOOLS
        )


TYPE_TOOLS = ("create_node_type", "create_edge_type")
"""Tools that change the schema and return no facts."""

LISTING = "list_documents"  # its output is no fact

_NODES, _SHOWN, _LISTED = 40, 120, 2_000
"""Nodes that a prompt shows, the nearest first; characters of an output, and of a list of files, in later prompts."""


class Work:
    """A question, its graph, and what was done for it.

    Args:
        question: The question.
        graph: The graph, which grows.
        today: The date by which freshness is judged.
        config: The loop's settings.
        report: Takes each step as it begins, in words; the attribute ``step``.

    Attributes:
        parts: The single facts that are asked for.
        decimals: Decimal places to which answers are rounded; below 0 for none.
        total: Whether the answer is the sum of several figures.
        answers: For each part that has one: its answer, its facts and its query.
        calls: Every call of a tool, in order.
        refused: Calls, rows and answers that were refused, one line each.
        applied: The insertions.
        iterations: Retrievals.
    """

    def __init__(
        self,
        question: str,
        graph: GrowingGraph,
        today: date,
        config: ThoughtsConfig,
        report: Callable[[str], object] = str,
    ) -> None:
        self.question, self.graph, self.today, self.config = question, graph, today, config
        self.step = report
        self.parts: list[str] = []
        self.decimals, self.total = -1, False
        self.answers: list[tuple[str, tuple[BasicFact, ...], str]] = []
        self.calls: list[ToolCall] = []
        self.refused: list[str] = []
        self.applied = Applied()
        self.iterations = 0
        self._end = time.monotonic() + config.patience

    def result(self) -> Thoughts:
        """Returns the record of the question; it has an answer where all parts have one."""
        found = self.answers if self.parts and len(self.answers) == len(self.parts) else []
        values = [value for answer, *_ in found for value in answer.split("; ")]
        numbers = [number for value in values if (number := number_of(value)) is not None]
        is_sum = self.total and len(numbers) == len(values) > 1
        return Thoughts(
            answer=f"{sum(numbers):,f}" if is_sum else "; ".join(values) or None,
            why="" if found else "; ".join(self.refused[-3:]) or "nothing was found",
            parts=tuple(self.parts),
            queries=tuple(query for _, _, query in found if query),
            iterations=self.iterations,
            tool_calls=tuple(self.calls),
            applied=self.applied,
            refused=tuple(self.refused),
            facts=tuple(fact for _, facts, _ in found for fact in facts),
        )

    def within(self, call: Callable[[], Any]) -> Any:
        """Returns what a call returns; ``None`` if the time of the question is over before."""
        try:
            return within(max(self._end - time.monotonic(), 0.1), call)
        except TimeoutError as error:
            self.refused.append(f"a step {error} and was given up")
            return None

    def ask(self, predict: dspy.Predict, **inputs: Any) -> Any:
        """Returns a reply, or ``None`` if it is late or cannot be parsed; passes graph, question and day as fields."""
        fields = predict.signature.input_fields
        if "graph" in fields:
            inputs["graph"] = rendered_graph(self.graph, self.question, _NODES)
        given = {"question": self.question, "today": self.today.isoformat()}
        inputs = {**{name: value for name, value in given.items() if name in fields}, **inputs}
        try:
            return self.within(lambda: predict(**inputs))
        except (AdapterParseError, RecursionError) as error:
            self.refused.append(f"the reply could not be read: {' '.join(str(error).split())[:200]}")
            return None

    def calls_made(self) -> str:
        """Returns the calls of tools with the beginnings of their outputs, for a prompt."""
        outputs = [" ".join(call.output.split())[: _LISTED if call.tool == LISTING else _SHOWN] for call in self.calls]
        calls = [f"{call.tool}({json.dumps(call.arguments, default=str)})" for call in self.calls]
        lines = [f"{call}: {output}" for call, output in zip(calls, outputs, strict=True)]
        return "\n".join(lines) if lines else "none"
