"""``finpath ingest`` reads news and filings into a growing graph; ``brief`` reports what is new for a user.

$ finpath ingest news/ filing.txt --graph knowledge
$ finpath brief knowledge --database portfolio.db --user ann
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.main import (
    FILE,
    WriteFigures,
    finpath,
    json_option,
    lm_options,
    threads_option,
    track_option,
)
from experiments.console import progress, say, show
from experiments.lms import LMConfig, reach_lm
from kg.errors import DataError, FinpathError

if TYPE_CHECKING:
    from experiments.asking import QuestionLog
    from experiments.tracking import Tracker
    from kg.news import NewsDocument
    from programs.advisor import Advisor, Ingestion

_CHANGED = (
    "another text of this name was read before: its facts stay; to have the new text alone, undo {} and ingest it again"
)
_NO_MODEL = (
    "no language model of an API reads the documents, so their sentences are kept, and no facts and events; with one: "
    "finpath ingest FILE... --graph FOLDER --lm openai/gpt-4o-mini"
)


day_option = click.option(
    "--today",
    type=click.DateTime(["%Y-%m-%d"]),
    default=lambda: datetime.now(UTC).date().isoformat(),
    metavar="DATE",
    help="the reference date of freshness, as 2026-11-20 (the current day)",
)


@finpath.command(
    "ingest",
    epilog="""
    finpath ingest sample:news --graph knowledge    # with recorded replies of a language model
    finpath ingest news/ filing.txt --graph knowledge --lm openai/gpt-4o-mini
    finpath ingest --types types.json --graph knowledge    # after `finpath graph show knowledge --json types.json`
    finpath ingest --undo wire-17.txt --graph knowledge
    """,
)
@click.argument(
    "documents",
    type=FILE,
    nargs=-1,
    metavar="FILE...",
    help="files, or folders of .txt files: lines Headline:, Source: and Date:, an empty line, the "
    "text; or the headline and the text as published, with its date; or sample:news, the sample that ships",
)
@click.option("--graph", type=FILE, required=True, metavar="FOLDER", help="the graph's folder")
@click.option("--types", type=FILE, metavar="FILE", help="give the graph the types of a file of `graph show --json`")
@click.option("--undo", metavar="NUMBER|DOCUMENT", help="take back an update of `graph show --history`, or a document")
@day_option
@threads_option
@lm_options
@track_option
@json_option
def ingest_documents(
    documents: tuple[str, ...],
    graph: str,
    types: str | None,
    undo: str | None,
    today: datetime,
    threads: int | None,
    lm: LMConfig | None,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Adds documents to a graph, the oldest first: their sentences, and the facts and events that a model states.

    What the text or the schema does not hold is left out. Without a language model the sentences are kept, from which
    `finpath ask` answers; briefings need one. The exit code is 1 if a document could not be read or written.
    """
    import dspy

    from experiments.asking import asked
    from experiments.data import SAMPLE_NEWS, read_documents, recorded_replies, use_types
    from experiments.facade import open_graph
    from programs.advisor import Advisor

    if (undo is None) == (not documents and types is None):
        raise click.UsageError("documents must be given, or --types FILE, or --undo alone")
    if undo is not None:
        _undo(graph, undo, write_figures)
        return 0
    news, problems = read_documents(documents, today.date())
    if problems and not news and not Path(graph).exists():
        raise DataError("; ".join(problems))  # a graph of nothing is none
    for document in news:
        if document.day_inferred:
            say(f"{document.name}: states no full date; it is taken to be of {document.published}")
    replies = recorded_replies() if SAMPLE_NEWS in documents else {}
    if replies:
        say(f"the facts of {SAMPLE_NEWS} are replayed from recorded replies of a language model; none is asked")
    with ExitStack() as stack:
        opened = stack.enter_context(open_graph(graph, new=True))
        stack.enter_context(dspy.context(**reach_lm(lm)))
        params = lm.params() if lm is not None else {}
        log = stack.enter_context(asked(tracker if lm is not None else None, "ingest", graph, params))
        if types is not None:
            show(f"{use_types(opened, types)} types are new or changed")
        advisor, threads = Advisor(opened), threads or (lm.default_threads if lm is not None else 1)
        entries = _ingest(advisor, news, replies, threads, log, problems)
        facts = opened.facts()
    for problem in problems:
        say(f"left out: {problem}")
    for entry in entries:
        show(_described(entry))
    show(f"{facts} facts in {graph}")
    write_figures({**_figures(entries), "problems": problems, "facts": facts})
    return 1 if problems else 0


