"""Compiles of the parse of questions about graphs by a language model: demonstrations, and the confidence in replies.

job = query_job("labeled-few-shot", ["graphs/train"], ["graphs/dev"], lm=LMConfig("local"))
compile_program(job, out="my-queries").figures["dev/right"]
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from typing import Any

import dspy

from experiments.compiling.compile import CompileJob, Fit
from experiments.console import say
from experiments.data import read_talks
from experiments.files import read_text
from experiments.lms import LMConfig, lm_settings
from experiments.saved import shipped_encoder, shipped_thesaurus
from experiments.tracking import DataInput
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


def query_job(
    optimizer: str,
    train: Sequence[str],
    dev: Sequence[str] = (),
    *,
    lm: LMConfig,
    scored: int = 24,
    threads: int = 1,
    seed: int = 0,
    today: date | None = None,
) -> CompileJob:
    """Returns the compile of a program for questions about any graph.

    Args:
        optimizer: One of :data:`optimize.queries.QUERY_OPTIMIZERS`.
        train: Folders of graphs with conversations, to learn from.
        dev: Such folders of other graphs, to score on before and after; none to score nothing.
        lm: The language model; without one, only demonstrations are fitted.
        scored: Turns of dev that are scored, and of train that the confidence is fitted on; of those that the beam
            leaves to a model.
        threads: Turns at a time.
        seed: Of the choice of turns.
        today: The day from which ages are counted; ``None`` for that of the compile.

    Raises:
        DataError: A folder has no conversation, or a graph cannot be read.
    """
    student = ConversationQA.for_graphs(GraphConfig(today=today))
    (turns, learned), (dev_turns, dev_data) = _turns(train, today, "train"), _turns(dev, today, "dev")

    def figures_of(program: ConversationQA, turns: Sequence[AskedTurn], ending: str) -> Mapping[str, float]:
        return {f"dev/{name}{ending}": n for name, n in score_queries(program, turns, threads).items()}

    def left_to_a_model(turns: Sequence[AskedTurn], purpose: str) -> list[AskedTurn]:
        left = [turn for turn in turns if turn.reading.confidence < student.config.trust]
        if len(left) <= scored:
            return left
        say(f"* {scored} of {len(left)} turns of which the beam is unsure {purpose}")
        return random.Random(seed).sample(left, scored)

    def fit(*_: Any) -> Fit:
        pool = demonstrations(turns)
        program = fit_queries(student, optimizer, pool)
        figures: dict[str, Any] = {"demonstrations": len(program.beam.understand.predict.demos), "pool": len(pool)}
        if lm.is_none:
            return Fit(program, figures)
        shown = {str(demo["question"]) for demo in program.beam.understand.predict.demos}
        unseen = [turn for turn in turns if turn.reading.question not in shown]
        with dspy.context(**lm_settings(lm)):
            if left := left_to_a_model(unseen, "fit the confidence in replies"):
                replies = asked_replies(program, left, threads)
                confidence = fitted_confidence(left, replies, begin=program.config.confidence_in_replies())
                program.beam.config = replace(program.config, reply_confidence=confidence)
                figures["confidence_turns"] = len(left)
                figures |= {f"confidence/{name}": n for name, n in asdict(confidence).items()}
            if left := left_to_a_model(dev_turns, "are scored"):
                figures |= {**figures_of(student, left, "_before"), **figures_of(program, left, "")}
        return Fit(program, figures)

    origin = {"name": learned.name, "sha256": learned.sha256, "turns": len(turns)}
    return CompileJob(
        name=f"queries {learned.name}",
        data=[learned, dev_data] if dev else [learned],
        origin={"optimizers": [{"name": optimizer}], "seed": seed, "train": origin, "lm": lm.params()},
        params={**lm.params(), "optimizer": optimizer},
        fit=fit,
        seed=seed,
    )


def _turns(folders: Sequence[str], today: date | None, split: str) -> tuple[list[AskedTurn], DataInput]:
    """Returns the turns about all graphs of some folders."""
    talks, sha256 = read_talks(folders) if folders else ({}, "")
    turns: list[AskedTurn] = []
    for file, rows in talks.items():
        graph = FactGraph.build(read_file(file, read_text(file)))
        reader = QuestionReader(graph, shipped_encoder().vectors, shipped_thesaurus())
        for row in rows:
            talk = Talk(tuple(row["questions"]), tuple(row["answers"]), tuple(row["queries"]))
            turns += asked_turns(reader, talk, today=today if today is not None else date.today())
    return turns, DataInput(" ".join(folders), sha256, split, len(turns))
