"""ConvFinQA's conversation format: a reader of its JSON, and the rules of a conversation.

A conversation that breaks rules becomes an empty row with these rules; the others are read::

    >>> row, = checked_rows(b'[{"id": "A-1", "pre_text": []}]', "dev.json")
    >>> row["place"], row["rules"]
    ("conversation 'A-1'", ["key 'post_text' is missing", "key 'table' is missing", "key 'annotation' is missing"])

The pages of ConvFinQA are in ASCII. Where a page had a typographic character, its files have the character's code
point, mostly without the spaces around it, and the page gets it back::

    >>> repaired_text("the company 2019s ( 201cppg 201d ) other assets 2014net rose by 20ac5 in 2014")
    'the company’s ( “ppg” ) other assets — net rose by €5 in 2014'

Several codes are years as well. A code of a dash or a bullet is a year after a cue ("in 2014", "2012 and 2013") and
at either end of a text. In a cell of its own it is a dash if the row or the column has other figures; rows and columns
about dates or with other years have no dashes. Only records whose id names a page (``UPS/2009/page_33.pdf``) and whose
text is ASCII are repaired.
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

from kg.errors import DataError, ProgramError
from kg.reports import TableLayout, analyse_table
from kg.search import Answer, Derivation, merge_key
from kg.text import SCALES
from optimize.metrics.abstention import read_gold

_KEYS = ("id", "pre_text", "post_text", "table", "annotation")
_GOLD = ("turn_program", "exe_ans_list")
_ANSWERS = "answers"
_MARGIN = "margin"
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


def read_records(data: bytes, name: str) -> list[Any]:
    """The elements of a JSON list; numbers stay texts as they are written.

    Raises:
        DataError: The bytes are not a JSON list in UTF-8; the message has line and column.
    """
    try:
        records = json.loads(data.decode("utf-8-sig"), parse_float=str, parse_int=str, parse_constant=str)
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text: byte {error.start} is {data[error.start]:#04x}", file=name) from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise DataError(f"is not a JSON list of conversations: {error.msg}", file=name, place=place) from error
    except RecursionError as error:
        raise DataError("is not a JSON list of conversations: it is nested too deeply", file=name) from error
    if not isinstance(records, list):
        raise DataError(f"is not a JSON list of conversations: it is a {type(records).__name__}", file=name)
    return records


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


_PAGE = re.compile(r"(?:Single_|Double_)?[^/]+/(?:19|20)\d\d/page_\d+\.pdf(?:-\d+)?")
_DASHES = {"2013": "–", "2014": "—"}

_CERTAIN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
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
_AMBIGUOUS = re.compile(
    r"(?P<space> ?)(?<![\d.$,/-])(?<!\$ )(?P<code>2013|2014|2019|2022)"
    r"(?![\d%-]|[.,]\d|\s?%|\s*(?:thousand|million|billion)\b)"
)
_YEAR = r"(?:19|20)\d\d"
_RANGE = re.compile(rf"\b({_YEAR}) 2013 ?({_YEAR})\b")
_REPEATED = re.compile(r"(?<![\w.])(2013|2014)(?: \1)+(?!\w)")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_CUE = re.compile(
    rf"(?:\b(?:in|of|for|since|through|by|during|until|fiscal|years?|ended|ending|before|after|late|early|mid|calendar"
    rf"|to|from|quarter|half|{_MONTH}|and|or|than|throughout|between|due|under|versus|vs|comparing|the|a|an|our|its|their"
    rf"|this|that|both|asu|level)|[,;(/|“‘-]|\b\d{{1,2}})\s*,?\s*$|{_YEAR}\s*$"
)
_COMPARED = re.compile(r"\s*(?:[–-]|(?:and|or|to|through|vs|versus|compared (?:to|with))\b|form\b|annual\b)")
_BROKEN = re.compile(r"\b([a-z]{2,})- ([a-z]{2,})\b")
_ABOUT_DATES = re.compile(
    r"\b(?:(?<!\d )years?|dates?|maturit\w+|matures?|expir\w+|due(?! by)|acquired|built|since|(?<!by )period)\b", re.I
)
_FIGURE = re.compile(r"(?=\D*\d)[\s$€£¥().,'’%\d-]+")


def repaired(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of ConvFinQA with its sentences, cells and questions repaired; any other record as it is.

    Gold programs and answers stay.
    """
    if not _is_page(record):
        return dict(record)
    texts = [*record["pre_text"], *record["post_text"]]
    words = {word for text in texts for word in re.findall("[a-z]+", text)} | set(SCALES)
    joined = {key: [_joined(text, words) for text in record[key]] for key in ("pre_text", "post_text")}
    found = {
        **record,
        **{key: [repaired_text(text) for text in joined[key]] for key in joined},
        "table": _repaired_table(record["table"]),
    }
    annotation = record.get("annotation")
    if isinstance(annotation, Mapping) and "dialogue_break" in annotation:
        questions = [_certain(question) for question in annotation["dialogue_break"]]
        found["annotation"] = {**annotation, "dialogue_break": questions}
    return found


