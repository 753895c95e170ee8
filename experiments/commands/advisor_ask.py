"""``finpath advisor ask``: answers questions from a graph, one or the many of a file.

$ finpath advisor ask "which events affect Helixon Inc.?" --graph my-knowledge
$ finpath advisor ask --questions questions.jsonl --graph my-knowledge --json answers.json
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.growing import chosen_lm, graph_options, open_when_free, threads_option
from experiments.commands.options import FILE, Command, WriteFigures, json_option, lm_options, track_option
from experiments.console import say, show
from experiments.lms import LMConfig
from experiments.terminal import waiting
from kg.errors import FinpathError, LMError

if TYPE_CHECKING:
    import dspy

    from experiments.tracking import QuestionLog, Tracker
    from kg.growing import GrowingGraph
    from programs.advisor import Answers, GraphAnswers, ModelAnswers


@click.command("ask", cls=Command, epilog='finpath advisor ask "which events affect Helixon Inc.?" --graph knowledge')
@click.argument("question", required=False, metavar="[QUESTION]", help="the question")
@click.option(
    "--questions",
    type=FILE,
    metavar="FILE",
    help="many questions: JSON lines or a JSON list with `question`, or one question a line; --json writes a list of "
    "question, answers, abstained and facts",
)
@click.option("--documents", type=FILE, metavar="FOLDER", help="with a language model: documents that it may read")
@click.option(
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
    """Returns a row for each question, and prints it; a model of an API reads for several questions at a time."""
    from dspy.utils.exceptions import LMError as DSPyLMError

    from programs.advisor import Answers, is_contradiction
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
        show("\n    ".join([f"{row['question']}  {given}", *filter(is_contradiction, row["facts"])]))
        rows.append(row)
    return rows
