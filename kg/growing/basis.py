"""The facts that the rows of a query rest on, each with its sources and the passage that states it.

>>> found = graph.query('SELECT ?n WHERE { ?p a type:Port ; edge:insured_by ?c . ?c rdfs:label ?n }')
>>> [str(fact) for fact in facts_behind(graph, found)]
['Port of Varna -> insured_by -> Meridian Re (inspect_document {"file": "ports.html"}: "Meridian Re insures ...")']

They are the triples of the query's pattern, filled in for the rows that were returned. Patterns under NOT EXISTS and
MINUS state no fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kg.growing import terms
from kg.growing.graph import GrowingGraph
from kg.growing.history import HistoryEntry
from kg.growing.query import QueryResult
from kg.text import STOPWORDS, tokens

_TRIVIAL = (terms.RDF_TYPE.value, terms.LABEL.value)

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


def facts_behind(graph: GrowingGraph, result: QueryResult) -> tuple[BasicFact, ...]:
    """Returns the facts that the rows of a query rest on, at most :data:`MOST_FACTS`.

    Args:
        graph: The graph.
        result: The rows, with the triples that lead to them.
    """
    names = {terms.node_term(node.key).value: node.key.name for node in graph.nodes()}
    entries = [entry for entry in graph.history() if not entry.undone]
    telling = [triple for triple in result.triples if triple[1] not in _TRIVIAL]
    facts: dict[str, Sequence[str]] = {}
    for triple in telling if telling else result.triples:
        facts.setdefault(_statement(names, *triple), triple)
    first = list(facts.items())[:MOST_FACTS]
    return tuple(_stated(statement, triple, entries) for statement, triple in first)


def _statement(names: Mapping[str, str], subject: str, predicate: str, value: str) -> str:
    name = names.get(subject, subject)
    if predicate == _TRIVIAL[0]:
        return f"{name} is a {value.removeprefix(terms.TYPE)}"
    if predicate == _TRIVIAL[1]:
        return f"{name} is known"
    if predicate.startswith(terms.EDGE):
        return f"{name} -> {predicate.removeprefix(terms.EDGE)} -> {names.get(value, value)}"
    return f"{name}: {predicate.removeprefix(terms.PROPERTY)} {value}"


def _stated(statement: str, triple: Sequence[str], entries: Iterable[HistoryEntry]) -> BasicFact:
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
