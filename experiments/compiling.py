"""Compiles of programs: a run, the fit, the saved program, its figures and its evaluation.

    job = report_job("beam", train, parse_optimizers("scorer+bootstrap"), lm=LMConfig("local"))
    compiled = compile_program(job, out="my-beam", tracker=tracker)
    compiled.saved.program, compiled.figures["compile_seconds"]

A job names what is fitted: a program for reports by any chain of optimizers, or one for questions about graphs by a fit
of the relation scorer and the ranker of paths. DSPy's cache on disk has the replies of language models, so a compile
that was stopped and is started again asks nothing twice, and takes the same course.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dspy

from experiments.console import say
from experiments.data import LoadedData, conversation_examples
from experiments.data.conversations import find_part, read_records
from experiments.evaluation import Evaluation, EvaluationConfig, Task, evaluate
from experiments.lms import LMConfig, reach_lm
from experiments.saved import (
    REPORT_KINDS,
    SHIPPED,
    SavedProgram,
    check_replaceable,
    find_program,
    load_program,
    log_model,
    save_program,
    shipped_programs,
    unfitted_program,
    with_program_settings,
)
from experiments.tracking import MODEL_TAG, DataInput, RunKind, Tracker, autologged, headlines, open_run
from kg.errors import ConfigError, DataError
from optimize.examples import file_examples, infer_programs, split_examples
from optimize.optimizers import ChainResult, OptimizerStep, Role, compile_chain, compile_prompts
from programs.conversation import ConversationQA
from programs.lm import GuardedLM


@dataclass(frozen=True)
class Fit:
    """The result of a fit: a program, figures by name, the error that ended it early, and the diff of the prompts."""

    program: Any
    figures: Mapping[str, Any] = field(default_factory=dict)
    failure: str | None = None
    changes: str = ""


@dataclass(frozen=True)
class CompileJob:
    """A program to compile, and its data.

    Attributes:
        name: The run's name by default.
        data: The data sets that the program learns from.
        origin: The program's origin, as it is saved with it.
        params: Settings, as the run shows them.
        fit: Returns the program; it is given a function that shows a line to the user.
        lm: The language model that the served program asks.
        kind: The kind of the run.
        seed: Of everything random.
    """

    name: str
    data: Sequence[DataInput]
    origin: Mapping[str, Any]
    params: Mapping[str, object]
    fit: Callable[[Callable[[str], None]], Fit]
    lm: LMConfig | None = None
    kind: RunKind = "compile"
    seed: int = 0


@dataclass(frozen=True)
class Compiled:
    """The saved program (gone where no ``out`` was given), its fit, its evaluation, and all figures with ``run_id``."""

    saved: SavedProgram
    fit: Fit
    figures: Mapping[str, Any]
    evaluation: Evaluation | None = None


def compile_program(
    job: CompileJob,
    *,
    out: str | Path | None = None,
    tracker: Tracker | None = None,
    run_name: str | None = None,
    task: Task | None = None,
    config: EvaluationConfig | None = None,
) -> Compiled:
    """Fits a program, saves it, and logs both.

    Args:
        job: The program to compile.
        out: The program's folder, in addition to its run.
        tracker: The tracking store; ``None`` to log nothing.
        run_name: The run's name; by default the job's.
        task: A dev split that the saved program is evaluated on; ``None`` for none.
        config: Settings of this evaluation.

    Raises:
        ConfigError: The program would be saved nowhere, or ``out`` holds other files.
    """
    if out is None and tracker is None:
        raise ConfigError("out must name a folder when nothing is tracked: the program would be kept nowhere")
    if out is not None:
        check_replaceable(Path(out))
    name = run_name or job.name
    tags = {"finpath.seed": str(job.seed), "finpath.data_sha256": " ".join(data.sha256 for data in job.data)}
    with (
        open_run(tracker, job.kind, name, tags=tags) as run,
        tempfile.TemporaryDirectory(prefix="finpath-") as temporary,
    ):
        here = Path(temporary)
        run.log_params(job.params)
        for data in job.data:
            run.log_data(data)
        printed, begun = here / "printed.log", time.perf_counter()
        say(f"* compile {name}")
        traced = autologged(run, log_compiles=True, log_evals=True, log_traces_from_compile=True)
        with traced, _printed_to(printed) as tell:
            fit = job.fit(tell)
        figures = {**fit.figures, "compile_seconds": time.perf_counter() - begun, "run_id": run.id}
        origin = {**job.origin, "run_id": run.id}
        saved = load_program(save_program(fit.program, out if out is not None else here / "program", origin), name)
        run.log_metrics(figures)
        run.log_text(printed.name, printed.read_text(encoding="utf-8", errors="replace"))
        run.log_text("prompts.diff", fit.changes)
        run.log_folder(saved.folder, "program")
        if tracker is not None:
            say("* log the program as a model")
            run.log_tags({MODEL_TAG: log_model(tracker, run, saved, job.lm)})
        if task is None:
            return Compiled(saved, fit, figures)
        say(f"* evaluate {name} on {task.name}")
        evaluation = evaluate(saved, task, config, tracker=tracker, parent=run)
        on_dev = evaluation.figures
        run.log_metrics({f"dev/{key}": value for key, value in headlines(on_dev).items()})
    return Compiled(saved, fit, {**on_dev, **figures, "evaluation_run_id": on_dev["run_id"]}, evaluation)


@contextlib.contextmanager
def _printed_to(path: Path) -> Iterator[Callable[[str], None]]:
    """Sends what optimizers print, and DSPy's log, to a file; yields a function that writes to the terminal."""
    terminal, logger = sys.stderr, logging.getLogger("dspy")
    handlers, propagate = list(logger.handlers), logger.propagate
    with path.open("a", encoding="utf-8") as file:
        logger.handlers, logger.propagate = [logging.StreamHandler(file)], False
        try:
            with contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
                yield lambda line: print(f"    {line}", file=terminal, flush=True)
        finally:
            logger.handlers, logger.propagate = handlers, propagate


