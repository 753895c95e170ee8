"""Compiles a program on a train split, saves it, evaluates it on a dev split and keeps all of it on a run.

    config = CompileConfig(parse_optimizers("scorer"))
    compiled = compile_and_evaluate("beam", train, dev, config, out="my-beam", tracker=tracker)
    compiled.saved.folder                          # my-beam
    compiled.evaluation.figures["exe_accuracy"]

Only the train split is seen while compiling; dev is for measuring.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.console import Stages, say, show, write_json
from experiments.data import LoadedData, conversation_examples, join_loaded
from experiments.dialogues import Dialogue, Dialogues, read_dialogues
from experiments.environment import MODEL_PACKAGES, describe_environment
from experiments.evaluate import Evaluation, EvaluationConfig, evaluate, run_tags, summary_table
from experiments.lms import reach_lm
from experiments.options import config_of, load_and_tell, tracker_of
from experiments.saved import Origin, SavedProgram, check_replaceable, find_program, load_program, save_program
from experiments.tracking import DataInput, Run, Tracker, open_run, temporary_folder
from kg.errors import ConfigError, DataError
from optimize.compile import Extras, OptimizerStep, compile_program, parse_optimizers

if TYPE_CHECKING:
    from programs.conversation import ConversationQA


@dataclass(frozen=True)
class CompileConfig:
    """How a program is compiled.

    Attributes:
        optimizers: One after the other; none leaves the program as it starts out, with its ontology.
        evaluation: How it is evaluated; its language model is the one it is compiled with, and its seed that of the
            optimizers.
        dialogues: Further training conversations, without reports; those that the train split holds too are left out.
        log_model: Whether the program is logged as an MLflow model besides its folder.
    """

    optimizers: tuple[OptimizerStep, ...] = ()
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    dialogues: Dialogues | None = None
    log_model: bool = True


@dataclass(frozen=True)
class Compiled:
    """What came of compiling.

    Attributes:
        saved: The compiled program and its folder, which is a temporary one (and gone) where no ``out`` was given.
        evaluation: Its evaluation on dev, if there was a dev split.
        run_id: The MLflow run, if there is one.
        seconds: Wall time of compiling, without the evaluation.
    """

    saved: SavedProgram
    evaluation: Evaluation | None
    run_id: str | None
    seconds: float

    def figures(self) -> dict[str, Any]:
        """The figures on dev under their stable names; ``run_id`` is the compile run's."""
        evaluated = dict(self.evaluation.figures) if self.evaluation is not None else {}
        return {
            **evaluated,
            "evaluation_run_id": evaluated.get("run_id"),
            "run_id": self.run_id,
            "program": self.saved.name,
            "compile_seconds": self.seconds,
            "ontology_sha256": self.saved.config["ontology_sha256"],
            "scorer_sha256": self.saved.config["scorer_sha256"],
        }


def compile_and_evaluate(
    reference: str,
    train: LoadedData,
    dev: LoadedData | None,
    config: CompileConfig,
    *,
    out: str | Path | None = None,
    tracker: Tracker | None = None,
    run_name: str | None = None,
    stages: Stages | None = None,
) -> Compiled:
    """Compiles a program and evaluates it.

    Args:
        reference: A kind of program, which starts from the train split's ontology with nothing fitted; or a saved
            program, which starts as it is.
        train: What it is compiled on.
        dev: What it is evaluated on, if anything.
        config: How.
        out: Where the program is saved, besides its run.
        tracker: Where to log; ``None`` to log nothing.
        run_name: The compile run's name; by default the kind and the optimizers.
        stages: Names and times the stages.

    Raises:
        ConfigError: The program would be kept nowhere, or ``out`` holds something else.
        DataError: The train split is empty or has no gold.
    """
    if out is None and tracker is None:
        raise ConfigError("out must name a folder when nothing is tracked: the program would be kept nowhere")
    if out is not None:
        check_replaceable(Path(out))
    if not train.conversations or any(one.answers is None for one in train.conversations):
        raise DataError("has no conversations with gold to compile on", file=train.name)
    stages = stages if stages is not None else Stages()
    names = ",".join(step.name for step in config.optimizers)
    name = run_name if run_name is not None else f"{Path(reference).name}-{names or 'uncompiled'}"
    with open_run(tracker, "compile", name, tags=_tags(train, config)) as run, temporary_folder() as temporary:
        run.log_params(_params(reference, train, config))
        run.log_data(DataInput(train.name, train.sha256, "train", len(train.conversations)))
        if config.dialogues is not None:
            dialogues = config.dialogues
            run.log_data(DataInput(dialogues.name, dialogues.sha256, "train", len(dialogues.items)))
        start = time.perf_counter()
        program = _compile(reference, train, config, tracker, run, stages)
        seconds = time.perf_counter() - start
        folder = save_program(program, out if out is not None else temporary / "program", _origin(train, config, run))
        saved = load_program(folder, name)
        _log_program(run, saved, config, tracker, seconds, stages)
        evaluation = None
        if dev is not None:
            with stages.stage(f"evaluate {name} on {dev.name}"):
                evaluation = evaluate(
                    saved, dev, config.evaluation, tracker=tracker, parent=run, run_name=f"{name} on {dev.name}"
                )
            run.log_metrics({f"dev_{key}": value for key, value in evaluation.figures.items() if key not in _SETTINGS})
    return Compiled(saved, evaluation, run.id, seconds)


