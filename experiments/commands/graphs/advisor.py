"""``finpath advisor``: reads documents into a graph, answers questions and writes briefings.

$ finpath advisor ingest news/*.txt --graph my-knowledge
$ finpath advisor ask "which events affect Helixon Inc.?" --graph my-knowledge
$ finpath advisor ask --questions questions.jsonl --graph my-knowledge --json answers.json
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
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from experiments.commands.graphs.briefings import brief, watch
from experiments.commands.graphs.editing import alias, node_key, set_property
from experiments.commands.graphs.growing import (
    chosen_lm,
    described,
    graph_option,
    graph_options,
    inferred_days,
    open_graph,
    open_when_free,
)
from experiments.commands.groups import Group
from experiments.commands.options import WriteFigures, json_option, lm_options, option, track_option
from experiments.commands.values import FILE, POSITIVE, PROGRAM_NAME
from experiments.console import progress, say, show
from experiments.lms import LMConfig
from experiments.terminal import waiting
from kg.errors import ConfigError, FinpathError, LMError

if TYPE_CHECKING:
    import dspy

    from experiments.tracking import QuestionLog, Tracker
    from kg.growing import GrowingGraph
    from kg.investments import NewsDocument
    from programs.advisor import Advisor, Answers, DocumentReader, FactExtraction, GraphAnswers, Ingestion, ModelAnswers
    from programs.advisor.readers import NewsReader


@click.group(cls=Group)
def command() -> None:
    """Grows a graph from news and filings, questions it, and writes briefings about a portfolio."""


threads_option = option(
    "--threads",
    type=POSITIVE,
    metavar="N",
    help="questions or sentences that a language model reads at a time (1; 8 with a remote model)",
)


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
@option(
    "--program",
    type=PROGRAM_NAME,
    metavar="PROGRAM",
    help="with a language model: a program of `finpath compile advisor` that reads the sentences",
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
    program: str | None,
    threads: int | None,
    graph: str,
    today: date,
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Adds the statements of documents to a graph, the oldest document first; earlier statements are kept.

    Rules read each document. A language model also reads it: an embedded one sentence by sentence, another one whole.
    What the text does not hold is left out.

    The exit code is 1 if a document could not be read or written.
    """
    from experiments.data import read_documents
    from experiments.tracking import SeenTurn, asked
    from kg.growing import TypeProposals
    from programs.advisor import Advisor, DocumentReader

    if program is not None and lm.is_none:
        raise click.UsageError("--program needs --lm")
    extraction = _extraction(program)
    news, problems = read_documents(documents, today)
    for note in inferred_days(news):
        say(note)
    done: list[Ingestion] = []
    reading = asked(None if lm.is_none else tracker, "advisor ingest", graph, lm.params())
    with open_graph(graph, new=True) as opened, chosen_lm(lm) as model, reading as log:
        reader = _news_reader(opened, model, extraction, threads or lm.default_threads)
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


