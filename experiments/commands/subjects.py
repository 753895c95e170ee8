"""Subjects of a conversation: a graph, a report, or tables.

>>> subject = find_subject(["geography"], "sample:dev", "beam")
>>> Conversation(subject.program, subject.world).ask("What is the capital of Norway?").words
'Oslo'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast
from urllib.parse import quote

from rdflib import OWL, RDF, Graph, URIRef

from experiments.commands.chat_session import Subject
from experiments.commands.graph_files import GEOGRAPHY, graph_of, is_graph
from experiments.commands.options import open_tracker
from experiments.console import say, write_share
from experiments.facade.documents import resolve_report
from experiments.files import read_text
from experiments.rendering import basis_of
from experiments.saved import find_program, shipped_programs, shipped_references, with_program_settings
from experiments.tasks import load_geography
from kg.errors import ConfigError, DataError
from kg.figures import ReportIndex
from kg.graphs import MemoryStore, read_turtle
from kg.questions import LEX, EntityGraph
from kg.report_graphs import Source, Unmapped
from programs.conversation import ConversationQA
from programs.turns import EntityDetail, QueryDetail, Turn
from programs.worlds.entities import EntityTurn, EntityWorld
from programs.worlds.graph import GraphConfig, GraphWorld, QueryTurn


def find_subject(
    about: Sequence[str],
    data: str,
    program: str,
    settings: Sequence[str] = (),
    unmapped: Unmapped | None = None,
) -> Subject:
    """The subject that the words of a command line name.

    Args:
        about: Files, folders or addresses of a graph, or ``geography``; a report's id in ``data``; or files of tables
            and text.
        data: Conversations whose reports an id is looked up in.
        program: The program for reports, or for graphs one of ``finpath compile queries``.
        settings: ``KEY=VALUE`` texts: the use of the language model by that program.
        unmapped: The treatment of a report's line items outside the ontology; ``None`` for the program's own.

    Raises:
        FinpathError: There is no such report, file or program; or settings are given and it has none.
    """
    graphs = [word for word in about if word == GEOGRAPHY or is_graph(word)]
    if not graphs:
        return report_subject(about, data, program, settings, unmapped)
    if len(graphs) < len(about) or (GEOGRAPHY in graphs and len(about) > 1):
        raise ConfigError(f"a graph must be the only subject, got {', '.join(about)}")
    if settings:
        raise ConfigError(f"set is for programs about reports; a graph has no settings, got {settings[0]!r}")
    if unmapped is not None:
        raise ConfigError(f"unmapped is for reports; a graph needs no ontology, got {unmapped!r}")
    return geography_subject() if graphs == [GEOGRAPHY] else graph_subject(graphs, program)


def geography_subject() -> Subject:
    """The shipped graph of countries and cities."""
    return _subject_of_graph(load_geography(), GEOGRAPHY, "countries, cities and currencies")


def graph_subject(words: Sequence[str], program: str = "") -> Subject:
    """A graph in files, folders or at SPARQL endpoints.

    A Turtle file in finpath's lexicon vocabulary is read by the grammar of that vocabulary.

    Args:
        words: The files, folders or addresses.
        program: A program of ``finpath compile queries``; any other leaves the choice to finpath.

    Raises:
        DataError: A file cannot be read, an endpoint cannot be reached, or there is no fact.
    """
    if len(words) == 1 and words[0].endswith((".ttl", ".nt")):
        text = read_text(words[0])
        if LEX in text:
            return _annotated_subject(Path(words[0]), text)
    answering = _compiled(program) or ConversationQA.for_graphs()
    world = cast(GraphWorld, answering.world(**graph_of(words)))
    graph = world.graph.graph
    entities = [node for node in range(len(graph.values)) if graph.is_entity(node)]
    kinds = sorted(one.names[0] for one in graph.classes)
    title = f"{world.name}: {len(entities)} entities: {', '.join(kinds[:5])}".removesuffix(": ")
    labels = {graph.name(node) for node in entities[:50_000]}
    names = frozenset(word for label in labels for word in label.split()) | labels
    return Subject(title, answering, world, lambda turn: _why_of_query(turn, world.name), names)


def _compiled(program: str) -> ConversationQA | None:
    """The compiled program for any graph that a reference names, or ``None``."""
    found = None if program in ("", *shipped_programs()) else find_program(program, open_tracker()).program
    return found if isinstance(found, ConversationQA) and isinstance(found.config, GraphConfig) else None


def _why_of_query(turn: QueryTurn, name: str) -> Iterator[str]:
    detail = turn.detail or QueryDetail()
    if turn.answer is None:
        yield f"no answer   {turn.message}"
        return
    yield f"query       {detail.path}"
    for fact in detail.facts[:20]:
        yield f"path        {fact}"
    if len(detail.facts) > 20:
        yield f"            and {len(detail.facts) - 20} more"
    yield f"read in     {name}"
    if turn.confidence is not None:
        yield f"confidence  {write_share(turn.confidence, 0)}"


def _annotated_subject(path: Path, text: str) -> Subject:
    store = MemoryStore()
    name = f"urn:finpath:graph:{quote(path.name)}"
    store.put_graph(name, _with_types(read_turtle(text, what=str(path))))
    graph = EntityGraph(store, name)
    types = sorted({graph.lexicon.label(kind) for kinds in graph.lexicon.types.values() for kind in kinds})
    if not graph.lexicon.labels:
        raise DataError("has no entity with a name", file=str(path))
    return _subject_of_graph(graph, str(path), ", ".join(types[:5]))


def _with_types(graph: Graph) -> Graph:
    """The graph with a class for each node that has none, as only members of a class are entities."""
    classes = set(graph.objects(None, RDF.type))
    nodes = {node for edge in graph if edge[1] != RDF.type for node in (edge[0], edge[2]) if isinstance(node, URIRef)}
    for node in nodes - classes - set(graph.predicates()) - set(graph.subjects(RDF.type)):
        graph.add((node, RDF.type, OWL.Thing))
    return graph


def _subject_of_graph(graph: EntityGraph, name: str, types: str) -> Subject:
    labels = set(graph.lexicon.labels.values())
    words = frozenset(word for label in labels for word in label.split()) | labels
    title = f"{name}: {len(graph.lexicon.types)} entities: {types}"
    world = EntityWorld(graph, graph.name)
    return Subject(title, ConversationQA.for_graphs(), world, lambda turn: _why_of_graph(graph, turn), words)


def _why_of_graph(graph: EntityGraph, turn: EntityTurn) -> Iterator[str]:
    resolution, found = turn.resolved, (turn.detail or EntityDetail()).found
    if resolution.kind != "none":
        yield f"{resolution.kind} reference, resolved by the {resolution.by}"
        if resolution.referents:
            yield f"refers to   {', '.join(map(graph.lexicon.label, resolution.referents))}"
    if found is None:
        yield f"no answer   {turn.message}"
        return
    for fact in found.facts[:20]:
        yield f"path        {fact}"
    if len(found.facts) > 20:
        yield f"            and {len(found.facts) - 20} more"
    yield f"read in     the graph {graph.name}"


def report_subject(
    about: Sequence[str],
    data: str,
    program: str,
    settings: Sequence[str] = (),
    unmapped: Unmapped | None = None,
) -> Subject:
    """A report by its id, or a report built from files."""
    found = resolve_report(about, data)
    saved = find_program(program, open_tracker())
    answering = with_program_settings(saved.program, settings, unmapped)
    world = answering.world(report=found.report, references=shipped_references())
    for problem in found.problems:
        say(f"finpath: {problem}")
    return Subject(
        found.title,
        answering,
        world,
        lambda turn: _why_of_report(found.describe, turn),
        _words_of_report(answering.start(world).index),
    )


def _why_of_report(describe: Callable[[Source], str], turn: Turn) -> Iterator[str]:
    if turn.resolved.kind != "none":
        turns = ", ".join(str(place + 1) for place in turn.resolved.turns)
        yield f"{turn.resolved.kind} reference, to turn {turns}"
    if turn.answer is None:
        yield f"no answer   {turn.message}"
        return
    for title, text in basis_of(turn, describe):
        yield f"{title:<12}{text}"
    if turn.confidence is not None:
        yield f"confidence  {write_share(turn.confidence, 0)}"


def _words_of_report(index: ReportIndex) -> frozenset[str]:
    words: set[str] = set()
    for observation in index.observations:
        words |= {word for word in observation.label.split() if len(word) > 3 and word.isalpha()}
        words |= {observation.period} if observation.period else set()
    return frozenset(words)
