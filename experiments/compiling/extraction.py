"""A compile of the advisor's extraction of facts: demonstrations, figures before and after, a saved program.

config = ExtractionCompileConfig("labeled-few-shot", LMConfig("local"))
compiled = compile_extraction(config, ["news/train"], ["news/dev"], out="my-advisor")
compiled.figures["dev/f1"], compiled.figures["dev/f1_before"]
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dspy

from experiments.compiling.demonstrations import CompiledDemonstrations, DemonstrationConfig, dev_figures
from experiments.console import say
from experiments.data import read_fact_rows
from experiments.evaluation import run_tags
from experiments.lms import lm_settings
from experiments.saved import ServedExtraction, check_replaceable, load_program, save_program
from experiments.tracking import (
    DataInput,
    Tracker,
    log_model,
    model_packages,
    open_run,
    traced_calls,
)
from kg.errors import DataError
from optimize.extraction import FactScore, GoldFact, extraction_examples, fit_extraction, score_facts
from programs.advisor import FactExtraction
from programs.lm import concurrently


@dataclass(frozen=True)
class ExtractionCompileConfig(DemonstrationConfig):
    """Settings of the compile; the optimizer is one of :data:`optimize.extraction.EXTRACTION_OPTIMIZERS`.

    Attributes:
        sentences: Sentences of dev with gold facts, and as many without, that are scored before and after.
        threads: Sentences that are read at a time.
    """

    sentences: int = 24
    threads: int = 1


def compile_extraction(
    config: ExtractionCompileConfig,
    train: Sequence[str],
    dev: Sequence[str] = (),
    *,
    start: FactExtraction | None = None,
    out: str | Path,
    tracker: Tracker | None = None,
    run_name: str | None = None,
) -> CompiledDemonstrations:
    """Fits demonstrations, scores the program before and after, saves it and logs it as a run of the kind ``compile``.

    Args:
        config: Settings.
        train: Folders of documents with facts, to learn from.
        dev: Folders of documents with facts, to score on; none to score nothing.
        start: The program to start from; by default one that was not compiled.
        out: The folder of the program.
        tracker: The tracking store; ``None`` to log nothing.
        run_name: The name of the run.

    Raises:
        ConfigError: ``out`` holds other files, or there is no such optimizer.
        DataError: A folder has no facts, or no sentence has a name.
        LMError: The model cannot be asked.
    """
    check_replaceable(Path(out))
    examples, sha256 = _examples(train)
    scored, dev_sha256 = _scored(dev, config)
    student = start if start is not None else FactExtraction()
    name = run_name if run_name is not None else f"advisor {Path(out).name}"
    tags = {"finpath.kind_of_program": "advisor", **run_tags(config.seed)}
    with open_run(tracker, "compile", name, tags=tags) as run:
        run.log_params(config.params())
        run.log_data(DataInput(" ".join(train), sha256, "train", len(examples)))
        if scored:
            run.log_data(DataInput(" ".join(dev), dev_sha256, "dev", len(scored)))
        with traced_calls(tracker, run), dspy.context(**({} if config.lm.is_none else lm_settings(config.lm))):
            program, figures = _fitted(student, examples, scored, config)
        origin = config.origin(train, {"sha256": sha256, "sentences": len(examples)}, run.id)
        saved = load_program(save_program(program, out, origin))
        run.log_metrics(figures)
        run.log_folder(saved.folder, "program")
        if tracker is not None:
            served = ServedExtraction(program, replace(config.lm, budget=None))
            uri = log_model(tracker, run, served, saved.folder, model_packages())
            run.log_tags({"finpath.model_uri": uri})
    return CompiledDemonstrations(saved, figures, run.id or "")


def _fitted(
    student: FactExtraction,
    examples: Sequence[dspy.Example],
    scored: Sequence[dspy.Example],
    config: ExtractionCompileConfig,
) -> tuple[FactExtraction, dict[str, Any]]:
    """Returns the compiled program, and the figures before and after where a model is there to be asked."""
    began = time.perf_counter()
    fit = fit_extraction(student, config.optimizer, examples, count=config.demonstrations, seed=config.seed)
    figures: dict[str, Any] = {"demonstrations": fit.demonstrations, "pool": fit.pool, "train_sentences": len(examples)}
    if scored and not config.lm.is_none:
        figures |= dev_figures(
            lambda program, done: _scores(program, scored, done, config.threads),
            student,
            fit.program,
            len(scored),
            "sentence",
        )
    figures["compile_seconds"] = time.perf_counter() - began
    return fit.program, figures


def _examples(folders: Sequence[str]) -> tuple[list[dspy.Example], str]:
    documents, rows = read_fact_rows(folders)
    gold = [GoldFact(**row) for row in rows]
    found = extraction_examples(documents, gold)
    if not found:
        raise DataError(f"no sentence of {' '.join(folders)} has a name")
    content = json.dumps([[document.sha256 for document in documents], rows], sort_keys=True)
    return found, hashlib.sha256(content.encode()).hexdigest()


def _scored(dev: Sequence[str], config: ExtractionCompileConfig) -> tuple[list[dspy.Example], str]:
    """Returns the sentences of dev that are scored: the first with gold facts, and as many without."""
    if not dev:
        return [], ""
    found, sha256 = _examples(dev)
    stated, others = [one for one in found if one.gold], [one for one in found if not one.gold]
    if len(stated) > config.sentences:
        say(f"* {config.sentences} of {len(stated)} sentences with facts are scored")
    return [*stated[: config.sentences], *others[: config.sentences]], sha256


def _scores(
    program: FactExtraction, examples: Sequence[dspy.Example], done: Callable[[], None], threads: int
) -> dict[str, float]:
    """Returns the figures of a program by name; ``done`` is called after each sentence."""
    found = []
    for reply in concurrently(lambda example: program(section=example.section), examples, threads):
        found.append(reply.facts)
        done()
    score: FactScore = score_facts([example.gold for example in examples], found)
    return {
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        "gold": score.gold,
        "found": score.found,
    }
