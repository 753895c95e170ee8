"""Totals, averages and extremes over groups of figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from kg.calculations import (
    AGGREGATE_FEATURES,
    AggregateModel,
    DerivationScorer,
    FormScorer,
    ReportIndex,
    WeightedHistory,
)
from kg.calculations.aggregates import Aggregates
from kg.calculations.aggregating import aggregate_answers, may_aggregate, with_aggregates
from kg.calculations.turn_search import START, DerivationConfig, TurnSearch, search_turn
from kg.reports import Report, build_ontology, build_report_graph

UNTRAINED = DerivationScorer.untrained()
TABLE = (
    ("( in thousands )", "2019", "2018", "2017"),
    ("rent", "$ 30", "$ 20", "$ 10"),
    ("wages", "$ 120", "$ 100", "$ 110"),
    ("fuel", "$ 50", "$ 30", "$ 41"),
    ("advertising", "$ 7", "$ 6", "$ 5"),
    ("total costs", "$ 207", "$ 156", "$ 166"),
)
TEXT = ("it leased 4 stores , 6 depots and 9 offices .",)
FORMS = (
    "sum_of(A, A)",
    "average_of(A, A)",
    "argmax(A, A)",
    "argmin(A, A)",
    "divide(A, A)",
    "subtract(A, A)",
    "select(A)",
)
CONFIG = DerivationConfig(beam_width=200, pool=400)
WANTED = {
    "structural": 1.0,
    "named": 8.0,
    "listed": 9.0,
    "cued": 6.0,
    "uncued": -6.0,
    "named_share": 8.0,
    "support": 3.0,
}


def scorer(weights: dict[str, float] | None) -> DerivationScorer:
    aggregates = None if weights is None else AggregateModel(weights)
    zeros = np.zeros((1, len(FORMS)), dtype=np.float32)
    return replace(UNTRAINED, forms=FormScorer(FORMS, {"bias": 0}, zeros), aggregates=aggregates)


def index() -> ReportIndex:
    report = Report("ACME/2019/page_1.pdf", TEXT, TABLE, ())
    graph = build_report_graph(report, build_ontology([report]))
    return ReportIndex(graph.observations, report.sentences, UNTRAINED.idf)


def search(*questions: str, weights: dict[str, float] | None = None) -> TurnSearch:
    histories: Sequence[WeightedHistory] = START
    for place in range(len(questions)):
        found = search_turn(index(), questions[: place + 1], histories, scorer(weights), CONFIG)
        histories = found.next_histories(1)
    return found


def written(question: str) -> set[str]:
    aggregates = Aggregates(search(question).space)
    return {str(aggregates.derivation(one)) for one in aggregates.all}


@pytest.mark.parametrize(
    ("question", "program"),
    [
        ("what were rent, fuel and advertising together in 2019?", "add(30, 50), add(#0, 7)"),
        ("rent, fuel and advertising as a share of total costs in 2019?", "add(30, 50), add(#0, 7), divide(#1, 207)"),
        ("average wages from 2017 to 2019", "add(120, 100), add(#0, 110), divide(#1, const_3)"),
        ("total wages over the three years ended 2019", "add(120, 100), add(#0, 110)"),
        ("which share of the sum of rent, fuel and advertising was fuel?", "add(30, 50), add(#0, 7), divide(50, #1)"),
        (
            "what were total costs in 2019 without rent, fuel and advertising?",
            "add(30, 50), add(#0, 7), subtract(207, #1)",
        ),
        ("what were the highest wages?", "max(120, 100, 110)"),
        ("the lowest fuel cost?", "min(50, 30, 41)"),
        ("the range of wages, maximum less minimum?", "max(120, 100, 110), min(120, 100, 110), subtract(#0, #1)"),
        (
            "by how much did rent, fuel and advertising together grow in 2019?",
            "add(30, 50), add(#0, 7), add(20, 30), add(#2, 6), subtract(#1, #3)",
        ),
        ("total wages over the three years in millions", "add(120, 100), add(#0, 110), divide(#1, const_1000)"),
        ("how many stores, depots and offices in all, combined?", "add(4, 6), add(#0, 9)"),
        (
            "wages and rent over all years, combined",
            "add(30, 20), add(#0, 10), add(#1, 120), add(#2, 100), add(#3, 110)",
        ),
    ],
)
def test_aggregates_of_a_question(question: str, program: str) -> None:
    assert program in written(question)


def test_a_total_is_no_part_of_an_aggregate_that_does_not_name_it() -> None:
    assert not any("207" in one and "120" in one for one in written("average costs in 2019?"))


def test_only_questions_for_aggregates_have_them() -> None:
    model = AggregateModel({"support": 3.0})
    plain = search("what was the rent in 2019?")
    scored = replace(plain.space.scorer, aggregates=model)
    logs = np.full((1, len(FORMS)), -20.0, dtype=np.float32)
    plain.space.__dict__["form_log_probabilities"] = logs
    assert not may_aggregate(plain.space)
    plain.space.scorer = scored
    assert with_aggregates(plain.space, plain.ranked, 5) is plain.ranked
    assert may_aggregate(search("what was the average rent?").space)


def test_the_fitted_weights_decide_and_the_figures_have_paths() -> None:
    question = "what were rent, fuel and advertising together in 2019?"
    before = search(question).candidates[0]
    best = search(question, weights=WANTED | {"year_fits": 8.0, "sum": 4.0}).candidates[0]
    assert before.answer != best.answer == Decimal(87)
    assert len(best.sources) == 3
    assert all(number.path and number.source for number in best.derivation.numbers)


def test_the_probabilities_of_all_candidates_stay_a_distribution() -> None:
    found = search("what were rent, fuel and advertising together in 2019?", weights=WANTED)
    shares = np.exp([one.score for one in found.candidates])
    assert shares.sum() <= 1.0 + 1e-6
    assert list(shares) == sorted(shares, reverse=True)


def test_the_next_question_builds_on_an_aggregate() -> None:
    weights = WANTED | {"year_fits": 8.0, "sum": 4.0, "earlier": 9.0, "cued_average": 9.0}
    found = search("what were rent, fuel and advertising together in 2019?", "and on average?", weights=weights)
    assert found.candidates[0].answer == Decimal(29)


def test_own_candidates_are_readings_too() -> None:
    found = search("average wages?")
    readings = aggregate_answers(found.space, found.ranked)
    own = [place for place, one in enumerate(readings.new) if one is None]
    assert len(own) == len(found.candidates)
    used = {AGGREGATE_FEATURES[place] for place in np.flatnonzero(readings.features[own].any(axis=0))}
    assert used == {"support"}


@pytest.mark.parametrize(
    ("question", "runs"),
    [
        ("rent, fuel and advertising as a share of wages", [[0, 2, 3]]),
        ("rent plus fuel, relative to wages & advertising", [[0, 2], [1, 3]]),
        ("how does rent compare with fuel?", []),
    ],
)
def test_listed_labels_are_told_from_others(question: str, runs: list[list[int]]) -> None:
    pointers = Aggregates(search(question).space)
    column = next(line for line in pointers.table.lines if not line.across and line.extent == "whole")
    assert pointers.listed(column) == runs


def test_figures_in_brackets_are_added_up_with_and_without_their_sign() -> None:
    table = (("", "2019", "2018", "2017"), ("net loss", "-3 ( 3 )", "-4 ( 4 )", "-5 ( 5 )"))
    report = Report("ACME/2019/page_2.pdf", (), table, ())
    graph = build_report_graph(report, build_ontology([report]))
    losses = ReportIndex(graph.observations, report.sentences, UNTRAINED.idf)
    found = Aggregates(search_turn(losses, ["total net loss of the three years"], START, scorer(None), CONFIG).space)
    programs = {str(found.derivation(one)) for one in found.all}
    assert {"add(-3, -4), add(#0, -5)", "add(3, 4), add(#0, 5)"} <= programs
