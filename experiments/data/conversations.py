"""Conversations about reports: read, checked, cached and turned into the inputs of programs and optimizers.

The official format of ConvFinQA is a JSON list of conversations, each a report with its questions and, except in a
test file, their gold programs and results::

    {"id": "Single_ACME/2020/page_7.pdf-1", "pre_text": ["..."], "post_text": ["..."],
     "table": [["", "2020", "2019"], ["revenue", "$ 120", "$ 100"]],
     "annotation": {"dialogue_break": ["what was the revenue in 2020?", "and the change from 2019?"],
                    "turn_program": ["120", "subtract(120, 100)"], "exe_ans_list": [120.0, 20.0],
                    "qa_split": [0, 0]}}

In place of programs, ``annotation.answers`` may have an answer for each question: a number or ``yes`` and ``no`` as
text, a list of names or years, or ``null`` for a question that the report does not answer. A number ``margin``
next to ``annotation`` is the confidence of programs that were inferred.

The source is a JSON file, a folder or a ``data.zip`` as the authors publish it, a data set that ``datasets`` opens, or
the sample that ships::

    >>> loaded = load_conversations("sample:dev")
    >>> loaded.conversations[0].questions[0], loaded.problems
    ('...', ())

The checked rows are a typed data set of Hugging Face ``datasets`` (:func:`conversation_features`). A conversation that
breaks a rule is left out and named in ``problems``; the others load.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from experiments.console import read_text, say
from experiments.data.format import checked_rows, gold_answer, read_records, repaired
from experiments.data.sources import find_part, find_parts
from kg.errors import DataError
from kg.reports import Ontology, Report, build_ontology
from kg.search import Answer
from optimize.metrics.abstention import OpenAnswer, read_gold

if TYPE_CHECKING:
    import datasets
    import dspy


_ID = re.compile(r"(?:Single_|Double_)?(?P<document>.+?)(?:-\d+)?")


@dataclass(frozen=True)
class ConversationRecord:
    """A report, the questions about it in order, and their gold where it is known.

    Attributes:
        id: Unique in its file: ``Single_ACME/2020/page_7.pdf-1``.
        report: The report. A program sees it and the questions.
        questions: At least one.
        programs: The gold program of each question, in ConvFinQA's language; ``None`` in a test file.
        answers: The official result of each gold program, rounded to five digits; ``None`` in a test file.
        gold: The answer of each question, where the file has answers in place of programs. It is a number, ``yes`` or
            ``no``, names, or ``None`` if the report does not answer the question.
        qa_split: For each question, the original question that it comes from: 0 or 1.
        margin: Confidence of programs that were inferred rather than written; ``None`` where the file has none.
    """

    id: str
    report: Report
    questions: tuple[str, ...]
    programs: tuple[str, ...] | None
    answers: tuple[Answer, ...] | None
    qa_split: tuple[int, ...] | None
    gold: tuple[OpenAnswer | None, ...] | None = None
    margin: float | None = None

    @property
    def document(self) -> str:
        """The report's own name, which several conversations may have: ``ACME/2020/page_7.pdf``."""
        return document_of(self.id)

    @property
    def conversation_type(self) -> Literal["I", "II"]:
        """ConvFinQA's Type I (one original question taken apart) or Type II (two of them joined)."""
        if self.id.startswith(("Single_", "Double_")):
            return "I" if self.id.startswith("Single_") else "II"
        return "II" if self.qa_split is not None and len(set(self.qa_split)) > 1 else "I"


@dataclass(frozen=True)
class LoadedData:
    """The conversations of one file.

    Attributes:
        conversations: The valid conversations, in the order of the file.
        problems: The broken rules of the others; each names the file, the conversation and the rule.
        sha256: Hash of the file's bytes (of the member's, in an archive).
        name: The file's name for messages: ``dev.json``, ``data.zip/data/dev.json``, ``sample/dev.json``.
        split: ``train``, ``dev``, ``test``, or ``data`` for a file of any other name.
    """

    conversations: tuple[ConversationRecord, ...]
    problems: tuple[DataError, ...]
    sha256: str
    name: str
    split: str


