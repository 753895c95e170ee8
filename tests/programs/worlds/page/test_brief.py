"""The brief prompt: only new lines, replies that read back, and a beginning that later prompts share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kg.calculations import DerivationScorer, ReportIndex
from kg.reports import Report, build_ontology
from kg.search import Derivation, PastTurn
from programs.worlds.page import BriefPage, PageFigures, brief_prompt, brief_reply, read_calculation
from programs.worlds.reader import ReportReader

REPORT = Report(
    id="r",
    pre_text=("the company , which is one of the oldest of the country and region , sold 105 stores in 2009 .",),
    table=(
        ("( in thousands )", "2009", "2008"),
        ("net income", "$ 10", "$ 12"),
        ("cash used r1c2", "-26 ( 26 )", "30"),
    ),
    post_text=(),
)


@pytest.fixture(scope="module")
def index() -> ReportIndex:
    return ReportReader(build_ontology([REPORT]), DerivationScorer.untrained()).read(REPORT)[1]


def _read(text: str, index: ReportIndex, past: tuple[PastTurn, ...] = ()) -> Derivation:
    named = read_calculation(text, PageFigures(index), past, ["?"])
    assert named is not None
    return named.derivation


def test_lines_name_rows_columns_and_figures_of_sentences(index: ReportIndex) -> None:
    lines = BriefPage(REPORT, index).lines(["r1c1", "s0n0"], set())
    assert lines[:2] == ["c1: 2009 | c2: 2008", "r1: net income"]
    assert lines[2].startswith("s0: … ")
    assert "sold s0n0 105 stores in 2009" in lines[2]
    assert "company" not in lines[2], "words far from the figure take tokens and are left out"


def test_words_of_a_report_are_no_identifiers(index: ReportIndex) -> None:
    report = replace(REPORT, table=(*REPORT.table[:2], ("cash [r1c2] used", "1", "2")))
    [*_, line] = BriefPage(report, index).lines(["r2c1"], set())
    assert "[r1c2]" not in line


def test_each_question_shows_only_what_is_new(index: ReportIndex) -> None:
    page, first = BriefPage(REPORT, index), _read("r1c1", index)
    past = (PastTurn("the income?", first, first.execute(), considered=("r1c1",)),)
    start = brief_prompt(page, (), "the income?", ["r1c1"])
    more = brief_prompt(page, past, "and the cash?", ["r1c1", "r2c1"])
    assert more[: len(start)] == start
    assert more[2] == {"role": "assistant", "content": "r1c1"}
    assert more[3]["content"].splitlines() == ["r2: cash used r1c2", "a2: and the cash?"]


@pytest.mark.parametrize(
    "text", ["r1c1", "(r1c1 - r1c2) / r1c2", "r1c1 > r1c2", "r1c1 * 100", "(r1c1 + r1c2) / 2", "max(r1c1, r1c2)"]
)
def test_replies_read_back(text: str, index: ReportIndex) -> None:
    assert brief_reply(_read(text, index)) == text


def test_replies_name_earlier_answers(index: ReportIndex) -> None:
    change = _read("r1c1 - r1c2", index)
    past = (PastTurn("the change?", change, change.execute()),)
    assert brief_reply(_read("a1 / r1c2", index, past), past) == "a1 / r1c2"
    assert brief_reply(_read("(r1c1 - r1c2) / r1c2", index, past), past) == "a1 / r1c2"
