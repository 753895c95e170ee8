"""Two demonstrations on the shipped sample: conversations about countries, and questions before and after news."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from experiments.data import make_database, news_rules, read_documents, read_portfolio
from experiments.files import SAMPLE_FOLDER
from experiments.saved import question_reader
from experiments.tasks import is_right, load_geography
from kg.growing import GrowingGraph, TypeProposals
from kg.investments import RuleReader, investment_schema
from programs.advisor import Advisor, GraphAnswers, TypedAnswers, answer_question
from programs.conversation import ConversationQA
from programs.turns import Turn
from programs.worlds.graph import GraphWorld

ADVISOR = SAMPLE_FOLDER / "advisor"
TODAY = date(2026, 11, 20)
"""The day on which the advisor's news is fresh."""


def geography_turns() -> Iterator[tuple[str, Turn[Any, Any], bool]]:
    """Each turn of the scripted conversations, with the script's name and whether the answer is the expected one."""
    path = SAMPLE_FOLDER / "geography_conversations.json"
    graph, program = load_geography(), ConversationQA.for_graphs()
    for script in json.loads(path.read_text(encoding="utf-8")):
        state = program.start(GraphWorld(graph, "geography"))
        for expected in script["turns"]:
            state = program.ask(state, expected["question"])
            yield script["name"], state.turns[-1], is_right(state.turns[-1], expected)


def advisor_questions() -> list[dict[str, Any]]:
    """The advisor's questions with their right answers."""
    found: list[dict[str, Any]] = json.loads((ADVISOR / "questions.json").read_text(encoding="utf-8"))
    return found


def ask_advisor() -> dict[str, Any]:
    """The advisor's questions before and after it read the news by rules, and the briefings of a user."""
    documents, problems = read_documents([str(ADVISOR / "documents")])
    rows = advisor_questions()
    with tempfile.TemporaryDirectory() as folder, GrowingGraph(None, investment_schema()) as graph:
        before, types = graph.facts(), len(graph.schema.types)
        _answer(rows, graph, "before")
        reader = RuleReader(graph, news_rules())
        for document in documents:
            Advisor(graph, reader, TypeProposals(graph, "auto")).ingest(document)
        advisor = Advisor(graph, reader, TypeProposals(graph, "never"))
        advisor.reflect(TODAY)
        _answer(rows, graph, "after")
        make_database(Path(folder) / "portfolio.db", ADVISOR)
        briefings = advisor.brief(read_portfolio(str(Path(folder) / "portfolio.db"), "ann"), TODAY)
        right = {phase: sum(row[f"right_{phase}"] for row in rows) for phase in ("before", "after")}
        return {
            "rows": rows,
            "facts_before": before,
            "facts_after": graph.facts(),
            **{f"answered_{phase}": count for phase, count in right.items()},
            **{f"accuracy_{phase}": count / len(rows) for phase, count in right.items()},
            "questions": len(rows),
            "briefings": len(briefings),
            "types_created": len(graph.schema.types) - types,
            "refused": problems,
        }


def _answer(rows: list[dict[str, Any]], graph: GrowingGraph, phase: str) -> None:
    answers = GraphAnswers(graph, TypedAnswers(question_reader, 0.72))
    for row in rows:
        row[phase], row["why"] = answer_question(graph, row["question"], None, TODAY, answers=answers)
        row[f"right_{phase}"] = names_all(row[phase], row["answers"])


def names_all(answer: str | None, expected: list[str]) -> bool:
    """Whether an answer has all expected names and nothing else; the entity of a value and a day's time are ignored."""
    if answer is None:
        return False
    names = [part.rpartition(": ")[2].removesuffix("T00:00:00Z") for part in answer.replace("; ", ", ").split(", ")]
    return sorted(name.strip().rstrip(".").casefold() for name in names) == sorted(
        name.strip().rstrip(".").casefold() for name in expected
    )
