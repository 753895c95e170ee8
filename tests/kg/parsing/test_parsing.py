"""A small graph of theatres, of no benchmark: plays, people and venues."""

from __future__ import annotations

import time
from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from experiments.readers import shipped_encoder
from kg.algebra import NamedNodes
from kg.graphs import FactGraph, read_rdf, read_table
from kg.parsing import FEATURES, DialogueTurn, FeatureNetwork, Parse, QuestionReader, Ranker, Reading, features

TURTLE = """
@prefix x: <http://stage.example/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
x:Tidewrack a x:Play ; x:writtenBy x:Odile_Marchetti ; x:stagedAt x:Lantern_House ;
    x:premieredOn "2004-03-09"^^xsd:date ;
    x:language "French" ; x:durationMinutes 95 .
x:Nine_Chairs a x:Play ; x:writtenBy x:Odile_Marchetti ; x:stagedAt x:Granary_Stage ;
    x:premieredOn "2011-10-01"^^xsd:date ;
    x:language "English" ; x:durationMinutes 140 .
x:Saltmother a x:Play ; x:writtenBy x:Piet_Aldous ; x:stagedAt x:Lantern_House ;
    x:premieredOn "2019-05-20"^^xsd:date ;
    x:language "English" ; x:durationMinutes 120 .
x:Odile_Marchetti a x:Playwright ; x:birthDate "1969-06-02"^^xsd:date ; x:birthPlace x:Corvane ;
    x:spouse x:Piet_Aldous .
x:Piet_Aldous a x:Playwright ; x:birthDate "1955-01-30"^^xsd:date ; x:birthPlace x:Mirrow .
x:Lantern_House a x:Theatre ; x:inTown x:Mirrow ; x:seats 420 ; x:openedIn "1931"^^xsd:gYear ;
    x:manager x:Ana_Queiroz .
x:Granary_Stage a x:Theatre ; x:inTown x:Corvane ; x:seats 180 ; x:openedIn "1988"^^xsd:gYear ;
    x:manager x:Bo_Lindahl .
x:Ana_Queiroz a x:Person . x:Bo_Lindahl a x:Person .
x:Mirrow a x:Town ; x:population 88000 . x:Corvane a x:Town ; x:population 15500 .
"""
TODAY = date(2026, 7, 1)


@pytest.fixture(scope="module")
def reader() -> QuestionReader:
    graph = FactGraph.build(read_rdf(TURTLE, ".ttl", what="stage"))
    return QuestionReader(graph, shipped_encoder().vectors)


def _talk(reader: QuestionReader, *questions: str) -> Reading:
    past: list[DialogueTurn] = []
    for question in questions:
        reading = reader.read(question, past, today=TODAY)
        past.append(DialogueTurn(reading.canonical, reading.asks, reading.parses[0], reading.named))
    return reading


def _answer(reader: QuestionReader, *questions: str) -> object:
    best = _talk(reader, *questions).parses[0]
    is_set = isinstance(best.answer, frozenset)
    return {reader.graph.name(node) for node in best.nodes} if is_set else best.answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who wrote Tidewrack?", {"Odile Marchetti"}),
        ("how many plays were staged at the Lantern House?", Decimal(2)),
        ("which theatre has the most seats?", {"Lantern House"}),
        ("what is the longest play?", {"Nine Chairs"}),
        ("which plays premiered after 2010?", {"Nine Chairs", "Saltmother"}),
        ("where was Piet Aldous born?", {"Mirrow"}),
        ("how old is Odile Marchetti?", Decimal(57)),
        ("is Mirrow bigger than Corvane?", True),
        ("which towns have more than 20000 inhabitants?", {"Mirrow"}),
        ("which opened first, the Lantern House or the Granary Stage?", {"Lantern House"}),
    ],
)
def test_single_questions(reader: QuestionReader, question: str, answer: object) -> None:
    assert _answer(reader, question) == answer


@pytest.mark.parametrize(
    ("questions", "answer"),
    [
        (("Who wrote Nine Chairs?", "where was she born?"), {"Corvane"}),
        (("Who wrote Nine Chairs?", "what other plays did she write?"), {"Tidewrack"}),
        (("where was Saltmother staged?", "who is its manager?"), {"Ana Queiroz"}),
        (("when did the Lantern House open?", "what about the Granary Stage?"), {"1988"}),
        (("which plays are in English?", "which of them is the shortest?"), {"Saltmother"}),
        (("what is the longest play?", "and the shortest?"), {"Tidewrack"}),
        (("which plays premiered after 2010?", "and before 2010?"), {"Tidewrack"}),
        (("who wrote Tidewrack?", "no, I meant Saltmother"), {"Piet Aldous"}),
        (("who is older, Odile Marchetti or Piet Aldous?", "where was the latter born?"), {"Mirrow"}),
        (("how many plays are in English?", "which ones?"), {"Nine Chairs", "Saltmother"}),
        (
            ("how many plays did Odile Marchetti write?", "and Piet Aldous?", "which of them is younger?"),
            {"Odile Marchetti"},
        ),
        (("which theatre is in Mirrow?", "how many seats does that theatre have?"), Decimal(420)),
    ],
)
def test_conversations(reader: QuestionReader, questions: tuple[str, ...], answer: object) -> None:
    assert _answer(reader, *questions) == answer