def _news_reader(
    graph: GrowingGraph, model: dspy.LM | None, extraction: FactExtraction | None, threads: int
) -> NewsReader:
    """Returns what reads documents: rules, or rules and a model; an embedded or a compiled one reads sentences."""
    from experiments.data import news_rules
    from kg.news import FrameReader
    from programs.advisor import DocumentReader, SentenceReader, is_embedded

    if model is None:
        return FrameReader(graph, news_rules())
    if extraction is not None or is_embedded(model):
        return SentenceReader(graph, news_rules(), extraction, threads)
    return DocumentReader(graph, news_rules())


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
@option(
    "--insert",
    is_flag=True,
    help="keep the facts of sentences that answer a question in the graph; otherwise asking writes nothing",
)
@threads_option
@graph_options
@lm_options
@track_option
@json_option
def ask(
    question: str | None,
    questions: str | None,
    documents: str | None,
    insert: bool,
    threads: int | None,
    graph: str,
    today: date,
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Answers a question from a graph, or the questions of a file.

    A fact of a sentence that answers is inserted into a copy of the graph, and retrieved from it. With --insert the
    graph keeps it, and the same question is answered by it until new documents come.

    The exit code is 1 if there is no answer to any question.
    """
    from experiments.data import read_questions
    from experiments.tracking import asked

    if (question is None) == (questions is None):
        raise click.UsageError("give a question, or --questions FILE")
    with open_when_free(graph, read_only=True) as stored:
        opened = stored.copy()  # other processes may use the graph while a language model answers
    with opened, chosen_lm(lm) as model, asked(tracker, "advisor", graph, lm.params()) as log:
        answering = _answering(opened, model, today, documents)
        if questions is not None:
            rows = _answer_all(answering, read_questions(questions), threads or lm.default_threads, log)
            answered = any(not row["abstained"] for row in rows)
            write_figures(rows)
        else:
            assert question is not None
            with waiting("answer"), log.turn(question) as seen:
                found = answering.answer(question)
                answer, why = "; ".join(found.values) or None, "\n".join(found.facts) or found.why
                seen.outputs = {"answer": answer, "why": why, "inserted": _retrieved(found)}
                seen.failure = why if answer is None else None
            answered = answer is not None
            show(answer if answer is not None else f"no answer: {why}")
            if answered and why:
                show(why)
            write_figures({"question": question, "answer": answer, "why": why, "inserted": _retrieved(found)})
    if insert:
        _insert(graph, answering)
    return 0 if answered else 1


def _answering(
    graph: GrowingGraph, model: dspy.LM | None, today: date, documents: str | None
) -> GraphAnswers | ModelAnswers:
    """Returns what answers: rules, or rules and a language model."""
    from experiments.lms.reader import fetch_reader
    from experiments.saved import question_reader
    from programs.advisor import GraphAnswers, ModelAnswers, TypedAnswers

    fetch_reader()
    typed = TypedAnswers(question_reader)
    return GraphAnswers(graph, typed) if model is None else ModelAnswers(graph, model, today, documents, typed)


def _insert(path: str, answering: GraphAnswers | ModelAnswers) -> None:
    """Writes the facts that answered into the graph's folder; another process may have it open."""
    from kg.news import insert_answers

    insertions = answering.memory.insertions
    if not insertions:
        return
    try:
        with open_when_free(path) as opened:
            insert_answers(opened, insertions)
    except FinpathError as error:
        say(f"the facts of {len(insertions)} answers are not inserted: {error}")


def _retrieved(found: Answers) -> list[dict[str, Any]]:
    """Returns the inserted facts of an answer, with their paths."""
    return [asdict(one) for one in found.retrieved]


def _answer_all(
    answering: GraphAnswers | ModelAnswers, questions: list[dict[str, Any]], threads: int, log: QuestionLog
) -> list[dict[str, Any]]:
    """Returns a row for each question, and prints it; a model behind an API reads for several questions at a time."""
    from dspy.utils.exceptions import LMError as DSPyLMError

    from programs.advisor import Answers
    from programs.lm import concurrently

    def one(numbered: tuple[int, dict[str, Any]]) -> dict[str, Any]:
        place, entry = numbered
        with log.turn(entry["question"], place) as seen:
            try:
                found = answering.answer(entry["question"])
            except (DSPyLMError, LMError) as error:  # it costs this question alone
                found = Answers((), (), f"the language model failed: {error}")
            answers, facts, why = list(found.values), list(found.facts), found.why
            confidence = round(found.confidence, 4) if found.confidence is not None else None
            seen.outputs = {"answers": answers, "facts": facts, "confidence": confidence, "inserted": _retrieved(found)}
            seen.failure = None if answers else why
        outcome = {"answers": answers, "abstained": not answers, "confidence": confidence, "facts": facts, "why": why}
        return {**entry, **outcome, "inserted": _retrieved(found)}

    rows = []
    for row in concurrently(one, enumerate(questions), threads):
        given = "; ".join(row["answers"]) if row["answers"] else f"no answer: {row['why']}"
        show(f"{row['question']}  {given}")
        rows.append(row)
    return rows


command.add_command(brief)
command.add_command(watch)
command.add_command(set_property)
command.add_command(alias)


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
    with open_graph(graph, read_only=True) as opened:
        entries = opened.history(node_key(node) if node is not None else None)
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
    for entry in undone:
        show(f"{entry}")
    show(f"{facts} facts in {graph}")
    numbers = [entry.number for entry in undone]
    write_figures({"undone": asked if isinstance(asked, int) else numbers[-1], "all_undone": numbers, "facts": facts})


def _extraction(reference: str | None) -> FactExtraction | None:
    """Returns the program that reads sentences; ``None`` for the one that was not compiled."""
    from experiments.commands.options import open_tracker
    from experiments.saved import find_program

    if reference is None:
        return None
    saved = find_program(reference, None if Path(reference).is_dir() else open_tracker())
    if saved.config.get("kind") != "advisor":
        raise ConfigError(f"{reference} is of kind {saved.config.get('kind')!r}; reading news needs kind 'advisor'")
    program: FactExtraction = saved.program
    return program


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
