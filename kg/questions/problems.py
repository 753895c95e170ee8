"""The reason why a question about a graph cannot be read, in words.

>>> problem_of(graph, graph.lexicon.tags("Which countries with a coastline border Germany?"))
"'coastline' is no word of the graph, and the question is not read without it"
"""

from __future__ import annotations

from collections.abc import Sequence

from kg.errors import QueryError
from kg.questions.graph import EntityGraph
from kg.questions.sets import PhraseSets
from kg.questions.tagging import Tag, known_entities
from kg.questions.words import AUXILIARIES, DIFFERENCES, RATIOS, SHARES, steps_of, unknown_name, unknown_word
from kg.text import nearest

_UNREAD = "the question cannot be read whole with the graph's words"


class UnreadError(QueryError):
    """A question that the grammar does not cover, or that names something unknown."""


def problem_of(graph: EntityGraph, tags: Sequence[Tag]) -> str:
    """Returns why a question without a reading has none.

    Args:
        graph: The graph.
        tags: The question.
    """
    words = {tag.word for tag in tags}
    name = unknown_name(tags)
    if name is not None:
        labels = [graph.lexicon.label(node) for node in graph.lexicon.types]
        return f"the graph has no {name!r}; {nearest(name, labels)}"
    if not any(tag.named for tag in tags):
        return "the question names nothing that the graph has"
    strange = unknown_word(tags)
    if strange is not None:
        return f"{strange!r} is no word of the graph, and the question is not read without it"
    if not all(tag.known or not tag.named for tag in tags):
        return _UNREAD
    if tags[0].word in AUXILIARIES:
        return "the question does not say what is to be checked"
    if words & (DIFFERENCES | RATIOS | SHARES | {"times"}):
        return "a comparison needs two values: one property of two entities, or two of one"
    if any(tag.degree is not None for tag in tags):
        return "the question does not say what is to be compared, or the graph does not have it"
    return _missing(graph, tags)


def _missing(graph: EntityGraph, tags: Sequence[Tag]) -> str:
    """The gap in a question about known entities, classes and properties."""
    label, nodes = graph.lexicon.label, known_entities(tags)
    if not nodes:
        return "the question does not say of what"
    properties = [prop for tag in tags for prop in tag.properties if not tag.entities]
    if not properties and not any(tag.classes for tag in tags):
        own = {edge.predicate for edge in graph.edges(nodes[0]) if edge.subject == nodes[0]}
        known = sorted(label(prop) for prop in own & graph.lexicon.properties.keys())
        return f"the question does not say what of {label(nodes[0])} is asked: {', '.join(known)}"
    literal = [prop for prop in properties if graph.lexicon.properties[prop].literal]
    if literal and not any(graph.has(node, prop) for node in nodes for prop in literal):
        return f"the graph has no {label(literal[0])} of {label(nodes[0])}"
    sets = PhraseSets(graph)
    steps = [step for tag in tags if not tag.entities for step in steps_of(graph, tag)]
    kinds = [sets.kind(kind) for tag in tags for kind in tag.classes]
    joined = (sets.linked(kind, step, sets.entities(nodes)) for kind in kinds for step in steps)
    return "the graph has nothing that fits" if steps and kinds and not any(joined) else _UNREAD
