"""Evaluates a program over conversations: answers, the official scores, and a run that keeps both.

    evaluation = evaluate(find_program("beam"), load_conversations("sample:dev"), EvaluationConfig(), tracker=tracker)
    evaluation.figures["exe_accuracy"]     # 0.71, with exe_accuracy_low and _high
    evaluation.run_id                      # for compare and inspect

A conversation in which the program raises costs its own turns only; they are counted as failed, apart from wrong
answers. When the evaluation is stopped, its run keeps the conversations that were done.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from threadpoolctl import threadpool_limits

from experiments.console import format_table, percent, progress
from experiments.data import Conversation, LoadedData, conversation_examples
from experiments.environment import describe_environment
from experiments.lms import LMConfig, reach_lm
from experiments.saved import SavedProgram
from experiments.tracking import DataInput, Run, Tracker, open_run
from kg.derivation import Derivation
from kg.errors import ConfigError, DataError
from optimize.metrics import RECALL_AT, TurnScore, score_conversation, summarise
from programs.turn import PastTurn, Turn

if TYPE_CHECKING:
    import dspy

logger = logging.getLogger(__name__)

TURNS, DETAILS = "turns", "details"
"""The tables on an evaluation's run: one row a turn with its scores, and one with its candidates."""

_THREADS_WITH_LM = 8
_FAILURES_SAID = 3


@dataclass(frozen=True)
class EvaluationConfig:
    """How a program is evaluated.

    Attributes:
        lm: The language model that it asks.
        history: What a turn sees of the turns before it: the program's own answers, or the gold ones (a diagnosis of
            how far errors carry over; never a headline).
        limit: At most this many conversations, the first of the data.
        seed: Seed of the intervals.
        threads: Conversations at a time; ``None`` for 1, or 8 where a remote model is waited for.
    """

    lm: LMConfig = field(default_factory=LMConfig)
    history: Literal["own", "gold"] = "own"
    limit: int | None = None
    seed: int = 0
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
class Evaluation:
    """What came of an evaluation.

    Attributes:
        name: The run's name.
        figures: All figures under their stable names, with ``run_id`` and what they were got with. Those of the turns
            count each call that a turn made (``lm_calls_per_turn``); ``lm_calls``, ``lm_cache_hits``,
            ``lm_prompt_tokens``, ``lm_completion_tokens`` and ``lm_usd`` are what the language model took for the whole
            evaluation, with the short question that it is asked first; all are 0 without one.
        scores: Every turn beside its gold.
        turns: Every turn as the program returned it, by conversation and index.
    """

    name: str
    figures: Mapping[str, Any]
    scores: Sequence[TurnScore]
    turns: Mapping[tuple[str, int], Turn]

    @property
    def run_id(self) -> str | None:
        """The MLflow run, if there is one."""
        run_id: str | None = self.figures["run_id"]
        return run_id


class _Results:
    """What is done so far; conversations may come in any order and twice, from several threads."""

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        self.conversations = {conversation.id: conversation for conversation in conversations}
        self.scores: dict[str, list[TurnScore]] = {}
        self.turns: dict[str, list[Turn]] = {}

    def add(self, conversation_id: str, turns: list[Turn]) -> None:
        self.scores[conversation_id] = score_conversation(self.conversations[conversation_id], turns)
        self.turns[conversation_id] = turns

    def all_scores(self) -> list[TurnScore]:
        """In the order of the data."""
        return [score for name in self.conversations for score in self.scores.get(name, [])]

    def all_turns(self) -> dict[tuple[str, int], Turn]:
        done = ((name, self.turns.get(name, [])) for name in self.conversations)
        return {(name, index): turn for name, turns in done for index, turn in enumerate(turns)}