_SETTINGS = ("seed", "limit", "history", "data_problems")


def _compile(
    reference: str, train: LoadedData, config: CompileConfig, tracker: Tracker | None, run: Run, stages: Stages
) -> ConversationQA:
    import dspy

    student = _student(reference, train, tracker, run, stages)
    if not config.optimizers:
        return student
    lm = reach_lm(config.evaluation.lm)
    names = ", ".join(step.name for step in config.optimizers)
    with stages.stage(f"compile with {names} on {len(train.conversations)} conversations"), dspy.context(**lm):
        return compile_program(
            student,
            config.optimizers,
            trainset=conversation_examples(train.conversations),
            seed=config.evaluation.seed,
            has_lm=lm["lm"] is not None,
            extras=Extras(_unknown_dialogues(train, config), lambda title: say(f"    {title}")),
        )


def _unknown_dialogues(train: LoadedData, config: CompileConfig) -> tuple[Dialogue, ...]:
    if config.dialogues is None:
        return ()
    return config.dialogues.without({conversation.id for conversation in train.conversations}).items


def _student(reference: str, train: LoadedData, tracker: Tracker | None, run: Run, stages: Stages) -> ConversationQA:
    """The program to start from."""
    from kg.ontology import build_ontology
    from programs.registry import KINDS, create_program

    if reference not in KINDS:
        return find_program(reference, tracker).program
    with stages.stage(f"build the ontology from {len(train.conversations)} conversations of {train.name}"):
        reports = {conversation.report.id: conversation.report for conversation in train.conversations}
        ontology = build_ontology(reports.values())
    with open_run(tracker, "ontology", f"ontology of {train.name}", parent=run, tags=run_tags(0)) as ontology_run:
        ontology_run.log_params({"data": train.name, "reports": len(reports)})
        ontology_run.log_tags({"finpath.ontology_sha256": ontology.sha256, "finpath.data_sha256": train.sha256})
        ontology_run.log_metrics({"classes": len(ontology.classes), "properties": len(ontology.properties)})
        ontology_run.log_text("ontology.ttl", ontology.to_turtle())
    return create_program(reference, ontology=ontology)


def _log_program(
    run: Run, saved: SavedProgram, config: CompileConfig, tracker: Tracker | None, seconds: float, stages: Stages
) -> None:
    run.log_metrics({"compile_seconds": seconds})
    run.log_tags(
        {
            "finpath.ontology_sha256": saved.config["ontology_sha256"],
            "finpath.scorer_sha256": saved.config["scorer_sha256"] or "none",
        }
    )
    run.log_folder(saved.folder, "program")
    if tracker is not None and config.log_model:
        with stages.stage("log the program as a model"):
            versions = describe_environment().packages
            packages = {name: versions[name] for name in MODEL_PACKAGES}
            run.log_tags({"finpath.model_uri": tracker.log_model(run, saved.program, saved.folder, packages)})


def _origin(train: LoadedData, config: CompileConfig, run: Run) -> Origin:
    known: dict[str, Any] = {"name": train.name, "sha256": train.sha256, "conversations": len(train.conversations)}
    if config.dialogues is not None:
        known["dialogues"] = {"name": config.dialogues.name, "sha256": config.dialogues.sha256}
    return Origin(
        optimizers=tuple({"name": step.name, "settings": dict(step.settings)} for step in config.optimizers),
        seed=config.evaluation.seed,
        train=known,
        lm=dataclasses.asdict(config.evaluation.lm),
        run_id=run.id,
    )


def _params(reference: str, train: LoadedData, config: CompileConfig) -> Mapping[str, object]:
    settings = {
        f"optimizer.{place}.{step.name}.{key}": value
        for place, step in enumerate(config.optimizers)
        for key, value in step.settings.items()
    }
    return {
        "program": reference,
        "optimizers": ",".join(step.name for step in config.optimizers) or "none",
        **settings,
        "seed": config.evaluation.seed,
        "train": train.name,
        **config.evaluation.lm.params(),
    }


def _tags(train: LoadedData, config: CompileConfig) -> dict[str, str]:
    return {
        **run_tags(config.evaluation.seed),
        "finpath.data": train.name,
        "finpath.data_sha256": train.sha256,
        "finpath.split": train.split,
        "finpath.optimizers": json.dumps([step.name for step in config.optimizers]),
    }


def run_command(options: argparse.Namespace) -> None:
    """``finpath compile``."""
    dialogues = read_dialogues(options.dialogues) if options.dialogues else None
    config = CompileConfig(parse_optimizers(options.optimizer), config_of(options), dialogues)
    tracker = tracker_of(options)
    stages = Stages()
    with stages.stage("read the data"):
        train = join_loaded([load_and_tell(source) for source in options.train])
        dev = load_and_tell(options.dev) if options.dev else None
    compiled = compile_and_evaluate(
        options.program,
        train,
        dev,
        config,
        out=options.out,
        tracker=tracker,
        run_name=options.run_name,
        stages=stages,
    )
    if compiled.evaluation is not None:
        show(summary_table([compiled.evaluation]))
    show("\n" + stages.table())
    reference = options.out or f"runs:/{compiled.run_id}/program"
    show(f"\nsaved: {reference}" + (f"   run {compiled.run_id} ({compiled.saved.name})" if compiled.run_id else ""))
    if options.json:
        write_json(options.json, compiled.figures())
