"""Compiles a program on a train split, saves it, evaluates it on a dev split and logs all of it on a run.

    config = CompileConfig(parse_optimizers("scorer,bootstrap"), EvaluationConfig(lm=LMConfig("local")))
    compiled = compile_and_evaluate("beam", train, dev, config, out="my-beam", tracker=tracker)
    compiled.saved.folder                          # my-beam
    compiled.evaluation.figures["exe_accuracy"]

Compiling uses only the train split; dev is for measuring. A stopped compile resumes, and a finished one is not
repeated. That needs the same folder of ``checkpoints`` and the same settings, data and code.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.compiling.provenance import CompileConfig, compile_key, compile_params, compile_tags, origin_of
from experiments.compiling.run import CompileRun
from experiments.console import Stages, say
from experiments.data import ConversationRecord, Dialogue, LoadedData, conversation_examples
from experiments.engines import Engine, map_items
from experiments.evaluation import Evaluation, evaluate
from experiments.lms import reach_lm
from experiments.saved import (
    REPORT_KINDS,
    SHIPPED,
    SavedProgram,
    check_replaceable,
    find_program,
    load_program,
    save_program,
    shipped_programs,
    unfitted_program,
    with_program_settings,
)
from experiments.tasks import ConvFinQA
from experiments.tracking import (
    DataInput,
    Run,
    Tracker,
    metric_name,
    open_run,
    run_tags,
    temporary_folder,
    traced_calls,
)
from kg.errors import ConfigError, DataError
from optimize.compiling import Compilation, compile_program
from optimize.needs import Extras, ItemT, ResultT, in_turn

if TYPE_CHECKING:
    from optimize.metrics import TurnScore
    from programs.conversation import ConversationQA
    from programs.turns import Turn


@dataclass(frozen=True)
class Compiled:
    """The result of a compile.

    Attributes:
        saved: The compiled program and its folder, which is a temporary one (and gone) where no ``out`` was given.
        evaluation: Its evaluation on dev, if there was a dev split.
        run_id: The MLflow run, if there is one.
        seconds: Wall time of compiling, without the evaluation.
        compilation: The result of the optimizers.
    """

    saved: SavedProgram
    evaluation: Evaluation[Turn, TurnScore] | None
    run_id: str | None
    seconds: float
    compilation: Compilation

    def figures(self) -> dict[str, Any]:
        """The figures on dev under their stable names; ``run_id`` is the compile run's."""
        evaluated = dict(self.evaluation.figures) if self.evaluation is not None else {}
        done = self.compilation
        return {
            **evaluated,
            "evaluation_run_id": evaluated.get("run_id"),
            "run_id": self.run_id,
            "program": self.saved.name,
            "compile_seconds": self.seconds,
            "ontology_sha256": self.saved.config["ontology_sha256"],
            "scorer_sha256": self.saved.config["scorer_sha256"],
            "candidates": len(done.candidates),
            "val_scores": [{"after": name, "score": score} for name, score in done.scores],
            "val_turns": done.plan.sizes.val if done.plan is not None else None,
            "understanding": {name: dict(rates) for name, rates in done.fields.items() if rates},
            "kept": done.kept,
            "stopped": done.stopped,
            "resumed": done.resumed,
            "spent": dict(done.spent),
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
    engine: Engine | None = None,
) -> Compiled:
    """Compiles a program and evaluates it.

    Args:
        reference: A kind of program, which starts from the train split's ontology with nothing fitted; or a saved
            program, which starts as it is.
        train: The train split.
        dev: The dev split for its evaluation, if any.
        config: The settings.
        out: Folder of the saved program, in addition to its run.
        tracker: The store of runs; ``None`` to log nothing.
        run_name: The compile run's name; by default the kind and the optimizers.
        stages: Names and times the stages.
        engine: The engine of the cross-fitted searches and of the evaluation; by default this process.

    Raises:
        ConfigError: The program would be saved nowhere, or ``out`` holds other files.
        DataError: The train split is empty or has no gold.
    """
    if out is None and tracker is None:
        raise ConfigError("out must name a folder when nothing is tracked: the program would be kept nowhere")
    if out is not None:
        check_replaceable(Path(out))
    train, without_programs = _with_programs(train)
    stages = stages if stages is not None else Stages()
    names = ",".join(step.name for step in config.optimizers)
    name = run_name if run_name is not None else f"{_short_name(reference)}-{names or 'uncompiled'}{_different(config)}"
    tags, key = compile_tags(train, config), compile_key(reference, train, config, tracker)
    with (
        CompileRun.alone(config.checkpoints, key, tracker, fresh=config.fresh) as keeper,
        open_run(tracker, "compile", name, tags=tags, resumed=keeper.resumed) as run,
        temporary_folder() as here,
    ):
        run.log_params(keeper.new_params(compile_params(reference, train, config)))
        keeper.remember(run)
        _log_inputs(run, train, config)
        start = time.perf_counter()
        done = _compile(reference, train, without_programs, config, tracker, run, keeper, stages, engine)
        seconds = time.perf_counter() - start
        folder = save_program(done.program, out if out is not None else here / "program", origin_of(train, config, run))
        saved = load_program(folder, name)
        _log_program(run, saved, config, tracker, keeper, done, seconds, stages)
        evaluation = None
        if dev is not None:
            with stages.stage(f"evaluate {name} on {dev.name}"):
                evaluation = evaluate(
                    saved,
                    ConvFinQA(dev),
                    config.evaluation,
                    tracker=tracker,
                    parent=run,
                    engine=engine,
                )
            headline = {key: value for key, value in evaluation.figures.items() if key not in _SETTINGS}
            run.log_metrics({f"dev/{key}": value for key, value in headline.items() if metric_name(key) == key})
    return Compiled(saved, evaluation, run.id, seconds, done)