def evaluate(
    saved: SavedProgram,
    data: LoadedData,
    config: EvaluationConfig,
    *,
    tracker: Tracker | None = None,
    parent: Run | None = None,
    run_name: str | None = None,
) -> Evaluation:
    """Runs a program over conversations and scores every turn.

    Args:
        saved: The program.
        data: Conversations with gold.
        config: How.
        tracker: Where to log the run; ``None`` to log nothing.
        parent: The run that this evaluation is a part of.
        run_name: The run's name; by default the program's name and the data's.

    Raises:
        DataError: The data has no gold, or no conversation that can be read.
        LMError: The language model does not answer at all.
    """
    conversations = data.conversations[: config.limit]
    if not conversations:
        raise DataError("has no conversation that can be evaluated", file=data.name)
    if any(conversation.answers is None for conversation in conversations):
        raise DataError("has no gold answers to evaluate against", file=data.name)
    lm = reach_lm(config.lm)
    name = run_name if run_name is not None else f"{saved.name} on {data.name}"
    results = _Results(conversations)
    with open_run(tracker, "evaluate", name, parent=parent, tags=_tags(saved, data, config)) as run:
        run.log_params(_params(saved, data, config))
        run.log_data(DataInput(data.name, data.sha256, data.split, len(conversations)))
        start = time.perf_counter()
        figures: dict[str, Any] = {}
        try:
            _answer_all(saved, results, config, lm)
        finally:
            if results.scores:
                spent = _spent(lm)
                figures = _figures(saved, data, config, results, run, time.perf_counter() - start) | spent
                _log_results(run, figures, results)
    return Evaluation(name, figures, results.all_scores(), results.all_turns())


def _answer_all(saved: SavedProgram, results: _Results, config: EvaluationConfig, lm: Mapping[str, Any]) -> None:
    import dspy

    conversations = list(results.conversations.values())
    examples = conversation_examples(conversations)
    if config.history == "gold":
        examples = [
            example.copy(past=_gold_history(conversation)).with_inputs("report", "questions", "past")
            for example, conversation in zip(examples, conversations, strict=True)
        ]
    bar = progress(len(examples), "conversations", "answering")

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float:
        results.add(example.id, prediction.turns)
        done = results.all_scores()
        bar.update()
        bar.set_postfix_str(f"{100 * sum(one.exact for one in done) / len(done):.1f}% of turns right")
        found = results.scores[example.id]
        return sum(one.exact for one in found) / len(found)

    run = dspy.Evaluate(devset=examples, metric=score, num_threads=config.thread_count)
    try:
        # The matrices are small, and threads that each ask BLAS for more of them wait for each other.
        with dspy.context(**lm), _quiet_dspy(), threadpool_limits(limits=1, user_api="blas"):
            run(_Guarded(saved.program))
    finally:
        bar.close()


class _Guarded:
    """A program whose exceptions become failed turns; the first of them are said, all are on the run."""

    def __init__(self, program: dspy.Module) -> None:
        self._program = program
        self._failures = 0

    def __call__(self, **inputs: Any) -> dspy.Prediction:
        try:
            return self._program(**inputs)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must cost this conversation only; it is counted
            import dspy

            message = f"{type(error).__name__}: {error}"
            self._failures += 1
            if self._failures <= _FAILURES_SAID:
                logger.warning("a conversation about %s failed: %s", inputs["report"].id, message)
            return dspy.Prediction(
                turns=[Turn(question, failure="error", message=message) for question in inputs["questions"]]
            )


def _gold_history(conversation: Conversation) -> tuple[PastTurn, ...]:
    assert conversation.programs is not None
    derivations = [Derivation.parse(program) for program in conversation.programs]
    return tuple(
        PastTurn(question, derivation, derivation.execute(conversation.report.table))
        for question, derivation in zip(conversation.questions, derivations, strict=True)
    )


@contextmanager
def _quiet_dspy() -> Iterator[None]:
    """Without dspy.Evaluate's own summary, an average over conversations in percent, and its word on Ctrl-C."""
    loggers = [logging.getLogger(name) for name in ("dspy.evaluate.evaluate", "dspy.utils.parallelizer")]
    levels = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)


def _figures(
    saved: SavedProgram, data: LoadedData, config: EvaluationConfig, results: _Results, run: Run, seconds: float
) -> dict[str, Any]:
    return {
        **summarise(results.all_scores(), seed=config.seed),
        "seconds": seconds,
        "run_id": run.id,
        "run_name": run.name,
        "program": saved.name,
        "lm": config.lm.name,
        "history": config.history,
        "seed": config.seed,
        "limit": config.limit,
        "data": data.name,
        "data_sha256": data.sha256,
        "split": data.split,
        "data_problems": len(data.problems),
    }


def _spent(lm: Mapping[str, Any]) -> dict[str, float]:
    """What the language model took altogether: calls, cache hits, tokens and dollars; zeros where there is none."""
    from programs.guarded_lm import GuardedLM, Spent

    asked = lm["lm"]
    return (asked.spent if isinstance(asked, GuardedLM) else Spent()).figures()


