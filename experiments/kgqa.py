"""KGQA: questions about a graph, scored by hits and F1.

    task = KGQuestions(load_graph("metaqa/kb.txt"), load_questions("metaqa/1hop_dev.txt", "metaqa"))
    evaluation = evaluate(find_program("my-kgqa"), task)
    evaluation.figures["hit_at_1"]      # 0.98, with hit_at_1_low and _high

The predictions file has a line for each question, as GCR's evaluation reads
it: id, question, prediction, ground_truth, ground_truth_paths, reasoning_trace.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.console import figures_table, write_text
from experiments.data import KGQuestion, LoadedGraph, LoadedQuestions
from experiments.evaluation import Description, EvaluationConfig, Scored, Task
from experiments.saved import SavedProgram
from experiments.tracking import DataInput, Run, TraceFacts, sectioned
from optimize.metrics import KGQAScore, score_question, summarise_kgqa
from programs.conversation import ConversationQA
from programs.turns import GraphDetail
from programs.worlds.graph import GraphTurn

_TAGS = ("scorer_sha256", "graph_sha256", "data_sha256")


class KGQuestions(Task):
    """Questions about a graph, with their answers.

    Args:
        graph: The graph.
        loaded: The questions with their gold.
        link: Whether topics are linked in the question even where the file names them.
        predictions: The predictions file; ``None`` for none.
    """

    run_kind = "kgqa"

    def __init__(
        self, graph: LoadedGraph, loaded: LoadedQuestions, *, link: bool = False, predictions: Path | None = None
    ) -> None:
        self.graph, self.loaded, self.link, self.predictions = graph, loaded, link, predictions
        self.name = loaded.name

    def items(self, limit: int | None = None) -> Sequence[KGQuestion]:
        """Returns the questions."""
        return self.loaded.questions[:limit]

    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns program, model, graph, data and limit."""
        program: ConversationQA = saved.program.deepcopy()
        assert program.evidence is not None
        program.evidence = dataclasses.replace(program.evidence, answer="always")
        beam = program.config
        figures = {
            "program": saved.name,
            "scorer_sha256": saved.config.get("scorer_sha256"),
            "beam_width": beam.beam_width,
            "max_depth": beam.max_depth,
            "output_top_k": beam.output_top_k,
            "lm": config.lm.name,
            "graph": self.graph.name,
            "graph_sha256": self.graph.sha256,
            "data": self.loaded.name,
            "data_sha256": self.loaded.sha256,
            "linked_topics": self.link,
            "limit": config.limit,
        }
        tags = {f"finpath.{name}": str(figures[name]) for name in _TAGS}
        data = DataInput(self.loaded.name, self.loaded.sha256, "kgqa", len(self.items(config.limit)))
        params = {name: value for name, value in figures.items() if not name.endswith("sha256")}
        return Description(program, figures, {**params, "seed": config.seed}, tags, figures, data)

    def answer(self, program: ConversationQA, item: KGQuestion) -> Iterator[GraphTurn]:
        """Yields the answer to a question."""
        given = () if self.link else item.topics
        yield program(question=item.question, graph=self.graph.graph, topics=given).turn

    def score(self, item: KGQuestion, index: int, turn: GraphTurn) -> tuple[KGQAScore, bool]:  # noqa: ARG002
        """Returns the score of an answer, and whether the first one is right."""
        score = score_question(item, turn)
        return score, score.rank == 1

    def figures(self, scored: Sequence[Scored], *, seed: int) -> dict[str, Any]:
        """Returns the figures of :func:`optimize.metrics.summarise_kgqa`, and the counts of unreadable data."""
        figures: dict[str, Any] = summarise_kgqa([one.score for one in scored], seed=seed)
        figures["unreadable_questions"] = len(self.loaded.problems)
        figures["failed_questions"] = figures["unanswered_questions"] + len(self.loaded.problems)
        figures["graph_problems"] = len(self.graph.problems)
        return figures

    def log(
        self,
        run: Run,
        saved: SavedProgram,  # noqa: ARG002
        figures: Mapping[str, Any],
        scored: Sequence[Scored],
    ) -> None:
        """Logs figures and a row for each question; writes the predictions file."""
        run.log_metrics(sectioned(figures))
        run.log_description(kgqa_table([run.name], [figures]))
        names = ("id", "question", "answer", "gold", "rank", "f1", "failure", "message", "seconds")
        records = [dataclasses.asdict(one.score) for one in scored]
        run.log_table("questions", [{name: record[name] for name in names} for record in records])
        if self.predictions is not None:
            questions = {one.id: one for one in self.loaded.questions}
            lines = [json.dumps(prediction_of(questions[one.item], one.turn), ensure_ascii=False) for one in scored]
            write_text(self.predictions, "".join(f"{line}\n" for line in lines))

    def trace(self, scored: Scored) -> TraceFacts:
        """Returns the question's trace with its gold."""
        score = scored.score
        return TraceFacts(
            inputs={"question": score.question, "graph": self.graph.name},
            outputs={"answer": score.answer, "failure": score.message or None},
            error=score.message if score.failure in ("lm_error", "error") else None,
            verdicts={"hit_at_1": (score.rank == 1, score.message or "")},
            expected={"answers": list(score.gold)},
        )


def prediction_of(question: KGQuestion, turn: GraphTurn) -> dict[str, Any]:
    """Returns the line of the predictions file."""
    detail = turn.detail or GraphDetail()
    return {
        "id": question.id,
        "question": question.question,
        "prediction": list(detail.predictions),
        "ground_truth": list(question.answers),
        "ground_truth_paths": list(question.gold_paths),
        "reasoning_trace": detail.reasoning_trace,
    }


_TITLES = {
    "right at once (hit_at_1)": "hit_at_1",
    "right among the first 10 (hit_at_10)": "hit_at_10",
    "precision": "precision",
    "recall": "recall",
    "F1": "f1",
    "questions": "{questions:.0f}",
    "without an answer, or unreadable": "{failed_questions:.0f}",
    "LM calls a question": "{lm_calls_per_question:.2f}",
    "seconds a question, median / 95%": "{seconds_per_question_p50:.4f} / {seconds_per_question_p95:.4f}",
}


def kgqa_table(names: Sequence[str], figures: Sequence[Mapping[str, Any]]) -> str:
    """Returns the headline figures of evaluations, one column each."""
    return figures_table(names, figures, _TITLES)
