"""Growing graphs: their folders, what answers from them, and their types as JSON.

>>> with open_graph("knowledge", new=True) as graph:
...     graph.facts()
0
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.console import say
from kg.errors import DataError
from kg.growing import EdgeType, GrowingGraph, Schema
from kg.investments import investment_schema
from kg.locks import BusyError
from programs.advisor import Advisor, GraphAnswers

_SECONDS, _PAUSE = 2.0, 0.05
_ORIGIN = ("created_by", "version", "justification")
"""Fields of a type that say where it comes from."""


def open_graph(path: str, *, new: bool = False, read_only: bool = False, copied: bool = False) -> GrowingGraph:
    """The graph of a folder; another process that has it open is waited for, two seconds at the longest.

    Args:
        path: The folder.
        new: Whether it is created where it is missing.
        read_only: Whether nothing is written.
        copied: Whether it is a copy in memory: other processes may use the folder while a language model answers.

    Raises:
        DataError: There is none and ``new`` is not set, or another process keeps it open.
    """
    if not new and not Path(path).is_dir():
        raise DataError("is no graph: create one with `finpath ingest`", file=path)
    last = time.monotonic() + _SECONDS
    while True:
        try:
            stored = GrowingGraph(path, investment_schema(), read_only=read_only or copied)
            break
        except DataError as error:
            if not isinstance(error.__cause__, BusyError) or time.monotonic() > last:
                raise
            time.sleep(_PAUSE)
    if not copied:
        return stored
    with stored:
        return stored.copy()


def graph_of_texts(folder: str) -> GrowingGraph:
    """A graph in memory of the sentences of a folder's texts; what cannot be read is named.

    Raises:
        DataError: No text can be read.
    """
    from experiments.data import read_documents

    documents, problems = read_documents([folder])
    graph = GrowingGraph(None, investment_schema())
    advisor = Advisor(graph)
    for document in sorted(documents, key=lambda document: document.published):
        advisor.ingest(document)
    for problem in problems:
        say(f"left out: {problem}")
    if not documents:
        raise DataError("has no text that can be read", file=folder)
    return graph


def answers_of(graph: GrowingGraph) -> GraphAnswers:
    """The answers from a graph without a language model, of which the world of its texts is built."""
    from experiments.lms import fetch_reader
    from experiments.saved import question_reader

    fetch_reader()
    return GraphAnswers(graph, question_reader)


def use_types(graph: GrowingGraph, file: str) -> int:
    """Gives a graph the types of a file, and nodes that fit them their newest version; returns how many changed.

    Types that waited under one of these names wait no more.
    """
    from experiments.data import read_types

    wanted, schema = read_types(file).types, graph.schema
    for kind in wanted:
        current = [known for known in schema.types if (known.name, type(known)) == (kind.name, type(kind))]
        if not current:
            schema = schema.with_type(kind)
        elif _content(current[-1], _ORIGIN) != _content(kind, _ORIGIN):
            schema = schema.with_version(kind)
    names = {kind.name for kind in wanted}
    changed = len(schema.types) - len(graph.schema.types)
    graph.change_schema(schema, Schema(tuple(kind for kind in graph.proposed.types if kind.name not in names)))
    for node, problem in graph.migrate().items():
        say(f"left as it is: {node}: {problem}")
    return changed


def types_as_json(kinds: Any) -> dict[str, list[dict[str, Any]]]:
    """Types as `finpath ingest --types FILE` reads them."""
    rows: dict[str, list[dict[str, Any]]] = {"node_types": [], "edge_types": []}
    for kind in kinds:
        rows["edge_types" if isinstance(kind, EdgeType) else "node_types"].append(_content(kind, _ORIGIN[:2]))
    return rows


def _content(kind: Any, left_out: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in asdict(kind).items() if name not in left_out}