def report_job(
    reference: str,
    train: LoadedData,
    optimizers: Sequence[OptimizerStep] = (),
    *,
    lm: LMConfig | None = None,
    other_lms: Mapping[Role, LMConfig] | None = None,
    program_settings: Mapping[str, str] | None = None,
    seed: int = 0,
    threads: int | None = None,
    tracker: Tracker | None = None,
    **numbers: int,
) -> CompileJob:
    """Returns the compile of a program for reports.

    Args:
        reference: A kind of program, which starts from the train split's ontology with nothing fitted; or a saved
            program, which starts as it is.
        train: The train split: conversations with gold programs, and with gold answers alone.
        optimizers: One after the other; none leaves the program as it starts out, with its ontology.
        lm: The program's language model; ``None`` for none.
        other_lms: The models of other roles; by default the program's own. Its budget is for all together.
        program_settings: Settings, as :func:`experiments.saved.with_program_settings` takes them.
        seed: Of everything random.
        threads: Turns at a time; ``None`` for 1, or 8 with a remote model.
        tracker: The store in which a saved program is looked up.
        numbers: ``train_turns`` and ``val_turns`` of :func:`optimize.optimizers.compile_chain`.

    Raises:
        DataError: The train split is empty or has no gold.
    """
    learned = [one for one in train.conversations if one.gold is None]
    if any(one.answers is None for one in learned) or not train.conversations:
        raise DataError("has no conversations with gold to compile on", file=train.name)
    data = [DataInput(train.name, train.sha256, "train", len(train.conversations))]

    def fit(tell: Callable[[str], None]) -> Fit:
        lms = language_models(lm, other_lms or {})
        student = with_program_settings(_student(reference, train, tracker), program_settings or {})
        with_programs = learned or infer_programs(student, train.conversations)
        if not with_programs and optimizers:
            raise DataError("has no answer that a calculation of the program gives: nothing to learn", file=train.name)
        compiled = compile_chain(
            student,
            optimizers,
            conversation_examples(with_programs),
            lms=lms,
            seed=seed,
            threads=threads or (lm.default_threads if lm is not None else 1),
            **numbers,
            without_programs=conversation_examples([one for one in train.conversations if one.gold is not None]),
            progress=tell,
        )
        return _fit_of(compiled, lms)

    names = "+".join(step.name for step in optimizers)
    changes = [f"{key}={value}" for key, value in (program_settings or {}).items()]
    different = [*([lm.name] if lm is not None else []), *([f"seed {seed}"] if seed else []), *changes]
    settings = [(step.name, {key: _plain(value) for key, value in step.settings.items()}) for step in optimizers]
    return CompileJob(
        name=f"{Path(reference.removeprefix(SHIPPED)).name}-{names or 'uncompiled'}"
        + (f" ({', '.join(different)})" if different else ""),
        data=data,
        origin={
            "optimizers": [{"name": name, "settings": values} for name, values in settings],
            "seed": seed,
            "train": {"name": train.name, "sha256": train.sha256, "conversations": len(learned)},
            "lm": dataclasses.asdict(lm) if lm is not None else None,
        },
        params={
            "program": reference,
            "optimizers": names or "none",
            **{f"{name}.{key}": value for name, values in settings for key, value in values.items()},
            **({"program_settings": " ".join(changes)} if changes else {}),
            **{f"{role}_lm": other.name for role, other in (other_lms or {}).items()},
            **(lm.params() if lm is not None else {"lm.name": "none"}),
        },
        fit=fit,
        lm=lm,
        seed=seed,
    )


