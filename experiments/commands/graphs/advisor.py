"""``finpath advisor``: reads documents into a graph, answers questions and writes briefings.

$ finpath advisor ingest news/*.txt --graph my-knowledge
$ finpath advisor ask "which events affect Helixon Inc.?" --graph my-knowledge
$ finpath advisor ask --questions questions.jsonl --graph my-knowledge --json answers.json
$ finpath advisor history --graph my-knowledge
$ finpath advisor undo 12 --graph my-knowledge
$ finpath advisor brief --graph my-knowledge --database portfolio.db --user ann --format html --out briefing.html
$ finpath advisor watch news/ --graph my-knowledge --database portfolio.db --user ann
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import click
from click.core import ParameterSource

from experiments.commands.groups import Group
from experiments.commands.options import WriteFigures, json_option, lm_options, option, options, track_option
from experiments.commands.values import FILE, OUT_FILE
from experiments.console import progress, say, show
from experiments.lms import LMConfig, lm_settings
from experiments.terminal import waiting
from kg.errors import DataError, FinpathError

if TYPE_CHECKING:
    import dspy

    from experiments.tracking import QuestionLog, Tracker
    from kg.growing import GrowingGraph
    from kg.investments import Freshness
    from programs.advisor import Briefing, Ingestion, Portfolio


def _day(_ctx: click.Context, _param: click.Parameter, value: str | None) -> date:
    """The date of ``--today``, or the current one."""
    if value is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise DataError(f"--today must be written 2026-11-20, got {value!r}") from error


graph_option = option("--graph", type=FILE, required=True, metavar="FOLDER", help="the graph's folder")
day_option = option("--today", callback=_day, metavar="DATE", help="the reference date of freshness (the current day)")
_graph_options = options(graph_option, day_option)


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
@option("--strict", is_flag=True, help="exit with 1 if no sentence of a document gave facts, or a fact was left out")
@option(
    "--types",
    type=click.Choice(["auto", "review", "never"]),
    default="review",
    help="types that documents need and the graph lacks: accept them (auto), queue them for `finpath schema accept` "
    "(review, the default), or refuse them (never)",
)
@_graph_options
@lm_options
@json_option
def ingest(
    documents: tuple[str, ...],
    strict: bool,
    types: Literal["auto", "review", "never"],
    graph: str,
    today: date,
    lm: LMConfig,
    write_figures: WriteFigures,
) -> int:
    """Adds the statements of documents to a graph, the oldest document first; earlier statements are kept.

    The exit code is 1 if a document could not be read or written.
    """
    from experiments.data import news_rules, read_documents
    from kg.growing import TypeProposals
    from kg.news import FrameReader
    from programs.advisor import Advisor, ModelReader

    news, problems = read_documents(documents)
    for document in news:
        if document.day_inferred:
            say(f"{document.name}: states no full date; it is taken to be of {document.published}")
    done: list[Ingestion] = []
    with open_graph(graph, new=True) as opened, chosen_lm(lm) as model:
        reader = FrameReader(opened, news_rules()) if model is None else ModelReader(opened)
        advisor = Advisor(opened, reader, TypeProposals(opened, types))
        bar = progress(len(news), "document")
        for document in sorted(news, key=lambda document: document.published):
            try:
                done.append(advisor.ingest(document))
            except FinpathError as error:
                problems.append(f"{document.name}: {error}")
            bar.update()
        bar.close()
        insights = advisor.reflect(today)
        facts = opened.facts()
    for problem in problems:
        say(f"left out: {problem}")
    for entry in done:
        show(_described(entry))
    show(f"{facts} facts in {graph}, {insights} new insights")
    write_figures({**_figures(done), "problems": problems, "facts": facts, "insights": insights})
    unread = [entry for entry in done if entry.problems or (entry.sentences and not entry.understood)]
    return 1 if problems or (strict and unread) else 0


@command.command("ask", epilog='finpath advisor ask "which events affect Helixon Inc.?" --graph knowledge')
@click.argument("question", required=False, metavar="[QUESTION]", help="the question")
@option(
    "--questions",
    type=FILE,
    metavar="FILE",
    help="many questions: JSON lines or a JSON list with `question`, or one question a line; --json writes a list of "
    "question, answers, abstained and facts",
)
@option("--documents", type=FILE, metavar="FOLDER", help="with a language model: documents that it may read")
@_graph_options
@lm_options
@track_option
@json_option
def ask(
    question: str | None,
    questions: str | None,
    documents: str | None,
    graph: str,
    today: date,
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Answers a question from a graph, or the questions of a file.

    The exit code is 1 if there is no answer to any question.
    """
    from experiments.data import read_questions
    from experiments.tracking import asked
    from programs.advisor import answer_question

    if (question is None) == (questions is None):
        raise click.UsageError("give a question, or --questions FILE")
    with (
        open_graph(graph, read_only=True) as opened,
        chosen_lm(lm) as model,
        asked(tracker, "advisor", graph, lm.params()) as log,
    ):
        if questions is not None:
            rows = _answer_all(opened, read_questions(questions), model, today, documents, log)
            write_figures(rows)
            return 0 if any(not row["abstained"] for row in rows) else 1
        assert question is not None
        with waiting("answer"), log.turn(question) as seen:
            answer, why = answer_question(opened, question, model, today, documents)
            seen.outputs, seen.failure = {"answer": answer, "why": why}, why if answer is None else None
    show(answer if answer is not None else f"no answer: {why}")
    if answer is not None and why:
        show(why)
    write_figures({"question": question, "answer": answer, "why": why})
    return 0 if answer is not None else 1


