"""Conversations about reports: found in files, archives and data sets, read, checked, and turned into examples.

The official format of ConvFinQA is a JSON list of conversations, each a report with its questions and, except in a
test file, their gold programs and results::

    {"id": "Single_ACME/2020/page_7.pdf-1", "pre_text": ["..."], "post_text": ["..."],
     "table": [["", "2020", "2019"], ["revenue", "$ 120", "$ 100"]],
     "annotation": {"dialogue_break": ["what was the revenue in 2020?", "and the change from 2019?"],
                    "turn_program": ["120", "subtract(120, 100)"], "exe_ans_list": [120.0, 20.0],
                    "qa_split": [0, 0]}}

In place of programs, ``annotation.answers`` may have an answer for each question: a number or ``yes`` and ``no`` as
text, a list of names or years, or ``null`` for a question that the report does not answer.

The source is a JSON file, a folder of the authors' files, a data set that ``datasets`` opens, or the sample that
ships::

    >>> loaded = load_conversations("sample:dev")
    >>> loaded.conversations[0].questions[0], loaded.problems
    ('...', ())

A conversation that breaks a rule is left out and named in ``problems``; the others load.

The pages of ConvFinQA are in ASCII: where a page had a typographic character, its files have the character's code
point, mostly without the spaces around it. The characters that are certain are put back (:func:`repaired_text`) in
reports whose id names a page (``UPS/2009/page_33.pdf``): ``the company 2019s`` is ``the company’s``. A dash, ``2014``,
is restored in a cell of its own whose row or column has figures and no other year.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from experiments.console import SAMPLE_FOLDER
from kg.errors import ConfigError, DataError, ProgramError
from kg.reports import EncodableText, Report, document_of
from kg.search import Answer, Derivation, merge_key
from optimize.metrics.abstention import read_gold

if TYPE_CHECKING:
    import dspy

SPLIT_OF_FILE = {
    "train.json": "train",
    "dev.json": "dev",
    "test.json": "test",
    "test_private.json": "test",
    "test_without_gold.json": "test",
}
"""The files of a folder that hold conversations, and the split that each is."""

_SPLIT_OF_NAME = {"train": "train", "validation": "dev", "dev": "dev", "test": "test"}
_LOADERS = {".parquet": "parquet", ".jsonl": "json", ".ndjson": "json"}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


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
    """

    id: str
    report: Report
    questions: tuple[str, ...]
    programs: tuple[str, ...] | None
    answers: tuple[Answer, ...] | None
    qa_split: tuple[int, ...] | None
    gold: tuple[Answer | None, ...] | None = None

    @property
    def document(self) -> str:
        """The report's own name, which several conversations may have: ``ACME/2020/page_7.pdf``."""
        return document_of(self.id)


