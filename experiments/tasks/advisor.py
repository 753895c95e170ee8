"""The thirty questions before and after the documents are read, by rules or by a language model; it can be stopped.

    evaluation = evaluate_advisor(EvaluationPlan(limit=3), lm)
    evaluation.figures()["answered_after"]

What a language model has answered or read is in a journal and the graph on disk as soon as it is done
(``FINPATH_CACHE``): an evaluation that was stopped goes on where it was, with the figures of what it has done already,
as long as the model, its settings, the documents, the questions and the types are the same.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Literal

from experiments.console import progress, say
from experiments.data.news import read_documents
from experiments.data.portfolio import make_database, read_portfolio
from experiments.evaluation.journal import Journal, journals_folder
from experiments.files import SAMPLE_FOLDER
from kg.errors import FinpathError, LMError
from kg.growing import GrowingGraph, TypeProposals, entity_view
from kg.investments import NewsDocument, investment_schema
from kg.questions import EntityGraph
from programs.advisor import Advisor, Briefing, ModelReader, RuleReader, answer_question
from programs.lm import GuardedLM

SAMPLE = SAMPLE_FOLDER / "advisor"
TODAY = date(2026, 11, 20)
"""The day of the demonstration, by which its news is fresh."""

USER = "ann"

Phase = Literal["before", "read", "after"]
PHASES: tuple[Phase, ...] = ("before", "read", "after")


@dataclass(frozen=True)
class EvaluationPlan:
    """What is evaluated.

    Attributes:
        limit: Only the first questions; ``None`` for all.
        reader: Who reads the documents where there is a language model: it, or the rules.
        settings: What shapes the model's replies; an evaluation with other settings begins anew.
    """

    limit: int | None = None
    reader: Literal["model", "rules"] = "model"
    settings: Mapping[str, object] = field(default_factory=dict)

    def questions(self) -> list[dict[str, Any]]:
        """The questions, each with the answers that are right."""
        found: list[dict[str, Any]] = json.loads((SAMPLE / "questions.json").read_text(encoding="utf-8"))
        return found[: self.limit]

    def key(self, documents: list[NewsDocument]) -> str:
        """A name that only evaluations share of which every answer must come out the same."""
        schema = [asdict(kind) for kind in investment_schema().types]
        content = [
            dict(self.settings),
            self.reader,
            [document.sha256 for document in documents],
            EvaluationPlan().questions(),
            schema,
        ]
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class AdvisorEvaluation:
    """What the demonstration comes to.

    Attributes:
        facts_before: Facts before the documents were read: the graph holds types only.
        facts_after: Facts afterwards.
        types_created: Types that the documents made the graph take.
        rows: For each question: the answers before and after, and whether they are right.
        briefings: The user's.
        spent: Calls, tokens and seconds by phase: ``before_seconds``, ``read_lm_calls``.
        refused: What could not be read or was refused, one line each.
    """

    facts_before: int
    facts_after: int
    types_created: int
    rows: tuple[dict[str, Any], ...]
    briefings: tuple[Briefing, ...]
    spent: Mapping[str, float]
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
        }

    def accuracy(self) -> dict[str, float]:
        """The shares of questions that are right before and after, in [0, 1], and what was spent."""
        count = max(len(self.rows), 1)
        figures = self.figures()
        return {
            "accuracy_before": figures["answered_before"] / count,
            "accuracy_after": figures["answered_after"] / count,
            **self.spent,
        }


def evaluate_advisor(plan: EvaluationPlan | None = None, lm: Any = None) -> AdvisorEvaluation:
    """Asks before, reads the documents, asks after, and writes the user's briefings.

    Args:
        plan: What is evaluated.
        lm: Answers, and reads the documents unless the plan says otherwise; rules do both where there is none.

    Raises:
        LMError: The model cannot be asked, or its budget is spent; the next evaluation goes on from there.
    """
    plan = plan if plan is not None else EvaluationPlan()
    documents, problems = read_documents([str(SAMPLE / "documents")])
    with _folder(plan.key(documents), kept=lm is not None) as folder:
        evaluation = _Evaluation(plan, lm, folder)
        found = evaluation.run(documents, problems)
    if lm is not None:
        shutil.rmtree(folder, ignore_errors=True)
    return found


@contextmanager
def _folder(key: str, *, kept: bool) -> Iterator[Path]:
    """Where the graph and the journal lie: until the evaluation is finished if it is ``kept``."""
    if kept:
        yield journals_folder() / f"advisor-{key}"
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


class _Evaluation:
    """One evaluation, from where it was stopped."""

    def __init__(self, plan: EvaluationPlan, lm: Any, folder: Path) -> None:
        self.plan, self.lm, self.folder = plan, lm, folder
        self.journal = Journal(folder / "journal.jsonl")
        self.done = {(line["phase"], line["name"]): line for line in self.journal.read()}
        if self.done:
            say(f"goes on after {len(self.done)} steps that are done")

    def run(self, documents: list[NewsDocument], problems: list[str]) -> AdvisorEvaluation:
        """All phases."""
        questions = self.plan.questions()
        with GrowingGraph(self.folder / "graph", investment_schema()) as graph:
            before = self._step("begin", "facts", lambda: {"facts": graph.facts(), "types": len(graph.schema.types)})
            early = self._answers("before", graph, questions)
            self._read(graph, documents)
            Advisor(graph, RuleReader(graph), TypeProposals(graph, "never")).reflect(TODAY)
            late = self._answers("after", graph, questions)
            briefings = self._briefings(graph)
            facts, types = graph.facts(), len(graph.schema.types)
        rows = tuple(
            {
                **entry,
                "before": first["answer"],
                "after": second["answer"],
                "why": second["why"],
                "right_before": is_right(first["answer"], entry["answers"]),
                "right_after": is_right(second["answer"], entry["answers"]),
                "seconds": second["seconds"],
            }
            for entry, first, second in zip(questions, early, late, strict=True)
        )
        refused = [line for entry in self.done.values() for line in entry.get("refused", ())]
        return AdvisorEvaluation(
            before["facts"],
            facts,
            types - before["types"],
            rows,
            tuple(briefings),
            self._spent(),
            (*problems, *refused),
        )

    def _answers(self, phase: Phase, graph: GrowingGraph, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found = []
        view = entity_view(graph) if self.lm is None else None
        bar = progress(len(questions), "question", phase)
        for entry in questions:
            found.append(self._step(phase, entry["id"], partial(self._answer, graph, entry["question"], view)))
            bar.update()
        bar.close()
        return found

    def _answer(self, graph: GrowingGraph, question: str, view: EntityGraph | None) -> dict[str, Any]:
        try:
            answer, why = answer_question(graph, question, self.lm, TODAY, view=view)
        except LMError:
            raise  # no model, no budget: this is no answer of the program
        except FinpathError as error:
            answer, why = None, str(error)
        return {"answer": answer, "why": why}

    def _read(self, graph: GrowingGraph, documents: list[NewsDocument]) -> None:
        by_rules = self.lm is None or self.plan.reader == "rules"
        bar = progress(len(documents), "document", "read")
        for document in documents:
            self._step("read", document.name, partial(self._ingested, graph, document, by_rules=by_rules))
            bar.update()
        bar.close()

    def _ingested(self, graph: GrowingGraph, document: NewsDocument, *, by_rules: bool) -> dict[str, Any]:
        reader = RuleReader(graph) if by_rules else ModelReader(graph)
        facts, refused = graph.facts(), []
        try:
            Advisor(graph, reader, TypeProposals(graph, "auto")).ingest(document)
        except LMError:
            raise
        except FinpathError as error:
            refused.append(f"{document.name}: {error}")
        return {"facts": graph.facts() - facts, "refused": [*refused, *getattr(reader, "refused", ())]}

    def _briefings(self, graph: GrowingGraph) -> list[Briefing]:
        database = self.folder / "portfolio.db"
        make_database(database, SAMPLE)
        advisor = Advisor(graph, RuleReader(graph), TypeProposals(graph, "never"))
        return advisor.brief(read_portfolio(str(database), USER), TODAY)

    def _step(self, phase: str, name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What a step came to, done now or before the evaluation was stopped, with what it cost."""
        if (phase, name) not in self.done:
            before, started = self._counts(), time.perf_counter()
            found = work()
            cost = {key: value - before.get(key, 0) for key, value in self._counts().items()}
            line = {"phase": phase, "name": name, **found, **cost, "seconds": time.perf_counter() - started}
            self.journal.append(line)
            self.done[phase, name] = line
        return self.done[phase, name]

    def _counts(self) -> dict[str, float]:
        return self.lm.spent.figures() if isinstance(self.lm, GuardedLM) else {}

    def _spent(self) -> dict[str, float]:
        """Calls, tokens and seconds, in all and by phase."""
        found: dict[str, float] = {}
        for (phase, _), line in self.done.items():
            for key, value in line.items():
                if phase in PHASES and (key == "seconds" or key.startswith("lm_")):
                    found[f"{phase}_{key}"] = found.get(f"{phase}_{key}", 0) + value
                    found[key] = found.get(key, 0) + value
        return found


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
