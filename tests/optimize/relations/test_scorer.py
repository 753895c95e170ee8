"""Fitting the scorer of relations on a family whose questions come in a few wordings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kg.errors import DataError
from kg.graphs.index import GraphIndex
from kg.paths.scorer import LearnedRelationScorer
from kg.paths.space import answer_question
from optimize.relations.paths import RelationExample, locate
from optimize.relations.scorer import RelationTrainingConfig, fit_relation_scorer

WORDINGS = {"mother": ("mother", "mum"), "child": ("child", "kid"), "job": ("job", "profession"), "city": ("city",)}
SMALL = RelationTrainingConfig(max_hops=2, rounds=2, iterations=40, searched=20)


def _family(people: int = 60) -> GraphIndex:
    """Everyone has a mother, children by that, a job, a city; the jobs of three in four are their mothers'."""
    rng = np.random.default_rng(0)
    triples = []
    for number in range(people):
        name = f"p{number}"
        mother = f"p{number // 2}" if number else "p59"
        triples += [(name, "mother", mother), (mother, "child", name)]
        triples += [(name, "job", f"job{rng.integers(12)}"), (name, "city", f"city{number % 7}")]
    return GraphIndex.from_triples(triples)


FAMILY = _family()


def _questions(count: int, seed: int, *, with_path: bool) -> list[RelationExample]:
    rng = np.random.default_rng(seed)
    found: list[RelationExample] = []
    while len(found) < count:
        topic = f"p{rng.integers(60)}"
        path = tuple(rng.choice(list(WORDINGS), size=rng.integers(1, 3)))
        said = [str(rng.choice(WORDINGS[relation])) for relation in path]
        if len(path) == 1:
            question = f"what is the {said[0]} of {topic} ?"
        else:
            question = (
                f"{topic} 's {said[0]} 's {said[1]} ?"
                if rng.random() < 0.5
                else f"the {said[1]} of {topic} 's {said[0]} ?"
            )
        reached = FAMILY.ids([topic])
        for relation in path:
            reached = FAMILY.follow(reached, FAMILY.relation(relation))
        answers = tuple(FAMILY.name(one) for one in reached if FAMILY.name(one) != topic)
        if answers and topic not in {FAMILY.name(one) for one in reached}:
            found.append(RelationExample(question, (topic,), answers, path if with_path else None))
    return found


def _accuracy(scorer: LearnedRelationScorer, questions: Sequence[RelationExample]) -> float:
    found = [
        set(answer_question(FAMILY, one.question, one.topics, scorer).chosen) == set(one.answers) for one in questions
    ]
    return float(np.mean(found))


@pytest.mark.parametrize(("with_path", "least"), [(True, 0.95), pytest.param(False, 0.85, marks=pytest.mark.slow)])
def test_questions_like_those_learned_from_are_answered(with_path: bool, least: float) -> None:
    scorer = fit_relation_scorer(FAMILY, _questions(150, 0, with_path=with_path), SMALL, seed=0)
    unseen = _questions(80, 1, with_path=False)
    assert _accuracy(scorer, unseen) >= least
    assert _accuracy(LearnedRelationScorer.untrained(), unseen) < least
    assert scorer.trained_on.startswith("150")


def test_a_relation_that_is_not_in_training_is_known_by_its_name() -> None:
    train = [one for one in _questions(150, 0, with_path=True) if "city" not in (one.path or ())]
    scorer = fit_relation_scorer(FAMILY, train, SMALL)
    asked = [RelationExample(f"what is the city of p{n} ?", (f"p{n}",), (f"city{n % 7}",)) for n in range(10)]
    assert _accuracy(scorer, asked) == 1.0


def test_nothing_to_learn_from_is_said() -> None:
    with pytest.raises(DataError, match="no question has a path"):
        fit_relation_scorer(FAMILY, [RelationExample("who", ("p1",), ("nobody",))], SMALL)
    with pytest.raises(DataError, match="no question has a path"):
        fit_relation_scorer(FAMILY, [RelationExample("who", ("nobody",), ("p1",), ("mother",))], SMALL)
    with pytest.raises(DataError, match="'who': the path has 'aunt', which is not a relation of the graph"):
        fit_relation_scorer(FAMILY, [RelationExample("who", ("p1",), ("p2",), ("aunt",))], SMALL)
    with pytest.raises(DataError, match="no question has a path"):
        fit_relation_scorer(FAMILY, [], SMALL)


def test_the_shortest_exact_paths_are_found() -> None:
    index = GraphIndex.from_triples(
        [("a", "p", "b"), ("a", "q", "b"), ("a", "q", "c"), ("b", "p", "d"), ("b", "r", "a"), ("c", "r", "e")]
    )

    def paths(*answers: str, loose: bool = False) -> set[tuple[str, ...]]:
        blank = LearnedRelationScorer({}, {}, loose)
        located = locate(index, RelationExample("?", ("a",), answers), blank, 2)
        return {tuple(index.relations[relation] for relation in path[1:]) for path in located.paths}

    assert paths("b") == {("p",), ("^r",)}
    assert paths("b", "c") == {("q",)}
    assert paths("d") == {("p", "p"), ("q", "p"), ("^r", "p")}
    assert paths("e") == {("q", "r")}
    assert paths("a", loose=True) >= {("p", "r"), ("p", "^p")}
    assert paths("a") == set()
    assert paths("b", "zz") == {("p",), ("^r",)}
    assert paths("b", "c", "d") == {("q",)}
    many = [f"n{number}" for number in range(30)]
    index = GraphIndex.from_triples(
        [("a", "p", n) for n in many] + [("a", "q", "h")] + [("h", "p", n) for n in many[1:]]
    )
    assert paths(*many[1:]) == {("p",)}
    assert paths(*many[15:]) == {("p",)}


@pytest.mark.parametrize(("means", "weight"), [(True, 5.0), (False, 0.0)])
def test_the_weight_of_conditions_is_fitted(means: bool, weight: float) -> None:
    """A number of a question selects among the answers, or is no condition."""
    triples = [(f"t{n}", "member", f"m{n}_{place}") for n in range(30) for place in range(3)]
    triples += [(f"m{n}_{place}", "rank", str(place + 1)) for n in range(30) for place in range(3)]
    examples = [
        RelationExample(
            f"who is the {place + 1}. member of t{n} ?",
            (f"t{n}",),
            (f"m{n}_{place}",) if means else tuple(f"m{n}_{other}" for other in range(3)),
        )
        for n in range(30)
        for place in range(3)
    ]
    index = GraphIndex.from_triples(triples)
    scorer = fit_relation_scorer(index, examples, SMALL, seed=0)
    assert scorer.conditions == weight
    chosen = answer_question(index, "who is the 2. member of t7 ?", ["t7"], scorer).chosen
    assert chosen == (("m7_1",) if means else ("m7_0", "m7_1", "m7_2"))
