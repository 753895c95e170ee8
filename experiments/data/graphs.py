"""Graphs of questions from files.

    >>> loaded = load_graph("metaqa/kb.txt")
    >>> loaded.graph.topics(question.question, question.topics)
    Topics(entities=('Tom Hanks',), label='', unknown=())

The ending of a file's name is that of an RDF format or of an index (``.npz``); any other file has a triple a line with
tabs or ``|`` between its parts. A line that is no triple is reported; the others are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.console import SAMPLE_FOLDER, say
from experiments.data.questions import LoadedQuestions, join_questions, load_questions
from kg.errors import DataError
from kg.graphs import INVERSE, RDF_FILES, FactGraph, GraphIndex, read_ntriples, read_rdf
from kg.paths import SEPARATOR, QuestionGraph

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class LoadedGraph:
    """The graph of a file.

    Attributes:
        graph: The graph.
        name: The file as the user would recognise it.
        sha256: Hash of its content.
        problems: The refused lines, each with file, line and rule.
    """

    graph: QuestionGraph
    name: str
    sha256: str = ""
    problems: tuple[str, ...] = ()


def load_graph(path: str | Path) -> LoadedGraph:
    """Reads the graph of a file.

    Raises:
        DataError: It is not there, cannot be read, or holds no triple.
    """
    path, problems = Path(path), list[str]()
    if not path.is_file():
        raise DataError("is a folder, not a file" if path.is_dir() else "is not there", file=str(path))

    def problem(text: str) -> None:
        problems.append(f"{path.name}: {text}")

    data = path.read_bytes()
    if path.suffix == ".npz":
        graph = QuestionGraph(GraphIndex.load(path))
    elif path.suffix in RDF_FILES and path.suffix != ".nt":
        rdf = read_rdf("\n".join(_lines(data, problem)), path.suffix, what=str(path))
        graph = QuestionGraph.of(FactGraph.build(rdf))
    elif path.suffix == ".nt":
        graph = QuestionGraph.of(FactGraph.build(read_ntriples(_lines(data, problem), problem)))
    else:
        graph = QuestionGraph(GraphIndex.from_triples(_separated(data, problem, path)))
    if not len(graph.index):
        first = f"; the first line that is none: {problems[0]}" if problems else ""
        raise DataError(f"no triple can be read{first}", file=str(path))
    return LoadedGraph(graph, path.name, hashlib.sha256(data).hexdigest(), tuple(problems))


def _lines(data: bytes, problem: Callable[[str], None]) -> Iterator[str]:
    for number, raw in enumerate(data.split(b"\n"), start=1):
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            problem(f"line {number}: is not UTF-8")
            yield ""


def _separated(data: bytes, problem: Callable[[str], None], path: Path) -> Iterator[Triple]:
    first = next((line for line in data.split(b"\n") if line.strip()), b"")
    separator, name = ("\t", "tabs") if b"\t" in first else ("|", "|")
    if separator.encode() not in first:
        written = first.decode("utf-8", "replace").strip()[:80]
        rule = f"is no RDF file, index or table of triples with tabs or | between them; its first line is {written!r}"
        raise DataError(rule, file=str(path))
    for number, line in enumerate(_lines(data, problem), start=1):
        parts = [part.strip() for part in line.split(separator)]
        rule = _broken_rule(parts, name)
        if rule == "":
            yield parts[0], parts[1], parts[2]
        elif line.strip():
            problem(f"line {number}: {rule}: {line.strip()[:80]!r}")


def _broken_rule(parts: Sequence[str], separator: str) -> str:
    """The rule that the parts of a triple break; empty if they can be a part of a path."""
    if len(parts) != 3:
        return f"must be subject, relation and object with {separator} between them, got {len(parts)} parts"
    if not all(parts):
        return "subject, relation and object must not be empty"
    if parts[1].startswith(INVERSE):
        return f"a relation must not begin with {INVERSE!r}, which marks the way back along it"
    if any(SEPARATOR in part for part in parts):
        return f"a name must not hold {SEPARATOR!r}, which separates the steps of a path"
    return ""


_SAMPLES = {"sample:graph": "graph.txt", "sample:train": "train.txt", "sample:dev": "dev.txt"}
_REPORTED = 5


def graph_and_questions(graph: str, files: Sequence[str], form: str) -> tuple[LoadedGraph, LoadedQuestions]:
    """A graph and the questions of files, after unreadable parts were reported; the sample's have names.

    Raises:
        ConfigError: There is no such form of questions.
        DataError: A file cannot be read.
    """
    questions, loaded = (
        join_questions([load_questions(_sample(name), form) for name in files]),
        load_graph(_sample(graph)),
    )
    for problems in (questions.problems, loaded.problems):
        for problem in problems[:_REPORTED]:
            say(f"left out: {problem}")
        if len(problems) > _REPORTED:
            say(f"... and {len(problems) - _REPORTED} more lines")
    return loaded, questions


def _sample(name: str) -> str:
    if name.startswith("sample:") and name not in _SAMPLES:
        raise DataError(f"there are {', '.join(_SAMPLES)}", file=name)
    return str(SAMPLE_FOLDER / "kgqa" / _SAMPLES[name]) if name in _SAMPLES else name
