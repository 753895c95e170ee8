"""Calculations that are named: read in the graph, joined to what the search finds, ranked like everything else."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from kg.candidates.proposals import Proposal, joined, proposed_states, scores_of
from kg.candidates.ranking import collapsed_of, pool
from kg.candidates.search import START, DerivationConfig, fixed_history, search_turn
from kg.candidates.space import DerivationSpace
from kg.derivations.derivation import Derivation
from kg.derivations.history import PastTurn
from kg.figures.figure_index import ReportIndex
from kg.figures.idf import Idf
from kg.ontology.learning import build_ontology
from kg.report_graphs.graph import build_report_graph
from kg.report_graphs.observation import Observation
from kg.reports.report import Report
from kg.scoring.scorer import DerivationScorer
from kg.search.beam import beam_search

REPORT = Report(
    "r",
    (),
    (
        ("", "2009", "2008"),
        ("net income", "$ 10", "$ 12"),
        ("net sales", "100", "90"),
        ("cost of net sales", "70", "60"),
    ),
    (),
)


@pytest.fixture(scope="module")
def index() -> ReportIndex:
    observations: tuple[Observation, ...] = build_report_graph(REPORT, build_ontology([REPORT])).observations
    return ReportIndex(observations, REPORT.sentences, Idf({}, 1.0))


def _space(index: ReportIndex, *past: PastTurn) -> DerivationSpace:
    questions = [*(turn.question for turn in past), "what is it?"]
    histories = fixed_history(index, past) if past else START
    return DerivationSpace(index, questions, histories, DerivationScorer.untrained())


def _meant(space: DerivationSpace, proposal: Proposal) -> set[str]:
    found = [collapsed_of(space, state) for state in proposed_states(space, proposal)]
    return {f"{one.operation}({', '.join(map(str, one.operands))})" for one in found}


def test_a_line_item_and_a_period_are_looked_up(index: ReportIndex) -> None:
    space = _space(index)
    assert _meant(space, Proposal("select", ("net income @ 2008",))) == {"select(12)"}
    assert _meant(space, Proposal("subtract", ("Net Income @ 2009", "net income @ 2008"))) == {"subtract(10, 12)"}


def test_a_name_is_read_by_the_words_it_shares(index: ReportIndex) -> None:
    space = _space(index)
    assert _meant(space, Proposal("select", ("sales @ 2009",))) == {"select(100)"}
    assert _meant(space, Proposal("select", ("net sales",))) == {"select(100)", "select(90)"}, (
        "a label that fits exactly"
    )
    assert _meant(space, Proposal("select", ("weather @ 2009",))) == set()
    assert _meant(space, Proposal("select", ("net income @ 1999",))) == set()


def test_an_earlier_answer_is_meant_by_its_number(index: ReportIndex) -> None:
    past = (PastTurn("a?", Derivation.parse("10"), Decimal(10)), PastTurn("b?", Derivation.parse("12"), Decimal(12)))
    space = _space(index, *past)
    assert _meant(space, Proposal("subtract", ("answer 1", "answer 2"))) == {
        "subtract(Reference(turn=0), Reference(turn=1))"
    }
    assert _meant(space, Proposal("subtract", ("answer 1", "answer 9"))) == set()
    assert _meant(_space(index), Proposal("subtract", ("answer 1", "answer 2"))) == set()


def test_an_operation_that_no_form_has_makes_no_state(index: ReportIndex) -> None:
    assert proposed_states(_space(index), Proposal("greater", ("net income", "net sales"))).shape == (0, 4)
    assert proposed_states(_space(index), Proposal("subtract", ("net income",))).shape == (0, 4)


def test_a_state_scores_what_the_search_gives_it(index: ReportIndex) -> None:
    space = _space(index)
    found = pool(space, beam_search(space, DerivationConfig(beam_width=50)), 200)
    assert scores_of(space, found.states) == pytest.approx(found.scores, abs=1e-4)


def test_what_the_search_missed_joins_and_what_it_has_does_not(index: ReportIndex) -> None:
    space = _space(index)
    narrow = pool(space, beam_search(space, DerivationConfig(beam_width=1)), 200)
    states = proposed_states(space, Proposal("divide", ("cost of net sales @ 2008", "net income @ 2009")))
    more = joined(space, narrow, states)
    assert len(more) == len(narrow) + 1
    assert more.values[-1] == pytest.approx(6)
    again = joined(space, more, states)
    assert np.array_equal(again.states, more.states)


def test_a_proposal_is_a_candidate_with_its_path(index: ReportIndex) -> None:
    config = DerivationConfig(beam_width=1, output_top_k=50)
    asked = (index, ["what is it?"], START, DerivationScorer.untrained(), config)
    proposal = Proposal("divide", ("cost of net sales @ 2008", "net income @ 2009"))
    before, after = search_turn(*asked), search_turn(*asked, proposal=proposal)
    assert Decimal(6) not in {one.answer for one in before.candidates}
    [added] = [one for one in after.candidates if one.answer == Decimal(6)]
    assert "cost_of" in added.path
    assert len(added.sources) == 2
