"""Which earlier turns a question about a report uses: what gold says, and what a model does."""

from __future__ import annotations

from decimal import Decimal

import pytest

from experiments.saved import shipped_references
from kg.coreference.reports import resolve_report
from kg.coreference.turns import ReferenceModel, references_of, turn_features, turn_probabilities, used_turns
from kg.derivations.derivation import Derivation
from kg.derivations.history import PastTurn
from kg.errors import ConfigError
from kg.figures.figure_index import ReportIndex
from kg.figures.idf import Idf
from kg.reports.graph import build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.report import Report
from optimize.scorers.coreference import ReferenceExample, fit_references

REPORT = Report(
    "r",
    ("the company had 12 stores in 2009 .",),
    (("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("total assets", "$ 90", "$ 80")),
    (),
)
PROGRAMS = ["10", "12", "subtract(10, 12)", "subtract(10, 12), divide(#0, 12)"]
QUESTIONS = [
    "what was the net income in 2009?",
    "and in 2008?",
    "what was the change?",
    "how much does this change represent, in percent?",
]


def _parsed(*programs: str) -> list[Derivation]:
    return [Derivation.parse(program) for program in programs]


def _past(count: int) -> list[PastTurn]:
    return [
        PastTurn(question, derivation, derivation.execute())
        for question, derivation in zip(QUESTIONS[:count], _parsed(*PROGRAMS[:count]), strict=True)
    ]


def _index() -> ReportIndex:
    graph = build_report_graph(REPORT, build_ontology([REPORT]))
    return ReportIndex(graph.observations, REPORT.sentences, Idf({}, 1.0))


@pytest.mark.parametrize(
    ("program", "past", "embedded", "reused"),
    [
        ("subtract(10, 12)", ["10", "12"], [], [{0}, {1}]),
        ("subtract(10, 12), divide(#0, 12)", ["10", "12", "subtract(10, 12)"], [{2}], [{1}]),
        ("subtract(10, 12), divide(#0, 12)", ["10", "subtract(10, 12)", "subtract(10, 12)"], [{1, 2}], []),
        ("12", ["12"], [], []),
        ("divide(5, 7)", ["10"], [], []),
        ("subtract(10, 12)", ["subtract(10, 12)"], [{0}], []),
        ("add(10, 5)", ["10", "10"], [], [{0, 1}]),
    ],
)
def test_gold_references(program: str, past: list[str], embedded: list[set[int]], reused: list[set[int]]) -> None:
    found = references_of(Derivation.parse(program), _parsed(*past))
    assert [set(group) for group in found.embedded] == embedded
    assert [set(group) for group in found.reused] == reused
    assert found.turns == {max(group) for group in (*embedded, *reused)}


def test_a_turn_without_a_derivation_is_never_meant() -> None:
    assert references_of(Derivation.parse("add(1, 2)"), [None]).turns == frozenset()


def test_the_graph_adds_features_and_the_questions_alone_have_fewer() -> None:
    past = _past(2)
    of_graph, of_words, of_questions = (
        turn_features(QUESTIONS[2], past, _index(), sees) for sees in ("graph", "conversation", "questions")
    )
    assert any(name.startswith("g:") for name in of_graph[0])
    assert not any(name.startswith("g:") for name in of_words[0])
    assert set(of_words[0]) < set(of_graph[0])
    assert "op:select.d1" in of_words[1]
    assert "op:?.d1" in of_questions[1]
    assert turn_features(QUESTIONS[0], [], _index()) == []


def test_a_model_learns_from_conversations_what_refers_to_what() -> None:
    examples = [ReferenceExample(QUESTIONS, _parsed(*PROGRAMS), _index()) for _ in range(5)]
    model = fit_references(examples, penalty=0.1)
    assert used_turns(model, QUESTIONS[1], _past(1), _index()) == ()
    assert used_turns(model, QUESTIONS[2], _past(2), _index()) == (0, 1)
    assert used_turns(model, QUESTIONS[3], _past(3), _index()) == (1, 2)
    again = ReferenceModel.from_json(model.to_json())
    assert turn_probabilities(again, QUESTIONS[3], _past(3), _index()) == turn_probabilities(
        model, QUESTIONS[3], _past(3), _index()
    )


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(ConfigError, match="penalty must be larger than 0, got 0"):
        fit_references([], penalty=0)
    with pytest.raises(ConfigError, match="at least one question with an earlier one"):
        fit_references([ReferenceExample(QUESTIONS[:1], _parsed("10"))])


def test_the_shipped_model_finds_the_plain_cases() -> None:
    model, index = shipped_references(), _index()
    assert used_turns(model, QUESTIONS[2], _past(2), index) == (0, 1)
    assert used_turns(model, QUESTIONS[3], _past(3), index)[-1] == 2
    assert used_turns(model, "what were the total assets in 2009?", _past(1), index) == ()


@pytest.mark.parametrize(
    ("question", "count", "kind", "canonical"),
    [
        ("and in 2008?", 1, "ellipsis", "what was the net income in 2008?"),
        ("what about 2008?", 1, "ellipsis", "what was the net income in 2008?"),
        ("and what was it in 2008?", 1, "ellipsis", "what was the net income in 2008?"),
        ("and for total assets?", 1, "ellipsis", "what was total assets in 2009?"),
        (
            "what was the change?",
            2,
            "result",
            "what was the change between the net income in 2009 and the net income in 2008?",
        ),
        ("what were the total assets in the two years?", 2, "periods", "what were the total assets in 2008 and 2009?"),
        ("what were the total assets in that year?", 2, "periods", "what were the total assets in 2008?"),
        (
            "what percentage does this change represent?",
            3,
            "result",
            "what percentage does the difference between the net income in 2009 and the net income in 2008 represent?",
        ),
        ("what were the total assets in 2009?", 2, "none", "what were the total assets in 2009?"),
    ],
)
def test_a_follow_up_is_spelled_out(question: str, count: int, kind: str, canonical: str) -> None:
    canonicals = [QUESTIONS[0], "what was the net income in 2008?", "what was the change?"]
    weights = {"1": -10.0, "w:chang.d1": 20.0, "w:chang.d2": 20.0 if count == 2 else 0.0}
    found = resolve_report(question, _past(count), canonicals[:count], _index(), ReferenceModel(weights))
    assert (found.kind, found.canonical) == (kind, canonical)


def test_the_referents_are_instances_and_line_items() -> None:
    model = ReferenceModel({"1": 10.0})
    found = resolve_report("what is the sum of them?", _past(2), QUESTIONS[:2], _index(), model)
    assert found.turns == (0, 1)
    assert [one.partition(" -> ")[2] for one in found.referents] == ["net_income", "net_income"]
    assert Decimal(10) in [turn.answer for turn in _past(2)]


def test_the_first_question_of_a_report_refers_to_nothing() -> None:
    assert resolve_report("what is it?", [], [], _index(), ReferenceModel({"1": 10.0})).kind == "none"
