"""Questions with what they refer to, of graphs and of reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EntityReferenceKind = Literal["none", "possessive", "ellipsis", "implicit", "comparative"]
"""The way in which a question refers to entities; ``none`` for a question that is understood alone."""

ReferenceKind = Literal[EntityReferenceKind, "result", "periods"]
"""The same, or of a report: ``result`` (an earlier answer), ``periods`` ("the two years")."""


@dataclass(frozen=True)
class Resolution:
    """A question and what it refers to.

    Attributes:
        question: As asked.
        canonical: The same, standing alone.
        kind: Which reference it made; ``none`` for a question that stands alone.
        referents: The entities that it refers to without naming them.
        turns: The earlier turns that these, or the question's pattern, come from; counted from 0.
        by: Who resolved it: the ``graph``, or a ``language model``.
        problem: Why it could not be resolved; empty if it could.
    """

    question: str
    canonical: str
    kind: ReferenceKind = "none"
    referents: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()
    by: Literal["graph", "language model"] = "graph"
    problem: str = ""
