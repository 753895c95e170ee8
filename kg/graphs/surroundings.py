"""The part of a large store around some entities, within some steps of a question's topics.

>>> neighbourhood(store, ["http://x/alien"], depth=1).triples[0].value
'http://x/scott'
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kg.errors import DataError
from kg.graphs.naming import LABELS, OTHER_LABELS, Triple
from kg.graphs.rdf import quoted
from kg.graphs.stores import GraphStore, is_iri
from kg.graphs.triples import select_triples

_BATCH = 200
_NAMING = " ".join(f"<{one}>" for one in (*LABELS, *OTHER_LABELS))


@dataclass(frozen=True)
class Neighbourhood:
    """The part of a graph around some entities.

    Attributes:
        triples: Its triples, with the labels of its entities.
        truncated: Whether triples are missing because of the limit.
    """

    triples: tuple[Triple, ...]
    truncated: bool


def neighbourhood(store: GraphStore, topics: Sequence[str], depth: int, limit: int = 20_000) -> Neighbourhood:
    """The triples within ``depth`` steps of some entities, in both directions.

    Args:
        store: The store.
        topics: The IRIs of the entities.
        depth: The number of steps, at least 1.
        limit: The most triples of one step in one direction.

    Raises:
        DataError: The store cannot be reached or read, or a topic is no IRI.
    """
    for topic in topics:
        if not is_iri(topic):
            raise DataError(f"a topic must be an IRI, got {topic!r}")
    found: dict[Triple, None] = {}
    frontier, seen, truncated = list(dict.fromkeys(topics)), set(topics), False
    for _ in range(depth):
        reached: dict[str, None] = {}
        for variable in ("?s", "?o"):
            rows, cut = _around(store, frontier, variable, limit)
            truncated |= cut
            found |= dict.fromkeys(rows)
            for one in rows:
                reached[one.subject] = None
                if not one.is_literal:
                    reached[one.value] = None
        frontier = [node for node in reached if node not in seen and not node.startswith("_:")]
        seen.update(frontier)
    for batch in _batches(frontier):
        where = f"VALUES ?s {{ {_iris(batch)} }} VALUES ?p {{ {_NAMING} }} ?s ?p ?o"
        found |= dict.fromkeys(select_triples(store, where))
    return Neighbourhood(tuple(found), truncated)


def _around(store: GraphStore, frontier: Sequence[str], variable: str, limit: int) -> tuple[list[Triple], bool]:
    rows: list[Triple] = []
    for batch in _batches(frontier):
        left = limit - len(rows)
        if left <= 0:
            return rows, True
        new = select_triples(store, f"VALUES {variable} {{ {_iris(batch)} }} ?s ?p ?o", f" LIMIT {left + 1}")
        rows += new[:left]
        if len(new) > left:
            return rows, True
    return rows, False


def _batches(nodes: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(nodes), _BATCH):
        yield nodes[start : start + _BATCH]


def _iris(nodes: Sequence[str]) -> str:
    return " ".join(f"<{node}>" for node in filter(is_iri, nodes))


def labelled(store: GraphStore, texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The IRIs of the entities with each label, in English or without a language.

    Raises:
        DataError: The store cannot be reached or read.
    """
    found: dict[str, set[str]] = {}
    for batch in _batches(texts):
        values = " ".join(f"{quoted(text)} {quoted(text)}@en" for text in batch)
        where = f"VALUES ?o {{ {values} }} VALUES ?p {{ {_NAMING} }} ?s ?p ?o"
        for one in select_triples(store, where):
            found.setdefault(one.value, set()).add(one.subject)
    return {text: tuple(sorted(subjects)) for text, subjects in found.items()}
