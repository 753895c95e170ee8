"""A compile of the parse of questions about graphs by a language model: demonstrations, figures before and after.

config = QueryCompileConfig("labeled-few-shot", LMConfig("local"))
compiled = compile_queries(config, ["graphs/train"], ["graphs/dev"], out="my-queries")
compiled.figures["dev/right"], compiled.figures["dev/right_before"]
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import dspy

from experiments.compiling.demonstrations import CompiledDemonstrations, DemonstrationConfig, dev_figures
from experiments.console import say
from experiments.data import read_talks
from experiments.files import read_text
from experiments.lms import lm_settings
from experiments.saved import (
    check_replaceable,
    load_program,
    save_program,
    shipped_encoder,
    shipped_thesaurus,
)
from experiments.tracking import DataInput, Tracker, open_run, run_tags, traced_calls
from kg.facts import FactGraph, read_file
from kg.parsing import QuestionReader
from optimize.queries import (
    AskedTurn,
    Talk,
    asked_replies,
    asked_turns,
    demonstrations,
    fit_queries,
    fitted_confidence,
    score_queries,
)
from programs.conversation import ConversationQA
from programs.worlds.graph import GraphConfig


@dataclass(frozen=True)
class QueryCompileConfig(DemonstrationConfig):
    """Settings of the compile; the optimizer is one of :data:`optimize.queries.QUERY_OPTIMIZERS`.

    Attributes:
        turns: Turns of dev that are scored before and after: of those that the beam leaves to a model.
        confidence_turns: Turns of train that the confidence in replies is fitted on: also of those that the beam
            leaves to a model. With 0, or without a model, it stays what it is.
        today: The day from which ages are counted; ``None`` for that of the compile.
        threads: Turns that are asked at a time.
    """

    turns: int = 24
    confidence_turns: int = 24
    today: date | None = None
    threads: int = 1


def compile_queries(
    config: QueryCompileConfig,
    train: Sequence[str],
    dev: Sequence[str] = (),
    *,
    out: str | Path,
    tracker: Tracker | None = None,
    run_name: str | None = None,
) -> CompiledDemonstrations:
    """Fits demonstrations, scores the program before and after, saves it and logs it as a run of the kind ``compile``.

    Args:
        config: Settings.
        train: Folders of graphs with conversations, to learn from.
        dev: Such folders of other graphs, to score on; none to score nothing.
        out: The folder of the program.
        tracker: The tracking store; ``None`` to log nothing.
        run_name: The name of the run.

    Raises:
        ConfigError: ``out`` holds other files, there is no such optimizer, or no turn can be a demonstration.
        DataError: A folder has no conversation, or a graph cannot be read.
        LMError: The model cannot be asked.
    """
    check_replaceable(Path(out))
    began = time.perf_counter()
    turns, sha256 = _turns(train, config)
    student = ConversationQA.for_graphs(GraphConfig(today=config.today))
    pool = demonstrations(turns)
    fitted = fit_queries(student, config.optimizer, pool, count=config.demonstrations)
    shown = len(fitted.beam.understand.predict.demos)
    figures: dict[str, Any] = {"demonstrations": shown, "pool": len(pool), "train_turns": len(turns)}
    name = run_name if run_name is not None else f"queries {Path(out).name}"
    tags = {"finpath.kind_of_program": "queries", **run_tags(config.seed)}
    with open_run(tracker, "compile", name, tags=tags) as run:
        run.log_params(config.params())
        run.log_data(DataInput(" ".join(train), sha256, "train", len(turns)))
        if not config.lm.is_none:
            with traced_calls(tracker, run), dspy.context(**lm_settings(config.lm)):
                figures |= _fit_confidence(fitted, turns, config)
        if dev and not config.lm.is_none:
            asked, dev_sha256 = _turns(dev, config)
            scored = _left_to_a_model(asked, student, config.turns, config.seed, "are scored")
            run.log_data(DataInput(" ".join(dev), dev_sha256, "dev", len(scored)))
            with traced_calls(tracker, run), dspy.context(**lm_settings(config.lm)):
                figures |= dev_figures(
                    lambda program, done: _scores(program, scored, done, config.threads),
                    student,
                    fitted,
                    len(scored),
                    "turn",
                )
        origin = config.origin(train, {"sha256": sha256, "turns": len(turns)}, run.id)
        saved = load_program(save_program(fitted, out, origin))
        run.log_metrics({**figures, "compile_seconds": time.perf_counter() - began})
        run.log_folder(saved.folder, "program")
    return CompiledDemonstrations(saved, figures, run.id or "")


def _turns(folders: Sequence[str], config: QueryCompileConfig) -> tuple[list[AskedTurn], str]:
    """Returns the turns about all graphs of some folders, and the hash of what was read."""
    talks, sha256 = read_talks(folders)
    found: list[AskedTurn] = []
    for file, rows in talks.items():
        graph = FactGraph.build(read_file(file, read_text(file)))
        reader = QuestionReader(graph, shipped_encoder().vectors, shipped_thesaurus())
        for row in rows:
            talk = Talk(tuple(row["questions"]), tuple(row["answers"]), tuple(row["queries"]))
            found += asked_turns(reader, talk, today=config.today if config.today is not None else date.today())
    return found, sha256


def _fit_confidence(
    program: ConversationQA, turns: Sequence[AskedTurn], config: QueryCompileConfig
) -> dict[str, float]:
    """Fits the confidence in replies to the prompts that the program now has; turns that these show are left out."""
    shown = {str(demo["question"]) for demo in program.beam.understand.predict.demos}
    unseen = [one for one in turns if one.reading.question not in shown]
    left = _left_to_a_model(unseen, program, config.confidence_turns, config.seed, "fit the confidence in replies")
    if not left:
        return {}
    replies = asked_replies(program, left, config.threads)
    fitted = fitted_confidence(left, replies, begin=program.config.confidence_in_replies())
    program.beam.config = replace(program.config, reply_confidence=fitted)
    figures = {f"confidence/{name}": value for name, value in asdict(fitted).items()}
    return {"confidence_turns": float(len(left)), **figures}


def _left_to_a_model(
    turns: Sequence[AskedTurn], program: ConversationQA, most: int, seed: int, purpose: str
) -> list[AskedTurn]:
    """Returns turns with a low confidence of the beam, so that the program asks the model."""
    left = [one for one in turns if one.reading.confidence < program.config.trust]
    if len(left) > most:
        say(f"* {most} of {len(left)} turns of which the beam is unsure {purpose}")
        left = random.Random(seed).sample(left, most)
    return left


def _scores(
    program: ConversationQA, turns: Sequence[AskedTurn], done: Callable[[], None], threads: int
) -> dict[str, float]:
    """Returns the figures of a program by name; ``done`` is called after each turn."""
    score = score_queries(program, turns, threads)
    done()
    return {**score, "turns": float(len(turns))}
