"""Facts of sentences that answer: inserted, retrieved by their path, and read again after new documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import dspy
import pytest

from kg.clauses import SentenceEncoder, SentenceParser
from kg.comprehension import SpanReader
from kg.growing import GrowingGraph, NodeKey, Origin, SetProperty, TypeProposals, graph_triples
from kg.investments import investment_schema, parse_document
from kg.news import AnsweredFact, FrameReader, Passage, insert_answers, stored_passages
from programs.advisor import Advisor, AnswerMemory, GraphAnswers, SupportedAnswers
from programs.beam import BeamQA
from programs.turns import read_turn, turn_record
from programs.worlds import texts
from programs.worlds.news.quoting import HeldReply
from programs.worlds.news.readings import ReadingModel
from programs.worlds.texts import TextsWorld, answers_of
from signatures.news import UnderstandTexts

WIRE = """Mill town loses its weaver
2026-02-03

KELD - Ardent Holdings has bought Tarrant Mills for $85 million. Nora Feldt keeps 12% of the shares.
"""
LATER = """Mill sold again
2026-05-06

KELD - Corvex Partners has bought Tarrant Mills for $90 million.
"""
QUESTION = "How much did Ardent Holdings pay for Tarrant Mills?"


@pytest.fixture
def graph() -> GrowingGraph:
    return ingested(GrowingGraph(None, investment_schema()), "wire-1.txt", WIRE)


def ingested(graph: GrowingGraph, name: str, text: str) -> GrowingGraph:
    Advisor(graph, FrameReader(graph), TypeProposals(graph, "never")).ingest(parse_document(text, name))
    return graph


def passage(graph: GrowingGraph, words: str) -> Passage:
    return next(one for one in stored_passages(graph) if words in one.text)


def fact(graph: GrowingGraph, value: str = "$85 million", words: str = "$85 million") -> AnsweredFact:
    return AnsweredFact(
        "Ardent Holdings", "company", "pay for Tarrant Mills", value, "money", passage(graph, words), 0.8, "rules"
    )


class Asked:
    """Questions about the sentences of a graph, answered by the one program with a language model."""

    def __init__(self, graph: GrowingGraph, lm: dspy.LM) -> None:
        self.world, self.lm = TextsWorld(GraphAnswers(graph)), lm
        self.program = BeamQA(signature=UnderstandTexts)
        if self.world.answers.clauses is None:
            pytest.skip("the model of the extra 'news' is not installed")

    def answer(self, question: str) -> SupportedAnswers:
        with dspy.context(lm=self.lm):
            return answers_of(self.program.ask(self.world.start(), question).turns[-1])


def test_an_inserted_fact_is_retrieved_by_its_path(graph: GrowingGraph) -> None:
    assert AnswerMemory(graph).retrieved(QUESTION) == []
    AnswerMemory(graph).inserted(QUESTION, [fact(graph)])
    (found,) = AnswerMemory(graph).retrieved("how much did the Ardent Holdings pay for Tarrant Mills")
    assert (found.subject, found.relation, found.value) == ("Ardent Holdings", "pay for Tarrant Mills", "$85 million")
    assert (found.document, found.published_at, found.confidence) == ("wire-1.txt", "2026-02-03", 0.8)
    assert found.sentence == passage(graph, "$85").text
    edges = [step.split(" -> ") for step in found.path]
    assert edges[0][0] == "News(Mill town loses its weaver)"
    assert [step[-2] for step in edges] == ["has_passage", "answer_about", "shown_by_passage", "answers_question"]


def test_an_entity_that_answers_is_a_node(graph: GrowingGraph) -> None:
    seller = AnsweredFact("Tarrant Mills", "company", "bought", "Nora Feldt", "person", passage(graph, "Nora"), 0.7)
    (found,) = AnswerMemory(graph).inserted("Who keeps 12%?", [seller])
    assert any(step.endswith("answer_value -> Person(Nora Feldt)") for step in found.path)


def test_the_answer_is_what_the_graph_says(graph: GrowingGraph) -> None:
    """A person corrects the fact, and the next answer has the correction without reading."""
    answers = GraphAnswers(graph)
    answers.insert(QUESTION, [fact(graph)])
    (node,) = graph.nodes("Answer")
    graph.apply([SetProperty(node.key, "value", "$84 million")], Origin("by hand"))
    assert GraphAnswers(graph).answer(QUESTION).values == ("$84 million",)


def test_an_insertion_is_taken_back(graph: GrowingGraph) -> None:
    before = set(graph.triples())
    AnswerMemory(graph).inserted(QUESTION, [fact(graph)])
    assert set(graph.triples()) > before
    graph.undo(graph.history()[-1].number)
    assert set(graph.triples()) == before
    assert AnswerMemory(graph).retrieved(QUESTION) == []


def test_after_a_new_document_the_question_is_read_again_and_the_answer_replaced(graph: GrowingGraph) -> None:
    AnswerMemory(graph).inserted(QUESTION, [fact(graph)])
    ingested(graph, "wire-2.txt", LATER)
    memory = AnswerMemory(graph)
    assert memory.retrieved(QUESTION) == []
    memory.inserted(QUESTION, [fact(graph, "$90 million", "$90 million")])
    assert [one.value for one in memory.retrieved(QUESTION)] == ["$90 million"]
    older = next(node for node in graph.nodes("Answer") if node.properties["value"] == "$85 million")
    assert older.properties["valid_to"] == "2026-05-06"
    memory.inserted(QUESTION, [fact(graph)])
    assert [one.value for one in memory.retrieved(QUESTION)] == ["$85 million"]


def test_several_values_keep_their_order_and_their_rivals(graph: GrowingGraph) -> None:
    rival = passage(graph, "12%")
    first = AnsweredFact("x", "", "sold", "Zeta", "", passage(graph, "$85"), 0.8, against=(rival,))
    found = AnswerMemory(graph).inserted("Who sold?", [first, AnsweredFact("x", "", "sold", "Alba", "", rival, 0.6)])
    assert [one.value for one in found] == ["Zeta", "Alba"]
    assert found[0].against == (f"wire-1.txt, 2026-02-03: {rival.text}",)


def test_what_was_inserted_into_a_copy_is_written_into_the_graph(graph: GrowingGraph) -> None:
    memory = AnswerMemory(graph.copy())
    memory.inserted(QUESTION, [fact(graph)])
    assert AnswerMemory(graph).retrieved(QUESTION) == []
    insert_answers(graph, memory.insertions)
    assert AnswerMemory(graph).retrieved(QUESTION)[0].value == "$85 million"


def test_sentences_answer_through_the_graph(graph: GrowingGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("spacy")
    answers = GraphAnswers(graph)
    if answers.clauses is None:
        pytest.skip("the model of the extra 'news' is not installed")
    found = answers.answer(QUESTION)
    assert found.values == ("$85 million",)
    assert (found.retrieved[0].subject, found.retrieved[0].relation) == ("Ardent Holdings", "pay for Tarrant Mills")
    assert found.facts == (found.retrieved[0].quoted,)
    monkeypatch.setattr(GraphAnswers, "clauses", property(lambda _: pytest.fail("the sentences are read again")))
    assert GraphAnswers(graph).answer(QUESTION).values == ("$85 million",)


@pytest.mark.parametrize("missing", [SentenceEncoder, SpanReader])
def test_sentences_do_not_answer_without_one_of_the_packages(
    graph: GrowingGraph, monkeypatch: pytest.MonkeyPatch, missing: type
) -> None:
    monkeypatch.setattr(SentenceParser, "load", lambda: pytest.fail("a parser alone is loaded"))
    monkeypatch.setattr(missing, "load", lambda: None)
    assert GraphAnswers(graph).clauses is None


@pytest.fixture
def answers(graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM], monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The answers of an embedded model."""
    monkeypatch.setattr(texts, "is_embedded", lambda _: True)
    return Asked(graph, scripted_lm([]))


