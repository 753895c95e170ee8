"""Compiles of programs for reports, ``beam`` and ``agent``, by any chain of optimizers.

job = report_job("beam", load_conversations("sample:train"), CompileConfig(parse_optimizers("scorer+bootstrap"), lm))
compile_program(job, out="my-beam")
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.compiling.compile import CompileJob, Fit
from experiments.console import say
from experiments.data import Dialogues, LoadedData, conversation_examples
from experiments.files import write_text
from experiments.lms import LMConfig, reach_lm
from experiments.saved import (
    REPORT_KINDS,
    SHIPPED,
    find_program,
    shipped_programs,
    unfitted_program,
    with_program_settings,
)
from experiments.tracking import DataInput, Run, Tracker
from kg.errors import DataError
from optimize.chains import Role, compile_chain
from optimize.optimizers import OptimizerStep
from programs.lm import GuardedLM

if TYPE_CHECKING:
    from kg.coreference import ReferenceModel
    from programs.conversation import ConversationQA


@dataclass(frozen=True)
class CompileConfig:
    """Settings of a compile.

    Attributes:
        optimizers: One after the other; none leaves the program as it starts out, with its ontology.
        lm: The program's language model.
        other_lms: The models of other roles; by default the program's own. Its budget is for all together.
        program_settings: ``KEY=VALUE`` texts, as :func:`experiments.saved.with_program_settings` takes them.
        dialogues: Further training conversations, without reports; those of the train split are left out.
        train_turns: Turns that prompt optimizers learn from, at most.
        val_turns: Turns of other reports that select a program, at most.
        seed: Of everything random.
        threads: Turns at a time; ``None`` for 1, or 8 with a remote model.
    """

    optimizers: tuple[OptimizerStep, ...] = ()
    lm: LMConfig = field(default_factory=LMConfig)
    other_lms: Mapping[Role, LMConfig] = field(default_factory=dict)
    program_settings: tuple[str, ...] = ()
    dialogues: Dialogues | None = None
    train_turns: int = 60
    val_turns: int = 24
    seed: int = 0
    threads: int | None = None


def report_job(reference: str, train: LoadedData, config: CompileConfig, tracker: Tracker | None = None) -> CompileJob:
    """Returns the compile of a program for reports.

    Args:
        reference: A kind of program, which starts from the train split's ontology with nothing fitted; or a saved
            program, which starts as it is.
        train: The train split: conversations with gold programs, and with gold answers alone.
        config: The settings.
        tracker: The store in which a saved program is looked up.

    Raises:
        DataError: The train split is empty or has no gold.
        TrackingError: There is no such program.
    """
    learned = [one for one in train.conversations if one.gold is None]
    if not learned or any(one.answers is None for one in learned):
        raise DataError("has no conversations with gold to compile on", file=train.name)
    names = [step.name for step in config.optimizers]
    data = [DataInput(train.name, train.sha256, "train", len(train.conversations))]
    if (dialogues := config.dialogues) is not None:
        data.append(DataInput(dialogues.name, dialogues.sha256, "train", len(dialogues.items)))

    return CompileJob(
        name=f"{Path(reference.removeprefix(SHIPPED)).name}-{'+'.join(names) or 'uncompiled'}{_different(config)}",
        data=data,
        origin={
            "optimizers": [_written(step) for step in config.optimizers],
            "seed": config.seed,
            "train": {"name": train.name, "sha256": train.sha256, "conversations": len(learned)},
            "lm": dataclasses.asdict(config.lm),
        },
        params={
            "program": reference,
            "optimizers": "+".join(names) or "none",
            **{f"{step.name}.{key}": value for step in config.optimizers for key, value in step.settings.items()},
            **({"program_settings": " ".join(config.program_settings)} if config.program_settings else {}),
            **{f"{role}_lm": lm.name for role, lm in config.other_lms.items()},
            **config.lm.params(),
        },
        fit=lambda run, tell: _fit(reference, train, config, tracker, run, tell),
        lm=config.lm if config.optimizers else None,
        seed=config.seed,
    )


def _written(step: OptimizerStep) -> dict[str, Any]:
    settings = {
        key: dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value
        for key, value in step.settings.items()
    }
    return {"name": step.name, "settings": settings}


def _different(config: CompileConfig) -> str:
    """The settings of a compile that differ from the defaults, for its name: `` (local, seed 1)``."""
    different = [] if config.lm.is_none else [config.lm.name]
    different += [f"seed {config.seed}"] if config.seed else []
    different += config.program_settings
    return f" ({', '.join(different)})" if different else ""


def _fit(
    reference: str,
    train: LoadedData,
    config: CompileConfig,
    tracker: Tracker | None,
    run: Run,
    tell: Callable[[str], None],
) -> Fit:
    student = with_program_settings(_student(reference, train, tracker), config.program_settings)
    dialogues = config.dialogues.without({one.id for one in train.conversations}).items if config.dialogues else ()
    lms = _language_models(config)
    compiled = compile_chain(
        student,
        config.optimizers,
        conversation_examples([one for one in train.conversations if one.gold is None]),
        lms=lms,
        train_turns=config.train_turns,
        val_turns=config.val_turns,
        seed=config.seed,
        threads=config.threads if config.threads is not None else config.lm.default_threads,
        dialogues=dialogues,
        without_programs=conversation_examples([one for one in train.conversations if one.gold is not None]),
        progress=tell,
        plot=run.log_metrics,
    )
    spent = getattr(lms.get("task"), "spent", None)
    figures: dict[str, Any] = {f"compile_{name}": n for name, n in spent.figures().items()} if spent else {}
    scores = {f"val_score_{place}_{name}": score for place, (name, score) in enumerate(compiled.scores)}
    for name, score in compiled.scores:
        tell(f"{name}: {score:.1%} of the validation turns right")
    return Fit(compiled.program, {**figures, **scores}, compiled.failure)


def _language_models(config: CompileConfig) -> dict[Role, Any]:
    """The models by role; the budget of the program's own is for all of them together."""
    if config.lm.is_none:
        return {}
    lms: dict[Role, Any] = {"task": reach_lm(config.lm)["lm"]}
    for role, other in config.other_lms.items():
        lms[role] = reach_lm(other)["lm"]
        if isinstance(lms[role], GuardedLM) and isinstance(lms["task"], GuardedLM):
            lms[role].budget, lms[role].spent = lms["task"].budget, lms["task"].spent
    return lms


