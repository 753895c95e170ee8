"""``import finpath``: read a document, ask about it, load and save programs."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import dspy
import pandas as pd
import pytest
from dspy.utils import DummyLM

import finpath
from experiments.facade import triples_of
from kg.errors import ConfigError, DataError, TrackingError

INCOME = ",2020,2019\nNet sales <all>,4120,3980\nNet income,402,371\n"


@pytest.fixture
def income(tmp_path: Path) -> Path:
    (tmp_path / "income.csv").write_text(INCOME)
    return tmp_path / "income.csv"


def test_a_question_about_a_file(income: Path) -> None:
    report = finpath.read(income)
    answer = finpath.ask(report, "what was the net income in 2020?")
    assert (answer.turn.answer, answer.derivation, answer.answer) == (Decimal(402), "402", "402")
    [source] = answer.sources
    assert report.describe(source) == 'income.csv, line 3, cell B3, row "Net income", column "2020": [402]'
    assert "<b>what was the net income in 2020?</b>" in answer.turn._repr_html_()


def test_a_conversation_and_a_program_of_one_s_own(income: Path) -> None:
    program = finpath.load("beam")
    assert finpath.load("beam") is not program
    answers = finpath.ask(income, "what was the net income in 2020?", "and in 2019?", program=program)
    assert [turn.answer for turn in answers.turns] == [Decimal(402), Decimal(371)]


def test_data_frames_and_graphs(income: Path) -> None:
    frame = pd.read_csv(income, index_col=0)
    report = finpath.read(frame)
    assert report.tables[0]["2020"].tolist() == finpath.read(income).tables[0]["2020"].tolist() == ["4120", "402"]
    years = report.graph().query("SELECT ?year { ?x kg:year ?year ; kg:net_income ?value FILTER(?value = 402) }")
    assert [str(year) for (year,) in years] == ["2020"]
    answers = finpath.ask(report, "what was the net income in 2020?", "and in 2019?").to_pandas()
    assert list(answers["answer"]) == ["402", "371"]
    assert max(len(repr(report)), len(repr(finpath.load("beam")))) < 400


def test_a_model_for_one_question_which_without_weight_is_not_asked(income: Path) -> None:
    with pytest.raises(ConfigError, match="has no setting 'no_setting'"):
        finpath.ask(income, "what was the net income in 2020?", lm="openai/gpt-4o-mini no_setting=1")
    model = DummyLM([])
    model.model = "local/qwen2.5-coder-1.5b"
    assert finpath.ask(income, "what was the net income in 2020?", lm=model).answer == "402"
    assert (model.history, dspy.settings.lm) == ([], None)


def test_what_is_read(income: Path) -> None:
    record = {"id": "r", "pre_text": [], "table": [["", "2020"], ["sales", "5"]], "post_text": []}
    assert finpath.read(record).report.table[1] == ("sales", "5")
    assert finpath.read(finpath.read(record).report).report.id == "r"
    assert finpath.read("MRLW/2020/page_49.pdf").report.id == "MRLW/2020/page_49.pdf"
    with pytest.raises(DataError, match="is no file and names 0 reports"):
        finpath.read("nothing.pdf")
    with pytest.raises(ConfigError, match="questions must be one text or more"):
        finpath.ask(income)
    with pytest.raises(TrackingError, match="no program 'nothing'"):
        finpath.load("nothing")


def test_an_invalid_file_ends_no_folder_of_graphs(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("<http://x/a> <http://x/p> <http://x/b> . <http://x/a> nonsense", encoding="utf-8")
    (tmp_path / "b.ttl").write_text("<http://x/b> <http://x/p> <http://x/c> .", encoding="utf-8")
    problems: list[str] = []
    assert [triple.value for triple in triples_of(str(tmp_path), problems)] == ["http://x/b", "http://x/c"]
    assert problems[0].startswith("a.ttl: line 1: is not valid Turtle")
    with pytest.raises(DataError, match="not valid Turtle"):
        list(triples_of(str(tmp_path / "a.ttl")))


def test_an_import_loads_nothing_else() -> None:
    code = "import finpath, sys; print([n for n in ('kg', 'programs', 'experiments', 'dspy') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
