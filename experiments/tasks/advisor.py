"""The advisor's demonstration: questions before and after documents are read, by rules or by a language model.

    found = evaluate_advisor(EvaluationPlan(limit=3), lm)
    found.figures()["answered_after"]

A question or document is a step, and steps follow each other because they share a growing graph. With a language model
the graph and the journal stay on disk (``FINPATH_CACHE``) until the end. A stopped evaluation continues there, if the
model, its settings, the documents, the questions and the types are the same.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal

import dspy

from experiments.data import make_database, news_rules, read_documents, read_portfolio
from experiments.engines import LocalEngine
from experiments.evaluation import (
    Answered,
    Description,
    EvaluationConfig,
    Scored,
    Task,
    evaluate,
    journals_folder,
    trace_of,
)
from experiments.files import SAMPLE_FOLDER
from experiments.saved import SavedProgram
from experiments.tracking import Run, Trace, Tracker, TurnRecorder
from kg.errors import FinpathError, LMError
from kg.growing import GrowingGraph, TypeProposals, entity_view
from kg.investments import NewsDocument, RuleReader, investment_schema
from kg.questions import EntityGraph
from programs.advisor import Advisor, Briefing, DocumentReader, answer_question
from programs.lm import GuardedLM, is_embedded

SAMPLE = SAMPLE_FOLDER / "advisor"
TODAY = date(2026, 11, 20)
"""The day of the demonstration, on which its news is fresh."""

USER = "ann"

Phase = Literal["begin", "before", "read", "reflect", "after"]
_COUNTED: tuple[Phase, ...] = ("before", "read", "after")
"""The phases whose costs are reported."""


@dataclass(frozen=True)
class EvaluationPlan:
    """Settings of the demonstration.

    Attributes:
        limit: Only the first questions; ``None`` for all.
        reader: The reader of the documents, with a language model: the model or the rules.
        settings: Settings of the model's replies; an evaluation with other settings starts from the beginning.
    """

    limit: int | None = None
    reader: Literal["model", "rules"] = "model"
    settings: Mapping[str, object] = field(default_factory=dict)

    def questions(self) -> list[dict[str, Any]]:
        """Returns the questions with their right answers."""
        found: list[dict[str, Any]] = json.loads((SAMPLE / "questions.json").read_text(encoding="utf-8"))
        return found[: self.limit]

    def key(self, documents: list[NewsDocument]) -> str:
        """Returns a hash that is equal for evaluations with the same answers."""
        content = [
            dict(self.settings),
            self.reader,
            [document.sha256 for document in documents],
            EvaluationPlan().questions(),
            [asdict(kind) for kind in investment_schema().types],
        ]
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class AdvisorEvaluation:
    """The result of the demonstration.

    Attributes:
        facts_before: Facts before the documents were read: the graph holds types only.
        facts_after: Facts afterwards.
        types_created: Types that the graph accepted from the documents.
        rows: For each question: the answers before and after, and whether they are right.
        briefings: The user's briefings.
        spent: Calls, tokens and seconds by phase: ``before_seconds``, ``read_lm_calls``.
        refused: Documents and updates that were rejected, one line each.
    """

    facts_before: int
    facts_after: int
    types_created: int
    rows: tuple[dict[str, Any], ...]
    briefings: tuple[Briefing, ...]
    spent: Mapping[str, float]
    refused: tuple[str, ...] = ()

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
        count = max(len(self.rows), 1)
        figures = self.figures()
        return {
            "accuracy_before": figures["answered_before"] / count,
            "accuracy_after": figures["answered_after"] / count,
            **self.spent,
        }


@dataclass(frozen=True)
class Step:
    """A step of the demonstration.

    Attributes:
        phase: Its phase.
        name: The question's id or the document's name.
        content: The question's entry, or the document.
    """

    phase: Phase
    name: str
    content: Any = None

    @property
    def id(self) -> str:
        """Unique in the demonstration."""
        return f"{self.phase}:{self.name}"


StepResult = dict[str, Any]


class AdvisorSteps(Task[Step, StepResult, bool]):
    """The steps of the demonstration, in their order.

    Args:
        plan: Settings.
        graph: The growing graph.
        folder: The folder of the user's database.
        documents: The documents.
        problems: The problems of unreadable documents.
        lm: The language model; ``None`` for rules.
    """

    run_kind = "advisor"
    unit = "steps"
    name = "advisor"

    def __init__(
        self,
        plan: EvaluationPlan,
        graph: GrowingGraph,
        folder: Path,
        documents: list[NewsDocument],
        problems: list[str],
        lm: dspy.LM | None,
    ) -> None:
        self.plan, self.graph, self.folder, self.documents, self.lm = plan, graph, folder, documents, lm
        self.problems = problems
        self.result: AdvisorEvaluation | None = None
        self._view: tuple[Phase, EntityGraph] | None = None

    def items(self, limit: int | None = None) -> Sequence[Step]:
        """Returns all steps."""
        questions = self.plan.questions()[:limit]
        return [
            Step("begin", "facts"),
            *(Step("before", entry["id"], entry) for entry in questions),
            *(Step("read", document.name, document) for document in self.documents),
            Step("reflect", "insights"),
            *(Step("after", entry["id"], entry) for entry in questions),
        ]

    def answer(
        self,
        program: Any,  # noqa: ARG002
        item: Step,
        done: Sequence[Answered[StepResult]],  # noqa: ARG002
        config: EvaluationConfig,  # noqa: ARG002
    ) -> Iterator[Answered[StepResult]]:
        """Yields a step's result with its cost."""
        before, started, recorder = self._counts(), time.perf_counter(), TurnRecorder()
        with recorder.recording():
            found = self._result(item)
        cost = {key: value - before.get(key, 0) for key, value in self._counts().items()}
        result = {**found, **cost, "seconds": time.perf_counter() - started}
        yield Answered(item.id, 0, result, (), recorder.spans, recorder.start, recorder.end)

    def _result(self, step: Step) -> StepResult:
        if step.phase == "begin":
            return {"facts": self.graph.facts(), "types": len(self.graph.schema.types)}
        if step.phase == "read":
            return self._read(step.content)
        if step.phase == "reflect":
            Advisor(self.graph, RuleReader(self.graph, news_rules()), TypeProposals(self.graph, "never")).reflect(TODAY)
            return {}
        return self._answer(step)

    def _answer(self, step: Step) -> StepResult:
        if self.lm is None and (self._view is None or self._view[0] != step.phase):
            self._view = step.phase, entity_view(self.graph)
        view = self._view[1] if self._view is not None else None
        try:
            answer, why = answer_question(self.graph, step.content["question"], self.lm, TODAY, view=view)
        except LMError:
            raise  # without a model or a budget there is no answer of the program
        except FinpathError as error:
            answer, why = None, str(error)
        return {"answer": answer, "why": why}

    def _read(self, document: NewsDocument) -> StepResult:
        by_rules = self.lm is None or self.plan.reader == "rules" or is_embedded(self.lm)
        reader = RuleReader(self.graph, news_rules()) if by_rules else DocumentReader(self.graph, news_rules())
        facts, refused = self.graph.facts(), []
        try:
            Advisor(self.graph, reader, TypeProposals(self.graph, "auto")).ingest(document)
        except LMError:
            raise
        except FinpathError as error:
            refused.append(f"{document.name}: {error}")
        return {"facts": self.graph.facts() - facts, "refused": [*refused, *getattr(reader, "refused", ())]}

    def _counts(self) -> dict[str, float]:
        return self.lm.spent.figures() if isinstance(self.lm, GuardedLM) else {}

    def score(self, item: Step, answered: Answered[StepResult]) -> bool:
        """Returns whether a question's answer is right; a step of another phase is right."""
        return item.phase not in ("before", "after") or is_right(answered.turn["answer"], item.content["answers"])

    def is_right(self, score: bool) -> bool:
        """Whether the answer is right."""
        return score

    def figures(self, scored: Sequence[Scored[StepResult, bool]], *, seed: int) -> dict[str, Any]:  # noqa: ARG002
        """Returns the figures of the questions that are answered before and after; none before the last step."""
        found = {one.answered.item: one for one in scored}
        rows = []
        for entry in self.plan.questions():
            first, second = (found.get(f"{phase}:{entry['id']}") for phase in ("before", "after"))
            if first is None or second is None:
                return {}
            rows.append(
                {
                    **entry,
                    "before": first.answered.turn["answer"],
                    "after": second.answered.turn["answer"],
                    "why": second.answered.turn["why"],
                    "right_before": first.score,
                    "right_after": second.score,
                    "seconds": second.answered.turn["seconds"],
                }
            )
        start = found["begin:facts"].answered.turn
        refused = [line for one in scored for line in one.answered.turn.get("refused", ())]
        self.result = AdvisorEvaluation(
            start["facts"],
            self.graph.facts(),
            len(self.graph.schema.types) - start["types"],
            tuple(rows),
            tuple(self._briefings()),
            _spent(scored),
            (*self.problems, *refused),
        )
        return {**self.result.figures(), **self.result.accuracy()}

    def _briefings(self) -> list[Briefing]:
        database = self.folder / "portfolio.db"
        make_database(database, SAMPLE)
        advisor = Advisor(self.graph, RuleReader(self.graph, news_rules()), TypeProposals(self.graph, "never"))
        return advisor.brief(read_portfolio(str(database), USER), TODAY)

    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:  # noqa: ARG002
        """Returns the plan's settings."""
        reader = "rules" if self.lm is None else self.plan.reader
        params = {**config.lm.params(), "reader": reader, "limit": self.plan.limit, "user": USER}
        return Description({"plan": self.plan.key(self.documents)}, params, {})

    def record(self, scored: Scored[StepResult, bool]) -> dict[str, Any]:
        """Returns the result and the score."""
        return {"turn": scored.answered.turn, "score": scored.score}

    def read(self, line: Mapping[str, Any]) -> tuple[StepResult, bool]:
        """Returns the result and the score of a line."""
        return line["turn"], line["score"]

    def trace(self, run: Run, program: str, scored: Scored[StepResult, bool]) -> Trace | None:
        """Returns the trace of a step that asked a language model."""
        answered = scored.answered
        if not answered.spans:
            return None
        inputs = {"step": answered.item}
        return trace_of(run, program, answered, right=scored.score, inputs=inputs, outputs=answered.turn)

    def log_results(self, run: Run, figures: Mapping[str, Any], done: Sequence[Scored[StepResult, bool]]) -> None:  # noqa: ARG002
        """Logs the figures and a row for each question."""
        if self.result is not None:
            run.log_metrics({**self.result.figures(), **self.result.accuracy()})
            run.log_table("questions", list(self.result.rows))


