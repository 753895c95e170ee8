"""Graphs as arrays, against the same graph as plain sets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import DataError, QueryError
from kg.graphs.index import GraphIndex

Triples = list[tuple[str, str, str]]

TRIPLES: Triples = [
    ("Alien", "directed_by", "Scott"),
    ("Blade Runner", "directed_by", "Scott"),
    ("Alien", "starred", "Weaver"),
    ("Alien", "starred", "Hurt"),
    ("Gorillas", "starred", "Weaver"),
]
some_triples = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("pqr"), st.sampled_from("abcdef")))


def _both_ways(triples: Triples) -> set[tuple[str, str, str]]:
    return {*triples, *((o, f"^{r}", s) for s, r, o in triples)}


def _names(index: GraphIndex, ids: Any) -> list[str]:
    return [index.name(one) for one in ids]


@given(some_triples)
def test_what_is_read_is_what_plain_sets_say(triples: Triples) -> None:
    edges = _both_ways(triples)
    index = GraphIndex.from_triples(triples)
    names = sorted({name for s, _, o in triples for name in (s, o)})
    assert len(index) == len(set(triples))
    ids = index.ids(names)
    read = index.edges(ids)
    assert {(index.name(ids[p]), index.relations[r], index.name(t)) for p, r, t in zip(*read, strict=True)} == edges
    assert len(read.place) == len(edges)
    for relation in index.relations:
        number = index.relation(relation)
        assert index.relations[index.inverse(number)] == (relation[1:] if relation[0] == "^" else f"^{relation}")
        for asked in (names, names[:1], names[1:3]):
            reached = index.follow(index.ids(asked), number)
            assert set(_names(index, reached)) == {o for s, r, o in edges if r == relation and s in asked}
            assert list(reached) == sorted(set(reached))
            along = index.edges(index.ids(asked), number)
            assert sorted(set(along.target)) == list(reached)
    for name in names:
        offered = {index.relations[r] for r in index.relations_of(index.ids([name]))}
        assert offered == {r for s, r, _ in edges if s == name}


def test_an_empty_graph_has_nothing() -> None:
    index = GraphIndex.from_triples([])
    assert len(index) == 0
    assert index.relations == ()
    assert index.find("a") is None
    assert len(index.edges(index.ids([])).target) == 0


def test_unknown_names_are_refused_and_the_nearest_offered() -> None:
    index = GraphIndex.from_triples(TRIPLES)
    with pytest.raises(QueryError, match="entity 'Aliens' is not in the graph; the nearest are: Alien"):
        index.ids(["Aliens"])
    with pytest.raises(QueryError, match="relation 'stars' is not in the graph; the nearest are: starred"):
        index.relation("stars")
    assert index.find("Aliens") is None


def test_relations_that_look_like_a_way_back_are_refused() -> None:
    with pytest.raises(DataError, match=r"must not begin with '\^', got '\^p'"):
        GraphIndex.from_triples([("a", "^p", "b")])