_SETTINGS = ("seed", "limit", "history", "data_problems")


def _short_name(reference: str) -> str:
    return Path(reference.removeprefix(SHIPPED)).name


def _different(config: CompileConfig) -> str:
    """The settings of a compile that differ from the defaults, for its name: `` (local, seed 1)``."""
    evaluation = config.evaluation
    different = [] if evaluation.lm.is_none else [evaluation.lm.name]
    different += [f"seed {evaluation.seed}"] if evaluation.seed else []
    different += config.program_settings
    return f" ({', '.join(different)})" if different else ""


def _log_inputs(run: Run, train: LoadedData, config: CompileConfig) -> None:
    run.log_data(DataInput(train.name, train.sha256, "train", len(train.conversations)))
    if config.dialogues is not None:
        dialogues = config.dialogues
        run.log_data(DataInput(dialogues.name, dialogues.sha256, "train", len(dialogues.items)))


def _with_programs(train: LoadedData) -> tuple[LoadedData, tuple[ConversationRecord, ...]]:
    """The conversations with gold programs, and those with gold answers alone."""
    asked = tuple(one for one in train.conversations if one.gold is not None)
    rest = tuple(one for one in train.conversations if one.gold is None)
    if not rest or any(one.answers is None for one in rest):
        raise DataError("has no conversations with gold to compile on", file=train.name)
    return dataclasses.replace(train, conversations=rest), asked