@pytest.mark.parametrize(
    "question",
    ["what is Piet Aldous's salary?", "who is the mayor of Mirrow?", "what is the phone number of the Lantern House?"],
)
def test_questions_that_the_graph_does_not_answer(reader: QuestionReader, question: str) -> None:
    assert _talk(reader, question).confidence < 0.7


def test_confidence_is_high_for_the_words_of_the_graph(reader: QuestionReader) -> None:
    assert _talk(reader, "What is the birth date of Piet Aldous?").confidence > 0.75


def test_a_reference_is_spelled_out(reader: QuestionReader) -> None:
    assert _talk(reader, "who wrote Saltmother?", "where was he born?").canonical == "where was Piet Aldous born?"
    assert _talk(reader, "who wrote Saltmother?", "?").canonical == "?"


def test_the_kinds_of_classes_are_known(reader: QuestionReader) -> None:
    kinds = {kind: {reader.graph.classes[one].names[0] for one in own} for kind, own in reader.vocabulary.kinds.items()}
    assert kinds == {"person": {"person", "playwright"}, "place": {"theatre", "town"}, "group": set()}


def test_a_path_is_written(reader: QuestionReader) -> None:
    reading = _talk(reader, "where was the author of Saltmother born?")
    assert reader.path(reading.parses[0]) == "Saltmother -> written by -> birth place"


def test_words_are_compared_without_models() -> None:
    graph = FactGraph.build(read_rdf(TURTLE, ".ttl", what="stage"))
    assert _answer(QuestionReader(graph), "which theatre has the most seats?") == {"Lantern House"}


RAIL = """subject,predicate,object
alpha,is a,package
beta,is a,package
gamma,is a,package
alpha,depends on,beta
beta,depends on,gamma
beta,replaced by,gamma
alpha,country,Portugal
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which packages depend on beta?", {"alpha"}),
        ("what was replaced by gamma?", {"beta"}),
        ("which package replaced beta?", {"gamma"}),
    ],
)
def test_a_relation_within_a_class_has_a_direction(question: str, answer: object) -> None:
    graph = FactGraph.build(read_table(RAIL, what="packages.csv"))
    assert _answer(QuestionReader(graph), question) == answer


LINES = """
@prefix x: <http://rail.example/> .
x:North_Line a x:Line ; x:electrified true ; x:lengthKm 120 .
x:South_Line a x:Line ; x:electrified false ; x:lengthKm 80 .
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which lines are electrified?", {"North Line"}),
        ("which lines are not electrified?", {"South Line"}),
        ("is the South Line electrified?", False),
        ("which lines are longer than 100 km?", {"North Line"}),
    ],
)
def test_properties_that_are_true_or_false_and_units(question: str, answer: object) -> None:
    graph = FactGraph.build(read_rdf(LINES, ".ttl", what="lines"))
    assert _answer(QuestionReader(graph), question) == answer


def test_a_text_of_many_names_is_answered_in_little_time(reader: QuestionReader) -> None:
    name = reader.graph.name(next(node for node, value in enumerate(reader.graph.values) if value.kind == "entity"))
    start = time.process_time()
    reader.read(f"who knows {name}" + f" they know {name} is" * 40, (), today=date(2026, 11, 22))
    assert time.process_time() - start < 5


def _network() -> FeatureNetwork:
    """Gives twice the first feature in units of its scale, 1, and how far the second is above 3."""
    return FeatureNetwork(
        np.array(["cost", "names"]),
        mean=np.array([1.0, 0.0], np.float32),
        scale=np.array([2.0, 1.0], np.float32),
        linear=np.array([2.0, 0.0], np.float32),
        bias=np.float32(1),
        hidden=np.array([[0.0], [1.0]], np.float32),
        hidden_bias=np.array([-3.0], np.float32),
        out=np.array([1.0], np.float32),
    )


def test_a_network_is_read_as_it_was_written() -> None:
    again = FeatureNetwork.from_arrays(_network().arrays("x_"), "x_")
    assert again.of({"cost": 3.0, "names": 5.0}) == 5.0
    with pytest.raises(KeyError):
        FeatureNetwork.from_arrays(_network().arrays("x_"), "y_")


def test_trust_and_a_missing_answer_count_in_the_right_direction() -> None:
    plain = (0.0,) * len(FEATURES)
    ranked = Ranker.shipped().ranked([Parse(NamedNodes((node,)), 0.0, (node,), evidence=plain) for node in range(2)])
    assert [one.share for one in ranked] == [0.5, 0.5]
    ranker = Ranker.shipped()
    sure, unsure = (ranker.confidence_in(features(ranked, follows_abstention=False, trusted=own)) for own in (1.0, 0.3))
    assert 0 < unsure < sure < 1
    assert ranker.confidence_in({}) == 0