def thoughts_job(
    program: Any, source: str, optimizers: Sequence[OptimizerStep], *, lm: LMConfig | None, **given: Any
) -> CompileJob:
    """Returns the compile of the prompts of thoughts, on a file of rows with ``files``, ``question`` and ``answer``.

    Raises:
        DataError: The file cannot be read, or a row lacks a field.
    """
    data = (part := find_part(source)).read()
    examples = file_examples(read_records(data, part.name), part.name, Path(source).parent)
    known = DataInput(part.name, hashlib.sha256(data).hexdigest(), "train", len(examples))
    params = {
        "optimizers": "+".join(step.name for step in optimizers),
        "lm.name": lm.name if lm is not None else "none",
    }
    origin = {"train": {"name": known.name, "sha256": known.sha256}, **params}

    def fit(_: Callable[[str], None]) -> Fit:
        return prompts_fit(program, optimizers, examples, "files", lm=lm, **given)

    return CompileJob(f"thoughts-{params['optimizers']}", [known], origin, params, fit, lm)


def prompts_fit(
    program: Any,
    optimizers: Sequence[OptimizerStep],
    examples: Sequence[dspy.Example],
    key: str,
    lm: LMConfig | None,
    other_lms: Mapping[Role, LMConfig] | None = None,
    *,
    threads: int | None = None,
    **given: Any,
) -> Fit:
    """Returns a program after optimizers of prompts, which take the arguments of ``split_examples`` too.

    Raises:
        ConfigError: There is no language model, or an optimizer cannot change the program.
    """
    if lm is None:
        raise ConfigError(f"optimizer {optimizers[0].name!r} asks a language model; name one with lm, got none")
    sides, lms = split_examples(examples, key, **given), language_models(lm, other_lms or {})
    seed, threads = given.get("seed", 0), threads or lm.default_threads
    return _fit_of(compile_prompts(program, optimizers, *sides, lms, seed, threads), lms)


def _fit_of(compiled: ChainResult, lms: Mapping[Role, Any]) -> Fit:
    spent = getattr(lms.get("task"), "spent", None)
    figures = {f"compile_{name}": value for name, value in spent.figures().items()} if spent is not None else {}
    figures |= {f"val_score_{place}_{name}": score for place, (name, score) in enumerate(compiled.scores)}
    return Fit(compiled.program, figures, compiled.failure, compiled.changes)


def _plain(value: Any) -> Any:
    is_settings = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return dataclasses.asdict(value) if is_settings else str(value) if isinstance(value, Path) else value


def language_models(lm: LMConfig | None, others: Mapping[Role, LMConfig]) -> dict[Role, Any]:
    """The models by role; the budget of the program's own is for all of them together."""
    lms: dict[Role, Any] = {"task": reach_lm(lm)["lm"]} if lm is not None else {}
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
    return unfitted_program(
        reference, build_ontology({one.report.id: one.report for one in train.conversations}.values())
    )
