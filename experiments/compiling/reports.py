"""Compiles of programs for reports, ``beam`` and ``agent``, by any chain of optimizers.

job = report_job("beam", load_conversations("sample:train"), parse_optimizers("scorer+bootstrap"), lm=LMConfig("local"))
compile_program(job, out="my-beam")
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.compiling.compile import CompileJob, Fit
from experiments.console import say
from experiments.data import Dialogues, LoadedData, conversation_examples
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
    from programs.conversation import ConversationQA

NO_LM = LMConfig()


def report_job(
    reference: str,
    train: LoadedData,
    optimizers: Sequence[OptimizerStep] = (),
    *,
    lm: LMConfig = NO_LM,
    other_lms: Mapping[Role, LMConfig] | None = None,
    program_settings: Mapping[str, str] | None = None,
    dialogues: Dialogues | None = None,
    train_turns: int = 60,
    val_turns: int = 24,
    seed: int = 0,
    threads: int | None = None,
    tracker: Tracker | None = None,
) -> CompileJob:
    """Returns the compile of a program for reports.

    Args:
        reference: A kind of program, which starts from the train split's ontology with nothing fitted; or a saved
            program, which starts as it is.
        train: The train split: conversations with gold programs, and with gold answers alone.
        optimizers: One after the other; none leaves the program as it starts out, with its ontology.
        lm: The program's language model.
        other_lms: The models of other roles; by default the program's own. Its budget is for all together.
        program_settings: Settings, as :func:`experiments.saved.with_program_settings` takes them.
        dialogues: Further training conversations, without reports; those of the train split are left out.
        train_turns: Turns that prompt optimizers learn from, at most.
        val_turns: Turns of other reports that select a program, at most.
        seed: Of everything random.
        threads: Turns at a time; ``None`` for 1, or 8 with a remote model.
        tracker: The store in which a saved program is looked up.

    Raises:
        DataError: The train split is empty or has no gold.
    """
    learned = [one for one in train.conversations if one.gold is None]
    if not learned or any(one.answers is None for one in learned):
        raise DataError("has no conversations with gold to compile on", file=train.name)
    data = [DataInput(train.name, train.sha256, "train", len(train.conversations))]
    further = dialogues.without({one.id for one in train.conversations}).items if dialogues is not None else ()
    if dialogues is not None:
        data.append(DataInput(dialogues.name, dialogues.sha256, "train", len(dialogues.items)))

    def fit(run: Run, tell: Callable[[str], None]) -> Fit:
        lms = _language_models(lm, other_lms or {})
        compiled = compile_chain(
            with_program_settings(_student(reference, train, tracker), program_settings or {}),
            optimizers,
            conversation_examples(learned),
            lms=lms,
            train_turns=train_turns,
            val_turns=val_turns,
            seed=seed,
            threads=threads if threads is not None else lm.default_threads,
            dialogues=further,
            without_programs=conversation_examples([one for one in train.conversations if one.gold is not None]),
            progress=tell,
            plot=run.log_metrics,
        )
        spent = getattr(lms.get("task"), "spent", None)
        figures = {f"compile_{name}": value for name, value in spent.figures().items()} if spent is not None else {}
        figures |= {f"val_score_{place}_{name}": score for place, (name, score) in enumerate(compiled.scores)}
        return Fit(compiled.program, figures, compiled.failure)

    names = "+".join(step.name for step in optimizers)
    changes = [f"{key}={value}" for key, value in (program_settings or {}).items()]
    different = [*([] if lm.is_none else [lm.name]), *([f"seed {seed}"] if seed else []), *changes]
    settings = [(step.name, {key: _plain(value) for key, value in step.settings.items()}) for step in optimizers]
    return CompileJob(
        name=f"{Path(reference.removeprefix(SHIPPED)).name}-{names or 'uncompiled'}"
        + (f" ({', '.join(different)})" if different else ""),
        data=data,
        origin={
            "optimizers": [{"name": name, "settings": values} for name, values in settings],
            "seed": seed,
            "train": {"name": train.name, "sha256": train.sha256, "conversations": len(learned)},
            "lm": dataclasses.asdict(lm),
        },
        params={
            "program": reference,
            "optimizers": names or "none",
            **{f"{name}.{key}": value for name, values in settings for key, value in values.items()},
            **({"program_settings": " ".join(changes)} if changes else {}),
            **{f"{role}_lm": other.name for role, other in (other_lms or {}).items()},
            **lm.params(),
        },
        fit=fit,
        lm=lm if optimizers else None,
        seed=seed,
    )


def _plain(value: Any) -> Any:
    is_settings = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return dataclasses.asdict(value) if is_settings else str(value) if isinstance(value, Path) else value


def _language_models(lm: LMConfig, others: Mapping[Role, LMConfig]) -> dict[Role, Any]:
    """The models by role; the budget of the program's own is for all of them together."""
    lms: dict[Role, Any] = {} if lm.is_none else {"task": reach_lm(lm)["lm"]}
    for role, other in others.items():
        lms[role] = reach_lm(other)["lm"]
        if isinstance(lms[role], GuardedLM) and isinstance(lms.get("task"), GuardedLM):
            lms[role].budget, lms[role].spent = lms["task"].budget, lms["task"].spent
    return lms


def _student(reference: str, train: LoadedData, tracker: Tracker | None) -> ConversationQA:
    """The program to start from."""
    from kg.reports import build_ontology

    if reference not in REPORT_KINDS:
        program: ConversationQA = find_program(reference, tracker).program
        return program
    shipped = f"; {SHIPPED}{reference} is the shipped program" if reference in shipped_programs() else ""
    say(f"* {reference} starts with nothing fitted{shipped}")
    reports = {conversation.report.id: conversation.report for conversation in train.conversations}
    return unfitted_program(reference, build_ontology(reports.values()))
