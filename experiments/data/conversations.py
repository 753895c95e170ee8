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

The source is a JSON file, a folder or a ``data.zip`` as the authors publish it, or the sample that ships::

    >>> loaded = load_conversations("sample:dev")
    >>> loaded.conversations[0].questions[0], loaded.problems
    ('...', ())

Hugging Face ``datasets`` caches the checked rows, by the content of the file and the code of the checks. A
conversation that breaks a rule is left out and named in ``problems``; the others load.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from experiments.console import SAMPLE_FOLDER
from experiments.data.format import checked_rows, code_of_checks, gold_answer
from kg.errors import ConfigError, DataError
from kg.files import UNREADABLE
from kg.reports import Report
from kg.search import Answer
from optimize.metrics.abstention import OpenAnswer, read_gold

if TYPE_CHECKING:
    import datasets
    import dspy


SAMPLE = "sample"
"""The name of the conversations that ship with finpath."""

HUB = "hf:"
"""The prefix of a name on the hub."""

SPLIT_OF_FILE = {
    "train.json": "train",
    "dev.json": "dev",
    "test.json": "test",
    "test_private.json": "test",
    "test_without_gold.json": "test",
}
"""The files of a folder or an archive that hold conversations, and the split that each is."""

MOST_BYTES = 500_000_000
"""Bytes that a file in an archive or a Parquet file may unpack to."""

_SPLIT_OF_NAME = {"train": "train", "validation": "dev", "dev": "dev", "test": "test"}
_ARCHIVE, _LINES, _SAVED_DATA_SET = "data.zip", (".jsonl", ".ndjson"), ("dataset_info.json", "dataset_dict.json")
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


def load_conversations(source: Any, split: str | None = None, *, cache_dir: str | None = None) -> LoadedData:
    """Returns the conversations of one split.

    Args:
        source: A file (JSON, JSON Lines, Parquet), a folder, also one of ``save_to_disk``, an archive, ``hf:NAME`` of
            the hub, ``sample``, or a ``datasets.Dataset``; a trailing ``:split`` chooses as ``split`` does.
        split: ``train``, ``dev`` or ``test``; needed where the source holds more than one.
        cache_dir: Folder of the cache; the default is that of Hugging Face ``datasets``.

    Raises:
        DataError: The source cannot be read at all: it does not exist, is not JSON, or holds no conversations.
        ConfigError: The source has several splits and none was named, or not the one that was named.
    """
    part = find_part(source, split)
    data = part.read()
    rows = _cached(part, data, cache_dir).to_list()
    return LoadedData(
        conversations=_conversations([row for row in rows if not row["rules"]]),
        problems=tuple(DataError(rule, file=part.name, place=row["place"]) for row in rows for rule in row["rules"]),
        sha256=hashlib.sha256(data).hexdigest(),
        name=part.name,
        split=part.split,
    )


@dataclass(frozen=True)
class ConversationFile:
    """One file of conversations: a file on disk, a member of an archive, or a data set.

    Attributes:
        split: ``train``, ``dev``, ``test``, or ``data`` for a file of any other name.
        name: The file in messages: ``dev.json``, ``sample/dev.json``, ``data.zip/data/dev.json``.
        path: The file or the archive.
        member: Its name in the archive.
        rows: The rows of a data set, which has no file.
    """

    split: str
    name: str
    path: str
    member: str | None = None
    rows: Any = field(default=None, compare=False, repr=False)

    def read(self) -> bytes:
        """The conversations as a JSON list: the file's bytes, or those written of another form.

        Raises:
            DataError: It cannot be read; the message has the line of a file of JSON Lines.
        """
        if self.rows is not None:
            return _rows_as_json(self.rows)
        try:
            if self.member is not None:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as packed:
                    content = packed.read(MOST_BYTES + 1)
                if len(content) > MOST_BYTES:
                    raise DataError(f"unpacks to more than {MOST_BYTES} bytes", file=self.name)
                return content
            ending = Path(self.path).suffix.lower()
            if ending == ".parquet":
                return _rows_as_json(_parquet_rows(Path(self.path)))
            content = Path(self.path).read_bytes()
            return _rows_as_json(_json_lines(content, self.path)) if ending in _LINES else content
        except UNREADABLE as error:
            raise DataError(f"cannot be read: {error}", file=self.name) from error


def find_part(source: Any, split: str | None = None) -> ConversationFile:
    """The one part of a source, or that of the split; a source may end in ``:split``.

    Raises:
        DataError: The source does not exist or holds no conversations.
        ConfigError: It has several splits and none was named, or not the one that was named.
    """
    parts = find_parts(source)
    wanted = [part for part in parts if split in (None, part.split)]
    if len(wanted) != 1:
        names = ", ".join(part.split for part in parts)
        if split is None:
            raise ConfigError(f"{source} holds several splits ({names}); name one of them: {source}:{parts[0].split}")
        raise ConfigError(f"split must be one of those that {str(source)!r} holds ({names}), got {split!r}")
    return wanted[0]


