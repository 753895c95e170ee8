"""Proposals of new types by an agent, which a policy or a person decides on.

    proposals = TypeProposals(graph, "review")
    proposals.propose(NodeType("Regulation", ...))        # "pending"
    proposals.pending()                                   # a person adds them: finpath ingest --types FILE

A proposal that is not well-formed, or that says what another type says already, is refused under every policy. Where
only the meaning is near, the proposal may name the near type and so insist that it differs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from kg.arrays import FloatArray
from kg.errors import ConfigError, SchemaError
from kg.growing.graph import GrowingGraph
from kg.growing.schema import EdgeType, NodeType, Schema, spelled
from kg.logistic import BIAS, LogisticModel

TypePolicy = Literal["auto", "review", "never"]
"""The treatment of a well-formed proposal: accepted at once, kept for a person, or refused."""

Verdict = Literal["accepted", "pending"]
"""The result of a proposal that was not refused."""

SAME_MEANING = 0.35
"""From this probability a proposal must insist that it differs; the best balance (F1) in cross-validation."""

_SAME = LogisticModel({BIAS: -5.36, "name": 0.68, "description": 8.67})
"""Fitted on pairs of types (``benchmarks/type_pairs.py``)."""


@dataclass(frozen=True)
class TypeMeaning:
    """The meaning of types, for words without a common stem: "Physician" and "Doctor".

    Attributes:
        vectors: Returns a vector of length 1 for each text.
    """

    vectors: Callable[[Sequence[str]], FloatArray]

    def probability(self, new: NodeType, existing: NodeType) -> float:
        """Returns the probability that two types mean the same, in [0, 1]."""
        names = [tuple(dict.fromkeys((spelled(kind.name), *kind.labels))) for kind in (new, existing)]
        by_name = float((self.vectors(names[0]) @ self.vectors(names[1]).T).max())
        one, other = self.vectors([f"{spelled(kind.name)}: {kind.description}" for kind in (new, existing)])
        return _SAME.probability({"name": by_name, "description": float(one @ other)})


class TypeProposals:
    """The proposals of a graph.

    Args:
        graph: The graph, which also holds the queue.
        policy: What becomes of a well-formed proposal.
        meaning: The comparison of meanings; without it, types are compared by name, labels and description alone.
    """

    def __init__(self, graph: GrowingGraph, policy: TypePolicy = "review", meaning: TypeMeaning | None = None) -> None:
        if policy not in get_args(TypePolicy):
            raise ConfigError(f"policy must be one of {', '.join(get_args(TypePolicy))}, got {policy!r}")
        self._graph = graph
        self.policy = policy
        self._meaning = meaning

    def propose(self, new: NodeType | EdgeType, differs_from: Collection[str] = ()) -> Verdict:
        """Takes a proposal.

        Args:
            new: The type.
            differs_from: Types of a near meaning that the proposal insists to differ from.

        Raises:
            SchemaError: It is refused; the message says why.
        """
        with self._graph.writing:
            # In review it may lead to a type that waits, and may not repeat one.
            waiting = self.pending() if self.policy == "review" else ()
            known = Schema((*self._graph.schema.types, *waiting))
            known.with_type(new)
            self._check_meaning(new, known, differs_from)
            if self.policy == "never":
                raise SchemaError("new types are not allowed here: use an existing one")
            if self.policy == "review":
                self._graph.change_proposed(Schema((*waiting, new)))
                return "pending"
            self._graph.change_schema(Schema((*self._graph.schema.types, new)))
            return "accepted"

    def pending(self) -> tuple[NodeType | EdgeType, ...]:
        """The proposals that wait, the oldest first."""
        return self._graph.proposed.types

    def _check_meaning(self, new: NodeType | EdgeType, schema: Schema, differs_from: Collection[str]) -> None:
        """Raises SchemaError where an existing type means the same and the proposal does not insist."""
        if self._meaning is None:
            return
        is_edge = isinstance(new, EdgeType)
        found: Sequence[NodeType] = schema.edge_types() if is_edge else schema.node_types()
        near = [(self._meaning.probability(new, kind), kind) for kind in found if _comparable(new, kind)]
        likely = [pair for pair in near if pair[0] >= SAME_MEANING and pair[1].name not in differs_from]
        if likely:
            probability, twin = max(likely, key=lambda pair: pair[0])
            raise SchemaError(
                f"{new.name!r} seems to mean the same as {twin.name!r} ({twin.description}; {probability:.0%}): "
                f"use {twin.name!r}, or propose it again with differs_from {twin.name!r}"
            )


def _comparable(new: NodeType, existing: NodeType) -> bool:
    """Whether two types could be one: edges must have a common type at each end."""
    if isinstance(new, EdgeType) and isinstance(existing, EdgeType):
        ends = ((new.source_types, existing.source_types), (new.target_types, existing.target_types))
        return all(not one or not other or bool(set(one) & set(other)) for one, other in ends)
    return True
