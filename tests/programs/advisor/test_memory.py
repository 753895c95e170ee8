"""Facts of sentences that answer: inserted, retrieved by their path, and read again after new documents."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import dspy
import pytest

from kg.clauses import SentenceEncoder, SentenceParser
from kg.comprehension import SpanReader
from kg.growing import GrowingGraph, NodeKey, Origin, SetProperty, TypeProposals, entity_view
from kg.growing.terms import TYPE
from kg.investments import investment_schema, parse_document
from kg.news import AnsweredFact, FrameReader, Passage, insert_answers, stored_passages
from programs.advisor import Advisor, AnswerMemory, GraphAnswers, ModelAnswers
from programs.worlds.news.readings import PassageAnswer

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


def test_an_embedded_model_without_the_adapter_says_that_it_reads_nothing(
    graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ModelAnswers(graph, scripted_lm([]), date(2026, 6, 1))
    if answers._rules.clauses is None:
        pytest.skip("the model of the extra 'news' is not installed")
    assert answers.answer(" ?").why == "the question has no words"
    monkeypatch.setattr(ModelAnswers, "_citer", None)
    found = answers.answer("Why did Feldt stay?")
    assert found.values == ()
    assert found.why.endswith("; local/scripted has no adapter for news, so it reads no sentences")
    assert answers.answer(QUESTION).values == ("$85 million",)


@pytest.mark.parametrize(
    ("read", "least", "values", "reader"),
    [
        (("12%",), 0.0, ("12%",), "local/one+news"),
        ((), 0.6, ("$85 million",), "rules"),
        ((), 1.0, (), ""),
    ],
)
def test_an_adapter_for_news_reads_what_rules_answer_too(
    graph: GrowingGraph,
    scripted_lm: Callable[..., dspy.LM],
    monkeypatch: pytest.MonkeyPatch,
    read: tuple[str, ...],
    least: float,
    values: tuple[str, ...],
    reader: str,
) -> None:
    answers, asked = ModelAnswers(graph, scripted_lm([]), date(2026, 6, 1)), dict[str, Any]()
    if answers._rules.clauses is None:
        pytest.skip("the model of the extra 'news' is not installed")

    def quoted(**given: Any) -> SimpleNamespace:
        asked.update(given)
        return SimpleNamespace(found=PassageAnswer(read, 0.9, tuple(passage(graph, one) for one in read)))

    quoted.lm = SimpleNamespace(model="local/one+news")  # type: ignore[attr-defined]
    quoted.model = SimpleNamespace(rules=least)  # type: ignore[attr-defined]
    monkeypatch.setattr(ModelAnswers, "_quoter", property(lambda _: quoted))
    monkeypatch.setattr(ModelAnswers, "_citer", None)
    found = answers.answer(QUESTION)
    assert (found.values, "".join(one.reader for one in found.retrieved)) == (values, reader)
    assert asked["known"] == ("$85 million",)
    assert asked["confidence"] > 0.7


def test_a_model_that_cites_reads_several_questions_at_a_time(
    graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ModelAnswers(graph, scripted_lm([]), date(2026, 6, 1))
    if answers._rules.clauses is None:
        pytest.skip("the model of the extra 'news' is not installed")
    both = Barrier(2, timeout=30)
    calculated = PassageAnswer(("73%",), 0.9, (passage(graph, "85"), passage(graph, "12%")), steps="85% - 12% = 73%")

    def cited(question: str, **_: Any) -> SimpleNamespace:
        both.wait()
        stated = PassageAnswer(("12%",), 0.9, (passage(graph, "12%"),))
        return SimpleNamespace(found=calculated if "more" in question else stated)

    cited.model, cited.near = SimpleNamespace(rules=1.0), answers._rules.clauses.parse  # type: ignore[attr-defined]
    monkeypatch.setattr(ModelAnswers, "_citer", property(lambda _: cited))
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(answers.answer, ["Why did Feldt stay?", "How much more was it?"])
    assert (first.values, second.values) == (("12%",), ("73%",))
    assert second.facts[0] == "85% - 12% = 73%"
    assert second.retrieved == ()
    assert answers.answer("why did Feldt stay").retrieved == first.retrieved
    assert graph.node(NodeKey("Question", "how much more was it")) is None


def test_answers_are_no_part_of_the_graph_that_questions_mean(graph: GrowingGraph) -> None:
    AnswerMemory(graph).inserted(QUESTION, [fact(graph)])
    view = entity_view(graph)
    assert list(graph.nodes("Answer"))
    assert not view.members(f"{TYPE}Answer")
    meant = view.lexicon.tags("answers question")
    assert not any(tag.classes or tag.properties or tag.inverses for tag in meant)
