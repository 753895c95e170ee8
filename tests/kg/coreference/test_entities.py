"""Follow-up questions spelled out by the graph."""

from __future__ import annotations

import pytest

from experiments.tasks import load_geography
from kg.coreference.entities import Resolution, asked_properties, resolve
from kg.coreference.referents import PastQuestion
from kg.graphs.context import GraphContext, GraphContextRetriever, TurnEntities
from kg.questions.graph import EntityGraph
from programs.conversation import ConversationQA

X = "https://w3id.org/finpath/geography#"


@pytest.fixture(scope="module")
def graph() -> EntityGraph:
    return load_geography()


def _resolved(graph: EntityGraph, *questions: str) -> Resolution:
    turns = ConversationQA.for_graphs()(graph=graph, questions=list(questions)).turns
    found: Resolution = turns[-1].resolution
    return found


@pytest.mark.parametrize(
    ("questions", "kind", "canonical"),
    [
        (["Which countries border Germany?", "What is its capital?"], "possessive", "What is Germany's capital?"),
        (
            ["Which countries border Spain?", "What are their capitals?"],
            "possessive",
            "What are Andorra, France and Portugal's capitals?",
        ),
        (
            ["What is the capital of Latvia?", "What is the area of that country?"],
            "possessive",
            "What is the area of Latvia?",
        ),
        (
            ["What is the capital of Denmark?", "How many people live there?"],
            "possessive",
            "How many people live in Copenhagen?",
        ),
        (["Which countries border Austria?", "What about Bulgaria?"], "ellipsis", "Which countries border Bulgaria?"),
        (
            ["Is Sweden larger than Norway?", "And than Spain?"],
            "ellipsis",
            "Is Sweden larger than Spain?",
        ),
        (
            ["Which country has the smallest area?", "And the largest?"],
            "ellipsis",
            "Which country has the largest area?",
        ),
        (
            ["Which country has the largest area?", "And by population?"],
            "ellipsis",
            "Which country has the largest population?",
        ),
        (
            ["Which country has the largest area?", "And the largest population?"],
            "ellipsis",
            "Which country has the largest population?",
        ),
        (
            ["Which countries border Portugal?", "What are their populations?"],
            "possessive",
            "What are Spain's populations?",
        ),
        (["What is the population of Serbia?", "And the area?"], "implicit", "What is the area of Serbia?"),
        (["What is the population of Serbia?", "Currency?"], "implicit", "What is the Currency of Serbia?"),
        (["Which countries border Belgium?", "How many are there?"], "implicit", "How many countries border Belgium?"),
        (
            ["Which countries border Spain?", "What is the combined population?"],
            "implicit",
            "What is the combined population of Andorra, France and Portugal?",
        ),
        (
            ["Which countries border Spain?", "Which of them is the largest?"],
            "comparative",
            "Which of Andorra, France and Portugal is the largest?",
        ),
        (
            ["What is the population of Norway?", "And of Finland?", "Which is larger?"],
            "comparative",
            "Which of Norway and Finland is larger by population?",
        ),
        (
            ["What is the population of Poland and Ukraine?", "Which is bigger?"],
            "comparative",
            "Which of Poland and Ukraine is bigger by population?",
        ),
        (
            ["What is the capital of Norway?", "Which country is that the capital of?"],
            "possessive",
            "Which country is Oslo the capital of?",
        ),
        (
            ["What is the area of France?", "And the capital's population?"],
            "implicit",
            "What is France's capital's population?",
        ),
        (["Tell me about France.", "What is the population?"], "implicit", "What is the population of France?"),
        (
            ["What is the area of Slovenia?", "Is Slovakia larger?"],
            "comparative",
            "Is Slovakia larger than Slovenia?",
        ),
        (
            ["What is the area of Belgium?", "And of Spain?", "What is the difference?"],
            "comparative",
            "What is the difference between the area of Belgium and Spain?",
        ),
    ],
)
def test_every_kind_of_reference(graph: EntityGraph, questions: list[str], kind: str, canonical: str) -> None:
    found = _resolved(graph, *questions)
    assert (found.kind, found.canonical) == (kind, canonical)
    assert found.question == questions[-1]


def test_a_reference_names_its_referents_and_their_turn(graph: EntityGraph) -> None:
    found = _resolved(graph, "Which countries border Germany?", "What is the area of Malta?", "And its capital?")
    assert found.referents == (f"{X}Malta",)
    assert found.turns == (1,)
    found = _resolved(graph, "Which countries border Spain?", "What about Portugal?")
    assert found.turns == (0,)


@pytest.mark.parametrize(
    "question",
    [
        "Which country has the largest population?",
        "What is the capital of Norway?",
        "What is the capital of Japan?",
        "Is Berlin in Germany?",
    ],
)
def test_a_question_that_stands_alone_is_left_alone(graph: EntityGraph, question: str) -> None:
    found = _resolved(graph, "Which countries border Germany?", question)
    assert (found.kind, found.canonical) == ("none", question)


def test_the_first_question_refers_to_nothing(graph: EntityGraph) -> None:
    found = resolve(graph, graph.lexicon.question("What is its capital?"), [], GraphContext())
    assert (found.kind, found.canonical) == ("none", "What is its capital?")


def test_the_context_decides_who_is_meant(graph: EntityGraph) -> None:
    """Oslo is the more salient of the two, but Norway has what is asked for."""
    past = [PastQuestion("Is Oslo in Norway?", (f"{X}Oslo", f"{X}Norway"), (), ())]
    retriever = GraphContextRetriever(graph.store)
    turns = [TurnEntities(past[0].subjects)]
    for question, owner in (("What are its neighbours?", "Norway"), ("Which country is it in?", "Oslo")):
        context = retriever.for_turns(turns, asked_properties(graph.lexicon.question(question)))
        assert resolve(graph, graph.lexicon.question(question), past, context).referents == (f"{X}{owner}",)
    assert resolve(graph, graph.lexicon.question("What are its neighbours?"), past, GraphContext()).kind == "none", (
        "nobody is in play"
    )


def test_five_turns_and_more(graph: EntityGraph) -> None:
    turns = ConversationQA.for_graphs()(
        graph=graph,
        questions=[
            "Which countries border Germany?",
            "What about France?",
            "What is its capital?",
            "Which one has the largest population?",
            "And the area?",
            "How many neighbours does it have?",
            "And Spain?",
            "Which of the two is larger?",
        ],
    ).turns
    said = [turn.words for turn in turns]
    assert said[2:] == ["Paris", "Germany", "357,022 km²", "9", "3", "Spain"]
    assert len(said[0].split(", ")) == 9
    assert len(said[1].split(", ")) == 8


def test_a_turn_that_fails_does_not_end_the_conversation(graph: EntityGraph) -> None:
    turns = ConversationQA.for_graphs()(
        graph=graph, questions=["What is the capital of Peru?", "Which countries border Spain?", "hm?", "And Italy?"]
    ).turns
    assert [turn.failure for turn in turns] == ["not_answered", None, "not_answered", None]
    assert turns[-1].resolution.canonical == "Which countries border Italy?"
    assert "the graph has no 'Peru'" in turns[0].message


@pytest.mark.parametrize("other", ["the other one", "the other"])
def test_the_other_is_the_one_of_two_that_was_not_answered(graph: EntityGraph, other: str) -> None:
    questions = ["Which of Norway and Sweden is larger?", f"What is the capital of {other}?"]
    assert ConversationQA.for_graphs()(graph=graph, questions=questions).turns[-1].words == "Oslo"
