"""KGQA: questions about a graph, scored by hits, F1 and GCR's figures.

    with open_graph("metaqa/kb.txt") as graphs:
        task = KGQuestions(graphs, load_questions("metaqa/1hop_dev.txt", "metaqa"))
        evaluation = evaluate(find_program("my-kgqa"), task)
    evaluation.figures["hit_at_1"]      # 0.98, with hit_at_1_low and _high

A question that fails costs itself only. The predictions file has a line for each question, as GCR's evaluation reads
it: id, question, prediction, ground_truth, ground_truth_paths, reasoning_trace.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.console import format_table, percent
from experiments.data import GraphSource, KGQuestion, LoadedQuestions
from experiments.evaluation import Answered, Description, EvaluationConfig, Scored, Task
from experiments.files import write_text
from experiments.lms import LMConfig
from experiments.saved import SavedProgram
from experiments.tracking import DataInput, Run, Trace, TurnRecorder, sectioned
from kg.errors import ConfigError, FinpathError
from optimize.metrics import KGQAScore, score_question, summarise_kgqa
from programs.kgqa import KGQA
from programs.turns import PathDetail, read_turn, turn_record
from programs.worlds.paths import PathTurn

JOURNAL_SUFFIX = ".scores"
"""The end of the name of the journal of a predictions file."""

_SETTINGS = ("program", "aggregation", "beam_width", "max_depth", "output_top_k", "lm", "graph", "data")
_PARAMS = (*_SETTINGS, "seed", "folds", "split_by", "linked_topics", "limit")
_TAGS = ("scorer_sha256", "graph_sha256", "data_sha256")


class KGQuestions(Task[KGQuestion, PathTurn, KGQAScore]):
    """Questions about a graph, with their answers.

    Args:
        source: The graph, or the graphs of the questions.
        loaded: The questions with their gold.
        link: Whether topics are linked in the question even where the file names them.
        predictions: The predictions file; ``None`` for none.
    """

    run_kind = "kgqa"
    unit = "questions"

    def __init__(
        self, source: GraphSource, loaded: LoadedQuestions, *, link: bool = False, predictions: Path | None = None
    ) -> None:
        self.graphs, self.loaded, self.link, self.predictions = source, loaded, link, predictions
        self.name = loaded.name

    @property
    def journal(self) -> Path | None:
        """The journal of the predictions file, from which an evaluation with the same file continues.

        Raises:
            ConfigError: There are predictions without a journal.
        """
        if self.predictions is None:
            return None
        path = self.predictions.with_name(self.predictions.name + JOURNAL_SUFFIX)
        if self.predictions.exists() and not path.exists():
            raise ConfigError(f"{self.predictions} is of another evaluation: remove it, or name another file")
        return path

    def items(self, limit: int | None = None) -> Sequence[KGQuestion]:
        """Returns the questions."""
        return self.loaded.questions[:limit]

    def source(self, item: KGQuestion) -> str:  # noqa: ARG002
        """Returns the name of the graph."""
        return self.graphs.name

    def answer(
        self,
        program: KGQA,
        item: KGQuestion,
        done: Sequence[Answered[PathTurn]],  # noqa: ARG002
        config: EvaluationConfig,
    ) -> Iterator[Answered[PathTurn]]:
        """Yields the answer to a question; an error in reading its graph costs this question only."""
        start, recorder = time.time_ns(), TurnRecorder()
        try:
            graph = self.graphs.of(item)
        except FinpathError as error:
            turn, index = PathTurn(item.question, failure="error", message=str(error)), None
        else:
            given = () if self.link else item.topics
            with recorder.recording() if config.traces != "none" else contextlib.nullcontext():
                turn, index = program(question=item.question, graph=graph, topics=given).turn, graph.index
        yield Answered(item.id, 0, turn, spans=recorder.spans, start=start, end=time.time_ns(), graph=index)

    def score(self, item: KGQuestion, answered: Answered[PathTurn]) -> KGQAScore:
        """Returns the score, with the paths checked in the turn's graph."""
        return score_question(item, answered.turn, answered.graph)

    def is_right(self, score: KGQAScore) -> bool:
        """Whether the first answer is right."""
        return score.rank == 1

    def figures(self, scored: Sequence[Scored[PathTurn, KGQAScore]], *, seed: int) -> dict[str, Any]:
        """Returns the figures of :func:`optimize.metrics.summarise_kgqa`, and the counts of unreadable data."""
        figures: dict[str, Any] = summarise_kgqa([one.score for one in scored], seed=seed)
        figures["unreadable_questions"] = len(self.loaded.problems)
        figures["failed_questions"] = figures["unanswered_questions"] + len(self.loaded.problems)
        figures["graph_problems"], figures["truncated_graphs"] = self.graphs.problem_count, self.graphs.truncated
        return figures

    def describe(self, saved: SavedProgram, config: EvaluationConfig) -> Description:
        """Returns program, model, graph, data and limit."""
        program: KGQA = saved.program
        check_lm(program, config.lm)
        beam = program.config
        figures = {
            "program": saved.name,
            "scorer": type(program.scorer).__name__,
            "scorer_sha256": saved.config.get("scorer_sha256"),
            "aggregation": program.aggregation,
            "beam_width": beam.beam_width,
            "max_depth": beam.max_depth,
            "output_top_k": beam.output_top_k,
            "lm": config.lm.name,
            "graph": self.graphs.name,
            "graph_sha256": self.graphs.sha256,
            "data": self.loaded.name,
            "data_sha256": self.loaded.sha256,
            "linked_topics": self.link,
            "limit": config.limit,
        }
        tags = {f"finpath.{name}": str(figures[name]) for name in _TAGS}
        return Description(figures, _params({**figures, "seed": config.seed}), tags, figures)

    def record(self, scored: Scored[PathTurn, KGQAScore]) -> dict[str, Any]:
        """Returns the turn with its score."""
        return {"turn": turn_record(scored.answered.turn), "score": dataclasses.asdict(scored.score)}

    def read(self, line: Mapping[str, Any]) -> tuple[PathTurn, KGQAScore]:
        """Returns the turn and the score of a line."""
        return read_turn(line["turn"]), KGQAScore(**{**line["score"], "gold": tuple(line["score"]["gold"])})

    def log_start(self, run: Run, saved: SavedProgram, items: Sequence[KGQuestion]) -> None:  # noqa: ARG002
        """Logs the data."""
        run.log_data(DataInput(self.loaded.name, self.loaded.sha256, "kgqa", len(items)))

    def log_results(self, run: Run, figures: Mapping[str, Any], done: Sequence[Scored[PathTurn, KGQAScore]]) -> None:
        """Logs figures and a row for each question; writes the predictions file."""
        log_figures(run, figures, [one.score for one in done])
        if self.predictions is not None:
            questions = {one.id: one for one in self.loaded.questions}
            lines = [prediction_of(questions[one.answered.item], one.answered.turn) for one in done]
            write_text(self.predictions, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))

    def trace(self, run: Run, program: str, scored: Scored[PathTurn, KGQAScore]) -> Trace:
        """Returns the question's trace with its gold."""
        answered, score = scored.answered, scored.score
        return Trace(
            name=score.id,
            key=(score.id, 0),
            start=answered.start,
            end=answered.end,
            inputs={"question": score.question, "graph": scored.source},
            outputs={"answer": score.answer, "failure": score.message or None},
            spans=answered.spans,
            tags={
                "finpath.run": str(run.id),
                "finpath.program": program,
                "finpath.correct": str(score.rank == 1).lower(),
            },
            error=score.message if score.failure in ("lm_error", "error") else None,
            verdicts={"hit_at_1": (score.rank == 1, score.message or "")},
            expected={"answers": list(score.gold)},
        )