def _answer_all(
    graph: GrowingGraph,
    questions: list[dict[str, Any]],
    model: dspy.LM | None,
    today: date,
    documents: str | None,
    log: QuestionLog,
) -> list[dict[str, Any]]:
    """Returns a row for each question, and prints it."""
    from programs.advisor import GraphAnswers, answer_question

    by_facts = GraphAnswers(graph)
    rows = []
    for entry in questions:
        with log.turn(entry["question"]) as seen:
            if model is None:
                found = by_facts.answer(entry["question"])
                answers, facts, why = list(found.values), list(found.facts), found.why
            else:
                answer, why = answer_question(graph, entry["question"], model, today, documents)
                answers, facts = ([answer], why.splitlines()) if answer is not None else ([], [])
            seen.outputs, seen.failure = {"answers": answers, "facts": facts}, None if answers else why
        show(f"{entry['question']}  {'; '.join(answers) if answers else f'no answer: {why}'}")
        rows.append({**entry, "answers": answers, "abstained": not answers, "facts": facts, "why": why})
    return rows


_brief_options = options(
    option(
        "--database",
        type=FILE,
        required=True,
        metavar="DATABASE",
        help="an SQLite file or an SQLAlchemy URL with the tables positions (user_id, symbol, shares, avg_cost, "
        "added_at) and watchlist (user_id, symbol, added_at), and, if there is one, user_investment_profiles (user_id, "
        "risk_tolerance, investment_horizon, goals, preferences); it is only read",
    ),
    option("--user", required=True, metavar="ID", help="the owner of the positions, the watch-list and the profile"),
    option(
        "--prices",
        metavar="FILE|URL",
        help="closing prices as CSV with the columns date, symbol and close: they are noted, and correlated",
    ),
    option(
        "--freshness",
        multiple=True,
        metavar="KIND=DAYS",
        help="days for which events of a kind count, as rating=7; may be repeated",
    ),
)


@command.command("brief", epilog="finpath advisor brief --graph knowledge --database portfolio.db --user ann")
@_brief_options
@option(
    "--format",
    "layout",
    type=click.Choice(["text", "html", "json"]),
    default="text",
    help="how briefings are written (text)",
)
@option("--out", type=OUT_FILE, metavar="FILE", help="write the briefings to this file instead")
@_graph_options
@json_option
def brief(
    database: str,
    user: str,
    prices: str | None,
    freshness: tuple[str, ...],
    layout: Literal["text", "html", "json"],
    out: str | None,
    graph: str,
    today: date,
    write_figures: WriteFigures,
) -> None:
    """Reports news about a user's positions and watch-list, citing nodes of the graph."""
    from experiments.data import news_rules, read_portfolio
    from kg.files import replacing
    from kg.growing import TypeProposals
    from kg.investments import RuleReader
    from programs.advisor import Advisor
    from programs.tools import WebLimits, read_prices

    portfolio = read_portfolio(database, user)
    closes = read_prices(prices, WebLimits()) if prices is not None else None
    with open_graph(graph) as opened:
        advisor = Advisor(opened, RuleReader(opened, news_rules()), TypeProposals(opened, "never"))
        advisor.reflect(today, _freshness(freshness), closes.closes if closes is not None else None)
        briefings = advisor.brief(portfolio, today, closes)
    text = _written(briefings, portfolio, today, layout)
    if out is None:
        show(text)
    else:
        with replacing(out) as file:
            file.write(text.encode("utf-8"))
    write_figures({"briefings": [one.as_record() for one in briefings]})


