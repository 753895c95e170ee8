"""Graphs of questions, from files, stores, endpoints, or the questions themselves.

    >>> with open_graph("metaqa/kb.txt") as graphs:
    ...     graph = graphs.of(question)
    ...     graph.topics(question.question, question.topics)
    Topics(entities=('Tom Hanks',), label='', unknown=())

The ending of a file's name is that of an RDF format or of an index (``.npz``); any other file has a triple a line with
tabs or ``|`` between its parts. Other sources are the folder of an Oxigraph database and a SPARQL endpoint
(``http://...``), of which only the neighbourhood of each question's topics is fetched. A line that is no triple is
counted and reported; the others are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from experiments.console import SAMPLE_FOLDER, check_address, say
from experiments.data.questions import KGQuestion, LoadedQuestions, Triple, join_questions, load_questions
from kg.errors import ConfigError, DataError
from kg.graphs import (
    INVERSE,
    RDF_FILES,
    GraphIndex,
    labelled,
    name_triples,
    neighbourhood,
    read_ntriples,
    read_rdf,
    read_store,
)
from kg.graphs import Triple as GraphTriple
from kg.paths import SEPARATOR, QuestionGraph

_SAID = 20
_LABEL_WORDS = 6
MOST_TRIPLES = 10_000_000
"""Triples of a stored graph at the most."""


class GraphSource:
    """Gives each question its graph. Use it as a context manager, or call ``close``.

    Attributes:
        name: As the user would recognise it.
        sha256: Hash of the content; ``None`` where it is not known.
        problems: The first lines that could not be read, each naming file, line and rule.
        problem_count: The number of refused lines.
        truncated: The number of fetched graphs that a limit cut off.
    """

    name: str = ""
    sha256: str | None = None

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.problem_count = self.truncated = 0

    def problem(self, text: str) -> None:
        """Counts a refused line, and stores the first ones."""
        self.problem_count += 1
        if len(self.problems) < _SAID:
            self.problems.append(f"{self.name}: {text}")

    def of(self, question: KGQuestion) -> QuestionGraph:
        """The graph that a question is asked of.

        Raises:
            DataError: It cannot be read or fetched.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Releases what the source holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OneGraph(GraphSource):
    """One graph for all questions.

    Args:
        graph: The graph, or its index.
        name: As the user would recognise it.
    """

    def __init__(self, graph: QuestionGraph | GraphIndex, name: str = "graph") -> None:
        super().__init__()
        self.name = name
        self.graph = graph if isinstance(graph, QuestionGraph) else QuestionGraph(graph)

    @property
    def index(self) -> GraphIndex:
        """The graph without further names."""
        return self.graph.index

    def of(self, question: KGQuestion) -> QuestionGraph:  # noqa: ARG002 - all questions have the same
        """The graph."""
        return self.graph


def read_graph(path: Path) -> OneGraph:
    """A graph in a file.

    Raises:
        DataError: It cannot be read, or holds no triple.
    """
    source, data = OneGraph(GraphIndex.from_triples(()), path.name), path.read_bytes()
    source.sha256 = hashlib.sha256(data).hexdigest()
    if path.suffix == ".npz":
        source.graph = QuestionGraph(GraphIndex.load(path))
    elif path.suffix in RDF_FILES and path.suffix != ".nt":
        source.graph = named_graph(read_rdf("\n".join(_lines(data, source)), path.suffix, what=str(path)))
    elif path.suffix == ".nt":
        source.graph = named_graph(read_ntriples(_lines(data, source), source.problem))
    else:
        source.graph = QuestionGraph(GraphIndex.from_triples(_separated(data, source, path)))
    if not len(source.index):
        first = f"; the first line that is none: {source.problems[0]}" if source.problems else ""
        raise DataError(f"no triple can be read{first}", file=str(path))
    return source


def _lines(data: bytes, source: GraphSource) -> Iterator[str]:
    for number, raw in enumerate(data.split(b"\n"), start=1):
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            source.problem(f"line {number}: is not UTF-8")
            yield ""


def _separated(data: bytes, source: GraphSource, path: Path) -> Iterator[Triple]:
    first = next((line for line in data.split(b"\n") if line.strip()), b"")
    separator, name = ("\t", "tabs") if b"\t" in first else ("|", "|")
    if separator.encode() not in first:
        written = first.decode("utf-8", "replace").strip()[:80]
        rule = f"is no RDF file, index or table of triples with tabs or | between them; its first line is {written!r}"
        raise DataError(rule, file=str(path))
    for number, line in enumerate(_lines(data, source), start=1):
        parts = [part.strip() for part in line.split(separator)]
        problem = triple_problem(parts, name)
        if problem is None:
            yield parts[0], parts[1], parts[2]
        elif line.strip():
            source.problem(f"line {number}: {problem}: {line.strip()[:80]!r}")


def triple_problem(parts: Sequence[str], separator: str = "tabs") -> str | None:
    """Returns the problem with the parts of a triple, or ``None`` if it can be part of a path."""
    if len(parts) != 3:
        return f"must be subject, relation and object with {separator} between them, got {len(parts)} parts"
    if not all(parts):
        return "subject, relation and object must not be empty"
    if parts[1].startswith(INVERSE):
        return f"a relation must not begin with {INVERSE!r}, which marks the way back along it"
    if any(SEPARATOR in part or "\n" in part for part in parts):
        return f"a name must not hold {SEPARATOR!r} or a line break, which separate the steps of a path"
    return None