def test_an_embedded_model_without_the_adapter_says_that_it_reads_nothing(answers: Asked) -> None:
    assert answers.answer(" ?").why == "the question has no words"
    found = answers.answer("Why did Feldt stay?")
    assert found.values == ()
    assert found.why.endswith("; local/scripted has no adapter for news, so it reads no sentences")
    assert answers.answer(QUESTION).values == ("$85 million",)


@pytest.mark.parametrize(
    ("reply", "least", "values", "reader"),
    [
        ("12%", 0.0, ("12%",), "local/one+news"),
        ("none", 0.6, ("$85 million",), "rules"),
        ("none", 1.0, (), ""),
    ],
)
def test_an_adapter_for_news_reads_what_rules_answer_too(
    answers: Asked,
    monkeypatch: pytest.MonkeyPatch,
    reply: str,
    least: float,
    values: tuple[str, ...],
    reader: str,
) -> None:
    model = ReadingModel(about="", weights={"intercept": 2.0}, threshold=0.5, rules=least)
    known: list[object] = []

    def quotation(*given: Any) -> Any:
        known.extend(given[4:])
        return read(*given)

    read = texts.quotation
    monkeypatch.setattr(texts, "quoting_model", lambda _: SimpleNamespace(model="local/one+news"))
    monkeypatch.setattr(texts, "quote_models", lambda: {"local/one+news": model})
    monkeypatch.setattr(texts, "quote", lambda *_: HeldReply(reply, -0.1, -0.1, -6.0))
    monkeypatch.setattr(texts, "quotation", quotation)
    found = answers.answer(QUESTION)
    assert (found.values, "".join(one.reader for one in found.retrieved)) == (values, reader)
    assert known[0] == ("$85 million",)
    assert float(str(known[1])) > 0.7


