"""KGQA: the fit of a program on questions about a graph, and its evaluation by hits and F1.

    program = fit_graphs(load_graph("metaqa/kb.txt").graph, load_questions("metaqa/1hop_train.txt", "metaqa").questions)
    task = KGQuestions(load_graph("metaqa/kb.txt"), load_questions("metaqa/1hop_dev.txt", "metaqa"))
    evaluation = evaluate(find_program("my-kgqa"), task)
    evaluation.figures["hit_at_1"]      # 0.98, with hit_at_1_low and _high

The predictions file has a line for each question, as GCR's evaluation reads it: id, question, prediction, ground_truth,
ground_truth_paths, reasoning_trace.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy

from experiments.compiling import CompileJob, Fit, prompts_fit
from experiments.console import figures_table, write_text
from experiments.data import KGQuestion, LoadedGraph, LoadedQuestions
from experiments.lms import LMConfig
from experiments.readers import shipped_encoder
from experiments.saved import SavedProgram
from experiments.task import Description, EvaluationConfig, Scored, Task
from experiments.tracking import DataInput, Run, TraceFacts
from kg.errors import DataError
from kg.paths import QuestionGraph
from optimize.metrics import KGQAScore, score_question, summarise_kgqa
from optimize.optimizers import OptimizerStep
from optimize.relations import RelationTrainingConfig, fit_path_ranker, fit_relation_scorer, relation_examples
from programs.conversation import ConversationQA
from programs.turns import GraphDetail
from programs.worlds.graph import GraphConfig, GraphReader, GraphTurn

_FIELDS, _INPUTS = ("id", "question", "topics", "answers"), ("graph", "question", "topics")
_TAGS = ("scorer_sha256", "graph_sha256", "data_sha256")


class KGQuestions(Task):
    """Questions about a graph, with their answers.

    Args:
        graph: The graph.
        loaded: The questions with their gold.
        predictions: The predictions file; ``None`` for none.
    """

    run_kind = "kgqa"

    def __init__(self, graph: LoadedGraph, loaded: LoadedQuestions, *, predictions: Path | None = None) -> None:
        self.graph, self.loaded, self.predictions = graph, loaded, predictions
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
            "lm": config.lm.name if config.lm is not None else "none",
            "graph": self.graph.name,
            "graph_sha256": self.graph.sha256,
            "data": self.loaded.name,
            "data_sha256": self.loaded.sha256,
            "limit": config.limit,
        }
        tags = {f"finpath.{name}": str(figures[name]) for name in _TAGS}
        data = DataInput(self.loaded.name, self.loaded.sha256, "kgqa", len(self.items(config.limit)))
        params = {name: value for name, value in figures.items() if not name.endswith("sha256")}
        return Description(program, figures, {**params, "seed": config.seed}, tags, figures, data)

    def answer(self, program: ConversationQA, item: KGQuestion) -> Iterator[GraphTurn]:
        """Yields the answer to a question."""
        yield program(question=item.question, graph=self.graph.graph, topics=item.topics).turn

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
        run.log_figures(figures)
        run.log_description(self.table(run.name, figures))
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

    def table(self, name: str, figures: Mapping[str, Any]) -> str:
        """Returns the headline figures of an evaluation with its name."""
        return figures_table([name], [figures], _TITLES)


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


def graph_job(
    loaded: LoadedGraph,
    train: LoadedQuestions,
    search: GraphConfig,
    *,
    ranked: bool = False,
    optimizers: Sequence[OptimizerStep] = (),
    lm: LMConfig | None = None,
    seed: int = 0,
    **given: Any,
) -> CompileJob:
    """Returns the compile of a program for questions about a graph.

    Args:
        loaded: The graph.
        train: The questions with their gold.
        search: Settings of the beam.
        ranked: As for :func:`fit_graphs`.
        optimizers: Those of the prompts, one after the other, after the fit.
        lm: The language model that they ask.
        seed: Of everything random.
        given: Further arguments of :func:`experiments.compiling.prompts_fit`; questions about other topics select.
    """
    data = {"questions": train.name, "sha256": train.sha256, "count": len(train.questions)}
    learned = {**data, "graph": loaded.name, "graph_sha256": loaded.sha256}
    counts = {"train_questions": len(train.questions), "unreadable_questions": len(train.problems)}
    counts["graph_problems"] = len(loaded.problems)

    def fit(_: Callable[[str], None]) -> Fit:
        program = fit_graphs(loaded.graph, train.questions, search, ranked=ranked, seed=seed)
        if not optimizers:
            return Fit(program, counts)
        examples = [
            dspy.Example(graph=loaded.graph, **{name: getattr(question, name) for name in _FIELDS}).with_inputs(
                *_INPUTS
            )
            for question in train.questions
        ]
        compiled = prompts_fit(program, optimizers, examples, "topics", lm=lm, seed=seed, **given)
        return dataclasses.replace(compiled, figures={**counts, **compiled.figures})

    names = "+".join(step.name for step in optimizers)
    return CompileJob(
        name=f"kgqa {train.name}" + (f" {names}" if names else ""),
        data=[DataInput(train.name, train.sha256, "train", len(train.questions))],
        origin={"train": learned, "seed": seed},
        params={
            **{f"settings.{key}": value for key, value in dataclasses.asdict(search).items()},
            **learned,
            "optimizers": names or "none",
            "lm.name": lm.name if lm is not None else "none",
        },
        fit=fit,
        lm=lm,
        kind="kgqa",
        seed=seed,
    )


def fit_graphs(
    graph: QuestionGraph,
    questions: Sequence[KGQuestion],
    search: GraphConfig,
    *,
    ranked: bool = False,
    seed: int = 0,
) -> ConversationQA:
    """Returns a program that is fitted on questions.

    Args:
        graph: The graph.
        questions: The questions with their gold.
        search: Settings of the beam.
        ranked: Whether a ranker of whole paths is fitted, too.
        seed: Of everything random.

    Raises:
        DataError: There are no questions, or from none a path leads to its answers.
    """
    if not questions:
        raise DataError("there are no questions to learn from")
    index = graph.index
    examples = relation_examples(graph, questions)
    training = RelationTrainingConfig(max_hops=search.max_depth)
    scorer = fit_relation_scorer(index, examples, training, seed)
    if not ranked:
        return ConversationQA.for_graphs(search, GraphReader(scorer))
    ranker = fit_path_ranker(index, examples, shipped_encoder().vectors, training, seed)
    return ConversationQA.for_graphs(search, GraphReader(scorer, ranker))
