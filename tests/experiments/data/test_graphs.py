from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.data import KGQuestion, open_graph
from experiments.data.graphs import EndpointGraph, OneGraph, OwnGraphs, read_graph
from kg.errors import DataError
from kg.graphs import stores
from kg.graphs.index import GraphIndex

TURTLE = """
@prefix : <http://x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:alien :directed_by :scott ; rdfs:label "Alien"@en, "Das unheimliche Wesen"@de ; :year 1979 .
:scott rdfs:label "Ridley Scott" ; :born_in :england .
"""
TRIPLES = {("Alien", "directed_by", "Ridley Scott"), ("Alien", "year", "1979"), ("Ridley Scott", "born_in", "england")}


def question(*topics: str, text: str = "who directed Alien?") -> KGQuestion:
    return KGQuestion("q", text, topics, ("Ridley Scott",))


def triples(index: GraphIndex) -> set[tuple[str, str, str]]:
    found = set()
    for number in range(len(index.entities)):
        edges = index.neighbours(number)
        for relation, target in zip(edges.relation, edges.target, strict=True):
            if relation < len(index.relations) // 2:
                found.add((index.name(number), index.relations[relation], index.name(target)))
    return found


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "separator"), [("kb.tsv", "\t"), ("kb", "|"), ("kb.txt", "\t")])
def test_triples_with_a_separator(tmp_path: Path, name: str, separator: str) -> None:
    text = "".join(separator.join(triple) + "\n" for triple in sorted(TRIPLES))
    with open_graph(str(put(tmp_path, name, text))) as source:
        assert triples(source.of(question()).index) == TRIPLES
        assert (source.problem_count, source.name) == (0, name)
        assert source.sha256 is not None


def test_turtle_has_the_names_that_people_use(tmp_path: Path) -> None:
    with open_graph(str(put(tmp_path, "kb.ttl", TURTLE.strip()))) as source:
        graph = source.of(question())
        assert triples(graph.index) == TRIPLES
        assert graph.topics("who made das unheimliche wesen").entities == ("Alien",)
        assert graph.topics("", ["Das unheimliche Wesen"]).entities == ("Alien",)


def test_an_index_that_was_written_before(tmp_path: Path) -> None:
    GraphIndex.from_triples(sorted(TRIPLES)).save(tmp_path / "kb.npz")
    assert triples(read_graph(tmp_path / "kb.npz").index) == TRIPLES


def test_lines_that_are_no_triples_are_said_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "kb.txt"
    bad = ["a|r", "a||b", "a|^r|b", "a -> b|r|c", "a|r|b|c"]
    path.write_bytes("\n".join(["a|r|b", *bad]).encode() + b"\na|r|\xff\n\n")
    source = read_graph(path)
    assert triples(source.index) == {("a", "r", "b")}
    assert source.problem_count == 6
    assert source.problems == [
        "kb.txt: line 2: must be subject, relation and object with | between them, got 2 parts: 'a|r'",
        "kb.txt: line 3: subject, relation and object must not be empty: 'a||b'",
        "kb.txt: line 4: a relation must not begin with '^', which marks the way back along it: 'a|^r|b'",
        "kb.txt: line 5: a name must not hold ' -> ' or a line break, which separate the steps of a path: 'a -> b|r|c'",
        "kb.txt: line 6: must be subject, relation and object with | between them, got 4 parts: 'a|r|b|c'",
        "kb.txt: line 7: is not UTF-8",
    ]


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("kb.txt", "just words\n", "is no RDF file, index or table of triples"),
        ("kb.txt", "", "is no RDF file"),
        ("kb.txt", "|r|b\n", "no triple can be read; the first line that is none: kb.txt: line 1: "),
        ("kb.nt", "", "no triple can be read"),
        ("kb.ttl", "no turtle", "not valid Turtle"),
        ("kb.npz", "no index", "cannot be read as a graph index"),
    ],
)
def test_a_file_without_a_graph_is_an_error(tmp_path: Path, name: str, text: str, rule: str) -> None:
    with pytest.raises(DataError, match=rule.replace("|", r"\|")):
        open_graph(str(put(tmp_path, name, text)))


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not there"):
        open_graph(str(tmp_path / "none.txt"))
    with pytest.raises(DataError, match="is a folder, but no Oxigraph database"):
        open_graph(str(tmp_path))


def make_database(folder: Path, graph: str | None) -> Path:
    pyoxigraph = pytest.importorskip("pyoxigraph")
    store = pyoxigraph.Store(str(folder))
    name = pyoxigraph.NamedNode(graph) if graph is not None else pyoxigraph.DefaultGraph()
    store.load(TURTLE.encode(), format=pyoxigraph.RdfFormat.TURTLE, to_graph=name)
    store.flush()
    return folder


@pytest.mark.parametrize("graph", ["http://x/graph", None])
def test_a_database_is_read_whole(tmp_path: Path, graph: str | None) -> None:
    source = open_graph(str(make_database(tmp_path / "database", graph)))
    assert isinstance(source, OneGraph)
    assert triples(source.index) == TRIPLES


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointGraph]:
    """An endpoint whose store lies in this process; the protocol itself is tested with the stores."""
    folder = make_database(tmp_path / "database", None)
    monkeypatch.setattr("kg.graphs.EndpointStore", lambda url: stores.PersistentStore(folder))
    source = open_graph("http://x/sparql", depth=1)
    assert isinstance(source, EndpointGraph)
    yield source
    source.close()


@pytest.mark.parametrize("topics", [("Alien",), ("http://x/alien",), ()])
def test_of_an_endpoint_each_question_gets_what_lies_around_its_topics(
    endpoint: EndpointGraph, topics: tuple[str, ...]
) -> None:
    asked = question(*topics)
    graph = endpoint.of(asked)
    assert triples(graph.index) == {("Alien", "directed_by", "Ridley Scott"), ("Alien", "year", "1979")}
    assert graph.topics(asked.question, asked.topics).entities == ("Alien",)
    assert not graph.truncated


def test_an_endpoint_without_the_topic_gives_an_empty_graph(endpoint: EndpointGraph) -> None:
    assert len(endpoint.of(question("Blade Runner")).index) == 0
    assert len(endpoint.of(question(text="who sings?")).index) == 0


def test_questions_bring_their_own_graphs() -> None:
    source = open_graph(None)
    assert isinstance(source, OwnGraphs)
    own = KGQuestion("q", "?", ("a",), ("b",), graph=lambda: [("a", "r", "b"), ("a", "^r", "c")])
    assert triples(source.of(own).index) == {("a", "r", "b")}
    assert source.problem_count == 1
    with pytest.raises(DataError, match="question 'q': has no graph of its own"):
        source.of(question())
