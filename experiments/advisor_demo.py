"""The advisor's demonstration: thirty questions before and after twelve documents, and a user's briefings.

    $ finpath demo advisor --json out.json

Everything ships with finpath and nothing needs a language model or a network: documents are read by rules, questions
with the graph's own words. With ``--lm`` a model reads the documents and answers, and both are set side by side in
MLflow.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from experiments.advisor import answered, chosen_lm, read_documents
from experiments.console import format_table, progress, say, show, write_json
from experiments.options import tracker_of
from experiments.portfolio import make_database, read_portfolio
from experiments.tracking import open_run
from kg.errors import FinpathError
from kg.growing import GrowingGraph
from kg.investment import investment_schema
from kg.type_proposals import TypeProposals
from programs.advisor import Advisor, Briefing, ModelReader, RuleReader
from programs.guarded_lm import GuardedLM

SAMPLE = Path(__file__).parent / "sample" / "advisor"
TODAY = date(2026, 11, 20)
"""The day of the demonstration, by which its news is fresh."""

USER = "ann"


@dataclass(frozen=True)
class AdvisorEvaluation:
    """What the demonstration comes to.

    Attributes:
        facts_before: Facts before the documents were read: the graph holds types only.
        facts_after: Facts afterwards.
        types_created: Types that the documents made the graph take.
        rows: For each question: the answers before and after, and whether they are right.
        briefings: The user's.
        seconds: Wall time in all.
        refused: What could not be read or was refused, one line each.
    """

    facts_before: int
    facts_after: int
    types_created: int
    rows: tuple[dict[str, Any], ...]
    briefings: tuple[Briefing, ...]
    seconds: float
    refused: tuple[str, ...] = ()

    def figures(self) -> dict[str, Any]:
        """The figures under their stable names."""
        return {
            "facts_before": self.facts_before,
            "facts_after": self.facts_after,
            "answered_before": sum(row["right_before"] for row in self.rows),
            "answered_after": sum(row["right_after"] for row in self.rows),
            "questions": len(self.rows),
            "briefings": len(self.briefings),
            "types_created": self.types_created,
            "seconds": self.seconds,
        }


def run_demo(options: argparse.Namespace) -> int:
    """``finpath demo advisor``: exit code 1 if nothing could be answered."""
    with chosen_lm(options) as lm:
        found = evaluate_advisor(lm)
    spent = lm.spent.figures() if isinstance(lm, GuardedLM) else {}
    for row in found.rows:
        show(f"{'right' if row['right_after'] else 'wrong':5}  {row['question']}\n       {row['after'] or 'no answer'}")
    for briefing in found.briefings:
        show(f"* {briefing.text}")
    for line in found.refused:
        say(f"refused: {line}")
    figures = found.figures()
    show(format_table(["figure", "value"], [(name, value) for name, value in figures.items()]))
    _track(options, found, spent)
    if options.json:
        write_json(options.json, {**figures, **spent, "rows": list(found.rows)})
    return 0 if figures["answered_after"] else 1


def evaluate_advisor(lm: Any = None) -> AdvisorEvaluation:
    """Asks before, reads the documents, asks after, and writes the user's briefings.

    Args:
        lm: Reads the documents and answers, if there is one; else rules do.
    """
    started = time.perf_counter()
    questions = json.loads((SAMPLE / "questions.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder, GrowingGraph(Path(folder) / "graph", investment_schema()) as graph:
        before, types = graph.facts(), len(graph.schema.types)
        early = [_answer(graph, entry["question"], lm) for entry in progressing(questions, "before")]
        reader = RuleReader(graph) if lm is None else ModelReader(graph)
        advisor = Advisor(graph, reader, TypeProposals(graph, "auto"))
        refused = _read_all(advisor)
        advisor.reflect(TODAY)
        late = [_answer(graph, entry["question"], lm) for entry in progressing(questions, "after")]
        make_database(Path(folder) / "portfolio.db", SAMPLE)
        briefings = advisor.brief(read_portfolio(str(Path(folder) / "portfolio.db"), USER), TODAY)
        facts, created = graph.facts(), len(graph.schema.types) - types
    rows = tuple(
        {
            **entry,
            "before": first,
            "after": second,
            "right_before": is_right(first, entry["answers"]),
            "right_after": is_right(second, entry["answers"]),
        }
        for entry, first, second in zip(questions, early, late, strict=True)
    )
    refused += getattr(reader, "refused", [])
    return AdvisorEvaluation(
        before, facts, created, rows, tuple(briefings), time.perf_counter() - started, tuple(refused)
    )


def progressing(entries: list[Any], title: str) -> Any:
    """The entries, with a progress bar."""
    bar = progress(len(entries), "question", title)
    for entry in entries:
        yield entry
        bar.update()
    bar.close()


def is_right(answer: str | None, expected: list[str]) -> bool:
    """Whether an answer names all that is expected and nothing else.

    What it may hold besides is the name of what a value is of ("Helixon Inc.: Germany") and a day's time.
    """
    if answer is None:
        return False
    names = [part.rpartition(": ")[2].removesuffix("T00:00:00Z") for part in answer.replace("; ", ", ").split(", ")]
    return sorted(name.strip().rstrip(".").casefold() for name in names) == sorted(
        name.strip().rstrip(".").casefold() for name in expected
    )


def _answer(graph: GrowingGraph, question: str, lm: Any) -> str | None:
    try:
        return answered(graph, question, lm, TODAY)[0]
    except FinpathError:
        return None


def _read_all(advisor: Advisor) -> list[str]:
    documents, problems = read_documents([str(SAMPLE / "documents")])
    for document in documents:
        try:
            advisor.ingest(document)
        except FinpathError as error:
            problems.append(f"{document.name}: {error}")
    return problems


def _track(options: argparse.Namespace, found: AdvisorEvaluation, spent: dict[str, float]) -> None:
    name = f"advisor-{options.lm.replace('/', '-')}"
    with open_run(tracker_of(options), "advisor", name) as run:
        run.log_params({"lm": options.lm, "reader": "rules" if options.lm == "none" else "model", "user": USER})
        run.log_metrics({**found.figures(), **spent})
        run.log_table("questions", list(found.rows))
