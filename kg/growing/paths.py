"""Beam search over a growing graph: entities by name, edges and properties as relations, answers with their paths.

    >>> found = retrieved_paths(graph, "in which sector is Helixon?", LearnedRelationScorer.untrained(), most=10)
    >>> found.rows
    (('Semiconductors', 'Helixon Inc. -> in_sector -> Semiconductors'),)

A name of several nodes carries the type: ``Helixon (Asset)``. Values of properties end paths as nodes do. A name
without its legal form leads to the node too. Classes are no entities: they say what a question asks for.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from kg.errors import QueryError
from kg.graphs import GraphIndex
from kg.growing import terms
from kg.growing.graph import GrowingGraph
from kg.growing.query import QueryResult
from kg.growing.triples import without_legal_form
from kg.paths import LearnedRelationScorer, PathConfig, QuestionGraph, answer_question

PATHS = PathConfig(answer_threshold=0.5)
"""The beam's settings: a path answers where the probability of its end is above 0.5."""

LEAST = 0.5
"""The least probability of the best path; below it the search abstains, and the graph may grow."""

COLUMNS = ("answer", "path")
"""The columns of :func:`retrieved_paths`."""


def question_graph(graph: GrowingGraph) -> QuestionGraph:
    """Returns the graph as it is now as arrays, in which paths are searched."""
    nodes = list(graph.nodes())
    shared = Counter(node.key.name for node in nodes)
    names = {key: key.name if shared[key.name] == 1 else f"{key.name} ({key.type})" for key in (n.key for n in nodes)}
    triples = [
        (names[node.key], name, terms.value_term(value, {}).value)
        for node in nodes
        for name, value in node.properties.items()
    ]
    triples += [(names[edge.source], edge.type, names[edge.target]) for edge in graph.edges()]
    index = GraphIndex.from_triples(sorted(triples))
    others: defaultdict[str, set[str]] = defaultdict(set)
    for key, name in names.items():
        if index.find(name) is not None:
            for other in {key.name, without_legal_form(key.name)} - {name}:
                others[other].add(name)
    return QuestionGraph(index, {label: tuple(sorted(owners)) for label, owners in others.items()})


def retrieved_paths(graph: GrowingGraph, question: str, scorer: LearnedRelationScorer, most: int) -> QueryResult:
    """Returns the answers of the best path of relations, each with its path, as the rows of a query.

    Args:
        graph: As it is now.
        question: The question, which names an entity of the graph.
        scorer: The scorer of relations.
        most: The most rows.

    Returns:
        No rows where the best path's probability is below :data:`LEAST`.

    Raises:
        QueryError: The question names no entity of the graph.
    """
    asked = question_graph(graph)
    topics = asked.topics(question).entities
    known = [topic for topic in topics if asked.index.find(topic) is not None]
    if not known:
        raise QueryError("the question names no entity of the graph")
    found = answer_question(asked.index, question, known, scorer, PATHS)
    # An ambiguous name does not make the relations less probable.
    if not found.relation_paths or math.exp(found.relation_paths[0].score) * len(known) < LEAST:
        return QueryResult(COLUMNS, ())
    chosen = set(found.chosen)
    rows = tuple((path.answer, str(path)) for path in found.paths if path.answer in chosen)
    return QueryResult(COLUMNS, rows[:most], more=len(rows) > most)
