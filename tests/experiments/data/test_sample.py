"""The sample that ships: every program executes, every figure is in its report, and the variety is there."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kg.reports.report import Report
from kg.search.derivation import Derivation

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "experiments" / "sample"
SPLITS = ("train", "dev")
KEYS = {"id", "pre_text", "post_text", "table", "annotation"}
FIGURE = re.compile(r"(?<![\w.-])-?(?:\d+(?:\.\d+)?|\.\d+)(?:%|(?!\w))")


def _load(split: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads((SAMPLE / f"{split}.json").read_text(encoding="utf-8"))
    return records


RECORDS = {split: _load(split) for split in SPLITS}
ALL = [record for split in SPLITS for record in RECORDS[split]]


def _page(record: dict[str, Any]) -> str:
    page: str = re.sub(r"^(Single|Double)_|(?<=\.pdf)-\d+$", "", record["id"])
    return page


def _turns(records: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str, str, float | str]]:
    for record in records:
        notes = record["annotation"]
        for turn in zip(notes["dialogue_break"], notes["turn_program"], notes["exe_ans_list"], strict=True):
            yield (record, *turn)


def _figures(texts: list[str]) -> set[str]:
    """The figures of the texts as a program may write them: ``14%`` also as ``14``, ``-2913`` also as ``2913``."""
    found = {figure for text in texts for figure in FIGURE.findall(text)}
    found |= {figure.removesuffix("%") for figure in found}
    return found | {figure.removeprefix("-") for figure in found}


def _cells(record: dict[str, Any]) -> list[str]:
    return [cell for row in record["table"] for cell in row]


def _sentences(record: dict[str, Any]) -> list[str]:
    return [*record["pre_text"], *record["post_text"]]


@pytest.mark.parametrize("record", ALL, ids=lambda record: record["id"])
def test_conversation_is_well_formed(record: dict[str, Any]) -> None:
    assert set(record) == KEYS
    assert len({len(row) for row in record["table"]}) == 1
    assert 4 <= len(Report.from_dict(record).sentences) <= 12
    notes = record["annotation"]
    assert len({len(notes[key]) for key in ("dialogue_break", "turn_program", "exe_ans_list", "qa_split")}) == 1
    assert 2 <= len(notes["dialogue_break"]) <= 6
    assert notes["qa_split"] == sorted(notes["qa_split"])
    assert set(notes["qa_split"]) == ({0, 1} if record["id"].startswith("Double_") else {0})


@pytest.mark.parametrize("split", SPLITS)
def test_programs_execute_to_their_answers(split: str) -> None:
    for record, question, program, expected in _turns(RECORDS[split]):
        answer = Derivation.parse(program).execute(record["table"])
        if isinstance(expected, str):
            assert answer == expected, (record["id"], question)
        else:
            assert not isinstance(answer, str), (record["id"], question)
            assert float(round(answer, 5)) == expected, (record["id"], question)


@pytest.mark.parametrize("split", SPLITS)
def test_operands_stand_in_their_report(split: str) -> None:
    for record, question, program, _ in _turns(RECORDS[split]):
        figures = _figures(_cells(record) + _sentences(record))
        missing = [number.text for number in Derivation.parse(program).numbers if number.text not in figures]
        assert not missing, (record["id"], question)


def test_counts() -> None:
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    for split in SPLITS:
        turns, pages = len(list(_turns(RECORDS[split]))), {_page(record) for record in RECORDS[split]}
        assert f"| `{split}.json` | {len(RECORDS[split])} | {turns} | {len(pages)} |" in readme
    assert len(ALL) >= 60
    assert len({_page(record) for record in ALL}) >= 30
    assert len(list(_turns(ALL))) >= 240
    assert len({record["id"] for record in ALL}) == len(ALL)


def test_no_report_is_in_both_splits() -> None:
    pages = [{_page(record) for record in RECORDS[split]} for split in SPLITS]
    texts = [{sentence for record in RECORDS[split] for sentence in _sentences(record)} for split in SPLITS]
    assert not pages[0] & pages[1]
    assert not texts[0] & texts[1]


def test_conversations_of_one_report_share_it() -> None:
    reports: dict[str, list[Any]] = {}
    for record in ALL:
        parts = [record["pre_text"], record["table"], record["post_text"]]
        assert reports.setdefault(_page(record), parts) == parts


def test_size() -> None:
    assert sum((SAMPLE / f"{split}.json").stat().st_size for split in SPLITS) < 600_000


@pytest.mark.parametrize(
    ("split", "least"),
    [
        (
            "train",
            {
                "look-up": 90,
                "difference": 30,
                "percent change": 20,
                "share or ratio": 20,
                "sum": 20,
                "average": 5,
                "yes or no": 6,
                "of $ 100": 4,
                "percent operand": 10,
                "other constant": 15,
            },
        ),
        (
            "dev",
            {
                "look-up": 35,
                "difference": 15,
                "percent change": 10,
                "share or ratio": 8,
                "sum": 10,
                "average": 3,
                "yes or no": 3,
                "of $ 100": 2,
                "percent operand": 5,
                "other constant": 5,
            },
        ),
    ],
    ids=SPLITS,
)
def test_variety_of_programs(split: str, least: dict[str, int]) -> None:
    kinds = Counter(kind for _, _, program, _ in _turns(RECORDS[split]) for kind in _kinds(program))
    assert not {kind: kinds[kind] for kind, count in least.items() if kinds[kind] < count}


def _kinds(program: str) -> list[str]:
    tests = {
        "look-up": r"[^(]+",
        "difference": r"subtract\([^()]+\)",
        "percent change": r"subtract\(([^(),]+), ([^(),]+)\), divide\(#0, \2\)",
        "share or ratio": r"divide\([^#()]+\)",
        "sum": r"add\([^()]+\)(, add\([^()]+\))*",
        "average": r"(add\([^()]+\), )+divide\(#\d, const_[23]\)",
        "yes or no": r".*greater\([^()]+\)",
        "of $ 100": r".*const_100\b.*",
        "percent operand": r".*\d%.*",
        "other constant": r".*const_(2|3|1000|1000000)\b.*",
    }
    return [kind for kind, pattern in tests.items() if re.fullmatch(pattern, program)]


def test_variety_of_tables() -> None:
    tables = list({_page(record): record["table"] for record in ALL}.values())
    year = re.compile(r"(?:19|20)\d\d")
    headers = [[cell for cell in table[0][1:] if year.search(cell)] for table in tables]
    row_years = [sum(bool(year.match(row[0])) for row in table) for table in tables]
    labels = [[*table[0], *(row[0] for row in table)] for table in tables]
    cells = [[cell for row in table for cell in row] for table in tables]
    assert sum(len(header) >= 2 for header in headers) >= 12, "years in columns"
    assert sum(count >= 3 for count in row_years) >= 7, "years in rows"
    assert sum(not any(year.search(label) for label in row) for row in labels) >= 4, "no year at all"
    assert sum(bool(year.match(table[0][0])) for table in tables) >= 1, "data in row 0"
    assert sum(any(re.search(r"-[\d.]+ \( ", cell) for cell in table) for table in cells) >= 15, "negatives"
    assert sum(any("%" in cell for cell in table) for table in cells) >= 6, "percents"
    assert sum(any("per share" in row[0] for row in table) for table in tables) >= 2, "figures per share"
    assert sum(any(cell.startswith("year ended december 31 2") for cell in table[0]) for table in tables) >= 2
    assert sum(any(row[0] and not any(row[1:]) for row in table[1:]) for table in tables) >= 3, "section rows"
    assert sum(any(row[0].startswith("total") for row in table) for table in tables) >= 12, "totals"


def test_variety_of_sources() -> None:
    places: Counter[str] = Counter()
    for record, _, program, _ in _turns(ALL):
        table, text = _figures(_cells(record)), _figures(_sentences(record))
        for number in Derivation.parse(program).numbers:
            in_table, in_text = number.text in table, number.text in text
            places["both" if in_table and in_text else "table" if in_table else "text"] += 1
    share = {place: count / places.total() for place, count in places.items()}
    assert share["table"] > 0.4
    assert 0.2 < share["text"] < 0.5


def test_variety_of_questions() -> None:
    questions = [question for _, question, _, _ in _turns(ALL)]
    assert (
        sum(question.startswith(("and ", "what about")) and len(question.split()) <= 6 for question in questions) >= 40
    )
    assert sum("how much does that" in question or "in relation to" in question for question in questions) >= 5
    assert len(set(questions)) > 0.9 * len(questions)
    look_ups = sum("(" not in program for _, _, program, _ in _turns(ALL))
    assert 0.25 < look_ups / len(questions) < 0.45
    assert len({len(record["annotation"]["turn_program"]) for record in ALL}) >= 5


@pytest.mark.parametrize("name", ["train.json", "dev.json", "test_without_gold.json"])
def test_no_sentence_is_copied(full_data: Path, name: str) -> None:
    path = full_data / "convfinqa" / name
    theirs = {sentence for record in json.loads(path.read_text(encoding="utf-8")) for sentence in _sentences(record)}
    copied = {sentence for record in ALL for sentence in _sentences(record)} & theirs
    assert not [sentence for sentence in copied if len(sentence.split()) >= 9], "shorter ones are formulas of filings"
