"""Entity questions over small graphs, with a scorer that is written down."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.errors import ConfigError, QueryError
from kg.graphs.index import GraphIndex
from kg.paths.name_words import NameWords
from kg.paths.scorer import FloatArray, LearnedRelationScorer, RelationStep, masked_log_softmax
from kg.paths.space import EntityPathAnswer, PathConfig, answer_question

FILMS = GraphIndex.from_triples(
    line.split("|")
    for line in """Alien|directed_by|Scott;Blade Runner|directed_by|Scott;Alien|starred|Weaver;Alien|starred|Hurt
Blade Runner|starred|Ford;Star Wars|starred|Ford;Alien|year|1979;Alien|lone|Alien""".replace("\n", ";").split(";")
)


class Written:
    """Scores by the relations followed so far: ``{("directed_by",): {"STOP": 2.0}}``; everything else 0."""

    conditions = 5.0

    def open_words(self, question: str, topics: Sequence[str]) -> list[str]:
        """All words."""
        return question.split()

    def __init__(self, scores: Mapping[tuple[str, ...], Mapping[str, float]], may_return: bool = False) -> None:
        self.scores = scores
        self.may_return = may_return
        self.asked: list[RelationStep] = []

    def log_probabilities(self, step: RelationStep) -> FloatArray:
        self.asked.append(step)
        names = (*step.relations, "STOP")
        found = np.zeros((len(step.paths), len(names)), dtype=np.float32)
        for row, path in enumerate(step.paths):
            given = self.scores.get(tuple(step.relations[relation] for relation in path), {})
            found[row] = [given.get(name, 0.0) for name in names]
        found[:, :-1][~step.offered] = -np.inf
        if step.depth == 0:
            found[:, -1] = -np.inf
        return masked_log_softmax(found)


CO_FILMS = Written(
    {(): {"directed_by": 9.0}, ("directed_by",): {"^directed_by": 9.0}, ("directed_by", "^directed_by"): {"STOP": 9.0}}
)


def test_a_path_is_found_and_written() -> None:
    answer = answer_question(FILMS, "what else did the director of Alien direct", ["Alien"], CO_FILMS)
    assert answer.answers[0][0] == "Blade Runner"
    assert str(answer.paths[0]) == "Alien -> directed_by -> Scott -> ^directed_by -> Blade Runner"
    assert str(answer.relation_paths[0]) == "Alien -> directed_by -> ^directed_by"
    assert answer.chosen == ("Blade Runner",)


def test_topics_are_left_out_unless_the_rules_let_them_in() -> None:
    there_and_back = {(): {"year": 9.0}, ("year",): {"^year": 9.0}, ("year", "^year"): {"STOP": 9.0}}
    config = PathConfig(beam_width=1, answer_threshold=0.5)
    for may_return in (False, True):
        scorer = Written(there_and_back, may_return)
        assert (answer_question(FILMS, "q", ["Alien"], scorer, config).chosen == ("Alien",)) == may_return


def test_the_search_steps_back_from_where_only_the_topic_is_left() -> None:
    scorer = Written({(): {"lone": 4.0, "starred": 3.0}, ("starred",): {"STOP": 9.0}})
    config = PathConfig(beam_width=1, answer_threshold=0.5, backtrack_penalty=0.5)
    answer = answer_question(FILMS, "q", ["Alien"], scorer, config)
    assert answer.statistics.backtrack_count == 1
    assert answer.chosen == ("Hurt", "Weaver")
    free = answer_question(FILMS, "q", ["Alien"], scorer, replace(config, backtrack_penalty=0.0))
    assert answer.answers[0][1] == pytest.approx(free.answers[0][1] - 0.5)


def test_answers_of_two_topics_add_up() -> None:
    scorer = Written({(): {"starred": 3.0}, ("starred",): {"STOP": 9.0}})
    answer = answer_question(FILMS, "who stars in both", ["Blade Runner", "Star Wars"], scorer)
    assert answer.answers[0][0] == "Ford"
    single = answer_question(FILMS, "who stars", ["Star Wars"], scorer)
    assert answer.answers[0][1] == pytest.approx(single.answers[0][1], abs=0.2)


def test_a_threshold_decides_when_to_stop() -> None:
    scorer = Written({(): {"directed_by": 9.0}, ("directed_by",): {"STOP": 0.5}})
    by_threshold = {}
    for threshold in (0.0, 0.2, 0.9):
        config = PathConfig(beam_width=3, max_depth=2, answer_threshold=threshold)
        paths = answer_question(FILMS, "q", ["Alien"], scorer, config).relation_paths
        by_threshold[threshold] = any(path.names == ("Alien", "directed_by") for path in paths)
    assert by_threshold == {0.0: True, 0.2: True, 0.9: False}


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(ConfigError, match="topics must name at least one entity, got none"):
        answer_question(FILMS, "q", [], Written({}))
    with pytest.raises(QueryError, match="entity 'Aliens' is not in the graph; the nearest are: Alien"):
        answer_question(FILMS, "q", ["Aliens"], Written({}))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("pq"), st.sampled_from("abcde")), min_size=1),
    st.booleans(),
    st.integers(0, 5),
)
def test_a_wide_beam_finds_what_going_through_all_paths_finds(
    triples: list[tuple[str, str, str]], may: bool, seed: int
) -> None:
    index = GraphIndex.from_triples(triples)
    topic = triples[0][0]
    rng = np.random.default_rng(seed)
    scorer = Written({(): {name: float(rng.normal()) for name in index.relations}}, may)
    config = PathConfig(beam_width=1000, pool=1000, answer_threshold=0.0, max_depth=2)
    answer = answer_question(index, "q", [topic], scorer, config)
    edges = {*triples, *((o, f"^{r}", s) for s, r, o in triples)}
    paths: set[tuple[tuple[str, ...], str]] = set()
    level = {((), topic)}
    for _ in range(2):
        level = {((*names, r), o) for names, s in level for start, r, o in edges if start == s and (may or o != topic)}
        paths |= level
    assert {path.names[1:] for path in answer.relation_paths} == {names for names, _ in paths}
    assert {name for name, _ in answer.answers} <= {end for _, end in paths}
    if answer.relation_paths:
        best = answer.relation_paths[0]
        assert set(answer.chosen) == {end for names, end in paths if names == best.names[1:]}
        assert best.reached == len(answer.chosen)
    _check_paths(index, answer, topic)


def _check_paths(index: GraphIndex, answer: EntityPathAnswer, topic: str) -> None:
    assert [path.answer for path in answer.paths] == [name for name, _ in answer.answers]
    for path in answer.paths:
        assert path.entities[0] == topic
        for subject, relation, value in zip(path.entities, path.relations, path.entities[1:], strict=False):
            assert index.find(value) in index.follow(index.ids([subject]), index.relation(relation))
    scores = [score for _, score in answer.answers]
    assert scores == sorted(scores, reverse=True)
    assert all(score <= 0 for score in scores)


PRESIDENTS = """USA|government.country.presidents|Barack Obama;USA|government.country.presidents|Donald Trump
USA|government.country.presidents|George Washington;Barack Obama|people.person.spouse|Michelle Obama
Donald Trump|people.person.spouse|Melania Trump;George Washington|people.person.spouse|Martha Washington
Barack Obama|ordinal|44;Donald Trump|ordinal|45;Barack Obama|office.start|2009-01-20
Donald Trump|office.start|2017-01-20;Barack Obama|party|Democratic Party;Donald Trump|party|Republican Party
Michelle Obama|type|Lawyer"""
GRAPH = GraphIndex.from_triples(line.split("|") for line in PRESIDENTS.replace("\n", ";").split(";"))


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("who is the spouse of the 44th president of the USA?", ("Michelle Obama",)),
        ("who is the spouse of the president of the USA who took office in 2017?", ("Melania Trump",)),
        ("who is the spouse of the president of the USA of the Republican Party?", ("Melania Trump",)),
        ("which spouse of a president of the USA is a lawyer?", ("Michelle Obama",)),
        ("who are the spouses of presidents of the USA?", ("Martha Washington", "Melania Trump", "Michelle Obama")),
        (
            "who is the spouse of the 99th president of the USA?",
            ("Martha Washington", "Melania Trump", "Michelle Obama"),
        ),
    ],
)
def test_entities_under_one_relation_path_are_told_apart_by_their_facts(question: str, chosen: tuple[str, ...]) -> None:
    answer = answer_question(GRAPH, question, ["USA"], LearnedRelationScorer.untrained())
    assert tuple(sorted(answer.chosen)) == chosen
    assert answer.answers[0][0] in chosen
    assert str(answer.relation_paths[0]) == "USA -> government.country.presidents -> people.person.spouse"
    _check_paths(GRAPH, answer, "USA")


def test_a_fitted_weight_of_0_leaves_them_alike() -> None:
    plain = LearnedRelationScorer.untrained()
    scorer = replace(plain, likeness={**plain.likeness, "conditions": 0.0})
    answer = answer_question(GRAPH, "who is the spouse of the 44th president of the USA?", ["USA"], scorer)
    assert len(answer.chosen) == 3
    known = replace(plain, weights={**plain.weights, "0>lawyer": {}})
    answer = answer_question(GRAPH, "which spouse of a president of the USA is a lawyer?", ["USA"], known)
    assert len(answer.chosen) == 3


def test_a_path_goes_through_the_entity_that_fits() -> None:
    years = {"Alpha": "1982", "Beta": "1985"}
    films = [("Ford", "acted_in", film) for film in years] + [(film, "genre", "Western") for film in years]
    index = GraphIndex.from_triples([*films, *((film, "year", year) for film, year in years.items())])
    answer = answer_question(index, "what genre did Ford act in in 1985?", ["Ford"], LearnedRelationScorer.untrained())
    assert str(answer.paths[0]) == "Ford -> acted_in -> Beta -> genre -> Western"


def test_a_cycle_and_a_node_with_very_many_edges_are_searched_within_bounds() -> None:
    peaks = []
    for count in (60_000, 180_000):
        facts = [("e55555", "ordinal", "44"), ("e55555", "links", "hub"), ("hub", "links", "hub")]
        index = GraphIndex.from_triples([*(("hub", "links", f"e{number}") for number in range(count)), *facts])
        NameWords.of(index)
        tracemalloc.start()
        answer = answer_question(index, "which 44th one links to hub?", ["hub"], LearnedRelationScorer.untrained())
        assert (answer.chosen, answer.left_out) == (("e55555",), 0)
        answer = answer_question(index, "which ones link to hub?", ["hub"], LearnedRelationScorer.untrained())
        assert len(answer.chosen) == 10_000
        assert answer.left_out == pytest.approx(count - 10_000, abs=2)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]
