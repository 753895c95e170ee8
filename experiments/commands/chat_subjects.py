"""What one can talk about: the graph that ships, a report, tables of one's own.

>>> subject = find_subject(["geography"], "sample:dev", "beam")
>>> Conversation(subject.program, subject.world).ask("What is the capital of Norway?").words
'Oslo'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from experiments.console import say
from experiments.files import SHIPPED_FOLDER
from kg.coreference import ReferenceModel
from kg.derivations import ReportIndex
from kg.errors import ConfigError
from kg.questions import EntityGraph
from kg.reports import Source
from programs.graphs import EntityQA, EntityTurn, GraphWorld
from programs.turns import AnyTurn, EntityDetail, Turn, TurnProgram, World

_REFERENCES = SHIPPED_FOLDER / "references.json"


@dataclass(frozen=True)
class Subject:
    """What a conversation is about.

    Attributes:
        title: What it is, in one line.
        program: The program that answers.
        world: The world that it is asked about.
        why: The basis of a turn's answer, line by line.
        words: Words that may be completed.
    """

    title: str
    program: TurnProgram
    world: World
    why: Callable[[AnyTurn], Iterator[str]]
    words: frozenset[str]


@lru_cache(maxsize=1)
def shipped_references() -> ReferenceModel:
    """The shipped model of which earlier turns a question uses, fitted on training conversations."""
    return ReferenceModel.from_json(_REFERENCES.read_text(encoding="utf-8"))


def find_subject(about: Sequence[str], data: str, program: str, settings: Sequence[str] = ()) -> Subject:
    """What the words of a command line name.

    Args:
        about: ``geography``; a report's id in ``data``; or files.
        data: Where a report's id is looked up.
        program: The program for reports.
        settings: ``KEY=VALUE`` texts: how that program uses its language model.

    Raises:
        FinpathError: There is no such report, file or program; or settings are given and it has none.
    """
    if list(about) == ["geography"]:
        if settings:
            raise ConfigError(f"set is for programs about reports; geography has no settings, got {settings[0]!r}")
        return geography_subject()
    return report_subject(about, data, program, settings)


def geography_subject() -> Subject:
    """The graph of countries and cities that ships."""
    from experiments.tasks.geography import load_geography

    graph = load_geography()
    lexicon = graph.lexicon
    labels = set(lexicon.labels.values())
    words = frozenset(word for label in labels for word in label.split()) | labels
    title = f"geography: {len(graph.lexicon.types)} entities: countries, cities and currencies"
    world = GraphWorld(graph, graph.name)
    return Subject(title, EntityQA(), world, lambda turn: _why_of_graph(graph, turn), words)


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


def report_subject(about: Sequence[str], data: str, program: str, settings: Sequence[str] = ()) -> Subject:
    """A report by its id, or one made of files."""
    from experiments.commands.ask import resolve_report
    from experiments.compiling.compile import with_program_settings
    from experiments.saved.programs import find_program
    from experiments.tracking.tracker import Tracker, TrackingConfig
    from programs.reports import ReportWorld

    found = resolve_report(about, data)
    saved = find_program(program, Tracker(TrackingConfig.from_environment()))
    answering = with_program_settings(saved.program, settings)
    report = found.report
    world = ReportWorld(report, shipped_references())
    for problem in found.problems:
        say(f"finpath: {problem}")
    title = f"report {report.id}: {len(report.table)} table rows, {len(report.sentences)} sentences"
    return Subject(
        title,
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
    if turn.derivation is not None and not turn.derivation.is_look_up:
        yield f"calculated  {turn.derivation}"
    if turn.reading is not None:
        for one in turn.reading.inserted:
            yield f"read        {one.path}, {describe(one.source)}"
    if turn.pick is not None:
        picked = turn.candidates[turn.pick]
        paths = dict.fromkeys(number.path for number in picked.derivation.numbers if number.path is not None)
        for path in paths or [picked.path]:
            yield f"path        {path}"
        for source in dict.fromkeys(picked.sources):
            yield f"read in     {describe(source)}"
    if turn.confidence is not None:
        yield f"confidence  {100 * turn.confidence:.0f}%"


def _words_of_report(index: ReportIndex) -> frozenset[str]:
    words: set[str] = set()
    for observation in index.observations:
        words |= {word for word in observation.label.split() if len(word) > 3 and word.isalpha()}
        words |= {observation.period} if observation.period else set()
    return frozenset(words)
