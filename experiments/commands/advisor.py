"""The advisor's commands: documents in, questions, briefings.

$ finpath advisor ingest news/*.txt --graph my-knowledge
$ finpath advisor ask "which events affect Helixon Inc.?" --graph my-knowledge
$ finpath advisor brief --graph my-knowledge --database portfolio.db --user ann
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands.options import lm_config_of
from experiments.console import progress, say, show, write_json
from experiments.data.news import read_documents
from experiments.data.portfolio import read_portfolio
from kg.errors import DataError, FinpathError
from kg.growing import GrowingGraph, TypeProposals
from kg.investments import investment_schema
from programs.advisor import Advisor, Ingested, ModelReader, RuleReader, answer_question

if TYPE_CHECKING:
    import dspy


def run_ingest(options: argparse.Namespace) -> int:
    """``finpath advisor ingest``: exit code 1 if a document could not be taken."""
    documents, problems = read_documents(options.documents)
    done: list[Ingested] = []
    with open_graph(options.graph, new=True) as graph, chosen_lm(options) as lm:
        reader = RuleReader(graph) if lm is None else ModelReader(graph)
        advisor = Advisor(graph, reader, TypeProposals(graph, options.types))
        bar = progress(len(documents), "document")
        for document in documents:
            try:
                done.append(advisor.ingest(document))
            except FinpathError as error:
                problems.append(f"{document.name}: {error}")
            bar.update()
        bar.close()
        insights = advisor.reflect(today_of(options))
        facts = graph.facts()
    for problem in problems:
        say(f"left out: {problem}")
    for entry in done:
        show(_told(entry))
    show(f"{facts} facts in {options.graph}, {insights} new insights")
    if options.json:
        write_json(options.json, {**_figures(done), "problems": problems, "facts": facts, "insights": insights})
    return 1 if problems else 0


def run_ask(options: argparse.Namespace) -> int:
    """``finpath advisor ask``: exit code 1 if there is no answer."""
    with open_graph(options.graph) as graph, chosen_lm(options) as lm:
        answer, why = answer_question(graph, options.question, lm, today_of(options), options.documents)
    show(answer if answer is not None else f"no answer: {why}")
    if answer is not None and why:
        show(why)
    if options.json:
        write_json(options.json, {"question": options.question, "answer": answer, "why": why})
    return 0 if answer is not None else 1


def run_brief(options: argparse.Namespace) -> None:
    """``finpath advisor brief``."""
    portfolio = read_portfolio(options.database, options.user)
    today = today_of(options)
    with open_graph(options.graph) as graph:
        advisor = Advisor(graph, RuleReader(graph), TypeProposals(graph, "never"))
        advisor.reflect(today)
        briefings = advisor.brief(portfolio, today)
    for briefing in briefings:
        show(briefing.text)
        for key, citation in zip(briefing.cited, briefing.citations, strict=True):
            show(f"    {key}  <{citation}>")
    if not briefings:
        show("nothing new about what you hold or watch")
    if options.json:
        rows = [{"symbol": b.symbol, "held": b.held, "text": b.text, "citations": b.citations} for b in briefings]
        write_json(options.json, {"briefings": rows})


def open_graph(path: str, *, new: bool = False) -> GrowingGraph:
    """The graph of a folder.

    Raises:
        DataError: There is none and ``new`` is not set.
    """
    if not new and not Path(path).is_dir():
        raise DataError("is no graph: `finpath advisor ingest` makes one", file=path)
    return GrowingGraph(path, investment_schema())


@contextmanager
def chosen_lm(options: argparse.Namespace) -> Iterator[dspy.LM | None]:
    """Sets the model that was named while the context lasts, and gives it; ``None`` for no model."""
    config = lm_config_of(options)
    if config.name == "none":
        yield None
        return
    import dspy

    from experiments.lms.config import make_lm
    from programs.lm import suited_adapter

    lm = make_lm(config)
    with dspy.context(lm=lm, adapter=suited_adapter(lm)):
        yield lm


def today_of(options: argparse.Namespace) -> date:
    """The date of ``--today``, or the day it is."""
    given = getattr(options, "today", None)
    if not given:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(given)
    except ValueError as error:
        raise DataError(f"--today must be written 2026-11-20, got {given!r}") from error


def _told(entry: Ingested) -> str:
    if entry.known:
        return f"{entry.document}: known"
    applied = entry.applied
    text = f"{entry.document}: {applied.nodes} nodes, {applied.edges} edges, {applied.properties} properties"
    types = "".join(f"; type {name} {verdict}" for name, verdict in entry.proposed)
    return text + types + (f"; {entry.left_out} updates wait for a type" if entry.left_out else "")


def _figures(done: list[Ingested]) -> dict[str, int]:
    return {
        "documents": len(done),
        "known": sum(entry.known for entry in done),
        "nodes": sum(entry.applied.nodes for entry in done),
        "edges": sum(entry.applied.edges for entry in done),
        "types_proposed": sum(len(entry.proposed) for entry in done),
        "left_out": sum(entry.left_out for entry in done),
    }
