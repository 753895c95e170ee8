"""A model with the adapter for news: the prompt that it was trained on, quotes of several documents, its confidence."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from dspy import lm15

from kg.clauses import SentenceEncoder, SentenceParser
from kg.comprehension import ClauseAnswers, SpanReader
from kg.errors import LMError
from kg.news import Passage
from programs.worlds.news import quoting as module
from programs.worlds.news.documents import near_documents
from programs.worlds.news.quoting import (
    INSTRUCTIONS,
    QUOTE_FEATURES,
    HeldReply,
    ShownDocument,
    asked_messages,
    quotation,
    quote,
    quote_messages,
    quote_models,
    quote_reply,
    quoting_model,
)
from programs.worlds.news.readings import PassageAnswer, ReadingModel

OLDER = ("Tarrant Mills to cut 240 jobs", "Textile maker Tarrant Mills will cut 240 jobs in Keld and Orm, it said.")
NEWER = ("Ardent buys Tarrant Mills", "Ardent Holdings has bought Tarrant Mills for at least $85 million.")
SURE = ReadingModel(about="a test", weights={"likelihood": 1.0, "against": -3.0, "intercept": 3.0}, threshold=0.8)


@pytest.fixture(scope="module")
def clauses() -> ClauseAnswers:
    parser = SentenceParser.load() if SentenceEncoder.load() is not None else None
    if parser is None:
        pytest.skip("the extra 'news' is not installed")
    days = {"newer": date(2026, 5, 6), "older": date(2026, 2, 3)}
    texts = {"newer": NEWER, "older": OLDER}
    passages = [Passage(name, days[name], place, text) for name in texts for place, text in enumerate(texts[name], -1)]
    return ClauseAnswers(passages, parser)


def test_documents_are_shown_by_day_before_the_question() -> None:
    documents = [
        ShownDocument(NEWER[0], date(2026, 5, 6), NEWER[1:]),
        ShownDocument(OLDER[0], date(2026, 2, 3), OLDER[1:]),
    ]
    system, user = quote_messages(documents, "Who owns the mills?")
    assert system == {"role": "system", "content": INSTRUCTIONS}
    assert user["content"] == (
        f"2026-02-03 {OLDER[0]}\n{OLDER[1]}\n\n2026-05-06 {NEWER[0]}\n{NEWER[1]}\n\nquestion: Who owns the mills?"
    )


def test_a_question_is_asked_as_the_adapter_learned_it(clauses: ClauseAnswers) -> None:
    asked = clauses.parse("How many jobs go at Tarrant Mills?")
    near = near_documents(asked, clauses.library)
    documents = [ShownDocument(one.sentences[0], one.text.published, one.sentences[1:]) for one in near]
    assert asked_messages(asked, near) == quote_messages(documents, asked.text)
    assert len(near) == 2


def read(clauses: ClauseAnswers, question: str, reply: HeldReply, known: tuple[str, ...] = ()) -> PassageAnswer:
    asked = clauses.parse(question)
    found = quotation(clauses, asked, near_documents(asked, clauses.library), reply, known, 0.9)
    return SURE.decided(found.answer, SURE.confidence(found.features)) if found is not None else PassageAnswer()


@pytest.mark.parametrize(
    ("reply", "values", "document"),
    [
        ("$85 million", ("$85 million",), "newer"),
        ("at least $85 million", ("$85 million",), "newer"),
        ("Keld; Orm", ("Keld", "Orm"), "older"),
        ("none", (), ""),
        ("$86 million", (), ""),
    ],
)
def test_quotes_become_values_with_their_sentences(
    clauses: ClauseAnswers, reply: str, values: tuple[str, ...], document: str
) -> None:
    found = read(clauses, "How much did Ardent pay for Tarrant Mills, and where?", HeldReply(reply, -0.1, -0.1, -6.0))
    assert found.values == values
    assert {one.document for one in found.passages} == ({document} if document else set())


def test_yes_and_no_rest_on_the_nearest_sentence(clauses: ClauseAnswers) -> None:
    found = read(clauses, "Has Ardent bought Tarrant Mills?", HeldReply("yes", -0.1, -0.1, -6.0))
    assert (found.values, found.passages[0].document) == (("yes",), "newer")


def test_an_unlikely_quote_and_one_against_the_rules_abstain(clauses: ClauseAnswers) -> None:
    question = "How much did Ardent pay for Tarrant Mills?"
    unsure = read(clauses, question, HeldReply("$85 million", -4.0, -2.0, -1.0))
    assert unsure.values == ()
    assert "'$85 million', has a confidence of 0.26; the least is 0.80" in unsure.why
    assert read(clauses, question, HeldReply("$85 million", -0.1, -0.1, -6.0), ("240",)).values == ()
    assert read(clauses, question, HeldReply("$85 million", -0.1, -0.1, -6.0), ("$85 million",)).values


class Engine:
    """A model that replies one text, and its most probable first tokens."""

    def __init__(self) -> None:
        self.requests: list[lm15.Request] = []

    def __call__(self, request: lm15.Request) -> Any:
        self.requests.append(request)
        top = (lm15.TopLogprob(token="Ard", logprob=-0.2), lm15.TopLogprob(token="none", logprob=-2.5))
        tokens = (
            lm15.TokenLogprob(token="Ard", logprob=-0.2, top=top),
            lm15.TokenLogprob(token="ent", logprob=-0.3, top=()),
        )
        return SimpleNamespace(text="Ardent Holdings", logprobs=tokens)


def test_the_reply_is_held_to_quotes_and_has_its_probabilities(clauses: ClauseAnswers) -> None:
    engine = Engine()
    engine.model = "local/one+news"  # type: ignore[attr-defined]
    asked = clauses.parse("Who bought Tarrant Mills?")
    reply = quote(engine, asked, near_documents(asked, clauses.library))  # type: ignore[arg-type]
    assert (reply.text, reply.none, reply.weakest) == ("Ardent Holdings", -2.5, -0.3)
    assert reply.likelihood == pytest.approx(-0.5)
    held = engine.requests[0].config.response_format
    assert held is not None
    assert held["schema"]["grammar"].startswith('root ::= "none" | "yes" | "no" | span ("; " span){0,7}\n')


def test_a_model_is_asked_with_its_adapter_for_news(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "quote_models", lambda: {"local/one+news": SURE, "local/two+news": SURE})
    given = {"local/one": "local/one+news", "local/one+news": "local/one+news", "local/three": None, "local/two": None}
    for name, wanted in given.items():
        found = quoting_model(Named(name))  # type: ignore[arg-type]
        assert (found.model if found is not None else None) == wanted


class Named:
    """A language model by its name; the adapter of the second one is missing."""

    def __init__(self, model: str) -> None:
        self.model = model

    def copy(self, model: str) -> Named:
        if "two" in model:
            raise LMError("there is no adapter")
        return Named(model)


def test_each_shipped_confidence_has_a_weight_for_each_feature() -> None:
    assert all(set(one.weights) == {*QUOTE_FEATURES, "intercept"} for one in quote_models().values())


def test_a_reply_lists_the_answers() -> None:
    assert quote_reply(["Keld", "Orm"]) == "Keld; Orm"
    assert quote_reply([]) == "none"


@pytest.mark.skipif(SpanReader.load() is None, reason="needs the reader's weights")
@pytest.mark.parametrize(
    ("question", "reply", "agrees"),
    [
        ("What did Ardent pay for Tarrant Mills?", "$85 million", True),
        ("What did Ardent pay for Tarrant Mills?", "240 jobs", False),
        ("Has Ardent bought Tarrant Mills?", "yes", True),
        ("Has Ardent bought Tarrant Mills?", "no", False),
    ],
)
def test_the_confidence_knows_whether_the_reader_of_sentences_agrees(
    clauses: ClauseAnswers, question: str, reply: str, agrees: bool
) -> None:
    asked, said = clauses.parse(question), HeldReply(reply, -0.1, -0.1, -6.0)
    found = quotation(clauses, asked, near_documents(asked, clauses.library), said, (), 0.0)
    assert found is not None
    assert (found.features["read"] > 0.5) == agrees
    assert (found.features["read other"] > 0.5) != agrees
    assert 0 < found.features["read none"] < 0.5
