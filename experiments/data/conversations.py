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
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from experiments.console import read_text, say
from experiments.data.sources import find_part, find_parts, read_records, repaired
from kg.errors import DataError, ProgramError
from kg.reports import Ontology, Report, build_ontology
from kg.search import Answer, Derivation, merge_key
from optimize.metrics.abstention import OpenAnswer, read_gold

if TYPE_CHECKING:
    import datasets
    import dspy


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
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

    part, features = find_part(source, split), conversation_features()
    data = part.read()
    checked = list(checked_rows(data, part.name))
    good = [{name: row[name] for name in features} for row in checked if not row["rules"]]
    rows = datasets.Dataset.from_list(good, features=features).to_list() if good else []
    reports = reports_of(rows, Report.from_dict)
    return LoadedData(
        conversations=tuple(_conversation(row, report) for row, report in zip(rows, reports, strict=True)),
        problems=tuple(DataError(rule, file=part.name, place=row["place"]) for row in checked for rule in row["rules"]),
        sha256=hashlib.sha256(data).hexdigest(),
        name=part.name,
        split=part.split,
    )


class ConvFinQAAnnotation(BaseModel):
    """The questions of a conversation, with their gold programs and results, or with gold answers."""

    dialogue_break: list[str] = Field(min_length=1)
    turn_program: list[str] | None = None
    exe_ans_list: list[str | list[str]] | None = None
    qa_split: list[Literal["0", "1"]] | None = None
    answers: list[str | list[str] | None] | None = None

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        given = {name: entries for name, entries in self if entries is not None}
        if (self.turn_program is None) != (self.exe_ans_list is None):
            raise ValueError("must have both 'turn_program' and 'exe_ans_list', or none of them")
        if self.answers is not None and self.turn_program is not None:
            raise ValueError("must have 'answers' or 'turn_program', not both")
        for name, entries in given.items():
            if len(entries) != len(self.dialogue_break):
                raise ValueError(f"{name} has {len(entries)} entries for {len(self.dialogue_break)} questions")
        return self


class ConvFinQARecord(BaseModel):
    """A conversation as a file has it, with numbers as texts; other keys are left out."""

    id: str = Field(min_length=1)
    pre_text: list[str]
    post_text: list[str]
    table: list[list[str]]
    annotation: ConvFinQAAnnotation
    margin: Any = None

    @model_validator(mode="after")
    def _is_rectangular(self) -> Self:
        for number, row in enumerate(self.table):
            if len(row) != len(self.table[0]):
                raise ValueError(f"table row {number} has {len(row)} cells, row 0 has {len(self.table[0])}")
        return self


def checked_rows(data: bytes, name: str) -> Iterator[dict[str, Any]]:
    """Returns each conversation of a file with its official keys, its ``place`` and the ``rules`` that it breaks.

    A conversation that breaks a rule has no official keys. Numbers in ``exe_ans_list`` are texts, exactly as in the
    file. Other keys are left out.

    Args:
        data: The file's bytes.
        name: The file's name in messages.

    Raises:
        DataError: The file is not a JSON list in UTF-8, or an empty one.
    """
    numbers: dict[str, int] = {}
    number = 0
    for number, record in enumerate(read_records(data, name), start=1):
        identifier = record.get("id") if isinstance(record, dict) else None
        place = f"conversation {identifier!r}" if isinstance(identifier, str) else f"conversation number {number}"
        row: dict[str, Any] = {}
        try:
            conversation = ConvFinQARecord.model_validate(record, strict=True)
            rules = broken_gold(conversation)
            row = {} if rules else _row(repaired(conversation.model_dump()))
        except ValidationError as error:
            rules = [_in_words(one) for one in error.errors()]
        if isinstance(identifier, str) and numbers.setdefault(identifier, number) != number:
            row, rules = {}, [*rules, f"id is that of conversation number {numbers[identifier]} too"]
        yield {**row, "place": place, "rules": rules}
    if not number:
        raise DataError("holds no conversations", file=name)


def _in_words(error: Any) -> str:
    """A broken rule with its place in the conversation: ``annotation.dialogue_break: Field required``."""
    place = ".".join(str(part) for part in error["loc"] if not str(part).startswith(("list[", "literal[")))
    return f"{place}: {error['msg']}" if place else str(error["msg"]).removeprefix("Value error, ")


def broken_gold(conversation: ConvFinQARecord) -> list[str]:
    """The gold programs that do not give their result, and the gold answers that are none."""
    annotation, rules = conversation.annotation, list[str]()
    for number, answer in enumerate(annotation.answers or (), start=1):
        try:
            read_gold(answer)
        except DataError as error:
            rules.append(f"turn {number}: {error}")
    pairs = zip(annotation.turn_program or (), annotation.exe_ans_list or (), strict=True)
    for number, (program, gold) in enumerate(pairs, start=1):
        wanted = gold_answer(gold)
        try:
            result = Derivation.parse(program).execute(conversation.table)
        except ProgramError as error:
            rules.append(f"turn {number}: {error}")
            continue
        if wanted is None:
            rules.append(f"turn {number}: exe_ans must be a number, 'yes', 'no' or a list of names, got {gold!r}")
        elif merge_key(result) != merge_key(wanted):
            rules.append(f"turn {number}: the program {program!r} gives {merge_key(result)}, its exe_ans is {gold}")
    return rules


def gold_answer(written: str | Sequence[str]) -> Answer | None:
    """An entry of ``exe_ans_list``, as :func:`read_records` or a row has it; ``None`` if it is no answer.

    Names are a list of texts in the file, and its JSON text in a row.
    """
    if isinstance(written, str) and written.startswith("["):
        try:
            written = list(json.loads(written))
        except ValueError:
            return None
    if not isinstance(written, str):
        return tuple(written) or None
    if written in ("yes", "no"):
        return "yes" if written == "yes" else "no"
    return Decimal(written) if _NUMBER.fullmatch(written) else None


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    """A conversation as the typed columns of a data set: answers are texts, or their JSON."""
    margin = record["margin"]
    columns: dict[str, Callable[[Any], Any]] = {
        "exe_ans_list": lambda one: json.dumps(one) if isinstance(one, list) else one,
        "qa_split": int,
        "answers": json.dumps,
    }
    given = {name: entries for name, entries in record["annotation"].items() if entries is not None}
    typed = {name: list(map(typed_as, given[name])) for name, typed_as in columns.items() if name in given}
    return {
        **record,
        "margin": float(margin) if isinstance(margin, str) and _NUMBER.fullmatch(margin) else None,
        "annotation": {**record["annotation"], **typed},
    }


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


def _conversation(row: Mapping[str, Any], about: Report) -> ConversationRecord:
    given = {name: entries for name, entries in row["annotation"].items() if entries is not None}
    answers = (answer for written in given.get("exe_ans_list", ()) if (answer := gold_answer(written)) is not None)
    return ConversationRecord(
        id=row["id"],
        report=about,
        questions=tuple(given["dialogue_break"]),
        programs=tuple(given["turn_program"]) if "turn_program" in given else None,
        answers=tuple(answers) if "exe_ans_list" in given else None,
        qa_split=tuple(given["qa_split"]) if "qa_split" in given else None,
        gold=tuple(read_gold(json.loads(one)) for one in given["answers"]) if "answers" in given else None,
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

    Pages of ConvFinQA get their lost characters back (:mod:`experiments.data.sources`).

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
