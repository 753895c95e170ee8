"""Sources of conversations: files, folders, archives and data sets, as parts that are one JSON list each.

>>> [part.split for part in find_parts("sample")]
['train', 'dev']

The pages of ConvFinQA are in ASCII. Where a page had a typographic character, its files have the character's code
point, mostly without the spaces around it, and the page gets it back (:func:`repaired`)::

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
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from experiments.console import SAMPLE_FOLDER
from kg.errors import ConfigError, DataError
from kg.files import UNREADABLE
from kg.reports import TableLayout, analyse_table
from kg.text import SCALES

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
"""Bytes that a file in an archive may unpack to."""

_SPLIT_OF_NAME = {"train": "train", "validation": "dev", "dev": "dev", "test": "test"}
_ARCHIVE, _SAVED_DATA_SET = "data.zip", ("dataset_info.json", "dataset_dict.json")
_LOADERS = {".parquet": "parquet", ".jsonl": "json", ".ndjson": "json"}


@dataclass(frozen=True)
class ConversationFile:
    """One file of conversations: a file on disk, a member of an archive, or a data set.

    Attributes:
        split: ``train``, ``dev``, ``test``, or ``data`` for a file of any other name.
        name: The file in messages: ``dev.json``, ``sample/dev.json``, ``data.zip/data/dev.json``.
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
        except UNREADABLE as error:
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
        raise ConfigError(f"split must be one of those that {str(source)!r} holds ({names}), got {split!r}")
    return matches[0]


def find_parts(source: Any) -> list[ConversationFile]:
    """Returns every part of a source, train before dev before test; only the one that a trailing ``:split`` names.

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
    is_saved = any((path / name).is_file() for name in _SAVED_DATA_SET)
    if str(source).startswith(HUB) or is_saved or (path.is_file() and path.suffix.lower() in _LOADERS):
        return _data_set_parts(_opened_data_set(str(source)), path.name)
    if not any((path / name).is_file() for name in SPLIT_OF_FILE) and (path / _ARCHIVE).is_file():
        path /= _ARCHIVE
    if path.is_dir():
        files = [path / name for name in SPLIT_OF_FILE if (path / name).is_file()]
        parts = [
            ConversationFile(SPLIT_OF_FILE[file.name], f"{path.name}/{file.name}", file.read_bytes) for file in files
        ]
    elif not path.is_file():
        raise DataError(
            "no such file or folder; give a file (JSON, JSON Lines or Parquet), a folder, a data.zip, hf:NAME "
            "or 'sample'; `finpath data fetch` fetches ConvFinQA",
            file=str(source),
        )
    elif zipfile.is_zipfile(path):
        parts = _members(path)
    else:
        parts = [ConversationFile(SPLIT_OF_FILE.get(path.name, "data"), path.name, path.read_bytes)]
    if not parts:
        raise DataError(f"holds none of {', '.join(SPLIT_OF_FILE)}", file=str(source))
    by_split: dict[str, ConversationFile] = {}
    for part in parts:
        if (other := by_split.setdefault(part.split, part)) != part:
            rule = f"holds two files of the split {part.split!r}: {other.name} and {part.name}"
            raise DataError(rule, file=str(source))
    return parts


def _opened_data_set(source: str) -> Any:
    """The data set of a name on the hub, of a file of Parquet or JSON Lines, or of a folder of ``save_to_disk``."""
    import datasets

    loader = _LOADERS.get(Path(source).suffix.lower())
    try:
        if source.startswith(HUB):
            return datasets.load_dataset(source[len(HUB) :])
        if loader is None:
            return datasets.load_from_disk(source)
        split = SPLIT_OF_FILE.get(f"{Path(source).stem}.json", "data")
        return datasets.load_dataset(loader, data_files={split: source})
    except Exception as error:  # datasets raises errors of the hub, of files and of its own
        raise DataError(f"cannot be read as a data set: {error}", file=source) from error


def _data_set_parts(data: Any, name: str) -> list[ConversationFile]:
    """The splits of a data set; ``validation`` is ``dev``."""
    splits = dict(data) if isinstance(data, Mapping) else {"data": data}
    names = {split: f"{name}/{split}" if len(splits) > 1 else name for split in splits}
    return [
        ConversationFile(_SPLIT_OF_NAME.get(split, "data"), names[split], partial(_rows_as_json, rows))
        for split, rows in splits.items()
    ]


def _members(path: Path) -> list[ConversationFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            # A Mac's archiver adds a shadow of every file under __MACOSX.
            members = [name for name in archive.namelist() if not name.startswith("__MACOSX")]
    except UNREADABLE as error:
        raise DataError(f"cannot be read: {error}", file=path.name) from error
    return [
        ConversationFile(split, f"{path.name}/{member}", partial(_unpacked, path, member))
        for name, split in SPLIT_OF_FILE.items()
        for member in members
        if PurePosixPath(member).name == name
    ]


def _unpacked(path: Path, member: str) -> bytes:
    with zipfile.ZipFile(path) as archive, archive.open(member) as packed:
        content = packed.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise DataError(f"unpacks to more than {MOST_BYTES} bytes", file=f"{path.name}/{member}")
    return content


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
