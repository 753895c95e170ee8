"""Graphs of questions from files.

    >>> loaded = load_graph("metaqa/kb.txt")
    >>> loaded.graph.topics(question.question, question.topics)
    Topics(entities=('Tom Hanks',), label='', unknown=())

The ending of a file's name is that of an RDF format; any other file has a triple a line with tabs, ``|`` or commas
between its parts. A line that is no triple is reported; the others are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.console import SAMPLE_FOLDER, say_left_out
from experiments.data.questions import LoadedQuestions, join_questions, load_questions
from kg.errors import DataError
from kg.graphs import RDF_FILES, FactGraph, GraphIndex, read_file
from kg.graphs import Triple as Statement
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
    triples = read_file(path, _decoded(data, problem), problems.append)
    if path.suffix.lower() in RDF_FILES:
        graph = QuestionGraph.of(FactGraph.build(triples))
    else:
        graph = QuestionGraph.over(GraphIndex.from_triples(_separated(triples, problem)))
    if not len(graph.index):
        first = f"; the first line that is none: {problems[0]}" if problems else ""
        raise DataError(f"no triple can be read{first}", file=str(path))
    return LoadedGraph(graph, path.name, hashlib.sha256(data).hexdigest(), tuple(problems))


def _decoded(data: bytes, problem: Callable[[str], None]) -> str:
    lines = data.split(b"\n")
    for number, raw in enumerate(lines):
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            problem(f"line {number + 1}: is not UTF-8")
            lines[number] = b""
    return b"\n".join(lines).decode("utf-8-sig")


def _separated(triples: Iterable[Statement], problem: Callable[[str], None]) -> Iterator[Triple]:
    for subject, relation, value, *_ in triples:
        if any(SEPARATOR in part for part in (subject, relation, value)):
            problem(f"a name must not hold {SEPARATOR!r}, which separates the steps of a path: {subject[:80]!r}")
        else:
            yield subject, relation, value


_SAMPLES = {"sample:graph": "graph.txt", "sample:train": "train.txt", "sample:dev": "dev.txt"}


def graph_and_questions(graph: str, files: Sequence[str], form: str) -> tuple[LoadedGraph, LoadedQuestions]:
    """A graph and the questions of files, after unreadable parts were reported; the sample's have names.

    Raises:
        ConfigError: There is no such form of questions.
        DataError: A file cannot be read.
    """
    questions = join_questions([load_questions(_sample(name), form) for name in files])
    loaded = load_graph(_sample(graph))
    for problems in (questions.problems, loaded.problems):
        say_left_out(problems)
    return loaded, questions


def _sample(name: str) -> str:
    if name.startswith("sample:") and name not in _SAMPLES:
        raise DataError(f"there are {', '.join(_SAMPLES)}", file=name)
    return str(SAMPLE_FOLDER / "kgqa" / _SAMPLES[name]) if name in _SAMPLES else name