def find_parts(source: Any) -> list[ConversationFile]:
    """Every part of a source, train before dev before test; only the one that a trailing ``:split`` names.

    Raises:
        DataError: The source does not exist or holds no conversations.
        ConfigError: It does not have the split that was named.
    """
    if not isinstance(source, str | Path):
        return _data_set_parts(source, "data set")
    base, separator, suffix = str(source).rpartition(":")
    if separator and suffix in SPLIT_OF_FILE.values() and not Path(source).exists():
        return [find_part(base, suffix)]
    path = SAMPLE_FOLDER if source == SAMPLE else Path(source)
    if str(source).startswith(HUB) or any((path / name).is_file() for name in _SAVED_DATA_SET):
        return _data_set_parts(_opened_data_set(str(source)), str(source))
    if not any((path / name).is_file() for name in SPLIT_OF_FILE) and (path / _ARCHIVE).is_file():
        path /= _ARCHIVE
    if path.is_dir():
        files = [path / name for name in SPLIT_OF_FILE if (path / name).is_file()]
        parts = [ConversationFile(SPLIT_OF_FILE[file.name], f"{path.name}/{file.name}", str(file)) for file in files]
    elif not path.is_file():
        raise DataError(
            "no such file or folder; give a file (JSON, JSON Lines or Parquet), a folder, a data.zip, hf:NAME "
            "or 'sample'; `finpath data fetch` fetches ConvFinQA",
            file=str(source),
        )
    elif zipfile.is_zipfile(path):
        parts = _members(path)
    else:
        parts = [ConversationFile(SPLIT_OF_FILE.get(path.name, "data"), path.name, str(path))]
    if not parts:
        raise DataError(f"holds none of {', '.join(SPLIT_OF_FILE)}", file=str(source))
    by_split: dict[str, ConversationFile] = {}
    for part in parts:
        if (other := by_split.setdefault(part.split, part)) != part:
            rule = f"holds two files of the split {part.split!r}: {other.name} and {part.name}"
            raise DataError(rule, file=str(source))
    return parts


def _opened_data_set(name: str) -> Any:
    """The data set of a name on the hub, or of a folder of ``save_to_disk``."""
    import datasets

    try:
        return datasets.load_dataset(name[len(HUB) :]) if name.startswith(HUB) else datasets.load_from_disk(name)
    except Exception as error:  # datasets raises errors of the hub, of files and of its own
        raise DataError(f"cannot be read as a data set: {error}", file=name) from error


def _data_set_parts(data: Any, name: str) -> list[ConversationFile]:
    """The splits of a data set; ``validation`` is ``dev``."""
    splits = dict(data) if isinstance(data, Mapping) else {"data": data}
    names = {split: f"{name}/{split}" if len(splits) > 1 else name for split in splits}
    return [
        ConversationFile(_SPLIT_OF_NAME.get(split, "data"), names[split], name, rows=splits[split]) for split in splits
    ]


def _members(path: Path) -> list[ConversationFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            # A Mac's archiver adds a shadow of every file under __MACOSX.
            members = [name for name in archive.namelist() if not name.startswith("__MACOSX")]
    except UNREADABLE as error:
        raise DataError(f"cannot be read: {error}", file=path.name) from error
    return [
        ConversationFile(split, f"{path.name}/{member}", str(path), member)
        for name, split in SPLIT_OF_FILE.items()
        for member in members
        if PurePosixPath(member).name == name
    ]


def _parquet_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    from kg.readers import parquet_batches

    for columns in parquet_batches(path, MOST_BYTES):
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(columns, values, strict=True))


def _json_lines(content: bytes, name: str) -> Iterator[Any]:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            try:
                yield json.loads(line, parse_int=str, parse_float=str)
            except (ValueError, RecursionError) as error:
                raise DataError(f"is not JSON: {error}", file=name, place=f"line {number}") from error


def _rows_as_json(rows: Iterable[Any]) -> bytes:
    """The rows of a data set as a JSON list, the gold answers decoded."""
    return json.dumps([_decoded(row) for row in rows], default=str).encode()


def _decoded(row: Any) -> Any:
    annotation = row.get("annotation") if isinstance(row, Mapping) else None
    answers = annotation.get("answers") if isinstance(annotation, Mapping) else None
    if not isinstance(annotation, Mapping) or not isinstance(answers, list):
        return row  # the rules of the format name what is wrong
    return {**row, "annotation": {**annotation, "answers": [_answer(one) for one in answers]}}


def _answer(written: Any) -> Any:
    """A gold answer; finpath's own data sets hold each as JSON."""
    try:
        return json.loads(written, parse_int=str, parse_float=str) if isinstance(written, str) else written
    except ValueError:
        return written


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


def _cached(part: ConversationFile, data: bytes, cache_dir: str | None) -> datasets.Dataset:
    """Returns every conversation of a file with its ``place`` and the ``rules`` that it breaks."""
    import datasets

    features = datasets.Features(
        {
            **conversation_features(),
            "place": datasets.Value("string"),
            "rules": datasets.List(datasets.Value("string")),
        }
    )
    with _quiet(datasets):
        try:
            return datasets.Dataset.from_generator(
                _all_rows,
                features=features,
                cache_dir=cache_dir,
                gen_kwargs={"part": part},
                split=datasets.Split(part.split),
                fingerprint=_fingerprint(part, data),
            )
        except datasets.exceptions.DatasetGenerationError as error:
            if isinstance(error.__cause__, DataError):
                raise error.__cause__ from None
            raise
        except OSError as error:
            rule = f"the cache cannot be written: {error}; HF_DATASETS_CACHE names a folder for it"
            raise DataError(rule, file=part.name) from error


def _fingerprint(part: ConversationFile, data: bytes) -> str:
    """Returns a hash of the file's content and of the code that checks it."""
    digest = hashlib.sha256(data)
    digest.update(part.split.encode())
    digest.update(code_of_checks().encode())
    return digest.hexdigest()[:32]


@contextlib.contextmanager
def _quiet(datasets_module: Any) -> Iterator[None]:
    """Hides the progress bar of ``datasets``, since most files are read at once."""
    shown = not datasets_module.are_progress_bars_disabled()
    datasets_module.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets_module.enable_progress_bars()


def _all_rows(part: ConversationFile) -> Iterator[dict[str, Any]]:
    return checked_rows(part.read(), part.name)


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
