"""``finpath ingest``: reads news and filings into a growing graph, which ``ask``, ``brief`` and ``graph`` then use.

$ finpath ingest news/ filing.txt https://example.org/feed.xml --graph knowledge
$ finpath ingest --types types.json --graph knowledge
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.options import (
    FILE,
    Command,
    WriteFigures,
    json_option,
    lm_options,
    threads_option,
    track_option,
)
from experiments.console import progress, say, show
from experiments.lms import LMConfig, lm_settings
from kg.errors import ConfigError, DataError, FinpathError

if TYPE_CHECKING:
    import dspy

    from experiments.tracking import QuestionLog, Tracker
    from kg.growing import GrowingGraph
    from kg.investments import NewsDocument
    from programs.advisor import Advisor, DocumentReader, Ingestion, NewsReader

_POLICIES = ("auto", "review", "never")


def _day(_ctx: click.Context, _param: click.Parameter, value: str | None) -> date:
    """The date of ``--today``, or the current one."""
    if value is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise DataError(f"--today must be written 2026-11-20, got {value!r}") from error


day_option = click.option(
    "--today", callback=_day, metavar="DATE", help="the reference date of freshness (the current day)"
)


@click.command(
    cls=Command,
    epilog="""
    finpath ingest news/ filing.txt --graph knowledge
    finpath ingest https://example.org/feed.xml --graph knowledge --lm openai/gpt-4o-mini
    finpath graph show knowledge --json types.json    # edit the file; then
    finpath ingest --types types.json --graph knowledge
    """,
)
@click.argument(
    "documents",
    type=FILE,
    nargs=-1,
    metavar="FILE...",
    help="feeds (RSS or Atom), files, or folders of .txt files: lines Headline:, Source: and Date:, an empty line, the "
    "text; or the headline and the text as published, with its date",
)
@click.option("--graph", type=FILE, required=True, metavar="FOLDER", help="the graph's folder")
@click.option(
    "--types",
    default="review",
    metavar="auto|review|never|FILE",
    help="types that documents need and the graph lacks: accept them (auto), queue them (review, the default) or "
    "refuse them (never); or give the graph the types of a JSON file as `finpath graph show --json` writes it",
)
@day_option
@threads_option
@lm_options
@track_option
@json_option
def command(
    documents: tuple[str, ...],
    graph: str,
    types: str,
    today: date,
    threads: int | None,
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Adds the statements of documents to a graph, the oldest document first; earlier statements are kept.

    Rules read each document. A language model of an API also reads it, and what the text does not hold is left out.

    The exit code is 1 if a document could not be read or written.
    """
    from experiments.data import read_documents
    from experiments.facade.knowledge import open_graph
    from experiments.tracking import asked

    if not documents and types in _POLICIES:
        raise ConfigError("documents must be given, or --types FILE")
    news, problems = read_documents(documents, today)
    if problems and not news and not Path(graph).exists():
        raise DataError("; ".join(problems))  # a graph of nothing is none
    for document in news:
        if document.day_inferred:
            say(f"{document.name}: states no full date; it is taken to be of {document.published}")
    reading = asked(None if lm.is_none else tracker, "ingest", graph, lm.params())
    with open_graph(graph, new=True) as opened, model_of(lm) as model, reading as log:
        if types not in _POLICIES:
            show(f"{_use_types(opened, types)} types are new or have a new version")
        reader = _reader(opened, model)
        entries = _ingest(opened, reader, news, types, problems, threads or lm.default_threads, log)
        from programs.advisor import Advisor

        insights = Advisor(opened, reader, _proposals(opened, types)).reflect(today)
        facts = opened.facts()
    refused: list[str] = getattr(reader, "refused", [])
    for problem in problems:
        say(f"left out: {problem}")
    if refused:
        say(f"{len(refused)} facts of the model are refused, as the text or the schema does not hold them (--json)")
    for entry in entries:
        show(_described(entry))
    if any(entry.proposed for entry in entries) and types == "review":
        say(f"types wait: finpath graph show {graph} --json types.json, then finpath ingest --types types.json")
    show(f"{facts} facts in {graph}, {insights} new insights")
    write_figures({**_figures(entries), "problems": problems, "refused": refused, "facts": facts, "insights": insights})
    return 1 if problems else 0


def _ingest(
    graph: GrowingGraph,
    reader: NewsReader,
    news: list[NewsDocument],
    types: str,
    problems: list[str],
    threads: int,
    log: QuestionLog,
) -> list[Ingestion]:
    """Writes documents into a graph, and adds the reasons of those that cannot be written to ``problems``."""
    from experiments.tracking import SeenTurn
    from programs.advisor import Advisor, DocumentReader

    advisor = Advisor(graph, reader, _proposals(graph, types))
    ordered = sorted(news, key=lambda document: document.published)
    coming: Iterable[NewsDocument] = ordered
    if isinstance(reader, DocumentReader):
        coming = _read_ahead(advisor, reader, ordered, threads, log)
    bar, entries = progress(len(news), "document"), []
    for document in coming:
        turn = nullcontext(SeenTurn()) if isinstance(reader, DocumentReader) else log.turn(document.name)
        try:
            with turn as seen:
                entries.append(advisor.ingest(document))
                seen.outputs = {"sentences": entries[-1].sentences, "understood": entries[-1].understood}
        except FinpathError as error:
            problems.append(f"{document.name}: {error}")
        bar.update()
    bar.close()
    return entries