def evaluate_advisor(
    plan: EvaluationPlan | None = None,
    lm: dspy.LM | None = None,
    *,
    config: EvaluationConfig | None = None,
    tracker: Tracker | None = None,
    run_name: str | None = None,
) -> AdvisorEvaluation:
    """Asks questions, reads the documents, asks again, and writes the user's briefings.

    Args:
        plan: Settings.
        lm: The language model that answers, and reads the documents unless the plan names the rules; without one,
            rules do both.
        config: The language model's settings, for the run.
        tracker: The tracking store of the run; ``None`` to log nothing.
        run_name: The run's name.

    Raises:
        LMError: The model cannot be asked, or its budget is spent; the next evaluation continues from there.
    """
    plan = plan if plan is not None else EvaluationPlan()
    documents, problems = read_documents([str(SAMPLE / "documents")])
    with _graph_folder(plan.key(documents), kept=lm is not None) as (folder, graph):
        task = AdvisorSteps(plan, graph, folder, documents, problems, lm)
        evaluate(
            SavedProgram(None, "advisor", folder),
            task,
            config,
            tracker=tracker,
            run_name=run_name,
            journal=folder / "journal.jsonl",
            engine=LocalEngine(),
            lm={"lm": lm},
        )
    assert task.result is not None
    if lm is not None:
        shutil.rmtree(folder, ignore_errors=True)
    return task.result


@contextmanager
def _graph_folder(key: str, *, kept: bool) -> Iterator[tuple[Path, GrowingGraph]]:
    """Gives the folder of the journal, and the graph in it; the folder is a temporary one unless it is kept."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = journals_folder() / f"advisor-{key}" if kept else Path(temporary)
        with GrowingGraph(folder / "graph", investment_schema()) as graph:
            yield folder, graph


def _spent(scored: Sequence[Scored[StepResult, bool]]) -> dict[str, float]:
    """Returns calls, tokens and seconds, in total and by phase."""
    found: dict[str, float] = {}
    for one in scored:
        phase = one.answered.item.partition(":")[0]
        for key, value in one.answered.turn.items():
            if phase in _COUNTED and (key == "seconds" or key.startswith("lm_")):
                found[f"{phase}_{key}"] = found.get(f"{phase}_{key}", 0) + value
                found[key] = found.get(key, 0) + value
    return found


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
