"""From completed states to merged, ranked and written answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kg.calculations.forms import FormScorer
from kg.calculations.network import ChoiceNetwork
from kg.calculations.operand_features import JOINT_NAMES
from kg.calculations.ranking import Candidate, derivation_of
from kg.calculations.report_index import ReportIndex
from kg.calculations.scorer import JOINT_WIDTH, ROLE_WIDTH, DerivationScorer, feature_widths
from kg.calculations.turn_search import START, DerivationConfig, TurnSearch, fixed_history, search_turn
from kg.reports.graph import build_report_graph
from kg.reports.learning import build_ontology
from kg.reports.observation import CellSource, Observation
from kg.reports.report import Report
from kg.search.derivation import Derivation
from kg.search.history import PastTurn
from kg.search.steps import merge_key

SAMPLE = Path(__file__).resolve().parents[3] / "experiments" / "sample"
UNTRAINED = DerivationScorer.untrained()
WIDE = DerivationConfig(beam_width=300, output_top_k=300, pool=3000)

REPORT = Report(
    id="r",
    pre_text=("net income was $ 10 million .",),
    table=(("", "2009", "2008"), ("net income", "$ 10", "$ 12"), ("cost", "5", "0")),
    post_text=(),
)
ONTOLOGY = build_ontology([REPORT])


def _index(report: Report = REPORT) -> ReportIndex:
    return ReportIndex(build_report_graph(report, ONTOLOGY).observations, report.sentences, UNTRAINED.idf)


def _scorer(names: Sequence[str]) -> DerivationScorer:
    return replace(UNTRAINED, forms=FormScorer(names, {"bias": 0}, np.zeros((1, len(names)), dtype=np.float32)))


def _search(names: Sequence[str], past: Sequence[PastTurn] = (), config: DerivationConfig = WIDE) -> TurnSearch:
    index = _index()
    questions = [*(turn.question for turn in past), "net income in 2009?"]
    return search_turn(index, questions, fixed_history(index, past) if past else START, _scorer(names), config)


def _written(found: TurnSearch, place: int) -> str:
    return str(derivation_of(found.space, found.ranked.pool.states[place]))


def test_a_row_is_the_answer_before_a_sum_that_equals_it() -> None:
    total = Report("t", (), (("", "2009"), ("north", "5"), ("south", "7"), ("whole", "12")), ())
    scorer = replace(UNTRAINED, forms=FormScorer(["select(A)", "add(A, A)"], {"bias": 0}, np.array([[0.0, 18.7]])))
    found = search_turn(_index(total), ["whole in 2009?"], START, scorer, WIDE)
    candidate = next(one for one in found.candidates if one.answer == 12)
    members = found.ranked.members[found.candidates.index(candidate)]
    likelier = found.ranked.log_probabilities[members[1]] > found.ranked.log_probabilities[members[0]]
    assert (str(candidate.derivation), bool(likelier)) == ("12", True)


def test_equal_answers_are_one_candidate_with_the_sum_of_their_probabilities() -> None:
    found = _search(["select(A)"])
    answers = [candidate.answer for candidate in found.candidates]
    assert len(set(map(merge_key, answers))) == len(answers)
    ten = answers.index(Decimal(10))
    members = found.ranked.members[ten]
    assert len(members) == 2, "in the table and in the sentence"
    each = np.exp(found.ranked.log_probabilities[list(members)])
    assert np.exp(found.candidates[ten].score) == pytest.approx(each.sum(), rel=1e-4)
    assert each[0] >= each[1]


def test_a_verdict_is_not_merged_with_the_number_one_or_zero() -> None:
    found = _search(["greater(A, A)", "divide(A, A)", "subtract(A, A)"])
    answers = [candidate.answer for candidate in found.candidates]
    assert {"yes", "no"} <= set(answers)
    assert {Decimal(1), Decimal(0)} <= {answer for answer in answers if isinstance(answer, Decimal)}
    for place, answer in enumerate(answers):
        results = {merge_key(Derivation.parse(_written(found, m)).execute()) for m in found.ranked.members[place]}
        assert results == {merge_key(answer)}


def test_candidates_are_the_most_probable_first_and_their_probabilities_sum_to_one() -> None:
    found = _search(["select(A)", "subtract(A, A)"])
    scores = [candidate.score for candidate in found.candidates]
    assert scores == sorted(scores, reverse=True)
    assert max(scores) <= 0
    assert np.exp(scores).sum() == pytest.approx(1, abs=1e-3)


def _linear_ranker(**weights: float) -> ChoiceNetwork:
    skip = np.zeros(JOINT_WIDTH, dtype=np.float32)
    for name, weight in weights.items():
        skip[JOINT_NAMES.index(name)] = weight
    return ChoiceNetwork.linear(skip, feature_widths()[2] - ROLE_WIDTH, 0)


def test_a_ranker_decides_on_the_order_and_the_probabilities() -> None:
    index, scorer = _index(), _scorer(["select(A)", "subtract(A, A)"])
    ranker = _linear_ranker(score=1, history=1, every_year_used=50)
    question = ["the change of net income from 2008 to 2009?"]
    plain, ranked = (search_turn(index, question, START, replace(scorer, ranker=one), WIDE) for one in (None, ranker))
    best = ranked.candidates[0].derivation
    assert plain.candidates[0].derivation.is_look_up
    assert best.steps[0].operation == "subtract"
    periods = {o.id: o.period for o in index.observations}
    assert {periods[number.source] for number in best.numbers if number.source} == {"2008", "2009"}
    assert ranked.candidates[0].score > plain.candidates[0].score
    assert sum(np.exp(one.score) for one in ranked.candidates) == pytest.approx(1, abs=1e-3)
    (kept,) = ranked.next_histories(1)
    assert kept.turns[-1].derivation == best


def test_answers_may_be_calculated_with_where_the_report_has_no_figures() -> None:
    empty = ReportIndex([], [], UNTRAINED.idf)
    past = [PastTurn(f"{text}?", Derivation.parse(text), Decimal(text)) for text in ("5", "3")]
    scorer = replace(_scorer(["subtract(R, R)"]), ranker=_linear_ranker(score=1))
    found = search_turn(empty, ["5?", "3?", "the difference?"], fixed_history(empty, past), scorer, WIDE)
    assert {str(candidate.derivation) for candidate in found.candidates} >= {"subtract(5, 3)", "subtract(3, 5)"}


def test_arithmetic_without_a_result_is_no_candidate() -> None:
    found = _search(["divide(A, A)"])
    assert found.candidates
    assert np.isfinite(found.ranked.pool.values).all(), "nor does it take a place in the pool"
    assert not [c for c in found.candidates if str(c.derivation).endswith(", 0)")]
    assert _search(["divide(R, R)"], [PastTurn("a?", Derivation.parse("0"), Decimal(0))]).candidates == ()


def test_verdicts_and_failures_are_not_calculated_with() -> None:
    verdict = PastTurn("a?", Derivation.parse("greater(2, 1)"), "yes")
    for turn in (verdict, PastTurn("a?", None, None)):
        assert _search(["subtract(R, R)", "add(R, A)"], [turn]).candidates == ()


@cache
def _sample() -> list[tuple[ReportIndex, Report, list[str]]]:
    records = json.loads((SAMPLE / "dev.json").read_text())
    reports = [Report.from_dict(record) for record in records]
    ontology = build_ontology(reports)
    built = {
        report: ReportIndex(build_report_graph(report, ontology).observations, report.sentences, UNTRAINED.idf)
        for report in dict.fromkeys(reports)
    }
    questions = [record["annotation"]["dialogue_break"] for record in records]
    return [(built[report], report, asked) for report, asked in zip(reports, questions, strict=True)]


def _span(report: Report, observation: Observation) -> str:
    source = observation.source
    if isinstance(source, CellSource):
        return report.table[source.row][source.column][source.start : source.end]
    return report.sentences[source.sentence][source.start : source.end]


def _assert_from_the_report(candidate: Candidate, index: ReportIndex, report: Report) -> None:
    by_id = {observation.id: observation for observation in index.observations}
    numbers = candidate.derivation.numbers
    assert len(candidate.sources) == len(numbers)
    for number, source in zip(numbers, candidate.sources, strict=True):
        assert number.source is not None
        observation = by_id[number.source]
        assert observation.source == source
        assert number.text.strip("-%") in _span(report, observation).replace(",", ""), candidate
        assert number.path is not None
        assert number.path in candidate.path


def test_no_candidate_holds_a_figure_that_the_report_does_not() -> None:
    """Over whole conversations of the sample, with weights that were fitted to nothing."""
    config = DerivationConfig(beam_width=3, histories=2, output_top_k=30)
    checked = 0
    for index, report, questions in _sample()[::3]:
        histories = START
        for turn in range(len(questions)):
            found = search_turn(index, questions[: turn + 1], histories, UNTRAINED, config)
            assert found.candidates
            for candidate in found.candidates:
                _assert_from_the_report(candidate, index, report)
                assert candidate.derivation.execute() == candidate.answer
                checked += 1
            histories = found.next_histories(config.histories)
    assert checked > 500
