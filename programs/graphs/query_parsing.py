"""The prompt by which a language model parses a question to the algebra of :mod:`kg.parsing`.

    >>> shown = shown_of("who made Alien?", reader, reading, past)
    >>> query_signature(shown)

The reply chooses one of the beam's readings, or has a start and relations of the graph, which the signature lists. Its
values must be names of the graph, numbers, dates or results of earlier steps (:mod:`programs.graphs.query_replies`).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, Literal

import dspy
import numpy as np
from pydantic import create_model

from kg.graphs import FactGraph
from kg.parsing import DialogueTurn, Parse, QuestionReader, Reading, telling
from programs.graphs.query_replies import Shown
from signatures.queries import CLASS_RELATION, NOTHING, GraphQuery, QueryStep, UnderstandGraph

MOST_RELATIONS, MOST_CLASSES, MOST_NAMES, MOST_READINGS, MOST_TEXTS, MOST_TURNS = 60, 30, 40, 8, 8, 4
_MOST_SUBJECTS, _MOST_COMPARED = 500, 20_000
"""Subjects of a relation whose texts are read, and nodes of a graph whose names are compared with a question."""


def query_signature(shown: Shown, signature: type[dspy.Signature] = UnderstandGraph) -> Any:
    """The signature whose replies start at the names, use the relations and choose among the readings of a prompt."""
    kept = (CLASS_RELATION,) if shown.classes else ()
    relation: Any = Literal[tuple(dict.fromkeys((*shown.relations, *kept, NOTHING)))]
    step: Any = create_model("QueryStep", __base__=QueryStep, relation=(relation, QueryStep.model_fields["relation"]))
    types: dict[str, Any] = {
        "reading": Literal[tuple(range(len(shown.readings) + 1))],
        "start": Literal[tuple(dict.fromkeys((*shown.starts, NOTHING)))],
        "steps": list[step],
    }
    fields: dict[str, Any] = {name: (type_, GraphQuery.model_fields[name]) for name, type_ in types.items()}
    query = create_model("GraphQuery", __base__=GraphQuery, **fields)
    return signature.with_updated_fields("query", type_=query)


def shown_of(question: str, reader: QuestionReader, reading: Reading, past: Sequence[DialogueTurn]) -> Shown:
    """The part of a graph that a prompt shows for a question.

    Args:
        question: The question.
        reader: The reader of the graph.
        reading: The beam's reading.
        past: The turns before it.
    """
    graph = reader.graph
    relations, names = _nearest(reader, question), _names(graph, question, reading, past)
    classes = {one.names[0]: number for number, one in enumerate(graph.classes[:MOST_CLASSES])}
    readings, recent = reading.parses[:MOST_READINGS], past[-MOST_TURNS:]
    guesses = [f"{number}. {telling(one, graph)}" for number, one in enumerate(readings, 1)]
    if guesses and reading.unknown:
        guesses.append(f"no reading uses: {', '.join(reading.unknown)}")
    answers = {
        f"answer {number}": turn.parse.nodes
        for number, turn in enumerate(recent, 1)
        if turn.parse is not None and _may_start(turn.parse)
    }
    inputs = {
        "relations": "\n".join(_example(graph, relation) for relation in relations.values()),
        "classes": "; ".join(f"{name} ({len(graph.classes[one].members)})" for name, one in classes.items()) or "none",
        "entities": "; ".join(names) or "none",
        "history": "\n".join(_line(graph, number, turn) for number, turn in enumerate(recent, 1)) or "none",
        "readings": "\n".join(guesses) or "none",
        "question": question,
    }
    return Shown(names, classes, relations, answers, readings, inputs)


def _nearest(reader: QuestionReader, question: str) -> dict[str, int]:
    """The relations that are shown, by name: all, or the nearest to the words of the question."""
    graph = reader.graph
    order = list(range(len(graph.relations)))
    if len(order) > MOST_RELATIONS:
        likeness = reader.vocabulary.likeness(question.lower().split()).max(axis=0)[: len(order)]
        order = np.argsort(-likeness, kind="stable")[:MOST_RELATIONS].tolist()
    return {graph.relations[relation].names[0]: int(relation) for relation in reversed(order)}


def _names(graph: FactGraph, question: str, reading: Reading, past: Sequence[DialogueTurn]) -> dict[str, int]:
    """The nodes that are named, referred to, or were spoken of, by name, and others whose names are written alike.

    The first node of a name is shown.
    """
    nodes = [node for some in reading.named for node in some]
    for turn in reversed(past[-MOST_TURNS:]):
        nodes += turn.parse.nodes[:10] if turn.parse is not None else ()
        nodes += [node for some in turn.named for node in some]
    found: dict[str, int] = {}
    for node in (*nodes, *_alike(graph, question)):
        if len(found) < MOST_NAMES and graph.values[node].kind in ("entity", "text") and not graph.is_nameless(node):
            found.setdefault(graph.name(node), node)
    return found


def _alike(graph: FactGraph, question: str) -> list[int]:
    """The entities with the most letters in common with a question, first; a misspelt name is among them.

    A graph with more than :data:`_MOST_COMPARED` nodes has none: its names would take longer than the reply.
    """
    if len(graph.names) > _MOST_COMPARED:
        return []
    asked = _trigrams(question)
    shares = []
    for node, names in enumerate(graph.names):
        if graph.is_entity(node):
            own = _trigrams(names[0])
            shares.append((-len(asked & own) / len(own), node))
    return [node for _, node in heapq.nsmallest(MOST_NAMES, shares)]


def _trigrams(text: str) -> set[str]:
    low = f" {text.lower()} "
    return {low[place : place + 3] for place in range(max(len(low) - 2, 1))}


def _example(graph: FactGraph, relation: int) -> str:
    """A relation with one of its facts, and all its texts if they are few.

    Such as "captain: Larkspur (ship) -> Mara Stenhouse (person)", "night (Monday, Tuesday): Wards (drama) -> Monday".
    """
    described = graph.relations[relation]
    subjects = graph.subjects(relation)
    if not subjects:
        return described.names[0]
    other = graph.follow(subjects[0], relation)[0]
    unit = f" {described.unit}" if described.unit else ""
    few = ""
    if described.kind == "text":
        texts = dict.fromkeys(
            graph.name(end) for node in subjects[:_MOST_SUBJECTS] for end in graph.follow(node, relation)
        )
        few = f" ({', '.join(texts)})" if 1 < len(texts) <= MOST_TEXTS else ""
    return f"{described.names[0]}{few}: {_with_class(graph, subjects[0])} -> {_with_class(graph, other)}{unit}"


def _with_class(graph: FactGraph, node: int) -> str:
    kinds = graph.types[node]
    return f"{graph.name(node)} ({graph.classes[kinds[0]].names[0]})" if kinds else graph.name(node)


def _line(graph: FactGraph, number: int, turn: DialogueTurn) -> str:
    """An earlier turn: "1. how many ships are there? -> 2: Larkspur, Bellwether (answer 1)"."""
    parse = turn.parse
    if parse is None:
        return f"{number}. {turn.text} -> not answered"
    if parse.holds is not None:
        return f"{number}. {turn.text} -> {'yes' if parse.holds else 'no'}"
    names = ", ".join(graph.name(node) for node in parse.nodes[:8])
    if parse.number is not None:
        names = f"{parse.number:f}: {names}" if parse.operation == "count" else f"{parse.number:f}"
    return f"{number}. {turn.text} -> {names}" + (f" (answer {number})" if _may_start(parse) else "")


def _may_start(parse: Parse) -> bool:
    """Whether a later question may speak of the nodes of an answer: what it names or counts."""
    return bool(parse.nodes) and parse.operation in ("", "count")
