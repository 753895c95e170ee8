"""ConvFinQA's conversations: read, checked, cached and turned into what programs and optimizers take.

The official format is a JSON list of conversations, each a report with its questions and, except in a test file,
their gold programs and results::

    {"id": "Single_ACME/2020/page_7.pdf-1", "pre_text": ["..."], "post_text": ["..."],
     "table": [["", "2020", "2019"], ["revenue", "$ 120", "$ 100"]],
     "annotation": {"dialogue_break": ["what was the revenue in 2020?", "and the change from 2019?"],
                    "turn_program": ["120", "subtract(120, 100)"], "exe_ans_list": [120.0, 20.0],
                    "qa_split": [0, 0]}}

It is read from a JSON file, a folder or a ``data.zip`` as the authors publish it, or from the sample that ships::

    >>> loaded = load_conversations("sample:dev")
    >>> loaded.conversations[0].questions[0], loaded.problems
    ('...', ())

Everything goes through Hugging Face ``datasets``: :func:`load_datasets` gives the typed ``DatasetDict`` itself, which is
cached by the content of the file (and by the code that checks it), or streams. A conversation that breaks a rule is
left out and named in ``problems``; the others load.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from kg import candidate, derivation, report, values
from kg.candidate import merge_key
from kg.derivation import Answer, Derivation
from kg.errors import ConfigError, DataError, ProgramError
from kg.report import Report

if TYPE_CHECKING:
    import datasets
    import dspy

logger = logging.getLogger(__name__)

SAMPLE = "sample"
"""The name of the conversations that ship with finpath."""

SPLIT_OF_FILE = {
    "train.json": "train",
    "dev.json": "dev",
    "test.json": "test",
    "test_private.json": "test",
    "test_without_gold.json": "test",
}
"""The files of a folder or an archive that hold conversations, and the split that each is."""

_SAMPLE_FOLDER = Path(__file__).parent / "sample"
_ID = re.compile(r"(?:Single_|Double_)?(?P<document>.+?)(?:-\d+)?")
_GOLD = ("turn_program", "exe_ans_list")


@dataclass(frozen=True)
class Conversation:
    """A report, the questions asked about it in order, and their gold where it is known.

    Attributes:
        id: Unique in its file: ``Single_ACME/2020/page_7.pdf-1``.
        report: What a program may see besides the questions.
        questions: At least one.
        programs: The gold program of each question, in ConvFinQA's language; ``None`` in a test file.
        answers: The official result of each gold program, rounded to five digits; ``None`` in a test file.
        qa_split: For each question, which of the two original questions it comes from: 0 or 1.
    """

    id: str
    report: Report
    questions: tuple[str, ...]
    programs: tuple[str, ...] | None
    answers: tuple[Answer, ...] | None
    qa_split: tuple[int, ...] | None

    @property
    def document(self) -> str:
        """The report's own name, which several conversations may share: ``ACME/2020/page_7.pdf``."""
        return _document(self.id)

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
        conversations: Those that keep every rule of the format, in the order of the file.
        problems: What is wrong with the others; each names the file, the conversation and the rule.
        sha256: Hash of the file's bytes (of the member's, in an archive).
        name: The file as the user would recognise it: ``dev.json``, ``data.zip/data/dev.json``, ``sample/dev.json``.
        split: ``train``, ``dev``, ``test``, or ``data`` for a file of any other name.
    """

    conversations: tuple[Conversation, ...]
    problems: tuple[DataError, ...]
    sha256: str
    name: str
    split: str


@dataclass(frozen=True)
class _Part:
    """One file of conversations: a file on disk, or a member of an archive."""

    split: str
    name: str
    path: str
    member: str | None = None

    def read(self) -> bytes:
        if self.member is None:
            return Path(self.path).read_bytes()
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(self.member)


def load_conversations(source: str | Path, split: str | None = None, *, cache_dir: str | None = None) -> LoadedData:
    """Reads the conversations of one split.

    Args:
        source: A JSON file, a folder, an archive, or ``sample``; a trailing ``:split`` chooses as ``split`` does.
        split: ``train``, ``dev`` or ``test``; needed where the source holds more than one.
        cache_dir: Folder of the cache; the default is that of Hugging Face ``datasets``.

    Raises:
        DataError: The source cannot be read at all: it does not exist, is not JSON, or holds no conversations.
        ConfigError: The source has several splits and none was named, or not the one that was named.
    """
    source, split = _split_suffix(source, split)
    parts = _parts(source)
    wanted = [part for part in parts if split is None or part.split == split]
    if len(wanted) != 1:
        names = ", ".join(part.split for part in parts)
        raise ConfigError(f"split must be one of those that {str(source)!r} holds ({names}), got {split!r}")
    part = wanted[0]
    data = part.read()
    rows = _cached(part, data, cache_dir).to_list()
    return LoadedData(
        conversations=_conversations([row for row in rows if not row["rules"]]),
        problems=tuple(DataError(rule, file=part.name, place=row["place"]) for row in rows for rule in row["rules"]),
        sha256=hashlib.sha256(data).hexdigest(),
        name=part.name,
        split=part.split,
    )


def load_datasets(
    source: str | Path, *, streaming: bool = False, cache_dir: str | None = None
) -> datasets.DatasetDict | datasets.IterableDatasetDict:
    """The good conversations of every split, with the features of :func:`conversation_features`.

    Args:
        source: As in :func:`load_conversations`; a trailing ``:split`` leaves that split only.
        streaming: Read and check each conversation when it is asked for, and write no cache.
        cache_dir: Folder of the cache; the default is that of Hugging Face ``datasets``.

    Raises:
        DataError: The source cannot be read at all. Conversations that break a rule are logged and left out.
    """
    import datasets

    source, split = _split_suffix(source, None)
    parts = [part for part in _parts(source) if split is None or part.split == split]
    if streaming:
        return datasets.IterableDatasetDict({part.split: _stream(part) for part in parts})
    return datasets.DatasetDict({part.split: _good(_cached(part, part.read(), cache_dir)) for part in parts})


def conversation_features() -> datasets.Features:
    """The types of a conversation; an ``exe_ans_list`` holds ``yes``, ``no`` or numbers written exactly."""
    from datasets import Features, List, Value

    text = Value("string")
    return Features(
        {
            "id": text,
            "pre_text": List(text),
            "post_text": List(text),
            "table": List(List(text)),
            "annotation": {
                "dialogue_break": List(text),
                "turn_program": List(text),
                "exe_ans_list": List(text),
                "qa_split": List(Value("int32")),
            },
        }
    )


def conversation_examples(conversations: Sequence[Conversation]) -> list[dspy.Example]:
    """One example a conversation: ``report`` and ``questions`` in, ``programs`` and ``answers`` as labels."""
    import dspy

    return [
        dspy.Example(
            id=conversation.id,
            report=conversation.report,
            questions=conversation.questions,
            programs=conversation.programs,
            answers=conversation.answers,
        ).with_inputs("report", "questions")
        for conversation in conversations
    ]


def turn_examples(conversations: Sequence[Conversation]) -> list[dspy.Example]:
    """One example a turn, with the *gold* turns before it as its history: for training only.

    ``report``, ``question`` and ``history`` (of :class:`programs.turn.PastTurn`) are inputs, ``program`` and ``answer``
    labels; ``turn_index`` counts from 0.

    Raises:
        DataError: A conversation has no gold.
    """
    import dspy

    from programs.turn import PastTurn

    examples = []
    for conversation in conversations:
        if conversation.programs is None or conversation.answers is None:
            raise DataError("has no gold programs to train on", place=f"conversation {conversation.id!r}")
        history: tuple[PastTurn, ...] = ()
        gold = zip(conversation.questions, conversation.programs, conversation.answers, strict=True)
        for index, (question, program, answer) in enumerate(gold):
            example = dspy.Example(
                id=conversation.id,
                turn_index=index,
                report=conversation.report,
                question=question,
                history=history,
                program=program,
                answer=answer,
            )
            examples.append(example.with_inputs("report", "question", "history"))
            derived = Derivation.parse(program)
            history = (*history, PastTurn(question, derived, derived.execute(conversation.report.table)))
    return examples


def _document(conversation_id: str) -> str:
    match = _ID.fullmatch(conversation_id)
    return match["document"] if match else conversation_id


# Where the files are.


def _split_suffix(source: str | Path, split: str | None) -> tuple[str | Path, str | None]:
    """Takes a trailing ``:split`` off a source that does not exist under its whole name."""
    base, separator, suffix = str(source).rpartition(":")
    if not separator or suffix not in SPLIT_OF_FILE.values() or Path(source).exists():
        return source, split
    if split not in (None, suffix):
        raise ConfigError(f"split must agree with the source's own, got {split!r} and {str(source)!r}")
    return base, suffix


def _parts(source: str | Path) -> list[_Part]:
    path = _SAMPLE_FOLDER if source == SAMPLE else Path(source)
    if path.is_dir():
        parts = [
            _Part(split, f"{path.name}/{name}", str(path / name))
            for name, split in SPLIT_OF_FILE.items()
            if (path / name).is_file()
        ]
    elif not path.is_file():
        raise DataError("no such file or folder; give a JSON file, a folder, a data.zip or 'sample'", file=str(source))
    elif zipfile.is_zipfile(path):
        parts = _members(path)
    else:
        parts = [_Part(SPLIT_OF_FILE.get(path.name, "data"), path.name, str(path))]
    if not parts:
        raise DataError(f"holds none of {', '.join(SPLIT_OF_FILE)}", file=str(source))
    splits = [part.split for part in parts]
    for part in parts:
        if splits.count(part.split) > 1:
            raise DataError(f"holds more than one file of the split {part.split!r}", file=str(source))
    return parts


def _members(path: Path) -> list[_Part]:
    with zipfile.ZipFile(path) as archive:
        # A Mac's archiver adds shadows of every file under __MACOSX.
        members = [name for name in archive.namelist() if not name.startswith("__MACOSX")]
    return [
        _Part(split, f"{path.name}/{member}", str(path), member)
        for name, split in SPLIT_OF_FILE.items()
        for member in members
        if PurePosixPath(member).name == name
    ]


# Through the cache.


def _cached(part: _Part, data: bytes, cache_dir: str | None) -> datasets.Dataset:
    """Every conversation of a file, the bad ones too, with ``place`` and the ``rules`` that it breaks."""
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
                _rows,
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


def _fingerprint(part: _Part, data: bytes) -> str:
    """Changes with the file's content and with the code that checks it, so that no stale verdict is read back."""
    digest = hashlib.sha256(data)
    digest.update(part.split.encode())
    for module in (candidate, derivation, report, values):
        digest.update(Path(str(module.__file__)).read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()[:32]


@contextlib.contextmanager
def _quiet(datasets_module: Any) -> Iterator[None]:
    """Without the progress bar that would flash up for a file that is read in a blink."""
    shown = not datasets_module.are_progress_bars_disabled()
    datasets_module.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets_module.enable_progress_bars()


def _good(rows: datasets.Dataset) -> datasets.Dataset:
    rules = rows["rules"]
    kept = [index for index in range(len(rows)) if not rules[index]]
    return rows.select(kept).remove_columns(["place", "rules"])


def _stream(part: _Part) -> datasets.IterableDataset:
    import datasets

    return datasets.IterableDataset.from_generator(
        _good_rows,
        features=conversation_features(),
        gen_kwargs={"part": part},
        split=datasets.Split(part.split),
    )


def _good_rows(part: _Part) -> Iterator[dict[str, Any]]:
    for row in _rows(part):
        if row["rules"]:
            logger.warning("%s: %s: %s", part.name, row["place"], "; ".join(row["rules"]))
        else:
            yield {key: value for key, value in row.items() if key not in ("place", "rules")}


# Reading and checking.


def _rows(part: _Part) -> Iterator[dict[str, Any]]:
    """Each conversation in the types of the features, with the rules that it breaks."""
    places: dict[str, int] = {}
    number = 0
    for number, record in enumerate(_records(part), start=1):
        identifier = record.get("id") if isinstance(record, dict) else None
        place = f"conversation {identifier!r}" if isinstance(identifier, str) else f"conversation number {number}"
        rules = _broken_rules(record)
        if isinstance(identifier, str) and places.setdefault(identifier, number) != number:
            rules = [*rules, f"the id is that of conversation number {places[identifier]} too"]
        yield {**(_row(record) if not rules else _EMPTY_ROW), "place": place, "rules": rules}
    if not number:
        raise DataError("holds no conversations", file=part.name)


_EMPTY_ROW: dict[str, Any] = {
    "id": None,
    "pre_text": None,
    "post_text": None,
    "table": None,
    "annotation": {"dialogue_break": None, "turn_program": None, "exe_ans_list": None, "qa_split": None},
}


def _records(part: _Part) -> Iterator[Any]:
    """The elements of a JSON list one after the other; numbers stay as they are written."""
    try:
        text = part.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"is not UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}", file=part.name
        ) from error
    decoder = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
    blank = re.compile(r"\s*")

    def skip(position: int, expected: str) -> str:
        if text[position : position + 1] not in tuple(expected):
            raise json.JSONDecodeError(f"Expecting {' or '.join(map(repr, expected))}", text, position)
        return text[position]

    def after_blank(position: int) -> int:
        match = blank.match(text, position)
        return match.end() if match else position

    try:
        position = after_blank(0)
        skip(position, "[")
        position = after_blank(position + 1)
        if text[position : position + 1] == "]":
            return
        while True:
            record, position = decoder.raw_decode(text, position)
            yield record
            position = after_blank(position)
            if skip(position, ",]") == "]":
                return
            position = after_blank(position + 1)
    except json.JSONDecodeError as error:
        raise DataError(
            f"is not a JSON list of conversations: {error.msg}",
            file=part.name,
            place=f"line {error.lineno}, column {error.colno}",
        ) from error


