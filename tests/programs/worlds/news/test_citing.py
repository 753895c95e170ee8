"""A model behind an API reads numbered sentences: what it says counts only with a sentence that has it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from kg.clauses import SentenceEncoder, SentenceParser
from kg.comprehension import ClauseAnswers
from kg.news import Passage
from programs.worlds.news.citing import CITED_FEATURES, cited, citing_model, near, shown
from programs.worlds.news.documents import near_documents
from programs.worlds.news.readings import PassageAnswer

TEXTS = {
    ("ferry-1", date(2026, 2, 3)): [
        "Calder Line orders ferries",
        "Calder Line ordered two ferries from the Brede yard for $64 million on Monday.",
        "Its chief executive, Nora Feldt-Ames, said the fleet would then have nine ships.",
    ],
    ("ferry-2", date(2026, 5, 6)): [
        "Calder Line pays more",
        "The price of Calder Line's two ferries rose to $71 million, Feldt-Ames said.",
        "Delivery is now planned for 9 October 2026.",
    ],
}


@pytest.fixture(scope="module")
def clauses() -> ClauseAnswers:
    parser = SentenceParser.load() if SentenceEncoder.load() is not None else None
    if parser is None:
        pytest.skip("the extra 'news' is not installed")
    passages = [
        Passage(document, day, place, text)
        for (document, day), texts in TEXTS.items()
        for place, text in enumerate(texts, -1)
    ]
    return ClauseAnswers(passages, parser)


@pytest.fixture
def read(clauses: ClauseAnswers) -> Callable[..., PassageAnswer]:
    def ask(question: str, known: tuple[str, ...] = (), **reply: Any) -> PassageAnswer:
        written = {"answers": [], "calculation": "", "sentences": [], "sureness": "certain", **reply}
        try:
            found = cited(SimpleNamespace(**written), near(clauses, question), known, 0.9)
        except ValueError as error:
            return PassageAnswer(why=str(error))
        model = citing_model()
        return model.decided(found.answer, model.confidence(found.features)) if found.answer.values else found.answer

    return ask


def test_sentences_are_numbered_from_the_oldest_document(clauses: ClauseAnswers) -> None:
    asked = clauses.parse("What do Calder Line's ferries cost?")
    text = shown(near_documents(asked, clauses.library, 5, 0.0))
    lines = text.splitlines()
    assert lines[:2] == ["2026-02-03 (Tuesday)", "[1] Calder Line orders ferries"]
    assert lines[4:7] == ["", "2026-05-06 (Wednesday)", "[4] Calder Line pays more"]


@pytest.mark.parametrize(
    ("answer", "cited", "value", "document"),
    [
        ("$71 million", [5], "$71 million", "ferry-2"),
        ("$71 MILLION.", [], "$71 million", "ferry-2"),
        ("71,000,000", [5], "$71 million", "ferry-2"),
        ("2026-10-09", [6], "2026-10-09", "ferry-2"),
        ("9 October 2026", [6], "2026-10-09", "ferry-2"),
        ("Feldt-Ames", [3], "Nora Feldt-Ames", "ferry-1"),
        ("Brede", [2], "Brede", "ferry-1"),
    ],
)
def test_an_answer_is_what_a_sentence_has(
    read: Callable[..., PassageAnswer], answer: str, cited: list[int], value: str, document: str
) -> None:
    found = read("What does a sentence say?", answers=[answer], sentences=cited)
    assert (found.values, [one.document for one in found.passages]) == ((value,), [document])
    assert found.confidence > (0.9 if cited else 0.8)
    assert found.confidence < (1.0 if cited else 0.9)


def test_what_no_sentence_has_is_no_answer(read: Callable[..., PassageAnswer]) -> None:
    question = "What do Calder Line's ferries cost?"
    assert read(question, answers=["$77 million"], sentences=[5]).why == "no sentence has '$77 million'"
    assert read(question, answers=["rede"], sentences=[2]).why == "no sentence has 'rede'"
    assert read(question).why == "the documents do not say so"


def test_yes_and_no_need_a_cited_sentence(read: Callable[..., PassageAnswer]) -> None:
    question = "Did Calder Line's ferries become cheaper?"
    assert read(question, answers=["No"]).why == "no sentence is cited for 'no'"
    assert read(question, answers=["No"], sentences=[99]).values == ()
    found = read(question, answers=["No"], sentences=[5])
    assert (found.values, found.passages[0].document) == (("no",), "ferry-2")


def test_a_calculation_is_done_with_the_amounts_of_sentences(read: Callable[..., PassageAnswer]) -> None:
    question = "By how much did the price of Calder Line's ferries rise?"
    found = read(question, calculation="$71 million - $64 million", sentences=[5, 2])
    assert (found.values, found.steps) == (("$7 million",), "$71 million - $64 million = $7 million")
    assert [one.document for one in found.passages] == ["ferry-2", "ferry-1"]
    assert read(question, calculation="$71 million - $60 million").why == "no sentence has '$60 million'"
    assert read("How many ships?", calculation="nine - two").values == ("7",)


def test_doubt_and_other_rules_lower_the_confidence(read: Callable[..., PassageAnswer]) -> None:
    question = "What do Calder Line's ferries cost?"
    reply = {"answers": ["$71 million"], "sentences": [5]}
    alone, agreed = read(question, **reply), read(question, ("$71 million",), **reply)
    against = read(question, ("$64 million",), **reply)
    assert agreed.confidence > alone.confidence > against.confidence
    assert read(question, **reply, sureness="likely").confidence < alone.confidence
    unsure = read(question, **reply, sureness="unsure")
    assert unsure.values == ()
    assert unsure.why.endswith(f"the least is {citing_model().threshold:.2f}")


def test_the_shipped_confidence_has_a_weight_for_each_feature() -> None:
    assert set(citing_model().weights) == {*CITED_FEATURES, "intercept"}
