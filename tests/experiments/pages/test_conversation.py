from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from experiments.commands.ask import Chat
from experiments.commands.main import main
from experiments.compare import read_turns
from experiments.data import LoadedData
from experiments.evaluation import EvaluationConfig, evaluate
from experiments.facade.subjects import find_subject
from experiments.pages.html import conversation_page, make_pages, render
from experiments.saved import SavedProgram
from experiments.tasks import ConvFinQA
from experiments.traces import QuestionLog
from experiments.tracking import Tracker
from kg.calculations.ranking import Candidate
from kg.reports.observation import CellSource, SentenceSource
from kg.reports.report import Report
from kg.search.derivation import Derivation
from kg.search.steps import Number, Step
from optimize.metrics import ScoredTurn
from optimize.metrics.turns import TurnScore
from programs.turns.turn import ToolCall, Turn, Usage
from tests.demonstrations import needs_reader

Make = Callable[..., SavedProgram]


def text_of(page: str) -> str:
    """What a reader sees of a page."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))


REPORT = Report(
    "ACME/<b>2020</b>/page_1.pdf",
    ("revenue was $ 120 , up from <script>alert(1)</script> 100 .",),
    (("", "2020", "2019"), ("revenue & co", "$ 120", "$ 100")),
    ("nothing else .",),
)


def inspected(**changed: Any) -> ScoredTurn:
    numbers = (Number("120", "A_2020 -> revenue -> 120", "r1c1"), Number("100", "A_2019 -> revenue -> 100", "r1c2"))
    derivation = Derivation((Step("subtract", numbers),))
    start = REPORT.pre_text[0].index("100")
    sources = (CellSource(1, 1, 2, 5), SentenceSource(0, start, start + 3))
    path = "subtract(A_2020 -> revenue -> 120, A_2019 -> revenue -> 100)"
    candidates = (
        Candidate(derivation, Decimal(20), -0.2, path, sources),
        Candidate(Derivation.parse("divide(120, 100)"), Decimal("1.2"), -1.7, "divide(<i>, 100)"),
    )
    turn = Turn(
        "what is the <em>change</em>?",
        answer=Decimal(20),
        derivation=derivation,
        candidates=candidates,
        pick=0,
        confidence=0.8,
        understanding={"description": "the change", "periods": ["2020", "2019"]},
        tool_calls=(ToolCall("query_kg", {"property": "<x>"}, "f1 = 120", 0.01),),
        words="$20",
        usage=Usage(lm_calls=2, prompt_tokens=10, completion_tokens=5, seconds=0.5),
    )
    score = TurnScore(
        conversation_id="Single_ACME-1",
        turn_index=0,
        question=turn.question,
        answer=turn.answer,
        gold_answer=Decimal("1.2"),
        program=str(derivation),
        gold_program="divide(120, 100)",
        exact=False,
        program_correct=False,
        rank=2,
        is_selection=False,
        conversation_type="I",
        stage="not_picked",
        difference="operation",
        failure=None,
        message="",
        confidence=0.8,
        lm_calls=2,
        prompt_tokens=10,
        completion_tokens=5,
        seconds=0.5,
    )
    return ScoredTurn(REPORT.id, score, turn)


def test_the_page_marks_what_was_used_and_shows_path_pick_and_candidates() -> None:
    page = conversation_page([inspected()], REPORT, "run")
    # In the table; in the sentences that were used, and in all sentences.
    assert re.findall(r"<mark[^>]*>([^<]*)</mark>", page) == ["120", "100", "100"]
    text = text_of(page)
    for words in ("0 of 1 turns right", "right answer found, not picked (rank 2); wrong operation", "confidence 80%"):
        assert words in text
    for words in ("subtract(120, 100)", "query_kg", "periods: 2020, 2019", "$20", "2 LM calls, 15 tokens", "$ [120]"):
        assert words in text


def test_what_a_report_or_a_model_writes_stays_text() -> None:
    page = conversation_page([inspected()], REPORT, "<run>")
    assert not re.search(r"<(script|em|run|i|x)\b", page)
    assert "<script>alert(1)</script>" in text_of(page)
    assert "default-src 'none'" in page


def test_templates_escape_titles_attributes_and_cells() -> None:
    found = {"name": '<i>"', "file": 'a".html', "right": 1, "turns": 2}
    page = render("conversations.html", title="<t>&'", pages=[found])
    assert "<title>&lt;t&gt;&amp;&#39;</title>" in page
    assert '<a href="a&#34;.html">&lt;i&gt;&#34;</a>' in page
    assert "default-src 'none'" in page


def test_pages_of_what_went_wrong_are_on_the_run(
    make_saved: Make, data: LoadedData, tracker: Tracker, tmp_path: Path
) -> None:
    evaluate(make_saved(costs="4"), ConvFinQA(data), EvaluationConfig(), tracker=tracker)
    record = tracker.find("latest")
    index = tracker.text(record, "pages/index.html")
    assert "Single_ACME-2020-page_1.pdf-1.html" in index
    assert "page_0" not in index
    assert "costs?" in tracker.text(record, "pages/001-Single_ACME-2020-page_1.pdf-1.html")
    assert main(["inspect", "latest", "--turn", "page_0.pdf-1:1", "--html", str(tmp_path / "pages")]) == 0
    assert "revenue?" in (tmp_path / "pages" / "001-Single_ACME-2020-page_0.pdf-1.html").read_text()
    assert "page_0" in (tmp_path / "pages" / "index.html").read_text()
    assert len(read_turns(record, tracker)) == 5


def test_each_conversation_has_a_page_of_its_own() -> None:
    """Ids that differ in a sign shared a page, and a long id ended the run at its end."""
    names = ["a/b", "a b", "a-b", "A-B", "x" * 300, "x" * 301, "index", "\ud800"]
    turn = inspected()
    conversations = [[replace(turn, score=replace(turn.score, conversation_id=name))] for name in names]
    files = make_pages(conversations, {REPORT.id: REPORT}, "run")
    assert len({file.casefold() for file in files}) == len(names) + 1
    assert max(map(len, files)) < 150
    assert list(files)[-1] == "index.html"


PAGE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "conversations.md"


@needs_reader
def test_the_transcript_is_what_the_chat_says(capsys: pytest.CaptureFixture[str]) -> None:
    transcript = re.findall(r"```text\n(> Which countries.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    chat = Chat(find_subject(["geography"]), QuestionLog(tracked=False))
    for line in transcript.splitlines():
        if line.startswith("> "):
            print(line)
            chat.take(line[2:])
    output, page = (re.sub(r" *\(confidence \d+%\)", "", text) for text in (capsys.readouterr().out, transcript))
    assert output == page
    assert len(chat.conversation.turns) > 2


def test_the_python_example_runs() -> None:
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(code, names)
    turn = names["turn"]
    assert (turn.words, turn.canonical) == ("Berlin", "What is Germany's capital?")  # type: ignore[attr-defined]
    assert len(names["later"].turns) == 2  # type: ignore[attr-defined]