def join_loaded(parts: Sequence[LoadedData]) -> LoadedData:
    """Joins several files, in their order; a single one stays as it is.

    A conversation whose id an earlier file has too is left out, and named among the problems. The name joins the
    files' names, the hash is that of their hashes.
    """
    if len(parts) == 1:
        return parts[0]
    kept: dict[str, ConversationRecord] = {}
    problems = [problem for part in parts for problem in part.problems]
    for part in parts:
        for conversation in part.conversations:
            if conversation.id in kept:
                problems.append(DataError("is in an earlier file too", file=part.name, place=conversation.id))
            else:
                kept[conversation.id] = conversation
    return LoadedData(
        conversations=tuple(kept.values()),
        problems=tuple(problems),
        sha256=hashlib.sha256(" ".join(part.sha256 for part in parts).encode()).hexdigest(),
        name=" + ".join(part.name for part in parts),
        split=parts[0].split,
    )


def load_conversations(source: Any, split: str | None = None) -> LoadedData:
    """Returns the conversations of one split.

    Args:
        source: A file (JSON, JSON Lines, Parquet), a folder, also one of ``save_to_disk``, an archive, ``hf:NAME`` of
            the hub, ``sample``, or a ``datasets.Dataset``; a trailing ``:split`` chooses as ``split`` does.
        split: ``train``, ``dev`` or ``test``; needed where the source holds more than one.

    Raises:
        DataError: The source cannot be read at all: it does not exist, is not JSON, or holds no conversations.
        ConfigError: The source has several splits and none was named, or not the one that was named.
    """
    import datasets

    part = find_part(source, split)
    data = part.read()
    checked = list(checked_rows(data, part.name))
    good = [{name: row[name] for name in _COLUMNS} for row in checked if not row["rules"]]
    rows = datasets.Dataset.from_list(good, features=conversation_features()).to_list() if good else []
    return LoadedData(
        conversations=_conversations(rows),
        problems=tuple(DataError(rule, file=part.name, place=row["place"]) for row in checked for rule in row["rules"]),
        sha256=hashlib.sha256(data).hexdigest(),
        name=part.name,
        split=part.split,
    )


_COLUMNS = ("id", "pre_text", "post_text", "table", "margin", "annotation")


def conversation_features() -> datasets.Features:
    """Returns the types of a conversation; answers are text: exact numbers, or JSON in ``answers``."""
    from datasets import Features, List, Value

    text = Value("string")
    return Features(
        {
            "id": text,
            "pre_text": List(text),
            "post_text": List(text),
            "table": List(List(text)),
            "margin": Value("float64"),
            "annotation": {
                "dialogue_break": List(text),
                "turn_program": List(text),
                "exe_ans_list": List(text),
                "qa_split": List(Value("int32")),
                "answers": List(text),
            },
        }
    )


def document_of(conversation: str) -> str:
    """The document of a conversation: ``ACME/2020/page_7.pdf`` of ``Single_ACME/2020/page_7.pdf-1``."""
    match = _ID.fullmatch(conversation)
    return match["document"] if match else conversation


def reports_of(
    conversations: Iterable[Mapping[str, Any]], read: Callable[[Mapping[str, Any]], Report]
) -> Iterator[Report]:
    """The report of each conversation; those about the same document have one."""
    reports: dict[str, Report] = {}
    for conversation in conversations:
        seen = read({**conversation, "id": document_of(conversation["id"])})
        known = reports.setdefault(seen.id, seen)
        # A report's id must be unique, since graphs are kept by it.
        yield known if known == seen else read(conversation)


def conversation_examples(conversations: Sequence[ConversationRecord]) -> list[dspy.Example]:
    """Returns one example for each conversation, with ``programs`` and ``answers``, or ``gold``, as labels.

    Where the file gives its programs a ``margin``, the example has it too.
    """
    import dspy

    return [
        dspy.Example(
            id=conversation.id,
            report=conversation.report,
            questions=conversation.questions,
            programs=conversation.programs,
            answers=conversation.answers,
            gold=conversation.gold,
            **({"margin": conversation.margin} if conversation.margin is not None else {}),
        ).with_inputs("report", "questions")
        for conversation in conversations
    ]