@dataclass(frozen=True)
class LoadedData:
    """The conversations of one file.

    Attributes:
        conversations: The valid conversations, in the order of the file.
        problems: The broken rules of the others; each names the file, the conversation and the rule.
        sha256: Hash of the file's bytes.
        name: The file's name for messages: ``dev.json``, ``sample/dev.json``.
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
        again = [conversation.id for conversation in part.conversations if conversation.id in kept]
        problems += [DataError("is in an earlier file too", file=part.name, place=name) for name in again]
        kept |= {conversation.id: conversation for conversation in part.conversations if conversation.id not in kept}
    return LoadedData(
        conversations=tuple(kept.values()),
        problems=tuple(problems),
        sha256=hashlib.sha256(" ".join(part.sha256 for part in parts).encode()).hexdigest(),
        name=" + ".join(part.name for part in parts),
        split=parts[0].split,
    )


def _names(written: Any) -> Any:
    """Names are a list in a file; a data set, whose columns have one type, has their JSON."""
    try:
        return json.loads(written) if isinstance(written, str) and written.startswith("[") else written
    except ValueError:
        return written


_Entry = Annotated[str | list[str], BeforeValidator(_names)]


class ConvFinQAAnnotation(BaseModel):
    """The questions of a conversation, with their gold programs and results, or with gold answers."""

    dialogue_break: list[EncodableText] = Field(min_length=1)
    turn_program: list[str] | None = None
    exe_ans_list: list[_Entry] | None = None
    qa_split: list[Literal["0", "1"]] | None = None
    answers: list[_Entry | None] | None = None

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

    @model_validator(mode="after")
    def _is_rectangular(self) -> Self:
        for number, row in enumerate(self.table):
            if len(row) != len(self.table[0]):
                raise ValueError(f"table row {number} has {len(row)} cells, row 0 has {len(self.table[0])}")
        return self


def load_conversations(source: Any, split: str | None = None) -> LoadedData:
    """Returns the conversations of one split.

    Args:
        source: A file (JSON, JSON Lines, Parquet), a folder, ``sample``, a
            ``datasets.Dataset``, or examples of DSPy; a trailing ``:split`` chooses as ``split`` does. A user's own
            questions have the forms of :mod:`experiments.data.own`.
        split: ``train``, ``dev`` or ``test``; needed where the source holds more than one.

    Raises:
        DataError: The source cannot be read at all: it does not exist, is not JSON, or holds no conversations.
        ConfigError: The source has several splits and none was named, or not the one that was named.
    """
    if not isinstance(source, str | Path | Mapping):
        source = list(source)
        if source and all(map(is_own, source)):
            return _load_own(source, "examples", "data")
    part = find_part(source, split)
    data = part.read()
    records = read_records(data, part.name)
    if records and all(map(is_own, records)):
        folder = Path(source).parent if isinstance(source, str | Path) else Path()
        return _load_own(records, part.name, part.split, folder)
    conversations, problems = list[ConversationRecord](), list[DataError]()
    reports, numbers = dict[str, Report](), dict[str, int]()
    for number, record in enumerate(records, start=1):
        identifier = record.get("id") if isinstance(record, dict) else None
        place = f"conversation {identifier!r}" if isinstance(identifier, str) else f"conversation number {number}"
        try:
            read = ConvFinQARecord.model_validate(record, strict=True)
            rules = broken_gold(read)
        except ValidationError as error:
            rules = [_in_words(detail) for detail in error.errors()]
        if isinstance(identifier, str) and numbers.setdefault(identifier, number) != number:
            rules.append(f"id is that of conversation number {numbers[identifier]} too")
        problems += [DataError(rule, file=part.name, place=place) for rule in rules]
        if not rules:
            conversations.append(_conversation(read, reports))
    if not conversations and not problems:
        raise DataError("holds no conversations", file=part.name)
    sha256 = hashlib.sha256(data).hexdigest()
    return LoadedData(tuple(conversations), tuple(problems), sha256, part.name, part.split)


def _load_own(rows: Sequence[Any], name: str, split: str, folder: Path = Path()) -> LoadedData:
    from experiments.data.own import read_own

    read, problems = read_own(rows, name, folder)
    conversations = tuple(ConversationRecord(*own[:3], None, None, None, own[3]) for own in read)
    sha256 = hashlib.sha256(repr(read).encode()).hexdigest()
    return LoadedData(conversations, tuple(problems), sha256, name, split)


def is_own(row: Any) -> bool:
    """Whether a row is one of a user's own questions: it has a question, and is no record of ConvFinQA."""
    names = set(row.keys()) if hasattr(row, "keys") else set[str]()
    return bool({"question", "questions"} & names) and "annotation" not in names


def _in_words(error: Any) -> str:
    """A broken rule with its place in the conversation: ``annotation.dialogue_break: Field required``."""
    place = ".".join(str(part) for part in error["loc"] if not str(part).startswith(("list[", "literal[", "function-")))
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
    """An entry of ``exe_ans_list`` whose numbers are texts; ``None`` if it is no answer."""
    if not isinstance(written, str):
        return tuple(written) or None
    if written in ("yes", "no"):
        return "yes" if written == "yes" else "no"
    return Decimal(written) if _NUMBER.fullmatch(written) else None


def _conversation(read: ConvFinQARecord, reports: dict[str, Report]) -> ConversationRecord:
    annotation, report = read.annotation, shared_report(read.model_dump(), reports)
    answers = [gold_answer(entry) for entry in annotation.exe_ans_list or ()]
    questions = annotation.dialogue_break
    return ConversationRecord(
        id=read.id,
        report=report,
        questions=tuple(map(repaired_text, questions) if _PAGE.fullmatch(report.id) else questions),
        programs=tuple(annotation.turn_program) if annotation.turn_program is not None else None,
        answers=tuple(answer for answer in answers if answer is not None) if answers else None,
        qa_split=tuple(map(int, annotation.qa_split)) if annotation.qa_split is not None else None,
        gold=tuple(map(read_gold, annotation.answers)) if annotation.answers is not None else None,
    )


