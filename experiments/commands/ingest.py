"""``finpath ingest``: reads news and filings into a growing graph, which ``ask``, ``brief`` and ``graph`` then use.

$ finpath ingest news/ filing.txt https://example.org/feed.xml --graph knowledge
$ finpath ingest --types types.json --graph knowledge
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

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
from experiments.console import say, show
from experiments.lms import LMConfig, lm_settings
from kg.errors import ConfigError, DataError

if TYPE_CHECKING:
    from experiments.tracking import Tracker
    from programs.advisor import Ingestion

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
    import dspy

    from experiments.data import read_documents
    from experiments.facade.knowledge import DocumentIngestion, open_graph, use_types
    from experiments.tracking import asked

    if not documents and types in _POLICIES:
        raise ConfigError("documents must be given, or --types FILE")
    news, problems = read_documents(documents, today)
    if problems and not news and not Path(graph).exists():
        raise DataError("; ".join(problems))  # a graph of nothing is none
    for document in news:
        if document.day_inferred:
            say(f"{document.name}: states no full date; it is taken to be of {document.published}")
    settings = {} if lm.is_none else lm_settings(lm)
    with (
        open_graph(graph, new=True) as opened,
        dspy.context(**settings),
        asked(None if lm.is_none else tracker, "ingest", graph, lm.params()) as log,
    ):
        if types not in _POLICIES:
            show(f"{use_types(opened, types)} types are new or have a new version")
        reading = DocumentIngestion(opened, types if types in _POLICIES else "review")  # type: ignore[arg-type]
        entries = list(reading.ingest(news, threads or lm.default_threads, log))
        insights, facts = reading.advisor.reflect(today), opened.facts()
    problems += reading.problems
    refused = reading.refused
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
