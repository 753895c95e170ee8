"""Proposals of new types by an agent, which a policy or a person decides on.

    proposals = TypeProposals(graph, "review")
    proposals.propose(NodeType("Regulation", ...))        # "pending"
    proposals.accept("Regulation")                        # now nodes of it may be written

A proposal that is not well-formed, or that says what another type says already, is refused under every policy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from kg.errors import ConfigError, SchemaError
from kg.growing.graph import GrowingGraph
from kg.growing.schema import EdgeType, NodeType, Schema
from kg.text import nearest

TypePolicy = Literal["auto", "review", "never"]
"""The treatment of a well-formed proposal: accepted at once, kept for a person, or refused."""

Verdict = Literal["accepted", "pending"]
"""The result of a proposal that was not refused."""


class TypeProposals:
    """The proposals of a graph.

    Args:
        graph: The graph, which also holds the queue.
        policy: What becomes of a well-formed proposal.
    """

    def __init__(self, graph: GrowingGraph, policy: TypePolicy = "review") -> None:
        if policy not in get_args(TypePolicy):
            raise ConfigError(f"policy must be one of {', '.join(get_args(TypePolicy))}, got {policy!r}")
        self._graph = graph
        self.policy = policy

    def propose(self, new: NodeType | EdgeType) -> Verdict:
        """Takes a proposal.

        Raises:
            SchemaError: It is refused; the message says why.
        """
        if self.policy == "never":
            raise SchemaError("new types are not allowed here: use an existing one")
        if self.policy == "auto":
            self._graph.change_schema(self._graph.schema.with_type(new))
            return "accepted"
        waiting = self._graph.proposed
        # It may lead to a type that waits, and may not repeat one.
        Schema((*self._graph.schema.types, *waiting.types)).with_type(new)
        self._graph.change_proposed(replace(waiting, types=(*waiting.types, new)))
        return "pending"

    def pending(self) -> tuple[NodeType | EdgeType, ...]:
        """The proposals that wait, the oldest first."""
        return self._graph.proposed.types

    def accept(self, name: str) -> NodeType | EdgeType:
        """Makes a proposal that waits one of the graph's types, in one transaction.

        Raises:
            SchemaError: No such proposal waits, or it does not fit the schema any more.
        """
        found = self._waiting(name)
        schema = self._graph.schema
        # An earlier version stored the type first and could be stopped before it left the queue.
        taken = schema if found in schema.types else schema.with_type(found)
        self._graph.change_schema(taken, self._without(found))
        return found

    def refuse(self, name: str) -> NodeType | EdgeType:
        """Drops a proposal that waits.

        Raises:
            SchemaError: No such proposal waits.
        """
        found = self._waiting(name)
        self._graph.change_proposed(self._without(found))
        return found

    def _waiting(self, name: str) -> NodeType | EdgeType:
        waiting = {kind.name: kind for kind in self.pending()}
        if name not in waiting:
            raise SchemaError(f"no type {name!r} waits for review; {nearest(name, waiting)}")
        return waiting[name]

    def _without(self, found: NodeType | EdgeType) -> Schema:
        return Schema(tuple(kind for kind in self._graph.proposed.types if kind != found))