def _freshness(given: tuple[str, ...]) -> Freshness:
    """Returns the days of ``--freshness``."""
    from kg.investments import Freshness

    days: dict[str, int] = {}
    for text in given:
        kind, equals, number = text.partition("=")
        if not equals or not number.isdigit():
            raise DataError(f"--freshness must be written rating=7, got {text!r}")
        days[kind.strip()] = int(number)
    return Freshness(days)


def _written(briefings: list[Briefing], portfolio: Portfolio, today: date, layout: str) -> str:
    """Returns briefings as text, as a page or as JSON."""
    from experiments.rendering import CAUTION, briefings_page

    if layout == "json":
        return json.dumps([one.as_record() for one in briefings], indent=2, ensure_ascii=False)
    if layout == "html":
        return briefings_page(briefings, portfolio.profile, today)
    if not briefings:
        return "nothing new about what you hold or watch"
    lines = []
    for one in briefings:
        lines += [one.text, *(f"    note: {note}" for note in one.notes)]
        lines += [f"    {key}  <{citation}>" for key, citation in zip(one.cited, one.citations, strict=True)]
    return "\n".join([*lines, CAUTION])


@command.command("watch", epilog="finpath advisor watch news/ --graph knowledge --database portfolio.db --user ann")
@click.argument(
    "sources",
    nargs=-1,
    required=True,
    metavar="FOLDER|FEED...",
    help="folders of .txt files, or feeds (RSS or Atom) as addresses or .xml files",
)
@_brief_options
@option("--interval", type=click.FloatRange(min=1), default=60.0, metavar="SECONDS", help="seconds between looks (60)")
@option("--once", is_flag=True, help="look once and end")
@option("--alerts", type=FILE, metavar="FILE", help="the file of alerts, JSON lines (alerts-USER.jsonl in the graph)")
@_graph_options
def watch(
    sources: tuple[str, ...],
    database: str,
    user: str,
    prices: str | None,
    freshness: tuple[str, ...],
    interval: float,
    once: bool,
    alerts: str | None,
    graph: str,
    today: date,
) -> None:
    """Ingests news as they appear, and alerts once for each that matters to a portfolio, until it is interrupted."""
    path = Path(alerts) if alerts is not None else Path(graph) / f"alerts-{quote(user, safe='')}.jsonl"
    fixed = click.get_current_context().get_parameter_source("today") is ParameterSource.COMMANDLINE
    seen: set[str] = set()
    while True:
        day = today if fixed else datetime.now(UTC).date()
        _look(sources, graph, database, user, prices, _freshness(freshness), path, day, seen)
        if once:
            return
        time.sleep(interval)


def _look(
    sources: tuple[str, ...],
    graph: str,
    database: str,
    user: str,
    prices: str | None,
    freshness: Freshness,
    path: Path,
    today: date,
    seen: set[str],
) -> None:
    """Looks at the sources once; the graph is closed between looks. A problem is shown once."""
    from experiments.data import news_rules, read_portfolio, read_sources
    from kg.growing import TypeProposals
    from kg.news import FrameReader
    from programs.advisor import Advisor, Watch
    from programs.tools import WebLimits, read_prices

    documents, problems = read_sources(sources, WebLimits())
    portfolio = read_portfolio(database, user)
    closes = read_prices(prices, WebLimits()) if prices is not None else None
    with open_graph(graph, new=True) as opened:
        advisor = Advisor(opened, FrameReader(opened, news_rules()), TypeProposals(opened, "never"))
        step = Watch(advisor, portfolio, path, freshness, closes).step(documents, today)
    for problem in (*problems, *step.problems):
        if problem not in seen:
            seen.add(problem)
            say(f"left out: {problem}")
    for entry in step.ingested:
        show(_described(entry))
    for alert in step.alerts:
        show(f"ALERT {alert.text}")
        for note in alert.notes:
            show(f"    note: {note}")