def _params(saved: SavedProgram, data: LoadedData, config: EvaluationConfig) -> dict[str, object]:
    return {
        "program": saved.name,
        "kind": saved.program.kind,
        **{f"settings.{key}": value for key, value in dataclasses.asdict(saved.program.config).items()},
        **config.lm.params(),
        "history": config.history,
        "limit": config.limit if config.limit is not None else "all",
        "seed": config.seed,
        "threads": config.thread_count,
        "data": data.name,
        "split": data.split,
        "optimizers": ",".join(step["name"] for step in saved.config.get("optimizers", [])) or "none",
    }


def _tags(saved: SavedProgram, data: LoadedData, config: EvaluationConfig) -> dict[str, str]:
    scorer = saved.program.scorer
    return {
        **run_tags(config.seed),
        "finpath.data": data.name,
        "finpath.data_sha256": data.sha256,
        "finpath.split": data.split,
        "finpath.ontology_sha256": saved.program.ontology.sha256,
        "finpath.scorer_sha256": scorer.sha256 if scorer is not None else "none",
    }


def run_tags(seed: int) -> dict[str, str]:
    """What every run says about the code it ran with."""
    environment = describe_environment()
    return {
        "finpath.version": environment.finpath,
        "finpath.seed": str(seed),
        "finpath.packages": json.dumps(environment.packages),
        "finpath.python": environment.python,
        **({"mlflow.source.git.commit": environment.git_revision} if environment.git_revision else {}),
    }


def _log_results(run: Run, figures: Mapping[str, Any], results: _Results) -> None:
    run.log_metrics({key: value for key, value in figures.items() if key not in ("seed", "limit")})
    run.log_description(_figures_table([run.name], [figures]))
    run.log_table(TURNS, [_turn_row(results, score) for score in results.all_scores()])
    run.log_table(DETAILS, [_detail_row(key, turn) for key, turn in results.all_turns().items()])


def _turn_row(results: _Results, score: TurnScore) -> dict[str, Any]:
    report = results.conversations[score.conversation_id].report.id
    return {
        key: str(value) if isinstance(value, Decimal) else value
        for key, value in {"report": report, **dataclasses.asdict(score)}.items()
    }


def _detail_row(key: tuple[str, int], turn: Turn) -> dict[str, Any]:
    candidates = [
        {
            "answer": str(candidate.answer),
            "score": round(candidate.score, 6),
            "program": str(candidate.derivation),
            "path": candidate.path,
            "sources": [str(source) for source in candidate.sources],
        }
        for candidate in turn.candidates[: max(RECALL_AT)]
    ]
    return {
        "conversation_id": key[0],
        "turn_index": key[1],
        "pick": turn.pick,
        "understanding": str(turn.understanding) if turn.understanding is not None else None,
        "candidates": candidates,
    }


def summary_table(evaluations: Sequence[Evaluation]) -> str:
    """The headline figures of evaluations, one column each."""
    return _figures_table([one.name for one in evaluations], [one.figures for one in evaluations])


def _figures_table(names: Sequence[str], figures: Sequence[Mapping[str, Any]]) -> str:
    rows: list[list[object]] = [
        ["right answers (exe_accuracy)", *(percent(one, "exe_accuracy") for one in figures)],
        ["right calculations (program_accuracy)", *(percent(one, "program_accuracy") for one in figures)],
        ["whole conversations right", *(percent(one, "conversation_accuracy") for one in figures)],
        ["right answer among the first 5 (recall_at_5)", *(percent(one, "recall_at_5") for one in figures)],
        ["right answer among the first 20", *(percent(one, "recall_at_20") for one in figures)],
        ["turns / conversations", *(f"{one['turns']:.0f} / {one['conversations']:.0f}" for one in figures)],
        ["turns without an answer", *(f"{one['failed_turns']:.0f}" for one in figures)],
        ["LM calls a turn", *(f"{one['lm_calls_per_turn']:.2f}" for one in figures)],
        ["prompt tokens a turn", *(f"{one['prompt_tokens_per_turn']:.0f}" for one in figures)],
        [
            "seconds a turn, median / 95%",
            *(f"{one['seconds_per_turn_p50']:.3f} / {one['seconds_per_turn_p95']:.3f}" for one in figures),
        ],
    ]
    return format_table(["", *names], rows)
