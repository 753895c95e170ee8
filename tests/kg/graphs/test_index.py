"""Graphs as arrays, against the same graph as plain sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.errors import DataError, QueryError
from kg.graphs import index as index_module
from kg.graphs.index import GraphIndex
from kg.graphs.string_table import NumberedNames

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


def test_relations_are_followed_both_ways() -> None:
    index = GraphIndex.from_triples(iter(TRIPLES))
    films = index.follow(index.ids(["Scott"]), index.relation("^directed_by"))
    assert _names(index, films) == ["Alien", "Blade Runner"]
    assert sorted(_names(index, index.follow(films, index.relation("starred")))) == ["Hurt", "Weaver"]
    assert len(index) == 5
    assert index.relations == ("directed_by", "starred", "^directed_by", "^starred")


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
            along = index.edges_along(index.ids(asked), number)
            assert sorted(set(along.target)) == list(reached)
    for name in names:
        offered = {index.relations[r] for r in index.relations_of(index.ids([name]))}
        assert offered == {r for s, r, _ in edges if s == name}


@given(some_triples)
def test_sorting_packed_or_not_gives_the_same(triples: Triples) -> None:
    numbers = {name: number for number, name in enumerate("abcdefpqr")}
    subjects, values = (np.array([numbers[t[k]] for t in triples], dtype=np.int32) for k in (0, 2))
    predicates = np.array([numbers[t[1]] - 6 for t in triples], dtype=np.int32)
    packed = index_module._sorted_edges(subjects, predicates, values, 6, 3)
    sparse = index_module._sorted_edges(subjects, predicates, values, 2**30, 3)
    assert all(np.array_equal(one, other) for one, other in zip(packed, sparse, strict=True))


def test_an_empty_graph_has_nothing() -> None:
    index = GraphIndex.from_triples([])
    assert len(index) == 0
    assert index.relations == ()
    assert not index.contains("a", "p", "b")
    assert len(index.edges(index.ids([])).target) == 0


def test_large_sets_are_marked_instead_of_sorted() -> None:
    triples = [(f"s{n}", "p", f"o{n % 7}") for n in range(500)]
    index = GraphIndex.from_triples(triples)
    everything = index.follow(index.ids(f"s{n}" for n in range(500)), index.relation("p"))
    assert sorted(_names(index, everything)) == [f"o{n}" for n in range(7)]
    assert list(everything) == sorted(everything)


def test_it_can_be_saved_and_loaded(tmp_path: Path) -> None:
    index = GraphIndex.from_triples([*TRIPLES, ("Zoë\n", "is a", "")])
    path = tmp_path / "graph.npz"
    index.save(path)
    loaded = GraphIndex.load(path)
    assert loaded.relations == index.relations
    assert len(loaded) == len(index)
    assert loaded.contains("Zoë\n", "is a", "")
    assert loaded.bytes == index.bytes


def test_a_graph_without_relations_survives_saving(tmp_path: Path) -> None:
    GraphIndex.from_triples([]).save(tmp_path / "empty.npz")
    assert GraphIndex.load(tmp_path / "empty.npz").relations == ()


def test_what_is_no_index_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(b"not a zip")
    with pytest.raises(DataError, match=r"x\.npz: cannot be read as a graph index"):
        GraphIndex.load(path)
    with pytest.raises(DataError, match="cannot be read"):
        GraphIndex.load(tmp_path / "absent.npz")
    np.savez(path, format=np.array(99))
    with pytest.raises(DataError, match="the index's format must be 1, got 99"):
        GraphIndex.load(path)
    np.savez(path, format=np.array(1))
    with pytest.raises(DataError, match="cannot be read as a graph index"):
        GraphIndex.load(path)


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


def test_numbered_graphs_store_no_names() -> None:
    numbers = np.arange(5, dtype=np.int32)
    index = GraphIndex.from_ids(numbers, numbers * 0, (numbers + 1) % 5, NumberedNames("e", 5), ["next"])
    assert index.contains("e4", "next", "e0")
    assert _names(index, index.follow(index.ids(["e0"]), index.relation("^next"))) == ["e4"]


@settings(max_examples=20)
@given(st.integers(1, 200), st.integers(0, 10))
def test_memory_is_that_of_a_few_numbers_a_triple(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, high, count).astype(np.int32) for high in (100, 4, 100)]
    index = GraphIndex.from_ids(*columns, NumberedNames("e", 100), list("pqrs"))
    assert index.bytes <= 24 * len(index) + 4 * 102 + 100
