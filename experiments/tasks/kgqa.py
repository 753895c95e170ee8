"""Evaluates a program on questions about a graph: answers, scores, the file that GCR's evaluation reads, and a run.

    with open_graph("metaqa/kb.txt") as graphs:
        evaluation = evaluate_kgqa(saved, graphs, load_questions("metaqa/1hop_dev.txt", "metaqa"), KGQAConfig())
    evaluation.figures["hit_at_1"]      # 0.98, with hit_at_1_low and _high

Each question is written as soon as it is answered; an evaluation that was stopped, by whatever, goes on from there when
it is started again with the same predictions file. A question that fails costs itself only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.console import Bar, format_table, percent, progress, say
from experiments.data.graphs import GraphSource
from experiments.data.questions import KGQuestion, LoadedQuestions
from experiments.lms.config import LMConfig, reach_lm
from experiments.saved.kgqa import SavedKGQA
from experiments.tasks.kgqa_predictions import Predictions
from kg.errors import ConfigError, FinpathError
from kg.graphs import GraphIndex
from optimize.metrics import KGQAScore, score_question, summarise_kgqa
from programs.graphs import KGQA, NEEDS_LM, PathTurn

_THREADS_WITH_LM = 8


@dataclass(frozen=True)
class KGQAConfig:
    """How a program is evaluated.

    Attributes:
        lm: The language model that it asks.
        limit: At most this many questions, the first of the file.
        seed: Seed of the intervals.
        link: Whether topics are found in the question even where the file gives them.
        predictions: Where predictions are written; ``None`` for nowhere.
        threads: Questions at a time; ``None`` for 1, or 8 where a remote model is waited for.
    """

    lm: LMConfig = field(default_factory=LMConfig)
    limit: int | None = None
    seed: int = 0
    link: bool = False
    predictions: Path | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("limit", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}")

    @property
    def thread_count(self) -> int:
        """The number of threads that is meant."""
        if self.threads is not None:
            return self.threads
        return 1 if self.lm.is_none or self.lm.is_local else _THREADS_WITH_LM


@dataclass(frozen=True)
class KGQAEvaluation:
    """What came of an evaluation.

    Attributes:
        name: The program's name and the questions'.
        figures: All figures under their stable names.
        scores: Every question beside its gold, in the file's order.
    """

    name: str
    figures: Mapping[str, Any]
    scores: Sequence[KGQAScore]


def evaluate_kgqa(saved: SavedKGQA, source: GraphSource, loaded: LoadedQuestions, config: KGQAConfig) -> KGQAEvaluation:
    """Answers questions and scores them.

    Args:
        saved: The program.
        source: The graph.
        loaded: The questions with their gold.
        config: How.

    Returns:
        The figures of :func:`optimize.metrics.graphs.summarise_kgqa`, and ``failed_questions``: questions without an
        answer and lines that could not be read, ``unreadable_questions``; what the language model took; and what the
        figures were got with.

    Raises:
        ConfigError: The program asks a language model and none is given, or the predictions file is of another
            evaluation.
        LMError: The language model does not answer at all.
    """
    check_lm(saved.program, config.lm)
    questions = loaded.questions[: config.limit]
    settings = reach_lm(config.lm)
    told = described(saved, source, loaded, config)
    with Predictions(config.predictions, told) as written:
        if written.scores:
            say(f"* going on after {len(written.scores)} of {len(questions)} questions that are answered already")
        todo = [question for question in questions if question.id not in written.scores]
        answer_questions(saved.program, source, todo, config, settings, written.add)
        scores = [written.scores[question.id] for question in questions]
    unreadable = len(loaded.problems)
    figures: dict[str, Any] = summarise_kgqa(scores, seed=config.seed) | told | _spent(settings)
    figures["unreadable_questions"] = unreadable
    figures["failed_questions"] = figures["unanswered_questions"] + unreadable
    figures["graph_problems"], figures["truncated_graphs"] = source.problem_count, source.truncated
    return KGQAEvaluation(f"{saved.name} on {loaded.name}", figures, scores)


def check_lm(program: KGQA, lm: LMConfig) -> None:
    """Raises ConfigError where a program asks a language model and none is given."""
    if program.needs_lm and lm.is_none:
        what = f"the aggregation {program.aggregation!r}" if program.aggregation in NEEDS_LM else "this scorer"
        raise ConfigError(f"{what} asks a language model: name one with --lm")


def described(
    saved: SavedKGQA, source: GraphSource, loaded: LoadedQuestions, config: KGQAConfig
) -> dict[str, str | int | bool | None]:
    """What shapes the answers of an evaluation."""
    beam = saved.program.config
    return {
        "program": saved.name,
        "scorer": type(saved.program.scorer).__name__,
        "scorer_sha256": saved.config.get("scorer_sha256"),
        "aggregation": saved.program.aggregation,
        "beam_width": beam.beam_width,
        "max_depth": beam.max_depth,
        "output_top_k": beam.output_top_k,
        "lm": config.lm.name,
        "graph": source.name,
        "graph_sha256": source.sha256,
        "data": loaded.name,
        "data_sha256": loaded.sha256,
        "linked_topics": config.link,
        "limit": config.limit,
    }


def answer_questions(
    program: KGQA,
    source: GraphSource,
    questions: Sequence[KGQuestion],
    config: KGQAConfig,
    settings: Mapping[str, Any],
    done: Callable[[KGQuestion, PathTurn, KGQAScore], None],
) -> None:
    """Answers questions, each with its graph, and tells ``done`` of each as it is answered."""
    import dspy

    bar = progress(len(questions), "questions", "answering")
    lock = threading.Lock()
    tally = _Tally(bar)

    def work(question: KGQuestion) -> None:
        turn, graph = _answered(program, source, question, config.link)
        score = score_question(question, turn, graph)
        with lock:
            done(question, turn, score)
            tally.add(score)

    try:
        # The matrices are small, and threads that each ask BLAS for more of them wait for each other.
        with dspy.context(**settings), threadpool_limits(limits=1, user_api="blas"):
            if config.thread_count == 1:
                for question in questions:
                    work(question)
            else:
                parallel = dspy.Parallel(num_threads=config.thread_count, max_errors=1, disable_progress_bar=True)
                parallel([(work, {"question": question}) for question in questions])
    finally:
        bar.close()


class _Tally:
    def __init__(self, bar: Bar) -> None:
        self.bar, self.count, self.right = bar, 0, 0

    def add(self, score: KGQAScore) -> None:
        self.count += 1
        self.right += score.rank == 1
        self.bar.update()
        self.bar.set_postfix_str(f"{100 * self.right / self.count:.1f}% right at once")


def _answered(
    program: KGQA, source: GraphSource, question: KGQuestion, link: bool
) -> tuple[PathTurn, GraphIndex | None]:
    """The turn, and the graph; an error in getting the graph costs this question only."""
    try:
        graph = source.of(question)
    except FinpathError as error:
        return PathTurn(question.question, failure="error", message=str(error)), None
    given = () if link else question.topics
    return program(question=question.question, graph=graph, topics=given).turn, graph.index


def _spent(settings: Mapping[str, Any]) -> dict[str, float]:
    """What the language model took altogether: calls, cache hits, tokens and dollars; zeros where there is none."""
    from programs.lm import GuardedLM, Spent

    asked = settings["lm"]
    return (asked.spent if isinstance(asked, GuardedLM) else Spent()).figures()


def figures_table(names: Sequence[str], figures: Sequence[Mapping[str, Any]]) -> str:
    """The headline figures of evaluations, one column each."""
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
    return format_table(["", *names], rows)