@command.command("publish", epilog="finpath advisor publish --graph knowledge --lm none")
@graph_option
@option("--run-name", metavar="NAME", help="the run's name in MLflow")
@lm_options
@json_option
def publish(graph: str, run_name: str | None, lm: LMConfig, write_figures: WriteFigures) -> None:
    """Logs the adviser with its graph as an MLflow model, which loads and serves without the graph's folder."""
    import tempfile

    from experiments.commands.options import open_tracker
    from experiments.evaluation import run_tags
    from experiments.saved import ServedAdvisor
    from experiments.tracking import log_model, model_packages

    with open_graph(graph, read_only=True) as opened:
        content, facts = opened.serialized(), opened.facts()
    tracker = open_tracker()
    name = run_name if run_name is not None else f"advisor {Path(graph).name}"
    with tempfile.TemporaryDirectory() as folder, tracker.run("advisor", name, tags=run_tags(0)) as run:
        (Path(folder) / "graph.nq").write_bytes(content)
        run.log_params({**lm.params(), "graph": graph})
        run.log_metrics({"facts": facts})
        uri = log_model(tracker, run, ServedAdvisor(content, replace(lm, budget=None)), Path(folder), model_packages())
        run.log_tags({"finpath.model_uri": uri})
    show(f"{uri} ({facts} facts)")
    write_figures({"model_uri": uri, "facts": facts, "run_id": run.id})


@command.command("history", epilog='finpath advisor history --graph knowledge --node "Company/Helixon Inc."')
@option("--node", metavar="TYPE/NAME", help="only the updates about this node")
@graph_option
@json_option
def history(node: str | None, graph: str, write_figures: WriteFigures) -> None:
    """Lists the updates of a graph with their sources, passages and replaced values."""
    from kg.growing import NodeKey

    kind, _, name = (node or "").partition("/")
    if node is not None and not name.strip():
        raise DataError(f"--node must be written Company/Helixon Inc., got {node!r}")
    with open_graph(graph, read_only=True) as opened:
        entries = opened.history(NodeKey(kind, name) if node is not None else None)
    for entry in entries:
        show(str(entry))
        for span in dict.fromkeys(entry.spans):
            if span:
                show(f"    {span}")
    if not entries:
        show("no update is known")
    left_out = ("asserted", "added", "removed")
    rows = [{key: value for key, value in asdict(entry).items() if key not in left_out} for entry in entries]
    write_figures({"entries": rows})


@command.command("undo", epilog="finpath advisor undo 12 --graph knowledge")
@click.argument("number", type=int, metavar="NUMBER", help="the update, as `finpath advisor history` numbers it")
@graph_option
@json_option
def undo(number: int, graph: str, write_figures: WriteFigures) -> None:
    """Takes an update back: its facts go, and the values that it replaced return."""
    with open_graph(graph) as opened:
        entry = opened.undo(number)
        facts = opened.facts()
    show(f"{entry}")
    show(f"{facts} facts in {graph}")
    write_figures({"undone": number, "facts": facts})


def open_graph(path: str, *, new: bool = False, read_only: bool = False) -> GrowingGraph:
    """The graph of a folder.

    Raises:
        DataError: There is none and ``new`` is not set.
    """
    from kg.growing import GrowingGraph
    from kg.investments import investment_schema

    if not new and not Path(path).is_dir():
        raise DataError("is no graph: create one with `finpath advisor ingest`", file=path)
    return GrowingGraph(path, investment_schema(), read_only=read_only)


@contextmanager
def chosen_lm(config: LMConfig) -> Iterator[dspy.LM | None]:
    """Uses a language model inside the context and yields it; ``None`` for no model."""
    if config.is_none:
        yield None
        return
    import dspy

    settings = lm_settings(config)
    with dspy.context(**settings):
        yield settings["lm"]


def _described(entry: Ingestion) -> str:
    if entry.known:
        return f"{entry.document}: known"
    applied = entry.applied
    text = f"{entry.document}: {applied.nodes} nodes, {applied.edges} edges, {applied.properties} properties"
    types = "".join(f"; type {name} {verdict}" for name, verdict in entry.proposed)
    if entry.sentences:
        text += f"; {entry.understood} of {entry.sentences} sentences gave facts"
    text += types + (f"; {entry.left_out} updates wait for a type" if entry.left_out else "")
    return text + "".join(f"\n    left out: {problem}" for problem in entry.problems)


def _figures(done: list[Ingestion]) -> dict[str, int]:
    return {
        "documents": len(done),
        "known": sum(entry.known for entry in done),
        "nodes": sum(entry.applied.nodes for entry in done),
        "edges": sum(entry.applied.edges for entry in done),
        "types_proposed": sum(len(entry.proposed) for entry in done),
        "left_out": sum(entry.left_out for entry in done),
        "sentences": sum(entry.sentences for entry in done),
        "understood": sum(entry.understood for entry in done),
        "facts_left_out": sum(len(entry.problems) for entry in done),
    }
