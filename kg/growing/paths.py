"""A growing graph asked by the beam: entities by name, edges and properties as relations, answers with their paths.

    >>> found = retrieved_paths(graph, "in which sector is Helixon?", LearnedRelationScorer.untrained(), most=10)
    >>> found.rows
    (('Semiconductors', 'Helixon Inc. -> in_sector -> Semiconductors'),)

Names that several nodes bear are told apart by their types: ``Helixon (Asset)``. Values of properties are ends of paths
like nodes. Other names of a node lead to it. Classes are no entities: a question names what it asks for by them.
"""

from __future__ import annotations

import math
from collections import Counter
from urllib.parse import unquote

from rdflib.namespace import RDFS, SKOS

from kg.errors import QueryError
from kg.graphs import GraphIndex
from kg.growing.graph import GrowingGraph
from kg.growing.query import QueryResult
from kg.growing.terms import EDGE, NODE, PROPERTY
from kg.growing.view import entity_view
from kg.paths import PathConfig, QuestionGraph, RelationScorer, answer_question

PATHS = PathConfig(answer_threshold=0.5)
"""The beam's settings: a path answers where it rather ends than goes on."""

LEAST = 0.5
"""The probability below which the best path is not meant: the graph then holds no answer, and may grow."""

COLUMNS = ("answer", "path")
"""What the rows of :func:`retrieved_paths` hold."""

_LABEL, _OTHER = str(RDFS.label), str(SKOS.altLabel)


def question_graph(graph: GrowingGraph) -> QuestionGraph:
    """The graph as it is now, in memory, as paths are searched in it."""
    view = entity_view(graph)
    query = f"SELECT ?s ?p ?o WHERE {{ GRAPH <{view.name}> {{ ?s ?p ?o }} }}"
    rows = [(str(s), str(p), str(o)) for s, p, o in view.store.texts(query) if str(s).startswith(NODE)]
    labels = {node: value for node, predicate, value in rows if predicate == _LABEL}
    borne = Counter(labels.values())
    names = {node: label if borne[label] == 1 else f"{label} ({_type_of(node)})" for node, label in labels.items()}
    triples = [
        (names[node], predicate.removeprefix(kind), names.get(value, value))
        for node, predicate, value in rows
        for kind in (EDGE, PROPERTY)
        if predicate.startswith(kind)
    ]
    index = GraphIndex.from_triples(sorted(triples))
    called: dict[str, set[str]] = {}
    for node, predicate, value in rows:
        if predicate in (_LABEL, _OTHER) and value != names[node] and index.find(names[node]) is not None:
            called.setdefault(value, set()).add(names[node])
    return QuestionGraph(index, {label: tuple(sorted(owners)) for label, owners in called.items()})


def retrieved_paths(
    graph: GrowingGraph, question: str, scorer: RelationScorer, most: int, config: PathConfig = PATHS
) -> QueryResult:
    """What the best path of relations reaches, as the rows of a query would be: answers with the paths to them.

    Args:
        graph: As it is now.
        question: The question, which names an entity of the graph.
        scorer: What scores the relations.
        most: Rows at the most.
        config: The beam's settings.

    Returns:
        No rows where no path is rather meant than not (:data:`LEAST`).

    Raises:
        QueryError: The question names no entity of the graph.
    """
    asked = question_graph(graph)
    topics = asked.topics(question).entities
    known = [topic for topic in topics if asked.index.find(topic) is not None]
    if not known:
        raise QueryError("the question names no entity of the graph")
    found = answer_question(asked.index, question, known, scorer, config)
    # Which of several entities of one name is meant does not make the relations less probable.
    if not found.relation_paths or math.exp(found.relation_paths[0].score) * len(known) < LEAST:
        return QueryResult(COLUMNS, ())
    chosen = set(found.chosen)
    rows = tuple((path.answer, str(path)) for path in found.paths if path.answer in chosen)
    return QueryResult(COLUMNS, rows[:most], more=len(rows) > most)


def _type_of(node: str) -> str:
    return unquote(node.removeprefix(NODE).partition("/")[0])
