"""``finpath advisor``: reads documents into a graph, answers questions and writes briefings.

$ finpath advisor ingest news/*.txt --graph my-knowledge
$ finpath advisor ask "which events affect Helixon Inc.?" --graph my-knowledge
$ finpath advisor ask --questions questions.jsonl --graph my-knowledge --json answers.json
$ finpath advisor companies --graph my-knowledge
$ finpath advisor history --graph my-knowledge
$ finpath advisor undo 12 --graph my-knowledge
$ finpath advisor set "Company/Helixon Inc." country Malta --graph my-knowledge
$ finpath advisor alias NVTK "Company/Novatek Inc." --remove --graph my-knowledge
$ finpath advisor brief --graph my-knowledge --database portfolio.db --user ann --format html --out briefing.html
$ finpath advisor watch news/ --graph my-knowledge --database portfolio.db --user ann
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from experiments.commands.advisor_ask import ask
from experiments.commands.briefings import brief, watch
from experiments.commands.companies import companies
from experiments.commands.editing import alias, set_property
from experiments.commands.growing import (
    check_known,
    chosen_lm,
    described,
    graph_option,
    graph_options,
    inferred_days,
    node_key,
    open_graph,
    threads_option,
)
from experiments.commands.options import FILE, Group, WriteFigures, json_option, lm_options, track_option
from experiments.console import progress, say, show
from experiments.lms import LMConfig
from kg.errors import DataError, FinpathError

if TYPE_CHECKING:
    import dspy

    from experiments.tracking import QuestionLog, Tracker
    from kg.growing import GrowingGraph
    from kg.investments import NewsDocument
    from programs.advisor import Advisor, DocumentReader, Ingestion, NewsReader


@click.group(cls=Group)
def command() -> None:
    """Grows a graph from news and filings, questions it, and writes briefings about a portfolio."""


@command.command("ingest", epilog="finpath advisor ingest news/ filing.txt --graph knowledge")
@click.argument(
    "documents",
    type=FILE,
    nargs=-1,
    required=True,
    metavar="FILE...",
    help="files, or folders of .txt files: lines Headline:, Source: and Date:, an empty line, the text; or the headline "  # noqa: E501
    "and the text as published, with its date",
)
@click.option(
    "--strict", is_flag=True, help="exit with 1 if no sentence of a document gave facts, or a fact was left out"
)
@click.option(
    "--types",
    type=click.Choice(["auto", "review", "never"]),
    default="review",
    help="types that documents need and the graph lacks: accept them (auto), queue them for `finpath schema accept` "
    "(review, the default), or refuse them (never)",
)
@threads_option
@graph_options
@lm_options
@track_option
@json_option
def ingest(
    documents: tuple[str, ...],
    strict: bool,
    types: Literal["auto", "review", "never"],
    threads: int | None,
    graph: str,
    today: date,
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Adds the statements of documents to a graph, the oldest document first; earlier statements are kept.

    Rules read each document. A language model of an API also reads it, and what the text does not hold is left out.

    The exit code is 1 if a document could not be read or written.
    """
    from experiments.data import read_documents
    from experiments.tracking import SeenTurn, asked
    from kg.growing import TypeProposals
    from programs.advisor import Advisor, DocumentReader

    news, problems = read_documents(documents, today)
    if problems and not news and not Path(graph).exists():
        raise DataError("; ".join(problems))  # a graph of nothing is none
    for note in inferred_days(news):
        say(note)
    done: list[Ingestion] = []
    reading = asked(None if lm.is_none else tracker, "advisor ingest", graph, lm.params())
    with open_graph(graph, new=True) as opened, chosen_lm(lm) as model, reading as log:
        reader = _news_reader(opened, model)
        advisor = Advisor(opened, reader, TypeProposals(opened, types))
        ordered = sorted(news, key=lambda document: document.published)
        coming: Iterable[NewsDocument] = ordered
        if isinstance(reader, DocumentReader):
            coming = _read_ahead(advisor, reader, ordered, threads or lm.default_threads, log)
        bar = progress(len(news), "document")
        for document in coming:
            asked_now = nullcontext(SeenTurn()) if isinstance(reader, DocumentReader) else log.turn(document.name)
            try:
                with asked_now as seen:
                    done.append(advisor.ingest(document))
                    seen.outputs = {"sentences": done[-1].sentences, "understood": done[-1].understood}
            except FinpathError as error:
                problems.append(f"{document.name}: {error}")
            bar.update()
        bar.close()
        refused: list[str] = getattr(reader, "refused", [])
        insights = advisor.reflect(today)
        facts = opened.facts()
    for problem in problems:
        say(f"left out: {problem}")
    if refused:
        say(f"{len(refused)} facts of the model are refused, as the text or the schema does not hold them (--json)")
    for entry in done:
        show(described(entry))
    show(f"{facts} facts in {graph}, {insights} new insights")
    write_figures({**_figures(done), "problems": problems, "refused": refused, "facts": facts, "insights": insights})
    unread = [entry for entry in done if entry.problems or (entry.sentences and not entry.understood)]
    return 1 if problems or (strict and unread) else 0