def _broken_rules(record: Any) -> list[str]:
    """The rules that a conversation breaks; those about gold are looked at only where its shape is right."""
    if not isinstance(record, dict):
        return [f"must be an object with keys, got {type(record).__name__}"]
    rules = [
        f"key {key!r} is missing" for key in ("id", "pre_text", "post_text", "table", "annotation") if key not in record
    ]
    if rules:
        return rules
    annotation = record["annotation"]
    if not isinstance(annotation, dict):
        return [f"annotation must be an object with keys, got {type(annotation).__name__}"]
    if "dialogue_break" not in annotation:
        return ["key 'dialogue_break' is missing in annotation"]
    if not isinstance(record["id"], str) or not record["id"]:
        rules.append(f"id must be a text, got {record['id']!r}")
    for name, texts in (
        *((key, record[key]) for key in ("pre_text", "post_text")),
        ("dialogue_break", annotation["dialogue_break"]),
    ):
        if not _is_texts(texts):
            rules.append(f"{name} must be a list of texts")
    return rules + _broken_table_rules(record["table"]) or _broken_gold_rules(record)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _broken_table_rules(table: Any) -> list[str]:
    if not isinstance(table, list) or not all(_is_texts(row) for row in table):
        return ["table must be a list of rows, each a list of texts"]
    return [
        f"table row {number} has {len(row)} cells, row 0 has {len(table[0])}"
        for number, row in enumerate(table)
        if len(row) != len(table[0])
    ][:1]


