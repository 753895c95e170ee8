"""Graphs as users bring them, asked as `finpath ask` does; ``user_graphs.txt`` has files, questions and answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments.facade import graph_of, triples_of
from kg.errors import DataError
from kg.paths import large_graphs
from programs.conversation import ConversationQA
from programs.turns import Conversation

KINDS = {
    title: dict(part.split("\n", 1) for part in parts)
    for title, *parts in (
        re.split(r"\n--- ", kind)
        for kind in Path(__file__).with_name("user_graphs.txt").read_text(encoding="utf-8").split("=== ")[1:]
    )
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_user_s_own_graph_is_asked(tmp_path: Path, kind: str) -> None:
    *files, questions = KINDS[kind]
    for name in files:
        (tmp_path / name).write_text(KINDS[kind][name], encoding="utf-8")
    program = ConversationQA.for_graphs()
    world = program.world(**graph_of([str(tmp_path / name) for name in files]))
    for line in KINDS[kind][questions].strip().split("\n"):
        question, answers = line.split("?", 1)
        turn = Conversation(program, world).ask(f"{question}?")
        names = turn.detail.nodes if turn.answer is not None and turn.detail is not None else ()
        assert sorted(names) == sorted(filter(None, answers.strip().split("; "))), question


LINES, FACTS = KINDS["lines"]["g.txt"], KINDS["Wikidata without labels"]["g.ttl"]
NTRIPLES = KINDS["N-Triples"]["g.nt"]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("g.txt", LINES.replace("Bramble", "oops|x\nBramble"), "line 4: must have three cells, got 2: 'oops x'"),
        ("g.csv", LINES.replace("|", ",").replace("Bramble", "a,,b\nBramble"), "line 4: .* must not be empty: 'a  b'"),
        ("g.nt", NTRIPLES.replace("\n", "\n<urn:a> <urn:b> bad .\n", 1), "line 2: is not valid N-Triples: The object"),
        ("g.nt", NTRIPLES.replace("\n", '\n<urn:a> <urn:b> "open .\n', 1), "line 2: is not valid N-Triples"),
        ("g.ttl", FACTS.replace("wd:Q9003 wdt", 'wd:Q9 wdt:P1 "open .\nwd:Q9003 wdt'), "line 4: is not valid Turtle"),
        ("g.ttl", FACTS.replace("wd:Q9003 wdt", "wd:Q9 no:p wd:Q8 .\nwd:Q9003 wdt"), "line 4: .* prefix"),
    ],
)
def test_one_invalid_statement_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, problem: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=problem.partition(": '")[0]):
        list(triples_of(str(tmp_path / name)))
    graph = graph_of([str(tmp_path / name)])["graph"].graph
    assert re.search(f"left out: {name}: {problem}", capsys.readouterr().err)
    names = {graph.name(node) for node in range(len(graph.values))}
    assert names >= ({"Q9003", "Q9004"} if name == "g.ttl" else {"Oldmarket", "Dora Finch", "1961-03-04"})


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("g.rdf", "<a>\n<b></a>", "line 2: is not valid RDF/XML"),
        ("g.jsonld", '{"@context": "https://e.org/c"}', "is not valid JSON-LD: its @context is a web address"),
    ],
)
def test_a_file_without_a_fact_has_a_reason(tmp_path: Path, name: str, text: str, problem: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=f"has no fact; the first problem: {name}: {problem}"):
        graph_of([str(tmp_path / name)])


def test_a_large_graph_is_an_index_that_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINPATH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(large_graphs, "MOST_TYPED", 3)
    monkeypatch.setattr(large_graphs, "_LEAST_BYTES", 1)
    file = tmp_path / "g.ttl"
    file.write_text(KINDS["Wikidata, labels in the file"]["g.ttl"], encoding="utf-8")
    first = graph_of([str(file)])["graph"]
    [stored] = (tmp_path / "cache" / "graphs").iterdir()
    monkeypatch.setattr("experiments.facade.triples_of", lambda *_: iter(()))
    again = graph_of([str(file)])["graph"]
    assert list(again.index.entities) == list(first.index.entities)
    for graph in (first, again):
        program = ConversationQA.for_graphs()
        turn = Conversation(program, program.world(graph=graph)).ask("who is the head of government of Varnholt?")
        assert turn.words == "Mirjam Oss"
    stored.write_bytes(stored.read_bytes()[:100])
    with pytest.raises(DataError, match="has no fact"):
        graph_of([str(file)])


def test_an_ontology_that_holds_itself_is_read(tmp_path: Path) -> None:
    text = """
    @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
    <urn:Tea> a owl:Class ; owl:equivalentClass _:e . _:e owl:intersectionOf _:l . _:l rdf:first _:e ; rdf:rest _:l .
    <urn:sencha> a <urn:Tea> ; <urn:origin> "Japan" ."""
    (tmp_path / "g.ttl").write_text(text, encoding="utf-8")
    assert graph_of([str(tmp_path / "g.ttl")])["graph"].graph.triples
