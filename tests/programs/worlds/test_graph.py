from __future__ import annotations

from datetime import date
from decimal import Decimal

import dspy
import pytest
from dspy.utils import DummyLM

from kg.errors import ConfigError
from kg.graphs import FactGraph, Triple
from kg.parsing import QuestionReader
from programs.beam import BeamQA
from programs.conversation import ConversationQA
from programs.turns import Conversation
from programs.worlds.graph import GraphConfig
from tests.programs.graphs.ships import ships


def _conversation(answer_from: float = 0.5) -> Conversation:
    program = ConversationQA.for_graphs(GraphConfig(answer_from=answer_from, today=date(2026, 1, 1)))
    return Conversation(program, program.world(graph=ships(), name="ships.csv"))


def test_answers_have_words_paths_and_facts() -> None:
    turn = _conversation().ask("What is the length of the Bellwether?")
    assert (turn.answer, turn.words, turn.failure) == (Decimal(88), "88 m", None)
    assert turn.detail.path == "Bellwether -> length"
    assert turn.detail.facts == ("Bellwether -> length -> 88",)
    assert turn.confidence > 0.8
    assert turn.context.entities[0].label == "Bellwether"


def test_names_counts_and_yes_or_no() -> None:
    conversation = _conversation()
    assert conversation.ask("which ships have the home port Quillhaven?").answer == ("Larkspur", "Bellwether")
    assert conversation.ask("how many ships have the home port Quillhaven?").answer == Decimal(2)
    assert conversation.ask("is the Bellwether longer than the Larkspur?").answer == "yes"


def test_a_program_abstains_and_names_the_words() -> None:
    turn = _conversation().ask("What is the tonnage of the Larkspur?")
    assert (turn.answer, turn.failure, _conversation().ask("?!").failure) == (None, "picked_none", "picked_none")
    assert "'tonnage'" in turn.message
    assert _conversation(0.0).ask("What is the tonnage of the Larkspur?").answer is not None
    uncertain = _conversation(1.0).ask("What is the length of the Bellwether?")
    assert '"Bellwether -> length", has a confidence of' in uncertain.message
    with pytest.raises(ConfigError, match=r"answer_from must be in \[0, 1\], got 2"):
        GraphConfig(answer_from=2)


def test_the_one_program_explains_an_answer_about_a_graph() -> None:
    replies = [{"sentence": "The length of Bellwether is 88 m."}, {"sentence": "Bellwether is as long as Larkspur."}]
    program = BeamQA(config=GraphConfig(trust=0.9), explain=True)
    with dspy.context(lm=DummyLM(replies)):
        first, second = (program(graph=ships(), question="What is the length of the Bellwether?").turn for _ in "ab")
    assert (first.words, first.explanation, first.usage.lm_calls) == ("88 m", "The length of Bellwether is 88 m.", 1)
    assert second.explanation == "", "Larkspur is not in the facts"


def test_facts_that_single_out_an_entity_support_a_query() -> None:
    people = (("Barack Obama", "44", "Michelle Obama"), ("Donald Trump", "45", "Melania Trump"))
    triples = [
        Triple(subject, relation, value, is_literal=True)
        for person, ordinal, spouse in people
        for subject, relation, value in [
            ("USA", "government.country.presidents", person),
            (person, "ordinal", ordinal),
            (person, "people.person.spouse", spouse),
        ]
    ]
    program = ConversationQA.for_graphs()
    world = program.world(graph=QuestionReader(FactGraph.build(triples)))
    turn = program.ask(program.start(world), "who is the spouse of the 44th president of the USA?").turns[-1]
    assert turn.answer == ("Michelle Obama",)
    assert turn.confidence > world.search(world.start(), "who are the spouses?").reading.confidence
    path = "USA -> government.country.presidents -> Barack Obama -> people.person.spouse -> Michelle Obama"
    assert path in turn.detail.predictions[0]
    assert turn.detail.reasoning_trace["completed_paths"] > 0