def _broken_gold_rules(record: Mapping[str, Any]) -> list[str]:
    annotation = record["annotation"]
    questions = annotation["dialogue_break"]
    if not questions:
        return ["dialogue_break holds no question"]
    given = [key for key in (*_GOLD, "qa_split") if annotation.get(key) is not None]
    if len({*given} & {*_GOLD}) == 1:
        missing = next(key for key in _GOLD if key not in given)
        return [f"key {missing!r} is missing in annotation, which has {given[0]!r}"]
    rules = [f"{key} must be a list" for key in given if not isinstance(annotation[key], list)]
    if rules:
        return rules
    rules = [
        f"{key} has {len(annotation[key])} entries for {len(questions)} questions"
        for key in given
        if len(annotation[key]) != len(questions)
    ]
    if "qa_split" in given:
        rules += [
            f"qa_split must hold 0 and 1, got {part!r}"
            for part in annotation["qa_split"]
            if str(part) not in ("0", "1")
        ]
    if not rules and "turn_program" in given:
        pairs = zip(annotation["turn_program"], annotation["exe_ans_list"], strict=True)
        for number, (program, gold) in enumerate(pairs, start=1):
            rules += [f"turn {number}: {rule}" for rule in _broken_program_rules(program, gold, record["table"])]
    return rules