def _student(reference: str, train: LoadedData, tracker: Tracker | None) -> ConversationQA:
    """The program to start from."""
    from kg.ontology import build_ontology

    if reference not in REPORT_KINDS:
        program: ConversationQA = find_program(reference, tracker).program
        return program
    shipped = reference in shipped_programs()
    say(f"* {reference} starts with nothing fitted" + (f"; {SHIPPED}{reference} is the shipped program" * shipped))
    reports = {conversation.report.id: conversation.report for conversation in train.conversations}
    return unfitted_program(reference, build_ontology(reports.values()))


def fit_references_to(train: LoadedData, dialogues: Dialogues | None, out: str | Path) -> ReferenceModel:
    """Fits the model of follow-up questions about a report and writes it as JSON.

    Args:
        train: Conversations with gold programs; the shipped beam reads their reports.
        dialogues: Further conversations, without reports; those that ``train`` holds too are left out.
        out: The file.

    Raises:
        DataError: A conversation has no gold programs, or ``out`` cannot be written.
        ConfigError: No question has an earlier one.
    """
    from threadpoolctl import threadpool_limits

    from optimize.scorers import fit_references, reference_examples

    if any(one.programs is None for one in train.conversations):
        raise DataError("has conversations without gold programs", file=train.name)
    others = dialogues.without({one.id for one in train.conversations}).items if dialogues is not None else ()
    reader = find_program("beam").program.turn.reader
    with threadpool_limits(limits=1):
        model = fit_references(reference_examples(conversation_examples(train.conversations), reader, others))
    write_text(out, model.to_json() + "\n")
    return model
