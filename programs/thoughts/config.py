"""The settings of the loop of thoughts, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from kg.errors import ConfigError
from kg.growing import COLUMNS, Applied, BasicFact, QueryLimits, QueryResult, TypePolicy
from programs.turns import ToolCall

Retrieval = Literal["query", "beam", "both"]
"""The way in which a graph that holds enough is asked: by a query that the model writes, by the beam over its paths, or
by a query and, where that fails or finds nothing, by the beam."""


@dataclass(frozen=True)
class ThoughtsConfig:
    """Settings of the loop.

    Attributes:
        max_iterations: Inserts and retrieves together, at least 1.
        repairs: Repeated attempts after a failed query or update, at least 0.
        calls: Tool calls an iteration, at least 1.
        shown: Nodes that a prompt shows, those nearest to the question first; at least 1.
        limits: The limits of a query; its rows bound the beam's too.
        retrieve: The way of retrieval from a graph that holds enough.
        types: Whether new types of nodes and edges can be proposed: ``never``, or by which policy
            (:class:`kg.growing.TypeProposals`).
        explain: Whether the model also explains the answer in sentences, from the facts that it rests on.
    """

    max_iterations: int = 5
    repairs: int = 2
    calls: int = 3
    shown: int = 40
    limits: QueryLimits = field(default_factory=QueryLimits)
    retrieve: Retrieval = "query"
    types: TypePolicy = "never"
    explain: bool = False

    def __post_init__(self) -> None:
        for name in ("max_iterations", "calls", "shown"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.retrieve not in get_args(Retrieval):
            raise ConfigError(f"retrieve must be one of {', '.join(get_args(Retrieval))}, got {self.retrieve!r}")
        if self.repairs < 0:
            raise ConfigError(f"repairs must be at least 0, got {self.repairs}")


@dataclass(frozen=True)
class Thoughts:
    """The record of a question that was answered from a growing graph.

    Attributes:
        answer: The answer, or ``None``.
        retrieved: The rows that support it.
        query: The query that found them; empty where the beam did.
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
        names = {"create_node_type": "name", "create_edge_type": "name", "add_properties": "type_name"}
        return tuple(
            (str(call.arguments.get(names[call.tool])), call.output) for call in self.tool_calls if call.tool in names
        )

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that the answer rests on, where the beam retrieved it."""
        if self.retrieved is None or self.retrieved.columns != COLUMNS or self.query:
            return ()
        return tuple(str(path) for _, path in self.retrieved.rows)

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