def test_a_model_that_cites_reads_several_questions_at_a_time(
    graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Asked(graph, scripted_lm([]))
    both = Barrier(2, timeout=30)

    def reply(self: Any, predict: Any, **inputs: Any) -> SimpleNamespace:
        both.wait()
        calculates = "more" in inputs["question"]
        written = {"answers": [] if calculates else ["12%"], "calculation": "$85 million * 12%" if calculates else ""}
        return SimpleNamespace(**written, sentences=[2, 3], sureness="certain")

    monkeypatch.setattr(texts.TextSearch, "reply", reply)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(answers.answer, ["Why did Feldt stay?", "How much more was it?"])
    assert (first.values, second.values) == (("12%",), ("$10.2 million",))
    assert second.facts[0] == "$85 million * 12% = $10.2 million"
    assert second.retrieved == ()
    assert answers.answer("why did Feldt stay").retrieved == first.retrieved
    assert graph.node(NodeKey("Question", "how much more was it")) is None


def test_a_reply_that_cannot_be_read_is_no_answer(graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM]) -> None:
    answers = Asked(graph, scripted_lm([{"answers": "I would rather not say."}]))
    with dspy.context(adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        found = answers.answer("What do the shares cost?")
    assert (found.values, found.why) == ((), "the reply could not be read")


def test_texts_are_asked_as_any_world(graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM]) -> None:
    answers = GraphAnswers(graph)
    if answers.clauses is None:
        pytest.skip("the model of the extra 'news' is not installed")
    reply = {"answers": ["12%"], "calculation": "", "sentences": [3], "sureness": "certain"}
    program = BeamQA(signature=UnderstandTexts)
    assert [name for name, _ in program.named_predictors()] == ["understand.predict"]
    with dspy.context(lm=scripted_lm([reply]), adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        turn = program(texts=answers, question="What do the shares of Feldt amount to?").turn
    assert (turn.answer, turn.words, turn.usage.lm_calls) == (("12%",), "12%", 1)
    assert read_turn(json.loads(json.dumps(turn_record(turn)))).detail.facts == turn.detail.facts
    assert BeamQA()(texts=graph, question=QUESTION).turn.answer == ("$85 million",)


def test_answers_are_no_part_of_the_graph_that_questions_mean(graph: GrowingGraph) -> None:
    AnswerMemory(graph).inserted(QUESTION, [fact(graph)])
    assert list(graph.nodes("Answer"))
    assert not any("node/Answer" in one.subject for one in graph_triples(graph))