def _proposals(graph: GrowingGraph, types: str) -> Any:
    from kg.growing import TypeProposals

    return TypeProposals(graph, types if types in _POLICIES else "review")  # type: ignore[arg-type]


def _use_types(graph: GrowingGraph, file: str) -> int:
    """Gives a graph the types of a file, and nodes that fit them their newest version; returns how many changed.

    Types that waited under one of these names wait no more.
    """
    from dataclasses import asdict

    from experiments.data import read_types
    from kg.schema import Schema

    def content(kind: Any) -> dict[str, Any]:
        kept = ("created_by", "scope", "version", "justification")
        return {name: value for name, value in asdict(kind).items() if name not in kept}

    wanted, schema = read_types(file).types, graph.schema
    for kind in wanted:
        current = [known for known in schema.types if (known.name, type(known)) == (kind.name, type(kind))]
        if not current:
            schema = schema.with_type(kind)
        elif content(current[-1]) != content(kind):
            schema = schema.with_version(kind)
    names = {kind.name for kind in wanted}
    changed = len(schema.types) - len(graph.schema.types)
    graph.change_schema(schema, Schema(tuple(kind for kind in graph.proposed.types if kind.name not in names)))
    for left in graph.migrate():
        say(f"left as it is: {left.node.key}: {left.problem}")
    return changed


@contextmanager
def model_of(config: LMConfig) -> Iterator[dspy.LM | None]:
    """Uses a language model inside the context and yields it; ``None`` for no model."""
    if config.is_none:
        yield None
        return
    import dspy

    settings = lm_settings(config)
    with dspy.context(**settings):
        yield settings["lm"]


def _reader(graph: GrowingGraph, model: dspy.LM | None) -> NewsReader:
    """Returns the reader of documents: rules, or rules and a model of an API."""
    from experiments.data import news_rules
    from kg.news import FrameReader
    from programs.advisor import DocumentReader
    from programs.lm import is_embedded

    if model is not None and not is_embedded(model):
        return DocumentReader(graph, news_rules())
    if model is not None:
        say(f"{model.model} is embedded and reads no documents: rules alone read them")
    return FrameReader(graph, news_rules())


def _read_ahead(
    advisor: Advisor, reader: DocumentReader, documents: list[NewsDocument], threads: int, log: QuestionLog
) -> Iterator[NewsDocument]:
    """Yields documents in their order, each after the model has read it; the traces are those of the reading."""
    from programs.lm import concurrently

    def read(numbered: tuple[int, NewsDocument]) -> NewsDocument:
        place, document = numbered
        if not advisor.knows(document):
            with log.turn(document.name, place) as seen:
                reply = reader.read_ahead(document)
                seen.outputs = {"facts": [fact.model_dump() for fact in reply.stated] if reply is not None else []}
                seen.failure = "the language model failed" if reply is None else None
        return document

    return concurrently(read, enumerate(documents), threads)


def _described(entry: Ingestion) -> str:
    """Returns what was read of a document, and what was left out."""
    if entry.known:
        return f"{entry.document}: known"
    applied = entry.applied
    text = f"{entry.document}: {applied.nodes} nodes, {applied.edges} edges, {applied.properties} properties"
    types = "".join(f"; type {name} {verdict}" for name, verdict in entry.proposed)
    if entry.sentences:
        text += f"; {entry.understood} of {entry.sentences} sentences gave facts"
    if entry.earlier is not None:
        text += f"; another text of this name was read before: its facts stay, {entry.earlier}"
        text += f"; to have the new text alone, undo {entry.document} and ingest it again"
    text += types + (f"; {entry.left_out} updates wait for a type" if entry.left_out else "")
    return text + "".join(f"\n    left out: {problem}" for problem in entry.problems)


def _figures(entries: list[Ingestion]) -> dict[str, int]:
    return {
        "documents": len(entries),
        "known": sum(entry.known for entry in entries),
        "changed": sum(entry.earlier is not None for entry in entries),
        "nodes": sum(entry.applied.nodes for entry in entries),
        "edges": sum(entry.applied.edges for entry in entries),
        "types_proposed": sum(len(entry.proposed) for entry in entries),
        "left_out": sum(entry.left_out for entry in entries),
        "sentences": sum(entry.sentences for entry in entries),
        "understood": sum(entry.understood for entry in entries),
        "facts_left_out": sum(len(entry.problems) for entry in entries),
    }
