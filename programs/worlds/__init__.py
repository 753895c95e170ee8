"""The worlds that questions are asked about: a report, a graph, a collection of texts (:mod:`programs.worlds.base`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from programs.worlds.base import World


def graph_world(graph: Any, config: Any, reader: Any, **about: Any) -> World:
    """The world of a graph or its index; a program's ``config`` and ``reader`` count if they are those for graphs."""
    from kg.graphs import GraphIndex
    from kg.paths import QuestionGraph
    from programs.worlds.graph import GraphConfig, GraphReader, GraphWorld

    own: dict[str, Any] = {"config": config} if isinstance(config, GraphConfig) else {}
    own |= {"paths": reader} if isinstance(reader, GraphReader) else {}
    return GraphWorld(QuestionGraph.over(graph) if isinstance(graph, GraphIndex) else graph, **{**own, **about})


def texts_world(texts: Any, **about: Any) -> World:
    """The world of the sentences of a growing graph, or of the answers that rules find in it."""
    from programs.worlds.news.answering import GraphAnswers
    from programs.worlds.texts import TextsWorld

    return TextsWorld(texts if isinstance(texts, GraphAnswers) else GraphAnswers(texts), **about)
