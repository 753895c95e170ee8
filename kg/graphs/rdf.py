"""Frozen rdflib graphs, their hashes, and their text as N-Triples and Turtle."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NoReturn, cast

import pyoxigraph
from rdflib import Graph, Literal, URIRef
from rdflib.namespace import RDF, XSD
from rdflib.plugins.stores.memory import SimpleMemory

from kg.errors import DataError, FrozenError
from kg.graphs.namespaces import PREFIXES

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_SHORT_DECIMAL = re.compile(r"-?\d+(\.\d+)?")


def is_parse_error(error: Exception) -> bool:
    """Whether rdflib raised ``error`` because it cannot parse a query.

    Its parser's own errors are pyparsing's; for an unknown prefix it raises an Exception of no class of its own.
    """
    return type(error) is Exception or type(error).__module__.startswith("pyparsing")


def frozen_graph(triples: Iterable[Any], *, owner: str, identifier: str | None = None) -> Graph:
    """An rdflib graph of the triples that rejects writes."""
    store = SimpleMemory()
    graph = Graph(store=store, identifier=None if identifier is None else URIRef(identifier), bind_namespaces="none")
    for prefix, namespace in PREFIXES.items():
        store.bind(prefix, URIRef(str(namespace)))
    add = SimpleMemory.add
    for triple in triples:
        add(store, triple, cast(Any, graph))

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise FrozenError(f"{owner} is frozen: no triple can be added or removed")

    for write in ("add", "addN", "remove"):
        setattr(store, write, refuse)
    return graph


def graph_sha256(graph: Graph) -> str:
    """The SHA-256 of a graph's sorted N-Triples; the graph must not have blank nodes."""
    return hashlib.sha256("".join(sorted(ntriples(graph).splitlines(keepends=True))).encode()).hexdigest()


def ntriples(graph: Graph) -> str:
    """A graph as unsorted N-Triples."""
    return "".join(f"{_n3(subject)} {_n3(predicate)} {_n3(value)} .\n" for subject, predicate, value in graph)


@lru_cache(maxsize=65536)
def _n3(term: Any) -> str:
    if isinstance(term, Literal):
        text = quoted(term)
        return text if term.datatype is None else f"{text}^^<{term.datatype}>"
    return f"<{term}>"


def quoted(text: str) -> str:
    """A string literal of Turtle, N-Triples and SPARQL."""
    return '"' + text.translate(_ESCAPES) + '"'


def turtle(graph: Graph) -> str:
    """A graph without blank nodes as Turtle; equal graphs give equal text."""
    lines = [f"@prefix {prefix}: <{namespace}> ." for prefix, namespace in sorted(PREFIXES.items())]
    for subject in sorted(set(graph.subjects()), key=str):
        pairs: dict[str, list[str]] = {}
        for predicate, value in graph.predicate_objects(subject):
            pairs.setdefault("a" if predicate == RDF.type else _short(predicate), []).append(_short(value))
        body = " ;\n".join(f"    {name} {', '.join(sorted(values))}" for name, values in sorted(pairs.items()))
        lines.append(f"\n{_short(subject)}\n{body} .")
    return "\n".join(lines) + "\n"


def turtle_values(text: str, *, what: str) -> dict[str, dict[str, list[str]]]:
    """Parses Turtle to the text of values by subject and predicate, much faster than to a graph.

    Raises:
        DataError: The text is no valid Turtle.
    """
    values: dict[str, dict[str, dict[str, None]]] = {}
    try:
        for triple in pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.TURTLE):  # many times as fast as rdflib's
            own = values.setdefault(triple.subject.value, {})
            own.setdefault(triple.predicate.value, {})[triple.object.value] = None
    except (SyntaxError, OverflowError) as error:
        raise DataError(f"not valid Turtle: {error}", place=what) from error
    return {subject: {name: list(given) for name, given in own.items()} for subject, own in values.items()}


def slug(label: str, fallback: str = "value") -> str:
    """A local name of a label: its lower-case words and numbers with underscores, at most 80 characters."""
    name = "_".join(re.findall(r"[^\W_]+", label.lower().replace("&", " and ").replace("%", " percent ")))
    return name[:80].rstrip("_") or fallback


@lru_cache(maxsize=65536)
def _short(term: Any) -> str:
    if isinstance(term, Literal):
        if term.datatype == XSD.integer or (
            term.datatype == XSD.decimal and "." in term and _SHORT_DECIMAL.fullmatch(term)
        ):
            return str(term)
        if term.datatype is not None:
            return f"{quoted(term)}^^{_short(term.datatype)}"
        return quoted(term)
    for prefix, namespace in PREFIXES.items():
        local = str(term).removeprefix(str(namespace))
        if local != str(term) and re.fullmatch(r"[A-Za-z_0-9](?:[\w-]*\w)?", local, re.ASCII):
            return f"{prefix}:{local}"
    return f"<{term}>"