def shared_report(record: Mapping[str, Any], reports: dict[str, Report]) -> Report:
    """The report of a conversation's record; those about the same document have one.

    Args:
        record: The conversation.
        reports: The reports of the conversations before it, by document; a new one is added.
    """
    own = read_report({**record, "id": document_of(record["id"])})
    known = reports.setdefault(own.id, own)
    # A report's id must be unique, since graphs are kept by it.
    return known if known == own else replace(own, id=record["id"])


def read_report(record: Any) -> Report:
    """Returns the report of one record of a file; the record may hold more.

    Raises:
        DataError: It is not an object, or lacks what a report needs.
    """
    if not isinstance(record, dict):
        raise DataError(f"must be an object with keys, got {type(record).__name__}")
    report = Report.from_dict(record)
    if _PAGE.fullmatch(report.id) is None:
        return report
    pre_text, post_text = (tuple(map(repaired_text, texts)) for texts in (report.pre_text, report.post_text))
    places = ((row, range(len(cells))) for row, cells in enumerate(report.table))
    table = tuple(tuple(_repaired_cell(report.table, row, column) for column in columns) for row, columns in places)
    return replace(report, pre_text=pre_text, post_text=post_text, table=table)


def conversation_examples(conversations: Sequence[ConversationRecord]) -> list[dspy.Example]:
    """Returns one example for each conversation, with ``programs`` and ``answers``, or ``gold``, as labels."""
    import dspy

    names = ("id", "report", "questions", "programs", "answers", "gold")
    return [
        dspy.Example({name: getattr(conversation, name) for name in names}).with_inputs("report", "questions")
        for conversation in conversations
    ]


@dataclass(frozen=True)
class ConversationFile:
    """The conversations of one split: a file, or rows of a data set.

    Attributes:
        split: ``train``, ``dev``, ``test``, or ``data`` for a file of any other name.
        name: The file in messages: ``dev.json``, ``sample/dev.json``.
        content: Returns the conversations as a JSON list.
    """

    split: str
    name: str
    content: Callable[[], bytes] = field(compare=False, repr=False)

    def read(self) -> bytes:
        """Returns the conversations as a JSON list.

        Raises:
            DataError: They cannot be read.
        """
        try:
            return self.content()
        except OSError as error:
            raise DataError(f"cannot be read: {error}", file=self.name) from error


def find_part(source: Any, split: str | None = None) -> ConversationFile:
    """Returns the one part of a source, or that of the split; a source may end in ``:split``.

    Raises:
        DataError: The source does not exist or holds no conversations.
        ConfigError: It has several splits and none was named, or not the one that was named.
    """
    parts = find_parts(source)
    matches = [part for part in parts if split in (None, part.split)]
    if len(matches) != 1:
        names = ", ".join(part.split for part in parts)
        if split is None:
            raise ConfigError(f"{source} holds several splits ({names}); name one of them: {source}:{parts[0].split}")
        raise ConfigError(f"split must be one of those that {str(source)!r} holds once ({names}), got {split!r}")
    return matches[0]


def find_parts(source: Any) -> list[ConversationFile]:
    """Returns every part of a source, train before dev before test; only the one that a trailing ``:split`` names.

    Raises:
        DataError: The source does not exist or holds no conversations.
        ConfigError: It does not have the split that was named.
    """
    if not isinstance(source, str | Path):
        return _rows_of(source, "data set")
    base, separator, suffix = str(source).rpartition(":")
    if separator and suffix in SPLIT_OF_FILE.values() and not Path(source).exists():
        return [find_part(base, suffix)]
    path = SAMPLE_FOLDER if source == "sample" else Path(source)
    if path.is_file() and path.suffix.lower() in _LOADERS:
        return _rows_of(_opened_data_set(str(source)), path.name)
    if path.is_file():
        return [ConversationFile(SPLIT_OF_FILE.get(path.name, "data"), path.name, path.read_bytes)]
    if not path.is_dir():
        raise DataError(
            "no such file or folder; give a file (JSON, JSON Lines or Parquet), a folder or 'sample'; "
            "`finpath data fetch` fetches ConvFinQA",
            file=str(source),
        )
    files = [path / name for name in SPLIT_OF_FILE if (path / name).is_file()]
    if not files:
        raise DataError(f"holds none of {', '.join(SPLIT_OF_FILE)}", file=str(source))
    return [ConversationFile(SPLIT_OF_FILE[file.name], f"{path.name}/{file.name}", file.read_bytes) for file in files]


