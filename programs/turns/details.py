"""The parts of a turn that only graphs have: the triples of an answer, the query, or the paths to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from kg.paths import Topics
from kg.search import SearchStatistics
from programs.turns.codecs import PlainField


@dataclass(frozen=True)
class QueryDetail:
    """The query of a question that was parsed over any graph.

    Attributes:
        path: The query, as a path of names and operations; empty without an answer.
        facts: The triples that it rests on.
        nodes: The names of the nodes that answer it, or that it counts.
    """

    path: str = ""
    facts: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextDetail:
    """The grounds of an answer from texts.

    Attributes:
        facts: What it rests on, one line each with the sentence and its source.
        retrieved: The inserted facts that it was retrieved from, with their paths.
    """

    facts: tuple[str, ...] = ()
    retrieved: tuple[PlainField, ...] = ()


def trace_of(statistics: SearchStatistics) -> dict[str, int]:
    """A search's statistics under the names of the predictions file."""
    return {
        "total_paths_explored": statistics.total_paths_explored,
        "completed_paths": statistics.completed_paths,
        "max_depth_reached": statistics.max_depth_reached,
        "backtrack_count": statistics.backtrack_count,
    }


@dataclass(frozen=True)
class PathDetail:
    """The paths of a question that was answered by a search over a graph.

    Attributes:
        predictions: The paths with their answers as GCR's evaluation reads them, best first.
        answers: Answers with their confidences in [0, 1], best first.
        reasoning_trace: ``total_paths_explored``, ``completed_paths``, ``max_depth_reached``, ``backtrack_count``.
        raw_paths: The paths as they were found, with their scores (log-probabilities), best first.
        chosen: The selected answers, to be compared with all gold answers.
        topics: The entities that the question is about, and how they were found.
        refused: The number of rejected replies of a language model, which named nothing on their path.
    """

    predictions: tuple[str, ...] = ()
    answers: tuple[tuple[str, float], ...] = ()
    reasoning_trace: dict[str, int] = field(default_factory=lambda: trace_of(SearchStatistics(0, 0, 0, 0)))
    raw_paths: tuple[tuple[str, float], ...] = ()
    chosen: tuple[str, ...] = ()
    topics: Topics = field(default_factory=lambda: Topics(()))
    refused: int = 0

    @property
    def is_ambiguous(self) -> bool:
        """Whether the topic was linked by a label that several entities have; all of them are then topics."""
        return self.topics.linked is not None and self.topics.linked.is_ambiguous