def check_lm(program: KGQA, lm: LMConfig) -> None:
    """Raises ConfigError if a program asks a language model and there is none."""
    if program.needs_lm and lm.is_none:
        asking = f"the aggregation {program.aggregation!r}" if program.aggregation == "index" else "this scorer"
        raise ConfigError(f"{asking} asks a language model: name one with --lm")


def prediction_of(question: KGQuestion, turn: PathTurn) -> dict[str, Any]:
    """Returns the line of the predictions file."""
    detail = turn.detail or PathDetail()
    return {
        "id": question.id,
        "question": question.question,
        "prediction": list(detail.predictions),
        "ground_truth": list(question.answers),
        "ground_truth_paths": list(question.gold_paths),
        "reasoning_trace": detail.reasoning_trace,
    }


def log_figures(run: Run, figures: Mapping[str, Any], scores: Sequence[KGQAScore]) -> None:
    """Logs figures, and a table with a row for each question."""
    run.log_metrics(sectioned({name: value for name, value in figures.items() if name not in _SETTINGS}))
    run.log_description(figures_table([run.name], [figures]))
    if scores:
        run.log_table("questions", [_row(score) for score in scores])


def log_crossvalidation(run: Run, figures: Mapping[str, Any]) -> None:
    """Logs the settings, the data and the figures of a cross-validation."""
    run.log_params(_params(figures))
    run.log_tags({f"finpath.{name}": str(figures.get(name)) for name in _TAGS})
    run.log_data(DataInput(str(figures["data"]), str(figures["data_sha256"]), "kgqa", int(figures["questions"])))
    log_figures(run, figures, [])


def _params(figures: Mapping[str, Any]) -> dict[str, object]:
    return {name: figures.get(name) for name in _PARAMS}


def _row(score: KGQAScore) -> dict[str, Any]:
    return {
        "id": score.id,
        "question": score.question,
        "answer": score.answer,
        "gold": list(score.gold),
        "rank": score.rank,
        "f1": score.f1,
        "failure": score.failure,
        "message": score.message,
        "seconds": score.seconds,
    }


def figures_table(names: Sequence[str], figures: Sequence[Mapping[str, Any]], width: int | None = None) -> str:
    """Returns the headline figures of evaluations, one column each."""
    shares = {
        "right at once (hit_at_1)": "hit_at_1",
        "right among the first 10 (hit_at_10)": "hit_at_10",
        "precision": "precision",
        "recall": "recall",
        "F1": "f1",
        "valid paths (path_validity)": "path_validity",
        "GCR's Hit, loose": "gcr_hit",
        "GCR's F1, loose": "gcr_f1",
    }
    rows: list[list[object]] = [[title, *(percent(one, name) for one in figures)] for title, name in shares.items()]
    rows += [
        ["questions", *(f"{one['questions']:.0f}" for one in figures)],
        ["without an answer, or unreadable", *(f"{one['failed_questions']:.0f}" for one in figures)],
        ["LM calls a question", *(f"{one['lm_calls_per_question']:.2f}" for one in figures)],
        [
            "milliseconds a question, median / 95%",
            *(
                f"{1000 * one['seconds_per_question_p50']:.1f} / {1000 * one['seconds_per_question_p95']:.1f}"
                for one in figures
            ),
        ],
    ]
    return format_table(["", *names], rows, width=width)
