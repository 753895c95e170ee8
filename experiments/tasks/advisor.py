"""The advisor's demonstration: questions before and after documents are read, by rules or by a language model.

found = evaluate_advisor(EvaluationPlan(limit=3), lm)
found.figures()["answered_after"]
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal

import dspy

from experiments.data import make_database, news_rules, read_documents, read_portfolio
from experiments.files import SAMPLE_FOLDER
from experiments.tracking import Tracker, open_run, run_tags
from kg.errors import FinpathError, LMError
from kg.growing import GrowingGraph, TypeProposals, entity_view
from kg.investments import RuleReader, investment_schema
from programs.advisor import Advisor, Briefing, DocumentReader, answer_question
from programs.lm import GuardedLM, is_embedded

SAMPLE = SAMPLE_FOLDER / "advisor"
TODAY = date(2026, 11, 20)
"""The day of the demonstration, on which its news is fresh."""

USER = "ann"


@dataclass(frozen=True)
class EvaluationPlan:
    """Settings of the demonstration.

    Attributes:
        limit: Only the first questions; ``None`` for all.
        reader: The reader of the documents, with a language model: the model or the rules.
        params: Settings of the model, for the run.
    """

    limit: int | None = None
    reader: Literal["model", "rules"] = "model"
    params: Mapping[str, object] = field(default_factory=dict)

    def questions(self) -> list[dict[str, Any]]:
        """Returns the questions with their right answers."""
        found: list[dict[str, Any]] = json.loads((SAMPLE / "questions.json").read_text(encoding="utf-8"))
        return found[: self.limit]


@dataclass
class AdvisorEvaluation:
    """The result of the demonstration.

    Attributes:
        facts_before: Facts before the documents were read: the graph holds types only.
        facts_after: Facts afterwards.
        types_created: Types that the graph accepted from the documents.
        rows: For each question: the answers before and after, and whether they are right.
        briefings: The user's briefings.
        spent: Calls, tokens and seconds, in total and by phase: ``before_seconds``, ``read_lm_calls``.
        refused: Documents and updates that were rejected, one line each.
    """

    facts_before: int = 0
    facts_after: int = 0
    types_created: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    briefings: list[Briefing] = field(default_factory=list)
    spent: dict[str, float] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        """Returns the figures under their stable names."""
        return {
            "facts_before": self.facts_before,
            "facts_after": self.facts_after,
            "answered_before": sum(row["right_before"] for row in self.rows),
            "answered_after": sum(row["right_after"] for row in self.rows),
            "questions": len(self.rows),
            "briefings": len(self.briefings),
            "types_created": self.types_created,
        }

    def accuracy(self) -> dict[str, float]:
        """Returns the shares of right answers before and after, in [0, 1], and the costs."""
        figures, count = self.figures(), max(len(self.rows), 1)
        shares = {f"accuracy_{phase}": figures[f"answered_{phase}"] / count for phase in ("before", "after")}
        return {**shares, **self.spent}

    @contextmanager
    def spending(self, phase: str, lm: dspy.LM | None) -> Iterator[None]:
        """Adds the costs of the work inside to those of a phase and to the total."""
        before, started = _counts(lm), time.perf_counter()
        yield
        costs = {name: value - before.get(name, 0) for name, value in _counts(lm).items()}
        for name, value in {**costs, "seconds": time.perf_counter() - started}.items():
            for key in (name, f"{phase}_{name}"):
                self.spent[key] = self.spent.get(key, 0) + value


def _counts(lm: dspy.LM | None) -> dict[str, float]:
    return lm.spent.figures() if isinstance(lm, GuardedLM) else {}


def evaluate_advisor(
    plan: EvaluationPlan | None = None,
    lm: dspy.LM | None = None,
    *,
    tracker: Tracker | None = None,
    run_name: str = "advisor",
) -> AdvisorEvaluation:
    """Asks questions, reads the documents, asks again, and writes the user's briefings.

    Args:
        plan: Settings.
        lm: The language model that answers, and reads the documents unless the plan names the rules; without one,
            rules do both.
        tracker: The tracking store of the run; ``None`` to log nothing.
        run_name: The run's name.

    Raises:
        LMError: The model cannot be asked, or its budget is spent.
    """
    plan = plan if plan is not None else EvaluationPlan()
    documents, problems = read_documents([str(SAMPLE / "documents")])
    by_rules = lm is None or plan.reader == "rules" or is_embedded(lm)
    found = AdvisorEvaluation(refused=list(problems))
    with (
        tempfile.TemporaryDirectory() as temporary,
        GrowingGraph(Path(temporary) / "graph", investment_schema()) as graph,
        open_run(tracker, "advisor", run_name, tags=run_tags(0)) as run,
        dspy.context(lm=lm),
    ):
        run.log_params({**plan.params, "reader": "rules" if lm is None else plan.reader, "limit": plan.limit})
        found.facts_before, types = graph.facts(), len(graph.schema.types)
        found.rows = [{**entry} for entry in plan.questions()]
        _ask(found, graph, lm, "before")
        for document in documents:
            reader = RuleReader(graph, news_rules()) if by_rules else DocumentReader(graph, news_rules())
            with found.spending("read", lm):
                try:
                    Advisor(graph, reader, TypeProposals(graph, "auto")).ingest(document)
                except LMError:
                    raise
                except FinpathError as error:
                    found.refused.append(f"{document.name}: {error}")
            found.refused += getattr(reader, "refused", ())
        advisor = Advisor(graph, RuleReader(graph, news_rules()), TypeProposals(graph, "never"))
        advisor.reflect(TODAY)
        _ask(found, graph, lm, "after")
        database = Path(temporary) / "portfolio.db"
        make_database(database, SAMPLE)
        found.briefings = advisor.brief(read_portfolio(str(database), USER), TODAY)
        found.facts_after, found.types_created = graph.facts(), len(graph.schema.types) - types
        run.log_metrics({**found.figures(), **found.accuracy()})
        run.log_table("questions", found.rows)
    return found


def _ask(found: AdvisorEvaluation, graph: GrowingGraph, lm: dspy.LM | None, phase: Literal["before", "after"]) -> None:
    """Answers all questions in a phase."""
    view = entity_view(graph) if lm is None else None
    for row in found.rows:
        with found.spending(phase, lm):
            try:
                answer, row["why"] = answer_question(graph, row["question"], lm, TODAY, view=view)
            except LMError:
                raise  # without a model or a budget there is no answer of the program
            except FinpathError as error:
                answer, row["why"] = None, str(error)
        row[phase], row[f"right_{phase}"] = answer, is_right(answer, row["answers"])


def is_right(answer: str | None, expected: list[str]) -> bool:
    """Whether an answer names all expected names and nothing else.

    The name of the entity of a value ("Helixon Inc.: Germany") and a day's time are ignored.
    """
    if answer is None:
        return False
    names = [part.rpartition(": ")[2].removesuffix("T00:00:00Z") for part in answer.replace("; ", ", ").split(", ")]
    return sorted(name.strip().rstrip(".").casefold() for name in names) == sorted(
        name.strip().rstrip(".").casefold() for name in expected
    )
