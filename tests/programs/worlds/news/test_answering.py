"""Questions about texts: sentences with and without a language model, and the graph's own edges."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import dspy
import pytest

from kg.growing import AddEdge, AddNode, GrowingGraph, Origin
from kg.investments import investment_schema
from kg.news import Passage, SpanAnswers, TextAnswer, parse_document, stored_passages
from programs.advisor import Advisor
from programs.beam import BeamQA
from programs.turns import read_turn, turn_record
from programs.worlds.news.answering import GraphAnswers
from programs.worlds.news.reading import QuoteReply
from programs.worlds.texts import TextsWorld
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
    Advisor(graph).ingest(parse_document(text, name))
    return graph


def passage(graph: GrowingGraph, words: str) -> Passage:
    return next(one for one in stored_passages(graph) if words in one.text)


def answer(graph: GrowingGraph, value: str = "$85 million") -> TextAnswer:
    return TextAnswer((value,), (passage(graph, value),), 0.8)


@pytest.fixture(autouse=True)
def _spans(monkeypatch: pytest.MonkeyPatch) -> None:
    """The span reader answers nothing, unless a test is about it."""
    monkeypatch.setattr(SpanAnswers, "proposed", lambda self, question: TextAnswer(why="nothing is read"))


def test_an_answer_has_its_sentence_and_the_path_to_it(graph: GrowingGraph) -> None:
    found = GraphAnswers(graph).by_sentences(answer(graph))
    assert (found.values, found.confidence) == (("$85 million",), 0.8)
    assert found.facts == (passage(graph, "$85").quoted,)
    assert found.paths == ("News(Mill town loses its weaver) -> has_passage -> Passage(wire-1.txt 0)",)


class Asked:
    """Questions about the sentences of a graph, answered by the one program."""

    def __init__(self, graph: GrowingGraph, lm: Any = None) -> None:
        self.world, self.lm = TextsWorld(GraphAnswers(graph)), lm
        self.program = BeamQA(signature=UnderstandTexts)

    def turn(self, question: str) -> Any:
        with dspy.context(lm=self.lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
            return self.program.ask(self.world.start(), question).turns[-1]


def reply(*values: str, **further: Any) -> dict[str, Any]:
    written = {"answers": list(values), "calculation": "", "sentences": [2], "sureness": "certain", **further}
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in written.items()}


def test_without_a_model_the_span_reader_answers(graph: GrowingGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    read = answer(graph)
    monkeypatch.setattr(SpanAnswers, "proposed", lambda self, question: TextAnswer(read.values, read.passages, 0.99))
    turn = Asked(graph).turn(QUESTION)
    assert (turn.answer, turn.confidence) == (("$85 million",), 0.99)
    assert read_turn(turn_record(turn)).answer == turn.answer
    monkeypatch.setattr(SpanAnswers, "proposed", lambda self, question: TextAnswer(read.values, read.passages, 0.5))
    turn = Asked(graph).turn("What was paid?")
    assert (turn.answer, turn.failure) == (None, "not_answered")
    assert "has a confidence of 0.50" in turn.message
    assert Asked(graph).turn("?!").message == "the question has no words"


def test_a_model_cites_and_asking_writes_nothing(graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM]) -> None:
    before = graph.facts()
    turn = Asked(graph, scripted_lm([reply("$85 million")])).turn(QUESTION)
    assert (turn.answer, turn.detail.facts) == (("$85 million",), (passage(graph, "$85").quoted,))
    assert graph.facts() == before


def test_a_model_that_names_what_no_sentence_has_is_refused(
    graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM]
) -> None:
    turn = Asked(graph, scripted_lm([reply("$86 million")])).turn(QUESTION)
    assert turn.answer is None
    assert "no sentence has '$86 million'" in turn.message
    turn = Asked(graph, scripted_lm([reply(sentences=[])])).turn(QUESTION)
    assert "the documents do not say so" in turn.message


def test_a_calculated_value_has_its_steps(graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM]) -> None:
    ingested(graph, "wire-2.txt", LATER)
    asked = Asked(graph, scripted_lm([reply(calculation="$90 million - $85 million", sentences=[2, 5])]))
    turn = asked.turn("By how much did the price of Tarrant Mills rise?")
    assert turn.answer == ("$5 million",)
    assert turn.detail.facts[0] == "$90 million - $85 million = $5 million"


def test_an_embedded_model_quotes_with_its_adapter_where_the_span_reader_is_not_sure(
    graph: GrowingGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = "programs.worlds.texts"
    monkeypatch.setattr(f"{texts}.is_embedded", lambda lm: True)
    turn = Asked(graph, SimpleNamespace(model="local/other")).turn(QUESTION)
    assert turn.message.startswith("local/other has no adapter for news")
    quoter = SimpleNamespace(model="local/qwen2.5-coder-1.5b+news")
    monkeypatch.setattr(f"{texts}.quoting_model", lambda lm: quoter)
    monkeypatch.setattr(f"{texts}.quote", lambda lm, question, near: QuoteReply("Nora Feldt", 6.0))
    for confidence, given in ((0.99, ("$85 million",)), (0.5, ("Nora Feldt",))):
        read = TextAnswer(("$85 million",), (passage(graph, "$85"),), confidence)
        monkeypatch.setattr(SpanAnswers, "proposed", lambda self, question, read=read: read)
        assert Asked(graph, quoter).turn(QUESTION).answer == given


def test_the_graph_s_own_edges_answer_what_sentences_leave_open(graph: GrowingGraph) -> None:
    company, sector = AddNode("Company", "Ardent Holdings"), AddNode("Sector", "Textiles")
    graph.apply([company, sector, AddEdge("in_sector", company.key, sector.key)], Origin("by hand"))

    class Reader:
        """Answers of a graph without its parser."""

        def answered(self, question: str) -> Any:
            words = "Textiles" if "sector" in question else ""
            return SimpleNamespace(answer=(words,) if words else None, words=words, detail=None, confidence=0.95)

    asked = Asked(graph)
    asked.world.answers.__dict__["_edges"] = Reader()
    turn = asked.turn("Which sector is Ardent Holdings in?")
    assert (turn.answer, turn.confidence) == (("Textiles",), 0.95)
    assert asked.turn(QUESTION).message == "nothing is read"