def _opened_data_set(source: str) -> Any:
    """The data set of a file of Parquet or JSON Lines."""
    import datasets

    split = SPLIT_OF_FILE.get(f"{Path(source).stem}.json", "data")
    try:
        return datasets.load_dataset(_LOADERS[Path(source).suffix.lower()], data_files={split: source})
    except Exception as error:  # datasets raises errors of files and of its own
        raise DataError(f"cannot be read as a data set: {error}", file=source) from error


def _rows_of(data: Any, name: str) -> list[ConversationFile]:
    """The splits of a data set; ``validation`` is ``dev``."""
    splits = dict(data) if isinstance(data, Mapping) else {"data": data}
    names = {split: f"{name}/{split}" if len(splits) > 1 else name for split in splits}
    return [
        ConversationFile(_SPLIT_OF_NAME.get(split, "data"), names[split], partial(_rows_as_json, rows))
        for split, rows in splits.items()
    ]


def _rows_as_json(rows: Iterable[Any]) -> bytes:
    return json.dumps(list(rows), default=str).encode()


def read_records(data: bytes, name: str) -> list[Any]:
    """The elements of a JSON list; numbers stay texts as they are written.

    Raises:
        DataError: The bytes are not a JSON list in UTF-8; the message has line and column.
    """
    try:
        records = json.loads(data.decode("utf-8-sig"), parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not a JSON list of conversations: {error}", file=name) from error
    if is_own(records):
        return [records]
    if not isinstance(records, list):
        raise DataError(f"is not a JSON list of conversations: it is a {type(records).__name__}", file=name)
    return records


_PAGE = re.compile(r"(?:Single_|Double_)?[^/]+/(?:19|20)\d\d/page_\d+\.pdf(?:-\d+)?")
_CHARACTERS = tuple(
    (re.compile(pattern), character)
    for pattern, character in (
        (r"(?<![\w.])(?:2018 )?2018(?=[a-z])", "‘"),
        (r"(?<=[\w.)]) 2019(?=\s?(?:s|t|re|ve|ll)\b)\s?|(?<=\b[dlo]) 2019(?=[a-z])", "’"),
        (r"(?<=[a-z.,]) 2019 2019(?!\d)", "’"),
        (r"(?<![\w.])201c ?", "“"),
        (r" ?(?<![\w.])201d", "”"),
        (r"(?<![\w.])20ac", "€"),
        (r"(?<![\w.])(?:25cf|f0b7)", "•"),
        (r"(?<![\w.])a0(?: |(?=[a-z\d]))(?=[a-z\d])", ""),
        (r"(?<![\w.])fffd", "\ufffd"),
    )
)


def repaired_text(text: str) -> str:
    """A text with the characters whose codes are no year in any context."""
    for pattern, character in _CHARACTERS:
        text = pattern.sub(character, text)
    return text


_DASHES = {"2013": "–", "2014": "—"}
_YEAR = re.compile(r"(?:19|20)\d\d")
_FIGURE = re.compile(r"(?=\D*\d)[\s$€£¥().,'’%\d-]+")


def _repaired_cell(table: Sequence[Sequence[str]], row: int, column: int) -> str:
    """A cell; the code of a dash is one with a currency's sign, and among figures where there is no other year."""
    cell = table[row][column]
    code = cell.replace("$", "").strip()
    if code not in _DASHES or not row or not column:
        return repaired_text(cell)
    others = [text.strip() for text in (*table[row][1:], *(line[column] for line in table[1:]))]
    years = {text for text in others if _YEAR.fullmatch(text)} - {code}
    has_figures = any(_FIGURE.fullmatch(text) and not _YEAR.fullmatch(text) for text in others)
    return cell.replace(code, _DASHES[code]) if "$" in cell or (has_figures and not years) else cell