def _broken_program_rules(program: Any, gold: Any, table: Sequence[Sequence[str]]) -> list[str]:
    if not isinstance(program, str):
        return [f"the program must be a text, got {program!r}"]
    answer = _answer(gold)
    if answer is None:
        return [f"exe_ans must be a number, 'yes' or 'no', got {gold!r}"]
    try:
        result = Derivation.parse(program).execute(table)
    except ProgramError as error:
        return [str(error)]
    if merge_key(result) != merge_key(answer):
        return [f"the program {program!r} gives {merge_key(result)}, exe_ans says {gold}"]
    return []


def _answer(gold: Any) -> Answer | None:
    """A number as it is written, ``yes`` or ``no``; ``None`` for anything else."""
    if gold == "yes" or gold == "no":
        return "yes" if gold == "yes" else "no"
    if not isinstance(gold, str) or not re.fullmatch(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", gold):
        return None
    return Decimal(gold)


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    annotation = record["annotation"]
    split = annotation.get("qa_split")
    return {
        **{key: record[key] for key in ("id", "pre_text", "post_text", "table")},
        "annotation": {
            "dialogue_break": annotation["dialogue_break"],
            "turn_program": annotation.get("turn_program"),
            "exe_ans_list": annotation.get("exe_ans_list"),
            "qa_split": [int(part) for part in split] if split is not None else None,
        },
    }


def _conversations(rows: Sequence[Mapping[str, Any]]) -> tuple[Conversation, ...]:
    """Conversations about the same document share one :class:`Report`."""
    reports: dict[str, Report] = {}
    conversations = []
    for row in rows:
        seen = Report.from_dict({**row, "id": _document(row["id"])})
        if reports.setdefault(seen.id, seen) != seen:
            # A report's id must be unique: graphs are kept by it.
            seen = Report.from_dict(row)
        else:
            seen = reports[seen.id]
        conversations.append(_conversation(row, seen))
    return tuple(conversations)


def _conversation(row: Mapping[str, Any], about: Report) -> Conversation:
    annotation = row["annotation"]
    programs, answers, split = annotation["turn_program"], annotation["exe_ans_list"], annotation["qa_split"]
    return Conversation(
        id=row["id"],
        report=about,
        questions=tuple(annotation["dialogue_break"]),
        programs=tuple(programs) if programs is not None else None,
        answers=tuple(answer for gold in answers if (answer := _answer(gold)) is not None)
        if answers is not None
        else None,
        qa_split=tuple(split) if split is not None else None,
    )