def _stored_graph(folder: Path) -> OneGraph:
    """All that an Oxigraph database holds."""
    from kg.graphs import PersistentStore

    if not (folder / "CURRENT").exists():
        raise DataError("is a folder, but no Oxigraph database", file=str(folder))
    with PersistentStore(folder) as store:
        source = OneGraph(named_graph(read_store(store, MOST_TRIPLES)), folder.name)
    if not len(source.index):
        raise DataError("the database holds no triple", file=str(folder))
    return source


class EndpointGraph(GraphSource):
    """A graph of a SPARQL endpoint; each question gets the neighbourhood of its topics.

    Args:
        url: Where queries are sent.
        depth: Steps around the topics that are fetched.
        limit: Statements that are fetched at the most in one step and one direction.
    """

    def __init__(self, url: str, depth: int = 3, limit: int = 20_000) -> None:
        from kg.graphs import EndpointStore

        super().__init__()
        self.name = url
        self._store = EndpointStore(url)
        self._depth, self._limit = depth, limit

    def of(self, question: KGQuestion) -> QuestionGraph:
        """The neighbourhood of a question's topics; empty where none of them is there."""
        if question.topics:
            given = [topic for topic in question.topics if "://" in topic]
            by_label = labelled(self._store, [topic for topic in question.topics if "://" not in topic])
            topics = [*given, *(iri for found in by_label.values() for iri in found)]
        else:
            topics = self._linked(question.question)
        if not topics:
            return QuestionGraph(GraphIndex.from_triples(()))
        found = neighbourhood(self._store, topics, self._depth, self._limit)
        self.truncated += found.truncated
        return named_graph(found.triples, truncated=found.truncated, iris=topics)

    def _linked(self, question: str) -> list[str]:
        """Returns the entities with the longest label that occurs in a question."""
        words = question.strip(" ?.!").split()
        for length in range(min(_LABEL_WORDS, len(words)), 0, -1):
            spans = [" ".join(words[start : start + length]) for start in range(len(words) - length + 1)]
            found = labelled(self._store, [text for span in spans for text in (span, span.title())])
            if found:
                return list(dict.fromkeys(iri for iris in found.values() for iri in iris))
        return []

    def close(self) -> None:
        """Closes the connection."""
        self._store.close()


class OwnGraphs(GraphSource):
    """The graph that each question brings along (the RoG and GCR form)."""

    name = "the questions' own graphs"

    def of(self, question: KGQuestion) -> QuestionGraph:
        """A question's own graph."""
        if question.graph is None:
            raise DataError("has no graph of its own, and no graph is given", place=f"question {question.id!r}")
        return QuestionGraph(GraphIndex.from_triples(self._good(question)))

    def _good(self, question: KGQuestion) -> Iterator[Triple]:
        for number, triple in enumerate(question.graph() if question.graph is not None else (), start=1):
            rule = triple_problem(triple)
            if rule is None:
                yield triple
            else:
                self.problem(f"question {question.id!r}: triple {number}: {rule}")


def open_graph(source: str | None, *, depth: int = 3) -> GraphSource:
    """Opens a graph.

    Args:
        source: A file, a folder, or an address; ``None`` where each question has its own graph.
        depth: Steps around a question's topics that are fetched from an endpoint.

    Raises:
        DataError: It is not there, cannot be read, or holds no triple.
    """
    if source is None:
        return OwnGraphs()
    if source.startswith(("http://", "https://")):
        check_address(source)
        return EndpointGraph(source, depth)
    path = Path(source)
    if path.is_dir():
        return _stored_graph(path)
    if not path.is_file():
        raise DataError("is not there", file=source)
    return read_graph(path)


def named_graph(triples: Iterable[GraphTriple], *, truncated: bool = False, iris: Iterable[str] = ()) -> QuestionGraph:
    """RDF under names that people read; the names of ``iris`` are found by the IRIs too."""
    named = name_triples(triples)
    others = dict(named.other_names) | {iri: (named.names[iri],) for iri in iris if iri in named.names}
    return QuestionGraph(GraphIndex.from_triples(named.triples), others, truncated)


_SAMPLES = {"sample:graph": "graph.txt", "sample:train": "train.txt", "sample:dev": "dev.txt"}
_SHOWN = 5


@contextmanager
def open_questions(
    graph: str | None, files: Sequence[str], form: str, depth: int
) -> Iterator[tuple[GraphSource, LoadedQuestions]]:
    """A graph and the questions of files, after unreadable parts were reported; the sample's have names.

    Args:
        graph: The graph; ``None`` where each question has its own.
        files: The files.
        form: Their format.
        depth: The largest number of steps from a topic, for an endpoint.

    Raises:
        ConfigError: There is no graph.
    """
    if graph is None and form != "rog":
        raise ConfigError(f"graph must be given, as questions of the format {form} have none of their own")
    loaded = join_questions([load_questions(_sample(name), form) for name in files])
    _report(loaded.problems, len(loaded.problems))
    with open_graph(_sample(graph) if graph is not None else None, depth=depth) as source:
        _report(source.problems, source.problem_count)
        yield source, loaded


def _sample(name: str) -> str:
    if name.startswith("sample:") and name not in _SAMPLES:
        raise DataError(f"there are {', '.join(_SAMPLES)}", file=name)
    return str(SAMPLE_FOLDER / "kgqa" / _SAMPLES[name]) if name in _SAMPLES else name


def _report(problems: Sequence[str], count: int) -> None:
    for problem in problems[:_SHOWN]:
        say(f"left out: {problem}")
    if count > _SHOWN:
        say(f"... and {count - _SHOWN} more lines")