def _conversations(rows: Sequence[Mapping[str, Any]]) -> tuple[ConversationRecord, ...]:
    """Returns conversations; those about the same document have one :class:`Report`."""
    return tuple(
        _conversation(row, report) for row, report in zip(rows, reports_of(rows, Report.from_dict), strict=True)
    )


def _conversation(row: Mapping[str, Any], about: Report) -> ConversationRecord:
    annotation = row["annotation"]
    programs, answers, split = annotation["turn_program"], annotation["exe_ans_list"], annotation["qa_split"]
    gold = annotation["answers"]
    return ConversationRecord(
        id=row["id"],
        report=about,
        questions=tuple(annotation["dialogue_break"]),
        programs=tuple(programs) if programs is not None else None,
        answers=tuple(answer for gold in answers if (answer := gold_answer(gold)) is not None)
        if answers is not None
        else None,
        qa_split=tuple(split) if split is not None else None,
        gold=tuple(read_gold(json.loads(one)) for one in gold) if gold is not None else None,
        margin=row["margin"],
    )


def read_records_of(source: str | Path) -> Iterator[tuple[str, str, Any]]:
    """The records of a source, each with the name of its file and its place there.

    Raises:
        DataError: A file cannot be read, or is not a JSON list.
    """
    for part in find_parts(source):
        for number, record in enumerate(read_records(part.read(), part.name), start=1):
            yield part.name, f"record number {number}", record


def read_report(record: Any) -> Report:
    """Returns the report of one record of a file; the record may hold more.

    Pages of ConvFinQA get their lost characters back (:mod:`experiments.data.format`).

    Raises:
        DataError: It is not an object, or lacks what a report needs.
    """
    if not isinstance(record, dict):
        raise DataError(f"must be an object with keys, got {type(record).__name__}")
    checked = Report.from_dict(record)
    texts = {
        "id": checked.id,
        "pre_text": list(checked.pre_text),
        "table": list(map(list, checked.table)),
        "post_text": list(checked.post_text),
    }
    return Report.from_dict(repaired(texts))


def find_report(reference: str, source: str) -> Report:
    """The one report of a source that has an id, or a part of it.

    Args:
        reference: A report's or conversation's id, or a part of a conversation's id.
        source: Conversations, as :func:`experiments.data.conversations.load_conversations` takes them.

    Raises:
        DataError: No report or several have it, or the source or the report cannot be read.
    """
    part = find_part(source)
    rows = read_records(part.read(), part.name)
    by_id = {row["id"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)}
    exact = [row for name, row in by_id.items() if reference in (name, document_of(name))]
    matches = exact or [row for name, row in by_id.items() if reference in name]
    reports = {report.id: report for report in reports_of(matches, read_report)}
    if len(reports) != 1:
        some = ", ".join(list(reports or dict.fromkeys(map(document_of, by_id)))[:3])
        there = "is no file and " if Path(reference).suffix else ""
        raise DataError(
            f"{reference!r} {there}names {len(reports)} reports, it must name one ({some}, ...)", file=source
        )
    return next(iter(reports.values()))


def train_reports(sources: Sequence[str]) -> Iterator[Report]:
    """The reports of a train split; those that cannot be read are reported and left out."""
    for source in sources:
        for name, place, record in read_records_of(source):
            try:
                yield read_report(record)
            except DataError as error:
                say(f"{name}: {place}: {error}; left out")


def read_ontology(path: str | None, train: Sequence[str]) -> Ontology:
    """The ontology of a Turtle file or, without one, that of a train split.

    Raises:
        DataError: The file cannot be read or is not Turtle.
    """
    if path is None:
        return build_ontology(train_reports(train))
    return Ontology.from_turtle(read_text(path))
