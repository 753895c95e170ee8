from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from experiments.commands import main as cli
from experiments.pages import basis_of, describe_turn
from kg.calculations.ranking import Candidate
from kg.readers import OwnReport
from kg.reports.observation import CellSource, SentenceSource
from kg.reports.report import Report
from kg.search.derivation import Derivation
from programs.turns.turn import Turn

REPORT = Report("a", ("we sold 12 ships in 2020 .",), (("", "2020"), ("revenue", "$ 5")), ())


def test_a_turn_shows_what_it_rests_on() -> None:
    derivation = Derivation.parse("add(5, 12)")
    sources = (CellSource(1, 1, 2, 3), SentenceSource(0, 8, 10))
    candidate = Candidate(derivation, Decimal(17), -0.1, "A -> revenue -> 5; B -> ships -> 12", sources)
    turn = Turn("both?", Decimal(17), derivation, (candidate,), pick=0, confidence=0.9)
    text = describe_turn(turn, basis_of(turn, OwnReport(REPORT).describe))
    assert "A  17   (confidence 90%)" in text
    said = describe_turn(replace(turn, words="$17 million", confidence=None), ())
    assert "A  $17 million   (exactly 17)" in said
    assert "calculated  add(5, 12) = 17" in text
    assert "path        A -> revenue -> 5; B -> ships -> 12" in text
    assert text.count("read in") == 2


SHIPS = "s,p,o\nLarkspur,is a,ship\nLarkspur,home port,Quillhaven\nLarkspur,captain,Mara Stenhouse\n"


def test_questions_about_a_graph_and_their_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = tmp_path / "ships.csv", tmp_path / "out.json"
    table.write_text(SHIPS)
    asked = ["Who is the captain of the Larkspur?", "what is its home port?", "what is its tonnage?"]
    assert cli.main(["ask", str(table), *asked, "--json", str(out)]) == 0
    assert "A  Mara Stenhouse" in capsys.readouterr().out
    turns = json.loads(out.read_text())["turns"]
    assert [turn["answers"] for turn in turns] == [["Mara Stenhouse"], ["Quillhaven"], None]
    assert [turn["abstained"] for turn in turns] == [False, False, True]
    assert turns[1]["canonical"] == "what is Larkspur's home port?"
    assert turns[1]["path"] == "Larkspur -> home port"
    assert turns[0]["confidence"] > 0.5


def test_no_answer_is_exit_code_1(tracking_uri: str, capsys: pytest.CaptureFixture[str]) -> None:
    about = "MRLW/2020/page_49.pdf"
    assert cli.main(["ask", about, "Who is the CEO?"]) == 1
    assert "no answer" in capsys.readouterr().out
    assert cli.main(["ask", about, "what was the net income in 2020?", "Who is the CEO?"]) == 0
    assert cli.main(["ask", "geography", "what is the capital of Atlantis?"]) == 1


def test_subjects_are_told_apart_by_their_files(tmp_path: Path) -> None:
    from experiments.facade import kind_of, split_words

    names = "Larkspur|is a|ship\nLarkspur|home port|Quillhaven\n"
    contents = {
        "names.txt": names,
        "names": names.replace("|", "\t"),
        "numbers.csv": "item,2020,2019\nnet sales,120,100\n",
        "regions.csv": "Segment,Region,Sales\nCloud,Europe,120\nCloud,Asia,80\n",
        "prose.txt": "In 2020, sales rose, and so on.\n",
        "news/a.txt": "Headline: A\nDate: 2026-01-02\n\nHelixon Inc. has bought Tarn.\n",
        "knowledge/CURRENT": "MANIFEST",
        "folder/names.csv": names.replace("|", ","),
    }
    for name, text in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    kinds = {
        "names.txt": "graph",
        "names": "graph",
        "folder": "graph",
        "numbers.csv": "report",
        "regions.csv": "report",
    }
    kinds |= {"prose.txt": "report", "news": "texts", "knowledge": "growing graph"}
    assert {name: kind_of([str(tmp_path / name)]) for name in kinds} == kinds
    assert [kind_of([word]) for word in ("geography", "http://example.org/sparql")] == ["graph", "graph"]
    files = [str(tmp_path / name) for name in ("numbers.csv", "prose.txt")]
    long = "who is the captain of the Larkspur " * 10
    assert split_words([*files, long]) == (files, [long])
    assert split_words(["ACME/2020/page_7.pdf", "net sales?"]) == (["ACME/2020/page_7.pdf"], ["net sales?"])


def test_a_file_of_questions_about_a_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, file, out = tmp_path / "ships.csv", tmp_path / "questions.jsonl", tmp_path / "out.json"
    table.write_text(SHIPS)
    rows = [
        {"id": "q1", "question": "Who is the captain of the Larkspur?"},
        {"id": "q2", "question": "and its tonnage?"},
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    assert cli.main(["ask", str(table), "--questions", str(file), "--json", str(out)]) == 0
    shown = capsys.readouterr()
    assert "* graph " in shown.err
    assert "Who is the captain of the Larkspur?  Mara Stenhouse\n" in shown.out
    answers = json.loads(out.read_text())
    assert [(row["id"], row["answers"], row["abstained"]) for row in answers] == [
        ("q1", ["Mara Stenhouse"], False),
        ("q2", None, True),
    ]
    assert cli.main(["ask", str(table), "who?", "--questions", str(file)]) == 1
    assert "questions must follow, or be in a file" in capsys.readouterr().err
