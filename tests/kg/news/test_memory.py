"""News in a graph: newer over older, both kept; answers with their sources; abstention."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from experiments.commands import main as cli
from kg.growing import GrowingGraph, Schema, TypeProposals
from kg.investments import NewsDocument, investment_schema
from kg.news import FrameReader, NewsAnswers, add_news_types, directory_of, stored_facts
from programs.advisor import Advisor

FIRST = """Quorate grows

AUSTIN, Texas, May 4, 2026 (Wire) - Quorate Devices, headquartered in Austin, has agreed to buy Palomar Systems for
$40 million. Chief executive Ruth Amsel called it a good fit. The weather was fine.
"""
SECOND = """Quorate leaves Austin

DENVER, Aug 3, 2026 (Wire) - Quorate Devices is now headquartered in Denver. Tom Beck was named chief executive of
Quorate Devices on Monday.
"""


@pytest.fixture
def graph(tmp_path: Path) -> str:
    """A graph of two documents, the newer one first in the folder."""
    folder = tmp_path / "news"
    folder.mkdir()
    (folder / "a.txt").write_text(SECOND, encoding="utf-8")
    (folder / "b.txt").write_text(FIRST, encoding="utf-8")
    assert cli.main(["ingest", str(folder), "--graph", str(tmp_path / "graph")]) == 0
    return str(tmp_path / "graph")


def ask(graph: str, tmp_path: Path, *questions: str) -> list[list[str]]:
    """The answers to questions by the command."""
    (tmp_path / "questions.jsonl").write_text(
        "\n".join(json.dumps({"question": q}) for q in questions), encoding="utf-8"
    )
    out = tmp_path / "out.json"
    cli.main(["ask", graph, "--questions", str(tmp_path / "questions.jsonl"), "--json", str(out)])
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert all(row["abstained"] == (not row["answers"]) and bool(row["facts"]) == bool(row["answers"]) for row in rows)
    return [row["answers"] or [] for row in rows]


def test_a_newer_source_supersedes_and_both_are_kept(graph: str, tmp_path: Path) -> None:
    with GrowingGraph(graph, read_only=True) as opened:
        seats = {f.object: f.valid_to for f in stored_facts(opened) if f.relation == "headquartered_in"}
        superseded = [(e.source.name, e.target.name) for e in opened.edges() if e.type == "supersedes"]
    assert seats == {"Austin": "2026-08-03", "Denver": ""}
    assert len(superseded) == 1
    answers = ask(
        graph,
        tmp_path,
        "Where is Quorate based now?",
        "Where was Quorate based before?",
        "Where was Quorate based in May 2026?",
        "Who is the boss of Quorate?",
        "Who was chief executive of Quorate in May 2026?",
    )
    assert answers == [["Denver"], ["Austin"], ["Austin"], ["Tom Beck"], ["Ruth Amsel"]]


def test_what_the_documents_do_not_tell_is_not_answered(graph: str, tmp_path: Path) -> None:
    questions = (
        "Why did Quorate buy Palomar?",
        "How much does Ruth Amsel earn?",
        "Who bought Zebulon?",
        "When did Quorate pay its dividend?",
    )
    assert ask(graph, tmp_path, *questions) == [[], [], [], []]


def test_an_answer_of_two_parts(graph: str, tmp_path: Path) -> None:
    (answers,) = ask(graph, tmp_path, "Whom did Quorate buy, and for how much?")
    assert answers == ["Palomar Systems", "$40 million"]


def test_a_text_that_gives_nothing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("Weather\n\nOslo, May 4, 2026 - It rained all day.", encoding="utf-8")
    words = ["ingest", str(tmp_path / "a.txt"), "--graph"]
    assert cli.main([*words, str(tmp_path / "one")]) == 0
    assert "0 of 1 sentences gave facts" in capsys.readouterr().out


def test_amounts_of_one_day_in_two_documents_contradict(tmp_path: Path) -> None:
    for name, jobs in (("a.txt", 340), ("b.txt", 410)):
        text = f"Oriel Foods shuts plant\n2 November 2026\nOriel Foods will cut {jobs} jobs, it said."
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert cli.main(["ingest", str(tmp_path), "--graph", str(tmp_path / "graph")]) == 0
    with GrowingGraph(str(tmp_path / "graph"), read_only=True) as opened:
        joined = [{e.source.name[-9:-1], e.target.name[-9:-1]} for e in opened.edges() if e.type == "contradicts"]
    assert len(joined) == 1


def test_an_uncertain_fact_replaces_none_and_is_marked(tmp_path: Path) -> None:
    graph = GrowingGraph(None, investment_schema())
    advisor = Advisor(graph, FrameReader(graph), TypeProposals(graph, "never"))
    texts = (
        "Oriel Foods had revenue of $9 million.",
        "Oriel Foods supplies Tanami Mining. It had revenue of $4 million.",
    )
    for day, text in enumerate(texts, 2):
        advisor.ingest(NewsDocument(f"{day}.txt", f"News {day}", "Wire", date(2026, 11, day), text))
    found = {f.object: (f.valid_to, f.note) for f in stored_facts(graph) if f.relation == "reports_revenue"}
    assert found == {"$9 million": ("", ""), "$4 million": ("", "uncertain")}
    answer = NewsAnswers(stored_facts(graph), directory_of(graph)).answer("What revenue did Oriel Foods have?")
    assert answer.values == ("$9 million",)


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Is Oriel Foods buying Tanami Mining?", ("yes",)),
        ("Did Oriel Foods agree to buy Tanami Mining?", ("yes",)),
        ("Has Oriel Foods bought Tanami Mining?", ()),
    ],
)
def test_a_deal_that_is_agreed_has_not_happened(question: str, values: tuple[str, ...]) -> None:
    graph = GrowingGraph(None, investment_schema())
    text = "Oriel Foods agreed to buy Tanami Mining for $40 million."
    advisor = Advisor(graph, FrameReader(graph), TypeProposals(graph, "never"))
    advisor.ingest(NewsDocument("a.txt", "News", "Wire", date(2026, 11, 2), text))
    answer = NewsAnswers(stored_facts(graph), directory_of(graph)).answer(question)
    assert (answer.values, "pending" in answer.why) == (values, not values)


def test_a_graph_of_an_earlier_version_gets_what_this_one_writes() -> None:
    earlier = Schema()
    for kind in investment_schema().types:
        properties = {n: r for n, r in kind.properties_schema["properties"].items() if n not in ("measure", "party")}
        if kind.name == "MarketEvent":
            properties |= {"type": {"type": "string", "enum": ["earnings", "other", "flood"]}}
        earlier = earlier.with_type(
            replace(kind, properties_schema={**kind.properties_schema, "properties": properties})
        )
    graph = GrowingGraph(None, earlier)
    add_news_types(graph)
    kind = graph.schema.node_type("MarketEvent")
    assert kind.version == 2
    assert {"measure", "party"} <= set(kind.properties)
    assert {"flood", "layoff"} <= set(kind.properties_schema["properties"]["type"]["enum"])
    add_news_types(graph)
    assert graph.schema.node_type("MarketEvent").version == 2


def test_an_event_has_the_most_telling_kind_and_a_mere_seat_is_none(tmp_path: Path) -> None:
    text = (
        "Oriel Foods changes\n2 November 2026\nOriel Foods, headquartered in Utrecht, makes cheese. "
        "The company, whose head office is in Utrecht, said finance director Lyle Pruitt would step down in March."
    )
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    assert cli.main(["ingest", str(tmp_path / "a.txt"), "--graph", str(tmp_path / "graph")]) == 0
    with GrowingGraph(str(tmp_path / "graph"), read_only=True) as opened:
        kinds = [node.properties["type"] for node in opened.nodes("MarketEvent")]
    assert kinds == ["management"]


def test_a_name_that_a_person_joined_is_asked_for_in_the_words_of_the_news(graph: str, tmp_path: Path) -> None:
    with GrowingGraph(graph, read_only=True) as opened:
        company = next(node.key.name for node in opened.nodes("Company") if node.key.name.startswith("Quorate"))
    assert cli.main(["graph", "edit", graph, f"Company/{company}", "--alias", "Zebulon"]) == 0
    assert ask(graph, tmp_path, "Where is Zebulon based now?") == [["Denver"]]


def test_the_first_symbol_of_a_company_is_its_ticker(tmp_path: Path) -> None:
    text = "Shares fall\n2026-03-04\n\nOSLO - Ostvik (OSTV NO) fell 3%. Ostvik (NYSE: OSV) also fell in New York.\n"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    graph = str(tmp_path / "graph")
    assert cli.main(["ingest", str(tmp_path / "a.txt"), "--graph", graph]) == 0
    assert ask(graph, tmp_path, "What is the ticker of Ostvik?", "Which company has the ticker OSTV?") == [
        ["OSTV"],
        ["Ostvik"],
    ]
