"""Growing graphs on disk by the commands: documents in, questions, briefings; a user's data stay in their tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Store

from experiments.commands import main as cli
from experiments.data import read_documents, recorded_replies
from experiments.facade import open_graph
from kg.growing import graph_triples
from kg.growing.graph import GrowingGraph
from kg.news import stored_facts
from programs.advisor import Advisor, ReadDocuments
from tests.demonstrations import ADVISOR as SAMPLE
from tests.demonstrations import HAS_READER, make_database, needs_reader
from tests.experiments.openai_server import ScriptedServer

Run = tuple[int, dict[str, Any]]


def run(tmp_path: Path, *words: str) -> Run:
    """A command's exit code and what it wrote as JSON."""
    out = tmp_path / "out.json"
    out.unlink(missing_ok=True)
    code = cli.main([*words, "--json", str(out)])
    return code, json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}


INGEST = ("ingest", "sample:news", "--today", "2026-11-20")


def test_documents_of_the_sample_enter_once_with_recorded_replies(
    ingested: tuple[Path, dict[str, Any]], graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = ingested[1]
    assert (first["documents"], first["known"], first["refused"]) == (12, 0, [])
    assert (first["stated_facts"], first["stated_events"]) == (62, 18)
    code, again = run(tmp_path, *INGEST, "--graph", graph)
    assert "are replayed from recorded replies of a language model" in capsys.readouterr().err
    assert (code, again["known"], again["nodes"], again["edges"]) == (0, 12, 0, 0)
    assert again["facts"] == first["facts"]


def test_portions_of_documents_give_the_facts_of_the_whole(graph: str, tmp_path: Path) -> None:
    documents, replies = sorted(read_documents(["sample:news"])[0], key=lambda one: one.published), recorded_replies()
    portions = str(tmp_path / "portions")
    for portion in (documents[:4], documents[2:5], documents[5:]):
        with open_graph(portions, new=True) as opened:
            for document in portion:
                Advisor(opened).ingest(document, ReadDocuments.recorded(replies[document.name]))
    facts = [set(graph_triples(GrowingGraph(path, read_only=True))) for path in (graph, portions)]
    assert facts[0] == facts[1]


def test_without_a_model_sentences_are_kept_and_the_command_that_gets_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = run(tmp_path, "ingest", str(SAMPLE / "documents"), "--graph", str(tmp_path / "knowledge"))
    assert (code, found["documents"], found["stated_facts"]) == (0, 12, 0)
    assert "their sentences are kept" in (said := capsys.readouterr().err)
    assert "finpath ingest FILE... --graph FOLDER --lm" in said


def test_a_model_states_the_facts_and_events_of_a_document(tmp_path: Path) -> None:
    replies = json.loads((SAMPLE / "replies.json").read_text(encoding="utf-8"))["09-osprey-dividend.txt"]
    wrong = {**replies["facts"][0], "subject": "Helixon Inc."}
    script = {"facts": json.dumps([*replies["facts"], wrong]), "events": json.dumps(replies["events"])}
    document, graph = str(SAMPLE / "documents" / "09-osprey-dividend.txt"), str(tmp_path / "knowledge")
    with ScriptedServer([script]) as server:
        lm = ("--lm", "openai/m", "--lm-set", f"api_base={server.url}", "--lm-set", "retries=0", "--no-track")
        code, found = run(tmp_path, "ingest", document, "--graph", graph, *lm, "--today", "2026-11-20")
        assert (code, found["stated_facts"], found["stated_events"]) == (0, 5, 2)
        assert found["refused"] == ["09-osprey-dividend.txt: the document does not have 'Helixon Inc.'"]
        assert run(tmp_path, "ingest", document, "--graph", graph, *lm)[1]["known"] == 1
    assert len(server.heard) == 1
    assert "[2] Osprey Rail Ltd (OSPR)" in str(server.heard[0][-1]["content"])


def test_a_document_that_is_none_is_left_out_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "news"
    folder.mkdir()
    (folder / "a.txt").write_text("\n", encoding="utf-8")
    (folder / "b.txt").write_bytes(b"\xff\xfe\xff")
    text = (SAMPLE / "documents" / "01-helixon-results.txt").read_text(encoding="utf-8")
    (folder / "c.txt").write_text(text, encoding="utf-8")
    code, found = run(tmp_path, "ingest", str(folder), "--graph", str(tmp_path / "knowledge"))
    assert (code, found["documents"], len(found["problems"])) == (1, 1, 2)
    assert [problem.partition(":")[0] for problem in found["problems"]] == ["a.txt", "b.txt"]
    assert "left out: a.txt" in capsys.readouterr().err
    nowhere, empty = tmp_path / "nowhere", tmp_path / "empty"
    empty.mkdir()
    assert read_documents([str(nowhere)]) == ([], [f"{nowhere}: is neither a file nor a folder"])
    for place in (nowhere, empty):
        assert cli.main(["ingest", str(place), "--graph", str(tmp_path / "none")]) == 1
    assert not (tmp_path / "none").exists()


@needs_reader
def test_a_question_is_answered_with_what_it_rests_on(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = run(tmp_path, "ask", graph, "Which company issued the asset VRNT?")
    assert (code, found["turns"][0]["answers"]) == (0, ["Varna Terminals AD"])
    assert "VRNT -> issued by -> Varna Terminals AD" in capsys.readouterr().out


def test_what_cannot_be_answered_does_not_enter_the_graph(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _content(graph)
    code, found = run(tmp_path, "ask", graph, "Who insures Helixon against storms?")
    assert (code, found["turns"][0]["answers"]) == (1, None)
    assert "no answer: " in capsys.readouterr().out
    assert _content(graph) == before
    assert cli.main(["brief", str(tmp_path / "none"), "--database", str(tmp_path), "--user", "ann"]) == 1


def test_a_document_is_undone_by_its_name(graph: str, tmp_path: Path) -> None:
    before = run(tmp_path, "graph", "show", graph, "--history")[1]
    assert "Osprey Rail Ltd" in before["companies"]
    assert "09-osprey-dividend.txt" in {entry["document"] for entry in before["history"]}
    last = before["history"][-1]["number"]
    assert run(tmp_path, "ingest", "--undo", str(last), "--graph", graph)[1]["undone"] == [last]
    code, found = run(tmp_path, "ingest", "--undo", "09-osprey-dividend.txt", "--graph", graph)
    assert (code, len(found["undone"])) == (0, 2)
    with GrowingGraph(graph, read_only=True) as opened:
        assert not [fact for fact in stored_facts(opened) if fact.subject == "Osprey Rail Ltd"]
    assert cli.main(["ingest", "--undo", "nowhere.txt", "--graph", graph]) == 1
    assert run(tmp_path, *INGEST, "--graph", graph)[1]["known"] == 10


def test_nothing_of_the_user_enters_the_graph(tmp_path: Path, graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither names nor shares nor prices, of which none occurs in a document; nor what only the tables know."""
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "positions.csv").write_text(
        "user_id,symbol,shares,avg_cost,added_at\nzelda-quist,HLXN,987654,7654.321,1999-01-02\n"
        "zelda-quist,XQZW,13131,5.5,1999-01-03\nnobody,NONE,1,1,1999-01-03\n",
        encoding="utf-8",
    )
    (folder / "watchlist.csv").write_text("user_id,symbol,added_at\nzelda-quist,BRMB,1999-03-04\n", encoding="utf-8")
    make_database(tmp_path / "portfolio.db", folder)
    words = (graph, "--database", str(tmp_path / "portfolio.db"), "--today", "2026-11-20")
    before = _content(graph)
    _, found = run(tmp_path, "brief", *words, "--user", "zelda-quist")
    assert {row["symbol"] for row in found["briefings"]} == {"HLXN", "BRMB"}
    assert capsys.readouterr().err.count("no company of the graph has the symbol XQZW") == 1
    after = _content(graph)
    assert after == before
    for word in ("zelda", "quist", "987654", "7654", "XQZW", "xqzw", "13131", "1999-0"):
        assert word not in after


def _content(graph: str) -> str:
    """All that the graph holds, types and proposals included."""
    return "\n".join(sorted(map(str, Store.read_only(graph))))


def test_a_text_that_has_changed_since_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, words = tmp_path / "a.txt", ("ingest", str(tmp_path / "a.txt"), "--graph", str(tmp_path / "graph"))
    text = "Keld mill is sold\n2026-02-03\n\nKELD - Ardent Holdings has bought Tarrant Mills for $85 million.\n"
    path.write_text(f"{text}Its looms date from 1911. It rained.\n", encoding="utf-8")
    assert run(tmp_path, *words)[1]["changed"] == 0
    path.write_text(text.replace("85", "90"), encoding="utf-8")
    capsys.readouterr()
    assert run(tmp_path, *words)[1]["changed"] == 1
    told = "another text of this name was read before: its facts stay"
    assert f"{told}; to have the new text alone, undo a.txt and ingest it again" in capsys.readouterr().out
    found = run(tmp_path, *words)[1]
    assert (found["known"], found["changed"]) == (1, 0)
    assert run(tmp_path, "ingest", "--undo", "a.txt", "--graph", words[3])[0] == 0
    assert run(tmp_path, *words)[1]["changed"] == 0


MILL = """Mill town loses its weaver
2026-02-03

KELD - Ardent Holdings has bought Tarrant Mills for $85 million.
"""
PRICE = "How much did Ardent Holdings pay for Tarrant Mills?"


@pytest.fixture(scope="module")
def ingested_mill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of one short text, which no test changes."""
    if not HAS_READER:
        pytest.skip("needs the reader's weights")
    folder = tmp_path_factory.mktemp("mill")
    (folder / "mill.txt").write_text(MILL, encoding="utf-8")
    assert run(folder, "ingest", str(folder / "mill.txt"), "--graph", str(folder / "mill"))[0] == 0
    return folder / "mill"


@pytest.fixture
def mill(ingested_mill: Path, tmp_path: Path) -> str:
    """A copy of that graph for the test alone."""
    return str(shutil.copytree(ingested_mill, tmp_path / "mill"))


def facts_of(graph: str) -> int:
    with GrowingGraph(graph, read_only=True) as opened:
        return opened.facts()


def test_a_sentence_answers_and_asking_writes_nothing(tmp_path: Path, mill: str) -> None:
    before = facts_of(mill)
    code, forgotten = run(tmp_path, "ask", mill, PRICE)
    assert (code, forgotten["turns"][0]["answers"], facts_of(mill)) == (0, ["$85 million"], before)
    path = forgotten["turns"][0]["path"]
    assert path == "News(Mill town loses its weaver) -> has_passage -> Passage(mill.txt 0)"


def test_briefings_cite_documents_and_nodes_that_are_there(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "portfolio.db"
    make_database(database, SAMPLE)
    words = ("brief", graph, "--database", str(database), "--user", "ann", "--today")
    code, found = run(tmp_path, *words, "2026-11-20")
    assert code == 0
    told = {(row["symbol"], row["held"]) for row in found["briefings"]}
    assert told == {("CLDR", True), ("HLXN", True), ("OSPR", True), ("MRDN", False), ("BRMB", False)}
    cited = ("05-calder-outlook.txt, Harbour Wire, 2026-11-05", "It missed estimates", "It is no advice.")
    written, said = capsys.readouterr()
    assert all(text in written for text in ("You hold 40 CLDR", *cited))
    assert "no insights about CLDR, HLXN, OSPR, BRMB, MRDN: a model draws them: finpath brief" in said
    content = _content(graph)
    assert all(f"<{iri}>" in content for row in found["briefings"] for iri in row["citations"])
    code, found = run(tmp_path, *words, "2027-06-01")
    assert (code, found["briefings"]) == (0, [])


def test_a_model_draws_insights_which_a_later_briefing_shows(graph: str, tmp_path: Path) -> None:
    make_database(tmp_path / "portfolio.db", SAMPLE)
    words = ("brief", graph, "--database", str(tmp_path / "portfolio.db"), "--user", "ben", "--today", "2026-11-20")
    insight = {"kind": "observation", "action": "none", "reason": "It grows.", "events": [1], "strength": 0.6}
    with ScriptedServer([{"insight": json.dumps(insight)}] * 2) as server:
        lm = ("--lm", "openai/m", "--lm-set", f"api_base={server.url}", "--lm-set", "retries=0")
        code, found = run(tmp_path, *words, *lm)
        assert (code, found["refused"]) == (0, [])
        assert run(tmp_path, *words, *lm)[1] == found
    assert len(server.heard) == 2
    before = _content(graph)
    rows = run(tmp_path, *words)[1]["briefings"]
    assert rows[0]["text"] == "You hold 60 QLPH. Quillon Pharma SA: observation (strength 0.6): It grows."
    assert [len(row["citations"]) for row in rows] == [2, 2]
    assert all(f"<{iri}>" in before for row in rows for iri in row["citations"])
    assert _content(graph) == before
