"""The worlds that questions are asked about: a report, a graph, a collection of texts (:mod:`programs.worlds.base`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from programs.worlds.base import World


def graph_world(graph: Any, config: Any, **about: Any) -> World:
    """The world of a graph; a program's ``config`` counts if it is one for graphs."""
    from programs.worlds.graph import GraphConfig, GraphWorld

    given = {"config": config} if isinstance(config, GraphConfig) else {}
    return GraphWorld(graph, **{**given, **about})


def texts_world(texts: Any, **about: Any) -> World:
    """The world of the sentences of a growing graph, or of the answers that rules find in it."""
    from programs.worlds.news.answering import GraphAnswers
    from programs.worlds.texts import TextsWorld

    return TextsWorld(texts if isinstance(texts, GraphAnswers) else GraphAnswers(texts), **about)
