"""The fit of the reader of documents: how the spans of a question count."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
TEXT = """\
# A1 | 2026-01-05 | Tarrant Mills cuts jobs
S Tarrant Mills will close about 240 jobs in Keld and in Orm.
Q How many jobs go? => 240
Q where do jobs go at Tarrant => Keld ;; Orm
Q Will Tarrant cut jobs? => yes
Q Who runs Tarrant? => -

# A2 | 2026-01-06 | Ardent buys Tarrant Mills
S Ardent Holdings has bought Tarrant Mills, with 240 jobs, for $85 million.
Q What did Tarrant cost? => $85 million
"""


@pytest.fixture
def fit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("fit_reader")
    for name in ("fit_reader", "passage_readings"):
        sys.modules.pop(name, None)


@pytest.fixture
def passages(fit: Any, tmp_path: Path) -> Any:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    return fit.read_passages([tmp_path / "a.txt"])


def _counted(fit: Any, passages: Any, number: int) -> tuple[Any, Any, Any]:
    question = passages.questions[number]
    batch = fit.Batch([(question, [question.own, *question.others])], passages.pieces)
    return batch, *batch.labels()


def _words(fit: Any, passages: Any, batch: Any, spans: Any, row: int, counted: int) -> set[str]:
    """The spans of a window that count so, as text."""
    names = {number: piece for piece, number in fit.word_pieces().numbers.items()}
    found = set()
    for first, further in zip(*(spans[row] == counted).nonzero(), strict=True):
        found.add(" ".join(names[int(number)] for number in batch.tokens[row][first : first + further + 1]))
    return found


def test_an_answer_counts_and_small_words_before_it_do_not(fit: Any, passages: Any) -> None:
    batch, spans, _ = _counted(fit, passages, 0)
    assert _words(fit, passages, batch, spans, 0, fit.RIGHT) == {"240"}
    assert _words(fit, passages, batch, spans, 0, fit.UNCOUNTED) == {"about 240"}
    assert _words(fit, passages, batch, spans, 1, fit.RIGHT) == set()
    assert _words(fit, passages, batch, spans, 1, fit.UNCOUNTED) == {"240"}  # it may be right there, too


def test_each_answer_has_a_number(fit: Any, passages: Any) -> None:
    batch, spans, _ = _counted(fit, passages, 1)
    assert _words(fit, passages, batch, spans, 0, fit.RIGHT) == {"ke ##ld"}
    assert _words(fit, passages, batch, spans, 0, fit.RIGHT + 1) == {"or ##m"}


def test_yes_counts_where_the_passage_says_so(fit: Any, passages: Any) -> None:
    _, spans, verdicts = _counted(fit, passages, 2)
    assert verdicts.tolist() == [[fit.RIGHT, fit.WRONG], [fit.UNCOUNTED, fit.WRONG]]
    assert not (spans >= fit.RIGHT).any()


def test_a_question_whose_passage_is_hidden_has_no_answer(
    fit: Any, passages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "HIDDEN_SHARE", 1.0)
    question, chosen = fit.row_of(passages.questions[0], random.Random(0))
    assert (question.answers, question.verdict) == ([], "")
    assert passages.questions[0].own not in chosen
