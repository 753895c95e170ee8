"""ConvFinQA's conversation format: a reader of its JSON, and the rules of a conversation.

A conversation that breaks rules becomes an empty row with these rules; the others are read::

    >>> row, = checked_rows(b'[{"id": "A-1", "pre_text": []}]', "dev.json")
    >>> row["place"], row["rules"]
    ("conversation 'A-1'", ["key 'post_text' is missing", "key 'table' is missing", "key 'annotation' is missing"])
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from experiments.data.punctuation import repaired
from kg.derivations import Answer, Derivation
from kg.errors import DataError, ProgramError
from kg.search import merge_key
from optimize.metrics.abstention import read_gold

_KEYS = ("id", "pre_text", "post_text", "table", "annotation")
_GOLD = ("turn_program", "exe_ans_list")
_ANSWERS = "answers"
_MARGIN = "margin"
_BLANK = re.compile(r"\s*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")

_EMPTY_ROW: dict[str, Any] = {
    **dict.fromkeys((*_KEYS, _MARGIN)),
    "annotation": dict.fromkeys(("dialogue_break", *_GOLD, "qa_split", _ANSWERS)),
}


@cache
def code_of_checks() -> str:
    """Returns a hash of the code that decides about a row: its rules, the repair of characters and the derivations."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for package in ("experiments/data", "kg/derivations", "kg/reports", "kg/text"):
        for path in sorted((root / package).glob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def checked_rows(data: bytes, name: str) -> Iterator[dict[str, Any]]:
    """Returns each conversation of a file with its official keys, its ``place`` and the ``rules`` that it breaks.

    The official keys of a conversation that breaks a rule are ``None``. Numbers in ``exe_ans_list`` are texts, exactly
    as in the file. Other keys are left out.

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
        rules = broken_rules(record)
        if isinstance(identifier, str) and numbers.setdefault(identifier, number) != number:
            rules = [*rules, f"id is that of conversation number {numbers[identifier]} too"]
        yield {**(_EMPTY_ROW if rules else _row(repaired(record))), "place": place, "rules": rules}
    if not number:
        raise DataError("holds no conversations", file=name)


def read_records(data: bytes, name: str) -> Iterator[Any]:
    """The elements of a JSON list, each decoded when it is asked for; numbers stay texts as they are written.

    Raises:
        DataError: The bytes are not a JSON list in UTF-8; the message has line and column.
    """
    try:
        yield from _elements(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text: byte {error.start} is {data[error.start]:#04x}", file=name) from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise DataError(f"is not a JSON list of conversations: {error.msg}", file=name, place=place) from error
    except RecursionError as error:
        raise DataError("is not a JSON list of conversations: it is nested too deeply", file=name) from error


def _elements(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
    position = _past_blank(text, _past(text, _past_blank(text, 0), "["))
    closed = text.startswith("]", position)
    while not closed:
        record, position = decoder.raw_decode(text, position)
        yield record
        position = _past_blank(text, position)
        closed = text.startswith("]", position)
        if not closed:
            position = _past_blank(text, _past(text, position, ","))
    end = _past_blank(text, position + 1)
    if end < len(text):
        raise json.JSONDecodeError("Extra data", text, end)


def _past(text: str, position: int, delimiter: str) -> int:
    if not text.startswith(delimiter, position):
        raise json.JSONDecodeError(f"Expecting {delimiter!r}", text, position)
    return position + 1


def _past_blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def broken_rules(record: Any) -> list[str]:
    """The rules that a conversation breaks; those about its gold are looked at only where its shape is right."""
    if not isinstance(record, dict):
        return [f"must be an object with keys, got {type(record).__name__}"]
    missing = [f"key {key!r} is missing" for key in _KEYS if key not in record]
    if missing:
        return missing
    annotation = record["annotation"]
    if not isinstance(annotation, dict):
        return [f"annotation must be an object with keys, got {type(annotation).__name__}"]
    if "dialogue_break" not in annotation:
        return ["key 'dialogue_break' is missing in annotation"]
    return _broken_shape(record) or _broken_gold(record)


def _broken_shape(record: Mapping[str, Any]) -> list[str]:
    rules = []
    questions = record["annotation"]["dialogue_break"]
    if not isinstance(record["id"], str) or not record["id"]:
        rules.append(f"id must be a text, got {record['id']!r}")
    for name, texts in (
        ("pre_text", record["pre_text"]),
        ("post_text", record["post_text"]),
        ("dialogue_break", questions),
    ):
        if not _is_texts(texts):
            rules.append(f"{name} must be a list of texts")
    if questions == []:
        rules.append("dialogue_break holds no question")
    return rules + _broken_table(record["table"])


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _broken_table(table: Any) -> list[str]:
    if not isinstance(table, list) or not all(_is_texts(row) for row in table):
        return ["table must be a list of rows, each a list of texts"]
    widths = [(number, len(row)) for number, row in enumerate(table)]
    ragged = [(number, width) for number, width in widths if width != widths[0][1]]
    # One is enough to find it: where a row is split, all that follow differ too.
    return [f"table row {number} has {width} cells, row 0 has {widths[0][1]}" for number, width in ragged[:1]]


def _broken_gold(record: Mapping[str, Any]) -> list[str]:
    annotation = record["annotation"]
    given = [key for key in (*_GOLD, "qa_split", _ANSWERS) if annotation.get(key) is not None]
    rules = [f"{key} must be a list, got {annotation[key]!r}" for key in given if not isinstance(annotation[key], list)]
    if ("turn_program" in given) != ("exe_ans_list" in given):
        there, missing = _GOLD if "turn_program" in given else reversed(_GOLD)
        rules.append(f"key {missing!r} is missing in annotation, which has {there!r}")
    if _ANSWERS in given and "turn_program" in given:
        rules.append("annotation must have 'answers' or 'turn_program', not both")
    if rules:
        return rules
    count = len(annotation["dialogue_break"])
    rules = [
        f"{key} has {len(annotation[key])} entries for {count} questions"
        for key in given
        if len(annotation[key]) != count
    ]
    if "qa_split" in given:
        wrong = [part for part in annotation["qa_split"] if part not in ("0", "1")]
        rules += [f"qa_split must hold 0 and 1, got {part!r}" for part in wrong]
    return rules or _broken_programs(record) or _broken_answers(record)


def _broken_programs(record: Mapping[str, Any]) -> list[str]:
    programs, answers = (record["annotation"].get(key) for key in _GOLD)
    if programs is None:
        return []
    return [
        f"turn {number}: {rule}"
        for number, (program, gold) in enumerate(zip(programs, answers, strict=True), start=1)
        for rule in _broken_program(program, gold, record["table"])
    ]


def _broken_answers(record: Mapping[str, Any]) -> list[str]:
    rules = []
    for number, gold in enumerate(record["annotation"].get(_ANSWERS) or (), start=1):
        try:
            if not isinstance(gold, str | list | None) or (isinstance(gold, list) and not _is_texts(gold)):
                raise DataError(f"a gold answer must be a number, yes, no, a list of names or null, got {gold!r}")
            read_gold(gold)
        except DataError as error:
            rules.append(f"turn {number}: {error}")
    return rules


def _broken_program(program: Any, gold: Any, table: Sequence[Sequence[str]]) -> list[str]:
    if not isinstance(program, str):
        return [f"the program must be a text, got {program!r}"]
    answer = gold_answer(gold)
    if answer is None:
        return [f"exe_ans must be a number, 'yes', 'no' or a list of names, got {gold!r}"]
    try:
        result = Derivation.parse(program).execute(table)
    except ProgramError as error:
        return [str(error)]
    if merge_key(result) != merge_key(answer):
        return [f"the program {program!r} gives {merge_key(result)}, its exe_ans is {gold}"]
    return []


def gold_answer(written: Any) -> Answer | None:
    """An entry of ``exe_ans_list``, as :func:`read_records` or a row has it; ``None`` if it is no answer.

    Names are a list of texts in the file, and its JSON text in a row.
    """
    if isinstance(written, str) and written.startswith("["):
        written = json.loads(written)
    if isinstance(written, list):
        return tuple(written) if written and _is_texts(written) else None
    if written in ("yes", "no"):
        return "yes" if written == "yes" else "no"
    if not isinstance(written, str) or not _NUMBER.fullmatch(written):
        return None
    return Decimal(written)


def _texts(answers: Sequence[Any] | None) -> list[str] | None:
    """Answers as texts: names as JSON."""
    return None if answers is None else [json.dumps(one) if isinstance(one, list) else one for one in answers]


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    annotation = record["annotation"]
    split, answers = annotation.get("qa_split"), annotation.get(_ANSWERS)
    margin = record.get(_MARGIN)
    return {
        **{key: record[key] for key in _KEYS},
        _MARGIN: float(margin) if isinstance(margin, str) and _NUMBER.fullmatch(margin) else None,
        "annotation": {
            "dialogue_break": annotation["dialogue_break"],
            "turn_program": annotation.get("turn_program"),
            "exe_ans_list": _texts(annotation.get("exe_ans_list")),
            "qa_split": [int(part) for part in split] if split is not None else None,
            _ANSWERS: [json.dumps(one) for one in answers] if answers is not None else None,
        },
    }
