"""What a language model reads in documents counts only with a sentence that has it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from dspy import lm15

from kg.errors import LMError
from kg.news import AnswerConfidence, NearDocument, Passage, TextAnswer, compared
from programs.worlds.news import reading as module
from programs.worlds.news.reading import API, QuoteReply, cited, confidence_models, quotation, quote, quoting_model

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


def near() -> list[NearDocument]:
    return [
        NearDocument(
            tuple(Passage(name, day, place, text) for place, text in enumerate(texts, -1)), (0.2, 0.8, 0.5), 1.0
        )
        for (name, day), texts in reversed(TEXTS.items())
    ]


def own(*values: str) -> TextAnswer:
    """What the span reader would answer."""
    return TextAnswer(values, confidence=0.9, shares={compared(value): 0.95 for value in values})


@pytest.fixture
def read() -> Callable[..., TextAnswer]:
    def ask(spans: TextAnswer | None = None, **reply: Any) -> TextAnswer:
        written = {"answers": [], "calculation": "", "sentences": [], "sureness": "certain", **reply}
        model = confidence_models()[API]
        try:
            return cited(SimpleNamespace(**written), near(), spans or own()).rated(model).decided(model)
        except ValueError as error:
            return TextAnswer(why=str(error))

    return ask


@pytest.mark.parametrize(
    ("answer", "cited", "value", "document"),
    [
        ("$71 million", [5], "$71 million", "ferry-2"),
        ("$71 MILLION.", [], "$71 million", "ferry-2"),
        ("71,000,000", [5], "$71 million", "ferry-2"),
        ("2026-10-09", [6], "2026-10-09", "ferry-2"),
        ("9 October 2026", [6], "2026-10-09", "ferry-2"),
        ("2026-02-02", [2], "2026-02-02", "ferry-1"),
        ("Feldt-Ames", [3], "Feldt-Ames", "ferry-1"),
    ],
)
def test_an_answer_is_what_a_sentence_has(
    read: Callable[..., TextAnswer], answer: str, cited: list[int], value: str, document: str
) -> None:
    found = read(answers=[answer], sentences=cited)
    assert (found.values, [one.document for one in found.passages]) == ((value,), [document])
    assert 0.8 < found.confidence < 1.0


def test_what_no_sentence_has_is_no_answer(read: Callable[..., TextAnswer]) -> None:
    assert read(answers=["$77 million"], sentences=[5]).why == "no sentence has '$77 million'"
    assert read(answers=["rede"], sentences=[2]).why == "no sentence has 'rede'"
    assert read().why == "the documents do not say so"


def test_yes_and_no_need_a_cited_sentence(read: Callable[..., TextAnswer]) -> None:
    assert read(answers=["No"]).values == read(answers=["No"], sentences=[99]).values == ()
    found = read(answers=["No"], sentences=[5])
    assert (found.values, found.passages[0].document) == (("no",), "ferry-2")
    assert read(own("no"), answers=["No"], sentences=[5]).values == ("no",)


def test_yes_and_no_answer_questions_for_them_alone(read: Callable[..., TextAnswer]) -> None:
    assert "'no' seems no answer" in read(own("$71 million"), answers=["No"], sentences=[5]).why
    assert read(own("no"), answers=["$71 million"], sentences=[5]).values == ()


def test_a_calculation_is_done_with_the_amounts_of_sentences(read: Callable[..., TextAnswer]) -> None:
    found = read(calculation="$71 million - $64 million", sentences=[5, 2])
    assert (found.values, found.steps) == (("$7 million",), "$71 million - $64 million = $7 million")
    assert [one.document for one in found.passages] == ["ferry-2", "ferry-1"]
    assert read(calculation="$71 million - $60 million").why == "no sentence has '$60 million'"
    assert read(calculation="nine - two").values == ("7",)


def test_doubt_and_another_answer_of_the_span_reader_lower_the_confidence(read: Callable[..., TextAnswer]) -> None:
    reply = {"answers": ["$71 million"], "sentences": [5]}
    alone, agreed = read(**reply), read(own("$71 million"), **reply)
    assert agreed.confidence > alone.confidence
    assert read(own("about $71 million"), **reply).values == ("$71 million",)
    assert read(own("$64 million"), **reply).confidence < agreed.confidence  # its sentence is about the question
    assert read(**reply, sureness="likely").confidence < alone.confidence
    assert read(**reply, sureness="unsure").values == ()


@pytest.mark.parametrize(
    ("reply", "values", "document"),
    [
        ("$71 million", ("$71 million",), "ferry-2"),
        ("9 October 2026", ("2026-10-09",), "ferry-2"),
        ("Brede; two", ("Brede", "two"), "ferry-1"),
        ("yes", ("yes",), "ferry-2"),
        ("none", (), ""),
        ("$86 million", (), ""),
    ],
)
def test_quotes_become_values_with_their_sentences(reply: str, values: tuple[str, ...], document: str) -> None:
    found = quotation(QuoteReply(reply, 3.0), near(), own())
    assert found.values == values
    assert document in {one.document for one in found.passages} or not values


def test_a_lead_and_a_span_reader_that_agrees_raise_the_confidence_in_a_quote() -> None:
    [model] = [one for name, one in confidence_models().items() if name.startswith("local/")]

    def confidence(lead: float, *values: str) -> float:
        return quotation(QuoteReply("$71 million", lead), near(), own(*values)).rated(model).confidence

    assert confidence(5.0, "$71 million") > confidence(5.0, "$64 million") > confidence(0.5, "$64 million")


class Engine:
    """A model that replies one text, and its most probable tokens."""

    model = "local/one+news"

    def __init__(self) -> None:
        self.requests: list[lm15.Request] = []

    def __call__(self, request: lm15.Request) -> Any:
        self.requests.append(request)
        top = (lm15.TopLogprob(token="Cal", logprob=-0.2), lm15.TopLogprob(token="none", logprob=-2.5))
        second = (lm15.TopLogprob(token="der", logprob=-0.3), lm15.TopLogprob(token="lo", logprob=-4.0))
        third = (lm15.TopLogprob(token=" Line", logprob=-0.7), lm15.TopLogprob(token=";", logprob=-0.7))
        tokens = tuple(
            lm15.TokenLogprob(token=one[0].token, logprob=one[0].logprob, top=one) for one in (top, second, third)
        )
        return SimpleNamespace(text="Calder Line", logprobs=tokens)


def test_the_reply_is_held_to_quotes_and_has_the_lead_of_its_first_tokens() -> None:
    engine = Engine()
    reply = quote(engine, "Who orders ferries?", near())  # type: ignore[arg-type]
    assert (reply.text, reply.lead) == ("Calder Line", pytest.approx(2.3))
    form = engine.requests[0].config.response_format
    assert form is not None
    assert form["schema"]["grammar"].startswith('root ::= "none" | "yes" | "no" | span ("; " span){0,7}\n')


class Named:
    """A language model by its name; the adapter of the second one is missing."""

    def __init__(self, model: str) -> None:
        self.model = model

    def copy(self, model: str) -> Named:
        if "two" in model:
            raise LMError("there is no adapter")
        return Named(model)


def test_a_model_is_asked_with_its_adapter_for_news(monkeypatch: pytest.MonkeyPatch) -> None:
    model = AnswerConfidence(about="a test", weights={"intercept": 3.0}, threshold=0.8)
    monkeypatch.setattr(module, "confidence_models", lambda: {"local/one+news": model, "local/two+news": model})
    given = {"local/one": "local/one+news", "local/one+news": "local/one+news", "local/three": None, "local/two": None}
    for name, wanted in given.items():
        found = quoting_model(Named(name))  # type: ignore[arg-type]
        assert (found.model if found is not None else None) == wanted
