"""The facts that the rows of a query rest on, each with its sources and the passage that states it.

>>> found = graph.query('SELECT ?n WHERE { ?p a type:Port ; edge:insured_by ?c . ?c rdfs:label ?n }')
>>> [str(fact) for fact in facts_behind(graph, query, found)]
['Port of Varna -> insured_by -> Meridian Re (inspect_document {"file": "ports.html"}: "Meridian Re insures ...")']

The query's pattern is evaluated again in the process that runs queries, and its triples are filled in for the rows that
were returned. Patterns under NOT EXISTS and MINUS state no fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kg.growing import terms
from kg.growing.graph import GrowingGraph
from kg.growing.history import HistoryEntry
from kg.growing.query import QueryLimits, QueryResult
from kg.text import STOPWORDS, tokens

_TRIVIAL = (terms.RDF_TYPE.value, terms.LABEL.value)
_ENDS = {terms.FROM.value, terms.TO.value, terms.EDGE_TYPE.value}

MOST_FACTS = 40
"""Facts of one answer at the most."""


@dataclass(frozen=True)
class BasicFact:
    """A fact that an answer rests on.

    Attributes:
        statement: The fact in one line: ``Port of Varna -> insured_by -> Meridian Re``, ``Meridian Re: founded 1994``.
        sources: The documents and calls of tools that state it.
        passage: The passage of a source that states it; empty where none is known.
    """

    statement: str
    sources: tuple[str, ...] = ()
    passage: str = ""

    def __str__(self) -> str:
        if not self.sources:
            return self.statement
        quoted = f': "{self.passage}"' if self.passage else ""
        return f"{self.statement} ({'; '.join(self.sources)}{quoted})"


def facts_behind(
    graph: GrowingGraph, query: str, found: QueryResult, limits: QueryLimits | None = None
) -> tuple[BasicFact, ...]:
    """Returns the facts that the rows of a query rest on, at most :data:`MOST_FACTS`.

    Args:
        graph: The graph that was asked.
        query: The query.
        found: Its rows.
        limits: The limits of the second evaluation.

    Raises:
        QueryError: The second evaluation failed.
    """
    triples = graph.matched(query, found, limits if limits is not None else QueryLimits())
    names = {terms.node_term(node.key).value: node.key.name for node in graph.nodes()}
    entries = [entry for entry in graph.history() if not entry.undone]
    facts: dict[str, BasicFact] = {}
    telling = [one for one in triples if one[1] not in _TRIVIAL]
    for subject, predicate, value in _directed(graph, telling if telling else triples):
        statement = _statement(names, subject, predicate, value)
        facts.setdefault(statement, _stated(statement, (subject, predicate, value), entries))
    return tuple(facts.values())[:MOST_FACTS]


def _directed(graph: GrowingGraph, triples: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Returns the triples with an edge's own resource replaced by the edge from node to node."""
    found: dict[tuple[str, str, str], None] = {}
    edges: Mapping[str, tuple[str, str, str]] | None = None
    for subject, predicate, value in triples:
        if not subject.startswith(terms.EDGE):
            found[subject, predicate, value] = None
            continue
        edges = edges if edges is not None else _edges(graph)
        if subject in edges:
            found[edges[subject]] = None
            if predicate not in _ENDS:
                found[edges[subject][0], predicate, value] = None
    return list(found)


def _edges(graph: GrowingGraph) -> dict[str, tuple[str, str, str]]:
    return {
        terms.edge_term(edge.type, edge.source, edge.target).value: (
            terms.node_term(edge.source).value,
            terms.edge_type_term(edge.type).value,
            terms.node_term(edge.target).value,
        )
        for edge in graph.edges()
    }


def _statement(names: Mapping[str, str], subject: str, predicate: str, value: str) -> str:
    name = names.get(subject, subject)
    if predicate == _TRIVIAL[0]:
        return f"{name} is a {value.removeprefix(terms.TYPE)}"
    if predicate == _TRIVIAL[1]:
        return f"{name} is known"
    if predicate.startswith(terms.EDGE):
        return f"{name} -> {predicate.removeprefix(terms.EDGE)} -> {names.get(value, value)}"
    return f"{name}: {predicate.removeprefix(terms.PROPERTY)} {value}"


def _stated(statement: str, triple: tuple[str, str, str], entries: Iterable[HistoryEntry]) -> BasicFact:
    """Returns a fact with the sources that state its triple, and the passage with most of its words."""
    start = f"<{triple[0]}> <{triple[1]}> "
    stating = [
        entry
        for entry in entries
        if any(line.startswith(start) and triple[2] in line[len(start) :] for line in entry.asserted)
    ]
    sources = dict.fromkeys(" ".join(part for part in (one.document, one.place) if part) for one in stating)
    wanted = set(tokens(statement)) - STOPWORDS
    passages = [span for entry in stating for span in entry.spans if span]
    best = max(passages, key=lambda span: len(wanted & set(tokens(span))), default="")
    return BasicFact(statement, tuple(sources), best)