def _news_reader(graph: GrowingGraph, model: dspy.LM | None) -> NewsReader:
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
                seen.outputs = {"facts": [one.model_dump() for one in reply.stated] if reply is not None else []}
                seen.failure = "the language model failed" if reply is None else None
        return document

    return concurrently(read, enumerate(documents), threads)


command.add_command(ask)
command.add_command(brief)
command.add_command(watch)
command.add_command(companies)
command.add_command(set_property)
command.add_command(alias)


@command.command("history", epilog='finpath advisor history --graph knowledge --node "Company/Helixon Inc."')
@click.option("--node", metavar="TYPE/NAME", help="only the updates about this node")
@graph_option
@json_option
def history(node: str | None, graph: str, write_figures: WriteFigures) -> None:
    """Lists the updates of a graph with their sources, passages and replaced values."""
    with open_graph(graph, read_only=True) as opened:
        key = node_key(node) if node is not None else None
        entries = opened.history(key)
        if key is not None and not entries:
            check_known(opened, key)
        lines = [opened.in_words(entry) for entry in entries]
    for entry, line in zip(entries, lines, strict=True):
        show(line)
        for span in dict.fromkeys(entry.spans):
            if span:
                show(f"    {span}")
    if not entries:
        show("no update is known")
    left_out = ("asserted", "added", "removed")
    rows = [
        {**{name: value for name, value in asdict(entry).items() if name not in left_out}, "line": line}
        for entry, line in zip(entries, lines, strict=True)
    ]
    write_figures({"entries": rows})


@command.command("undo", epilog="finpath advisor undo wire-17.txt --graph knowledge")
@click.argument(
    "what",
    metavar="NUMBER|DOCUMENT",
    help="an update, as `finpath advisor history` numbers it, or a document by its name",
)
@graph_option
@json_option
def undo(what: str, graph: str, write_figures: WriteFigures) -> None:
    """Takes an update back, or all of a document: its facts go, and the values that it replaced return.

    Insights and inserted answers that build on it go too.
    """
    from programs.advisor import take_back

    asked = int(what) if what.isdigit() else what
    with open_graph(graph) as opened:
        undone = take_back(opened, asked)
        facts = opened.facts()
        lines = [opened.in_words(entry) for entry in undone]
    for line in lines:
        show(line)
    show(f"{facts} facts in {graph}")
    numbers = [entry.number for entry in undone]
    write_figures({"undone": asked if isinstance(asked, int) else numbers[-1], "all_undone": numbers, "facts": facts})


def _figures(done: list[Ingestion]) -> dict[str, int]:
    return {
        "documents": len(done),
        "known": sum(entry.known for entry in done),
        "changed": sum(entry.earlier is not None for entry in done),
        "nodes": sum(entry.applied.nodes for entry in done),
        "edges": sum(entry.applied.edges for entry in done),
        "types_proposed": sum(len(entry.proposed) for entry in done),
        "left_out": sum(entry.left_out for entry in done),
        "sentences": sum(entry.sentences for entry in done),
        "understood": sum(entry.understood for entry in done),
        "facts_left_out": sum(len(entry.problems) for entry in done),
    }
