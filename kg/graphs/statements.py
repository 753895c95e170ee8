r"""Statements from Turtle, N-Triples and stores, and the part of a store around some entities.

    >>> list(read_ntriples(['<http://x/a> <http://x/b> "c\\n"@en .'], [].append))
    [Statement(subject='http://x/a', predicate='http://x/b', value='c\n', is_literal=True, language='en')]

:func:`neighbourhood` fetches the part of a large store within some steps of a question's topics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyoxigraph import BlankNode, Literal, Quad, RdfFormat, parse

from kg.errors import DataError
from kg.graphs.naming import LABELS, OTHER_LABELS, Statement
from kg.graphs.rdf import quoted
from kg.graphs.stores import GraphStore, is_iri

_BATCH = 200
_NAMING = " ".join(f"<{one}>" for one in (*LABELS, *OTHER_LABELS))


def read_ntriples(lines: Iterable[str], problem: Callable[[str], None]) -> Iterator[Statement]:
    """The statements of lines of N-Triples.

    Args:
        lines: The lines.
        problem: Receives a message for each invalid line: ``line 3: is no N-Triples statement: ...``.
    """
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            [found] = parse(text, format=RdfFormat.N_TRIPLES)
        except (SyntaxError, ValueError, OverflowError):
            problem(f"line {number}: is no N-Triples statement: {text[:80]!r}")
            continue
        yield _statement(found)


def _statement(triple: Quad) -> Statement:
    value = triple.object
    literal = isinstance(value, Literal)
    language = value.language or "" if isinstance(value, Literal) else ""
    return Statement(_text(triple.subject), _text(triple.predicate), _text(value), literal, language.lower())


def _text(term: Any) -> str:
    return str(term) if isinstance(term, BlankNode) else str(term.value)


def read_turtle_statements(text: str, *, what: str) -> Iterator[Statement]:
    """The statements of Turtle.

    Raises:
        DataError: The text is no valid Turtle.
    """
    try:
        yield from map(_statement, parse(text, format=RdfFormat.TURTLE))
    except (SyntaxError, OverflowError) as error:
        raise DataError(f"not valid Turtle: {error}", place=what) from error


_COLUMNS = "?s ?p ?o (isLiteral(?o) AS ?literal) (isBlank(?s) AS ?from) (isBlank(?o) AS ?to) (LANG(?o) AS ?language)"


def store_statements(store: GraphStore) -> Iterator[Statement]:
    """All statements of a store, in its default graph and its named graphs.

    Raises:
        DataError: The store cannot be reached or read.
    """
    yield from _select(store, "{ ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } }")


def _select(store: GraphStore, where: str, limit: int | None = None) -> list[Statement]:
    end = "" if limit is None else f" LIMIT {limit}"
    rows = store.texts(f"SELECT {_COLUMNS} WHERE {{ {where} }}{end}")
    return [
        Statement(
            f"_:{subject}" if blank == "true" else str(subject),
            str(predicate),
            f"_:{value}" if value_blank == "true" else str(value),
            literal == "true",
            (language or "").lower(),
        )
        for subject, predicate, value, literal, blank, value_blank, language in rows
    ]


@dataclass(frozen=True)
class Neighbourhood:
    """The part of a graph around some entities.

    Attributes:
        statements: Its statements, with the labels of its entities.
        truncated: Whether statements are missing because of the limit.
    """

    statements: tuple[Statement, ...]
    truncated: bool


def neighbourhood(store: GraphStore, topics: Sequence[str], depth: int, limit: int = 20_000) -> Neighbourhood:
    """The statements within ``depth`` steps of some entities, in both directions.

    Args:
        store: The store.
        topics: The IRIs of the entities.
        depth: The number of steps, at least 1.
        limit: The most statements of one step in one direction.

    Raises:
        DataError: The store cannot be reached or read, or a topic is no IRI.
    """
    for topic in topics:
        if not is_iri(topic):
            raise DataError(f"a topic must be an IRI, got {topic!r}")
    found: dict[Statement, None] = {}
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
        found |= dict.fromkeys(_select(store, where))
    return Neighbourhood(tuple(found), truncated)


def _around(store: GraphStore, frontier: Sequence[str], variable: str, limit: int) -> tuple[list[Statement], bool]:
    rows: list[Statement] = []
    for batch in _batches(frontier):
        left = limit - len(rows)
        if left <= 0:
            return rows, True
        new = _select(store, f"VALUES {variable} {{ {_iris(batch)} }} ?s ?p ?o", left + 1)
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
        for one in _select(store, where):
            found.setdefault(one.value, set()).add(one.subject)
    return {text: tuple(sorted(subjects)) for text, subjects in found.items()}
