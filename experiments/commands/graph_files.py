"""Graphs that the words of a command line name: files, folders, tables of triples, and SPARQL endpoints.

>>> program = ConversationQA.for_graphs()
>>> Conversation(program, program.world(**graph_of(["films.ttl"]))).ask("who made Alien?").words
'Ridley Scott'
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from experiments.files import check_address, read_text
from kg.errors import DataError
from kg.facts import RDF_FILES, TABLE_FILES, FactGraph, Triple, is_table_of_triples, read_file, read_store

GEOGRAPHY = "geography"
"""The name of the shipped graph."""

MOST_TRIPLES = 2_000_000
"""Triples of a graph that is held in memory."""

_ADDRESSES = ("http://", "https://")


def is_graph(word: str) -> bool:
    """Whether a word of a command line names a graph: a file of RDF or of triples, a folder of them, an address."""
    if word.startswith(_ADDRESSES):
        return True
    path = Path(word)
    if path.suffix.lower() in RDF_FILES:
        return True
    if path.is_dir():
        return any(is_graph(str(one)) for one in path.iterdir() if one.is_file())
    if path.suffix.lower() in TABLE_FILES and path.is_file():
        with path.open(encoding="utf-8", errors="replace") as lines:
            return is_table_of_triples("".join(islice(lines, 50)))
    return False


def graph_of(words: Sequence[str]) -> dict[str, Any]:
    """The graph of some files, folders or endpoints, together, and its name: the arguments of a program's world.

    Raises:
        DataError: A file cannot be read, an endpoint cannot be reached, or there is no fact.
    """
    from experiments.saved import question_reader

    name = " + ".join(words)
    graph = FactGraph.build(triple for word in words for triple in triples_of(word))
    if not graph.triples:
        raise DataError("has no fact", file=name)
    return {"graph": question_reader(graph), "name": name}


def triples_of(word: str) -> Iterator[Triple]:
    """The facts of a file, a folder or an endpoint."""
    if word.startswith(_ADDRESSES):
        from kg.graphs import EndpointStore

        check_address(word)
        with EndpointStore(word) as store:
            yield from read_store(store, MOST_TRIPLES)
        return
    path = Path(word)
    files = sorted(one for one in path.iterdir() if one.is_file() and is_graph(str(one))) if path.is_dir() else [path]
    for file in files:
        yield from read_file(file, read_text(file))
