"""Growing graphs: their folders, what is read into them, and what answers from them.

>>> with open_graph("knowledge", new=True) as graph:
...     list(DocumentIngestion(graph, "review").ingest(documents, 1, log))
"""

from __future__ import annotations

import functools
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dspy

from experiments.console import progress, say
from kg.errors import DataError, FinpathError
from kg.growing import GrowingGraph
from kg.investments import investment_schema
from kg.locks import BusyError
from programs.advisor import Advisor, GraphAnswers
from programs.lm import concurrently

if TYPE_CHECKING:
    from experiments.traces import QuestionLog
    from kg.news import NewsDocument
    from programs.advisor import Ingestion

_SECONDS, _PAUSE = 2.0, 0.05
_ORIGIN = ("created_by", "version", "justification")
"""Fields of a type that say where it comes from."""


def open_graph(path: str, *, new: bool = False, read_only: bool = False) -> GrowingGraph:
    """The graph of a folder; another process that has it open is waited for, two seconds at the longest.

    Args:
        path: The folder.
        new: Whether it is created where it is missing.
        read_only: Whether nothing is written.

    Raises:
        DataError: There is none and ``new`` is not set, or another process keeps it open.
    """
    if not new and not Path(path).is_dir():
        raise DataError("is no graph: create one with `finpath ingest`", file=path)
    last = time.monotonic() + _SECONDS
    while True:
        try:
            return GrowingGraph(path, investment_schema(), read_only=read_only)
        except DataError as error:
            if not isinstance(error.__cause__, BusyError) or time.monotonic() > last:
                raise
            time.sleep(_PAUSE)


def copied_graph(path: str) -> GrowingGraph:
    """A copy of the graph of a folder in memory: other processes may use it while a language model answers."""
    with open_graph(path, read_only=True) as stored:
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
    for document in sorted(documents, key=lambda one: one.published):
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


def keep_answers(answers: GraphAnswers, folder: str) -> None:
    """Writes the facts that answered into the graph of a folder; another process may have it open."""
    from kg.news import insert_answers

    if not answers.insertions:
        return
    try:
        with open_graph(folder) as opened:
            for insertion in answers.insertions:
                insert_answers(opened, insertion)
    except FinpathError as error:
        say(f"the facts of {len(answers.insertions)} answers are not inserted: {error}")


class DocumentIngestion:
    """Documents that are read into a growing graph: their sentences, and what a language model of an API states.

    Args:
        graph: The graph.
        replies: Recorded replies of a model by the documents' names, which are replayed; no model reads these.

    Attributes:
        advisor: Writes into the graph.
        problems: The reasons of documents that could not be written or read.
        reads: Whether the language model that is set in DSPy reads the documents.
    """

    def __init__(self, graph: GrowingGraph, replies: Mapping[str, Any]) -> None:
        from programs.lm import is_embedded

        self.advisor = Advisor(graph)
        self.problems: list[str] = []
        self._replies = replies
        lm = dspy.settings.lm
        self.reads = lm is not None and not is_embedded(lm)

    def ingest(self, news: Iterable[NewsDocument], threads: int, log: QuestionLog) -> Iterator[Ingestion]:
        """Writes documents into the graph, the oldest first; what a model reads is traced in ``log``."""
        ordered = sorted(news, key=lambda document: document.published)
        bar = progress(len(ordered), "document")
        for document, reply in concurrently(functools.partial(self._read, log=log), enumerate(ordered), threads):
            try:
                yield self.advisor.ingest(document, reply)
            except FinpathError as error:
                self.problems.append(f"{document.name}: {error}")
            bar.update()
        bar.close()

    def _read(self, numbered: tuple[int, NewsDocument], log: QuestionLog) -> tuple[NewsDocument, Any]:
        """Returns a document with what the model states of it; ``None`` where no model reads it."""
        from dspy.utils.exceptions import LMError as DSPyLMError

        from programs.advisor import ReadDocuments

        place, document = numbered
        if document.name in self._replies:
            return document, ReadDocuments.recorded(self._replies[document.name])
        if not self.reads or self.advisor.knows(document, facts=True):
            return document, None
        with log.turn(document.name, place) as seen:
            try:
                reply = ReadDocuments()(document=document)
            except (DSPyLMError, FinpathError) as error:
                seen.failure = "the language model failed"
                self.problems.append(f"{document.name}: the language model failed: {error}")
                return document, None
            seen.outputs = {kind: [row.model_dump() for row in reply[kind]] for kind in ("facts", "events")}
        return document, reply


def use_types(graph: GrowingGraph, file: str) -> int:
    """Gives a graph the types of a file, and nodes that fit them their newest version; returns how many changed.

    Types that waited under one of these names wait no more.
    """
    from experiments.data import read_types
    from kg.growing import Schema

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
    from kg.growing import EdgeType

    rows = [(kind, _content(kind, _ORIGIN[:2])) for kind in kinds]
    return {
        "node_types": [row for kind, row in rows if not isinstance(kind, EdgeType)],
        "edge_types": [row for kind, row in rows if isinstance(kind, EdgeType)],
    }


def _content(kind: Any, left_out: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in asdict(kind).items() if name not in left_out}