def repaired_text(text: str) -> str:
    """A sentence or a label with its characters; codes that may be years are years by the rule of this module."""
    if "20" not in text and "a0" not in text and "f" not in text and "25cf" not in text:
        return text
    found = _RANGE.sub(_range, _certain(text))
    found = _REPEATED.sub(lambda match: match[0].replace(match[1], _DASHES[match[1]]), found)
    return _AMBIGUOUS.sub(_character, found)


def _certain(text: str) -> str:
    for pattern, character in _CERTAIN:
        text = pattern.sub(character, text)
    return text


def _range(match: re.Match[str]) -> str:
    """Two years with a dash between them, unless three years follow each other."""
    return f"{match[1]} – {match[2]}" if int(match[2]) > int(match[1]) + 2 else match[0]


def _character(match: re.Match[str]) -> str:
    code, before, after = match["code"], match.string[: match.start("code")], match.string[match.end() :]
    if _is_year(code, before, after):
        return match[0]
    if code == "2019":
        return "’"
    if code == "2022":
        return match["space"] + "•"
    if after[:1].isalpha():
        return "–" if code == "2013" else " — "
    return match["space"] + _DASHES[code]


def _is_year(code: str, before: str, after: str) -> bool:
    if _COMPARED.match(after):
        return True
    if code == "2014" and after[:1].isalpha():
        return False
    if code == "2019" and not (before.endswith("s ") and re.match(r" [a-z]", after)):
        return True
    starts = not before.strip()
    if code == "2022" and (starts or before.rstrip()[-1] in ";:."):
        return not after.strip()
    return starts or not after.strip() or _CUE.search(before) is not None


def _joined(text: str, words: set[str]) -> str:
    """A text without the hyphens of line ends, where the whole word occurs elsewhere on the page."""
    return _BROKEN.sub(lambda match: match[1] + match[2] if match[1] + match[2] in words else match[0], text)


def _repaired_table(table: Sequence[Sequence[str]]) -> list[list[str]]:
    width = max(map(len, table), default=0)
    cells = [[_certain(cell) if _lone(cell) else repaired_text(cell) for cell in row] for row in table]
    if not any(_lone(cell) for row in cells for cell in row):
        return cells
    layout = analyse_table(tuple((*row, *[""] * (width - len(row))) for row in cells))
    return [
        [_dash(cell) if _is_dash(layout, row, column, cell) else cell for column, cell in enumerate(line)]
        for row, line in enumerate(cells)
    ]


def _lone(cell: str) -> bool:
    return cell.replace("$", "").strip() in _DASHES


def _dash(cell: str) -> str:
    for code, dash in _DASHES.items():
        cell = cell.replace(code, dash)
    return cell


def _is_dash(layout: TableLayout, row: int, column: int, cell: str) -> bool:
    """Whether a cell of a table holds a dash, by the rule of this module."""
    if not _lone(cell) or layout.is_label(row, column):
        return False
    if "$" in cell:
        return True
    if _ABOUT_DATES.search(layout.columns[column].label) or _ABOUT_DATES.search(layout.rows[row].label):
        return False
    beside = [*layout.table[row][1:], *(line[column] for line in layout.table[layout.header_rows :])]
    kinds = {_kind(other) for other in beside}
    return "figure" in kinds and "year" not in kinds


def _kind(cell: str) -> str:
    if _lone(cell):
        return "dash"
    if re.fullmatch(_YEAR, cell.replace("$", "").strip()):
        return "year"
    return "figure" if _FIGURE.fullmatch(cell) else "other"


def _is_page(record: Mapping[str, Any]) -> bool:
    """Whether a record is a page of ConvFinQA in ASCII."""
    if _PAGE.fullmatch(str(record.get("id"))) is None:
        return False
    lists = [record.get("pre_text"), record.get("post_text"), *(record.get("table") or ())]
    return all(
        isinstance(texts, list) and all(isinstance(text, str) and text.isascii() for text in texts) for texts in lists
    )
