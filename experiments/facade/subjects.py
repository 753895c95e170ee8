"""Subjects of questions, distinguished by their files: a report, a graph, a growing graph, or a folder of texts.

>>> subject = find_subject(["films.csv"])        # three columns of names are triples, whatever the ending
>>> Conversation(subject.program, subject.world).ask("who made Alien?").words
'Ridley Scott'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from experiments.console import SAMPLE_FOLDER, check_address, read_text, say
from experiments.facade.reports import resolve_report, saved_program
from experiments.pages import answer_figures, basis_of, turn_figures
from kg.errors import ConfigError, DataError
from kg.graphs import RDF_FILES, EndpointStore, FactGraph, Triple, is_table_of_triples, read_file, read_store
from kg.readers import is_file_list
from programs.turns import QueryDetail

if TYPE_CHECKING:
    from kg.reports import Source
    from programs.turns import AnyTurn

GEOGRAPHY = "geography"
"""The name of the shipped graph."""

MOST_TRIPLES = 2_000_000
"""Triples of a graph that is held in memory."""

_ADDRESSES = ("http://", "https://")
_TABLES = (".csv", ".tsv", ".txt", ".psv", "")
_STORE = "CURRENT"
"""The file by which the folder of a growing graph is recognised."""

Kind = Literal["report", "graph", "growing graph", "texts"]


@dataclass(frozen=True)
class Subject:
    """The subject of questions.

    Attributes:
        kind: Its kind.
        title: Its description in one line.
        program: The program that answers.
        world: The world that it is asked about.
        place: The place of a figure of a report, with the text around it; ``None`` for other kinds.
    """

    kind: Kind
    title: str
    program: Any
    world: Any
    place: Callable[[Source], str] | None = None

    def basis(self, turn: AnyTurn) -> Iterator[tuple[str, str]]:
        """The basis of a turn's answer: titles and texts."""
        yield from basis_of(turn, self.place or str)
        if isinstance(turn.detail, QueryDetail) and turn.answer is not None:
            yield "read in", self.world.name

    def figures(self, turn: AnyTurn) -> dict[str, Any]:
        """A turn as JSON."""
        return turn_figures(turn, self.place) if self.place is not None else answer_figures(turn)


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of the subject and the questions: the first word and the files after it name the subject."""
    first = words[0] == GEOGRAPHY or not (_is_graph(words[0]) or is_file_list(words[:1]))
    named = [] if first else takewhile(lambda word: _is_graph(word) or is_file_list([word]), words[1:])
    about = [words[0], *named]
    return about, list(words[len(about) :])


def kind_of(about: Sequence[str]) -> Kind:
    """The kind of the subject that some words name.

    Raises:
        ConfigError: A graph is not the only subject, or a folder holds nothing to ask about.
    """
    graphs = [word for word in about if word == GEOGRAPHY or _is_graph(word)]
    if graphs:
        if len(graphs) < len(about) or (GEOGRAPHY in graphs and len(about) > 1):
            raise ConfigError(f"a graph must be the only subject, got {', '.join(about)}")
        return "graph"
    if len(about) == 1 and _is_folder(about[0]):
        if (Path(about[0]) / _STORE).is_file():
            return "growing graph"
        if any(Path(about[0]).glob("*.txt")):
            return "texts"
        raise ConfigError(f"a folder must hold a graph or texts (*.txt) to be asked about, {about[0]} holds neither")
    return "report"


def find_subject(
    about: Sequence[str],
    data: str = "sample:dev",
    program: str = "beam",
    settings: Mapping[str, str] | None = None,
) -> Subject:
    """The subject that the words of a command line name.

    Args:
        about: Files, folders or addresses of a graph, or ``geography``; the folder of a growing graph, or of texts; a
            report's id in ``data``; or files of tables and text.
        data: Conversations whose reports an id is looked up in.
        program: The program for reports; or for graphs one of the kinds kgqa or queries.
        settings: Settings of that program by name.

    Raises:
        FinpathError: There is no such report, file or program; or settings are given and it has none.
    """
    kind = kind_of(about)
    if kind == "report":
        return _report(about, data, program, settings or {})
    if settings:
        raise ConfigError(f"set is for programs about reports, got a {kind}")
    if kind == "graph":
        return _graph(about, program)
    return _texts(about[0], kind)


def _report(about: Sequence[str], data: str, reference: str, settings: Mapping[str, str]) -> Subject:
    from experiments.saved import with_program_settings

    files = resolve_report(about, data)
    for problem in files.problems:
        say(f"finpath: {problem}")
    program = with_program_settings(saved_program(reference), settings)
    sizes = f"{len(files.report.table)} table rows, {len(files.report.sentences)} sentences"
    title = f"report {files.report.id}: {sizes}"
    return Subject("report", title, program, program.world(report=files.report), files.describe)


def _graph(words: Sequence[str], reference: str) -> Subject:
    """A graph in files, folders or at SPARQL endpoints."""
    from experiments.saved import shipped_programs
    from programs.conversation import ConversationQA
    from programs.kgqa import KGQA
    from programs.worlds.graph import GraphConfig

    own = reference in shipped_programs() and reference != "untrained"
    program = ConversationQA.for_graphs() if own else saved_program(reference)
    if isinstance(program, KGQA):
        return _paths(words, program)
    if not isinstance(program, ConversationQA) or not isinstance(program.config, GraphConfig):
        raise ConfigError(f"program must be of the kind kgqa or queries to answer about a graph, got {reference!r}")
    about = graph_of(words)
    graph = about["graph"].graph
    entities = [node for node in range(len(graph.values)) if graph.is_entity(node)]
    kinds = ", ".join(sorted(kind.names[0] for kind in graph.classes)[:5])
    title = f"graph {about['name']}: {len(entities)} entities" + (f": {kinds}" if kinds else "")
    return Subject("graph", title, program, program.world(**about))


def _paths(words: Sequence[str], program: Any) -> Subject:
    """A graph for a program that searches paths from the entity that a question names."""
    from experiments.data import OneGraph, open_graph

    if len(words) != 1:
        raise ConfigError(f"a program of the kind kgqa answers about one graph, got {', '.join(words)}")
    name = words[0] if words[0].startswith(_ADDRESSES) else str(_path(words[0]))
    source = open_graph(name, depth=program.config.max_depth)
    if not isinstance(source, OneGraph):
        raise ConfigError(f"graph must be one that can be read whole, not an endpoint, got {words[0]}")
    for problem in source.problems[:5]:
        say(f"left out: {problem}")
    title = f"graph {source.name}: {len(source.index.entities)} entities, {len(source.index)} facts"
    return Subject("graph", title, program, program.world(graph=source.graph, name=source.name))


def _texts(folder: str, kind: Kind) -> Subject:
    """A growing graph, or one in memory of the texts of a folder."""
    from experiments.facade.knowledge import answers_of, graph_of_texts, open_graph
    from programs.beam import BeamQA
    from programs.conversation import ConversationQA
    from signatures.news import UnderstandTexts

    graph = open_graph(folder, copied=True) if kind == "growing graph" else graph_of_texts(folder)
    program = ConversationQA(BeamQA(signature=UnderstandTexts))
    world = program.world(texts=answers_of(graph), name=folder)
    return Subject(kind, f"{kind} {folder}: {graph.facts()} facts", program, world)


def _path(word: str) -> Path:
    shipped = {"sample:graph": SAMPLE_FOLDER / "kgqa" / "graph.txt", GEOGRAPHY: SAMPLE_FOLDER / "geography.ttl"}
    return shipped.get(word, Path(word))


def _is_folder(word: str) -> bool:
    try:
        return Path(word).is_dir()
    except OSError:  # a question may be longer than a name can be
        return False


def _is_graph(word: str) -> bool:
    """Whether a word of a command line names a graph: a file of RDF or of triples, a folder of them, an address."""
    if word.startswith(_ADDRESSES):
        return True
    path = _path(word)
    if path.suffix.lower() in RDF_FILES:
        return True
    if _is_folder(word):
        return not (path / _STORE).is_file() and any(_is_graph(str(file)) for file in path.iterdir() if file.is_file())
    if path.suffix.lower() not in _TABLES:
        return False
    try:
        with path.open(encoding="utf-8") as lines:
            return is_table_of_triples("".join(islice(lines, 50)))
    except (OSError, UnicodeDecodeError):
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
    """The facts of a file, a folder or an endpoint; of an invalid file of a folder, those before its error.

    Raises:
        DataError: A file cannot be read, or the endpoint cannot be reached.
    """
    if word.startswith(_ADDRESSES):
        check_address(word)
        with EndpointStore(word) as store:
            yield from read_store(store, MOST_TRIPLES)
        return
    path = _path(word)
    files = sorted(file for file in path.iterdir() if file.is_file() and _is_graph(str(file))) if path.is_dir() else []
    for file in files or [path]:
        try:
            yield from read_file(file, read_text(file))
        except DataError as error:
            if len(files) < 2:
                raise
            say(f"left out from there on: {error}")