def _ingest(
    advisor: Advisor,
    news: Sequence[NewsDocument],
    replies: Mapping[str, Any],
    threads: int,
    log: QuestionLog,
    problems: list[str],
) -> list[Ingestion]:
    """Writes documents into a graph, the oldest first; what cannot be written or read is added to ``problems``.

    The language model of an API that is set in DSPy reads them; recorded ``replies`` are replayed in its place.
    """
    import dspy
    from dspy.utils.exceptions import LMError as DSPyLMError

    from programs.advisor import ReadDocuments
    from programs.turns import concurrently, is_embedded

    reads = dspy.settings.lm is not None and not is_embedded(dspy.settings.lm)
    if not reads and any(document.name not in replies for document in news):
        say(_NO_MODEL)

    def read(numbered: tuple[int, NewsDocument]) -> Any:
        place, document = numbered
        if document.name in replies:
            return ReadDocuments.recorded(replies[document.name])
        if not reads or advisor.knows(document, facts=True):
            return None
        with log.turn(document.name, place) as seen:
            try:
                reply = ReadDocuments()(document=document)
                seen.outputs = {kind: [row.model_dump() for row in reply[kind]] for kind in ("facts", "events")}
                return reply
            except (DSPyLMError, FinpathError) as error:
                seen.failure = "the language model failed"
                problems.append(f"{document.name}: the language model failed: {error}")
        return None

    entries = []
    ordered = sorted(news, key=lambda document: (document.published, document.name))
    with progress(len(ordered), "document") as bar:
        for document, reply in zip(ordered, concurrently(read, enumerate(ordered), threads), strict=True):
            try:
                entries.append(advisor.ingest(document, reply))
            except FinpathError as error:
                problems.append(f"{document.name}: {error}")
            bar.update()
    return entries


def _undo(path: str, update: str, write_figures: WriteFigures) -> None:
    from experiments.facade import open_graph
    from programs.advisor import take_back

    with open_graph(path) as graph:
        undone, facts = take_back(graph, int(update) if update.isdigit() else update), graph.facts()
        for entry in undone:
            show(graph.in_words(entry))
    show(f"{facts} facts in {path}")
    write_figures({"undone": [entry.number for entry in undone], "facts": facts})


def _described(entry: Ingestion) -> str:
    """A line on what was read of a document, and one on each part that was left out."""
    if entry.known:
        return f"{entry.document}: known"
    applied = entry.applied
    text = f"{entry.document}: {applied.nodes} nodes, {applied.edges} edges, {applied.properties} properties"
    text += f"; {entry.facts} facts and {entry.events} events" if entry.facts or entry.events else ""
    text += f"; {_CHANGED.format(entry.document)}" if entry.changed else ""
    return "\n    refused: ".join([text, *entry.refused])


def _figures(entries: Sequence[Ingestion]) -> dict[str, Any]:
    return {
        "documents": len(entries),
        "known": sum(entry.known for entry in entries),
        "changed": sum(entry.changed for entry in entries),
        "nodes": sum(entry.applied.nodes for entry in entries),
        "edges": sum(entry.applied.edges for entry in entries),
        "stated_facts": sum(entry.facts for entry in entries),
        "stated_events": sum(entry.events for entry in entries),
        "refused": [f"{entry.document}: {problem}" for entry in entries for problem in entry.refused],
    }


@finpath.command("brief", epilog="finpath brief knowledge --database portfolio.db --user ann --lm openai/gpt-4o-mini")
@click.argument("graph", type=FILE, metavar="GRAPH", help="the graph's folder")
@click.option(
    "--database",
    type=FILE,
    required=True,
    metavar="DATABASE",
    help="an SQLite file or an SQLAlchemy URL with the tables positions and watchlist, and maybe "
    "user_investment_profiles (docs/reference/growing-graphs.md); it is only read",
)
@click.option("--user", required=True, metavar="ID", help="the owner of the positions, the watch-list and the profile")
@day_option
@lm_options
@json_option
def brief_user(
    graph: str, database: str, user: str, today: datetime, lm: LMConfig | None, write_figures: WriteFigures
) -> None:
    """Reports events about a user's positions and watch-list, citing the documents that report them.

    There is one block for a symbol. With --lm a model draws insights, which the graph keeps, and orders the blocks by
    the profile; without it nothing is written.
    """
    import dspy

    from experiments.data import read_portfolio
    from experiments.facade import open_graph
    from programs.advisor import Advisor, OrderByProfile, briefings, issuers, symbol_problems

    day, portfolio, refused = today.date(), read_portfolio(database, user), list[str]()
    with open_graph(graph, read_only=lm is None) as opened, dspy.context(**reach_lm(lm)):
        if lm is not None:
            refused = Advisor(opened).reflect(issuers(opened, portfolio).values(), day)
        given, unknown = briefings(opened, portfolio, day), symbol_problems(opened, portfolio)
        if lm is not None and portfolio.profile and len(given) > 1:
            given = OrderByProfile()(given, portfolio.profile).briefings
    for problem in (*unknown, *refused):
        say(problem)
    if lm is None and (without := [briefing.symbol for briefing in given if not briefing.kind]):
        say(f"no insights about {', '.join(without)}: a model draws them: finpath brief ... --lm openai/gpt-4o-mini")
    for briefing in given:
        show(briefing.text)
        for line in [line for event in briefing.events for line in event.lines]:
            show(f"    {line}")
        if briefing.note:
            show(f"    note: {briefing.note}")
    show("This is news with its sources. It is no advice." if given else "nothing new about what you hold or watch")
    write_figures({"briefings": [asdict(briefing) for briefing in given], "refused": refused})
