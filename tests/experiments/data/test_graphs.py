from __future__ import annotations

from pathlib import Path

import pytest

from experiments.data import load_graph
from kg.errors import DataError
from kg.graphs.index import GraphIndex

TURTLE = """
@prefix : <http://x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:alien :directed_by :scott ; rdfs:label "Alien"@en, "Das unheimliche Wesen"@de ; :year 1979 .
:scott rdfs:label "Ridley Scott" ; :born_in :england .
"""
TRIPLES = {("Alien", "directed_by", "Ridley Scott"), ("Alien", "year", "1979"), ("Ridley Scott", "born_in", "england")}


def triples(index: GraphIndex) -> set[tuple[str, str, str]]:
    found = set()
    for name in index.entities:
        edges = index.edges(index.ids([name]))
        for relation, target in zip(edges.relation, edges.target, strict=True):
            if relation < len(index.relations) // 2:
                found.add((name, index.relations[relation], index.name(target)))
    return found


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_turtle_has_the_names_that_people_use(tmp_path: Path) -> None:
    graph = load_graph(put(tmp_path, "kb.ttl", TURTLE.strip())).graph
    assert triples(graph.index) == TRIPLES
    assert graph.topics("who made das unheimliche wesen").entities == ("Alien",)
    assert graph.topics("", ["Das unheimliche Wesen"]).entities == ("Alien",)


def test_lines_that_are_no_triples_are_said_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "kb.txt"
    bad = ["a|r", "a||b", "a|^r|b", "a -> b|r|c", "a|r|b|c"]
    path.write_bytes("\n".join(["a|r|b", *bad]).encode() + b"\na|r|\xff\n\n")
    loaded = load_graph(path)
    assert triples(loaded.graph.index) == {("a", "r", "b")}
    assert loaded.problems == (
        "kb.txt: line 7: is not UTF-8",
        "kb.txt: line 2: must have three cells, got 2: 'a r'",
        "kb.txt: line 3: subject, relation and object must not be empty: 'a  b'",
        "kb.txt: line 4: a relation must not begin with '^', which marks the way back along it: 'a ^r b'",
        "kb.txt: a name must not hold ' -> ', which separates the steps of a path: 'a -> b'",
        "kb.txt: line 6: must have three cells, got 4: 'a r b c'",
    )


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("kb.txt", "just words\n", "the first line that is none: kb.txt: line 1: must have three"),
        ("kb.txt", "", "no triple can be read"),
        ("kb.txt", "|r|b\n", "no triple can be read; the first line that is none: kb.txt: line 1: "),
        ("kb.nt", "", "no triple can be read"),
        ("kb.ttl", "no turtle", "not valid Turtle"),
    ],
)
def test_a_file_without_a_graph_is_an_error(tmp_path: Path, name: str, text: str, rule: str) -> None:
    with pytest.raises(DataError, match=rule.replace("|", r"\|")):
        load_graph(put(tmp_path, name, text))


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not there"):
        load_graph(tmp_path / "none.txt")
    with pytest.raises(DataError, match="is a folder, not a file"):
        load_graph(tmp_path)
