"""ConvFinQA's conversation format: a reader of its JSON, and the rules of a conversation.

A conversation that breaks rules becomes an empty row with these rules; the others are read::

    >>> row, = checked_rows(b'[{"id": "A-1", "pre_text": []}]', "dev.json")
    >>> row["place"], row["rules"]
    ("conversation 'A-1'", ["post_text: Field required", "table: Field required", "annotation: Field required"])

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

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from kg.errors import DataError, ProgramError
from kg.reports import TableLayout, analyse_table
from kg.search import Answer, Derivation, merge_key
from kg.text import SCALES
from optimize.metrics.abstention import read_gold

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


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
            row = {} if rules else _row(ConvFinQARecord.model_validate(repaired(conversation.model_dump())))
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


def _row(conversation: ConvFinQARecord) -> dict[str, Any]:
    """A conversation as the typed columns of a data set: answers are texts, or their JSON."""
    row = conversation.model_dump()
    annotation, margin = row["annotation"], row["margin"]
    row["margin"] = float(margin) if isinstance(margin, str) and _NUMBER.fullmatch(margin) else None
    if annotation["exe_ans_list"] is not None:
        annotation["exe_ans_list"] = [
            json.dumps(one) if isinstance(one, list) else one for one in annotation["exe_ans_list"]
        ]
    if annotation["qa_split"] is not None:
        annotation["qa_split"] = list(map(int, annotation["qa_split"]))
    if annotation["answers"] is not None:
        annotation["answers"] = list(map(json.dumps, annotation["answers"]))
    return row


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