def _compile(
    reference: str,
    train: LoadedData,
    without_programs: Sequence[ConversationRecord],
    config: CompileConfig,
    tracker: Tracker | None,
    run: Run,
    keeper: CompileRun,
    stages: Stages,
    engine: Engine | None,
) -> Compilation:
    import dspy

    student = with_program_settings(
        _student(reference, train, tracker, run, stages), config.program_settings, config.unmapped
    )
    if not config.optimizers:
        return Compilation(student)
    lms = {role: reach_lm(lm)["lm"] for role, lm in config.lms.items() if not lm.is_none}
    names = ", ".join(step.name for step in config.optimizers)
    stage = stages.stage(f"compile with {names} on {len(train.conversations)} conversations")
    task = dspy.context(lm=lms.get("task"))
    with stage, task, traced_calls(tracker, run), keeper.working(run) as working:
        return compile_program(
            student,
            config.optimizers,
            trainset=conversation_examples(train.conversations),
            seed=config.evaluation.seed,
            lms=lms,
            settings=dataclasses.replace(config.settings, threads=config.evaluation.thread_count),
            extras=Extras(
                _unknown_dialogues(train, config),
                lambda title: working.speak(f"    {title}"),
                mapper=_OnEngine(engine) if engine is not None else in_turn,
                without_programs=conversation_examples(without_programs),
                plot=working.plot,
            ),
            cap=_cap(config),
            checkpoints=keeper.checkpoints,
            announce=working.announce,
            tell=working.tell,
        )


@dataclass(frozen=True)
class _OnEngine:
    """Runs the parts of a fit on an engine."""

    engine: Engine

    def __call__(self, work: Callable[[ItemT], ResultT], items: Sequence[ItemT]) -> list[ResultT]:
        return map_items(self.engine, work, items)


def _cap(config: CompileConfig) -> Any:
    from programs.lm import Budget

    budget = config.evaluation.lm.budget
    return Budget.parse(budget) if budget is not None else None


def _unknown_dialogues(train: LoadedData, config: CompileConfig) -> tuple[Dialogue, ...]:
    if config.dialogues is None:
        return ()
    return config.dialogues.without({conversation.id for conversation in train.conversations}).items


def _student(reference: str, train: LoadedData, tracker: Tracker | None, run: Run, stages: Stages) -> ConversationQA:
    """The program to start from; an ontology that is new to the tracking store is logged as a run of its own."""
    from experiments.tracking import logged_ontology
    from kg.ontology import build_ontology

    if reference not in REPORT_KINDS:
        found: ConversationQA = find_program(reference, tracker).program
        return found
    shipped = reference in shipped_programs()
    say(f"* {reference} starts with nothing fitted" + (f"; {SHIPPED}{reference} is the shipped program" * shipped))
    with stages.stage(f"build the ontology from {len(train.conversations)} conversations of {train.name}"):
        reports = {conversation.report.id: conversation.report for conversation in train.conversations}
        ontology = build_ontology(reports.values())
    known = logged_ontology(tracker, ontology.sha256)
    if known is None:
        with open_run(tracker, "ontology", f"ontology of {train.name}", tags=run_tags(0)) as ontology_run:
            ontology_run.log_params({"data": train.name, "reports": len(reports)})
            ontology_run.log_tags({"finpath.ontology_sha256": ontology.sha256, "finpath.data_sha256": train.sha256})
            ontology_run.log_metrics({"classes": len(ontology.classes), "properties": len(ontology.properties)})
            ontology_run.log_text("ontology.ttl", ontology.to_turtle())
        known = ontology_run.id
    run.log_tags({"finpath.ontology_run_id": known or "none"})
    return unfitted_program(reference, ontology)


def _log_program(
    run: Run,
    saved: SavedProgram,
    config: CompileConfig,
    tracker: Tracker | None,
    keeper: CompileRun,
    done: Compilation,
    seconds: float,
    stages: Stages,
) -> None:
    from experiments.saved import log_model
    from experiments.tracking import log_compilation, register_prompts

    run.log_metrics({"compile_seconds": seconds})
    run.log_tags(
        {
            "finpath.ontology_sha256": saved.config["ontology_sha256"],
            "finpath.scorer_sha256": saved.config["scorer_sha256"] or "none",
        }
    )
    run.log_folder(saved.folder, "program")
    log_compilation(run, done)
    keeper.log_printed(run)
    if tracker is not None and config.log_model:
        with stages.stage("log the program as a model"):
            run.log_tags({"finpath.model_uri": log_model(tracker, run, saved, config.evaluation.lm)})
            prompts = register_prompts(tracker, run, saved.program.kind, done)
            run.log_tags({"finpath.prompts": json.dumps(prompts)})
