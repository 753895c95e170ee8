"""A compile of a program of any kind: a run, the fit, the saved program, its figures and its evaluation.

    job = report_job("beam", train, parse_optimizers("scorer"))
    compiled = compile_program(job, out="my-beam", tracker=tracker)
    compiled.saved.program, compiled.figures["compile_seconds"]

DSPy's cache on disk has the replies of language models, so a compile that was stopped and is started again asks
nothing twice, and takes the same course.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.console import Stages
from experiments.lms import LMConfig
from experiments.saved import SavedProgram, check_replaceable, load_program, save_program
from experiments.serving import log_model
from experiments.tracking import (
    DataInput,
    Run,
    RunKind,
    Tracker,
    autologged,
    describe_environment,
    metric_name,
    open_run,
    run_tags,
)
from kg.errors import ConfigError


@dataclass(frozen=True)
class Fit:
    """The result of a fit: a program, figures by name, and the error of a language model that ended it early."""

    program: Any
    figures: Mapping[str, Any] = field(default_factory=dict)
    failure: str | None = None


@dataclass(frozen=True)
class CompileJob:
    """A program to compile, and its data.

    Attributes:
        name: The run's name by default.
        data: The data sets that the program learns from.
        origin: The program's origin, as it is saved with it.
        params: Settings, as the run shows them.
        fit: Returns the program; it is given the run, and a function that shows a line to the user.
        lm: The language model that the served program asks; ``None`` for a program that is not logged as a model.
        graph: The graph that the served program answers from.
        kind: The kind of the run.
        seed: Of everything random.
    """

    name: str
    data: Sequence[DataInput]
    origin: Mapping[str, Any]
    params: Mapping[str, object]
    fit: Callable[[Run, Callable[[str], None]], Fit]
    lm: LMConfig | None = None
    graph: Any = None
    kind: RunKind = "compile"
    seed: int = 0


@dataclass(frozen=True)
class Compiled:
    """The saved program (gone where no ``out`` was given), its fit, and all figures with ``run_id``."""

    saved: SavedProgram
    fit: Fit
    figures: Mapping[str, Any]


def compile_program(
    job: CompileJob,
    *,
    out: str | Path | None = None,
    tracker: Tracker | None = None,
    run_name: str | None = None,
    evaluated: Callable[[SavedProgram, Run], Mapping[str, Any]] | None = None,
    stages: Stages | None = None,
) -> Compiled:
    """Fits a program, saves it, and logs both.

    Args:
        job: The program to compile.
        out: The program's folder, in addition to its run.
        tracker: The tracking store; ``None`` to log nothing.
        run_name: The run's name; by default the job's.
        evaluated: Returns figures of the saved program on a dev split.
        stages: Names and times the stages.

    Raises:
        ConfigError: The program would be saved nowhere, or ``out`` holds other files.
    """
    if out is None and tracker is None:
        raise ConfigError("out must name a folder when nothing is tracked: the program would be kept nowhere")
    if out is not None:
        check_replaceable(Path(out))
    name, stages = run_name or job.name, stages if stages is not None else Stages()
    tags = {**run_tags(job.seed), "finpath.data_sha256": " ".join(data.sha256 for data in job.data)}
    with (
        open_run(tracker, job.kind, name, tags=tags) as run,
        tempfile.TemporaryDirectory(prefix="finpath-") as temporary,
    ):
        here = Path(temporary)
        run.log_params(job.params)
        for data in job.data:
            run.log_data(data)
        printed, begun = here / "printed.log", time.perf_counter()
        with stages.stage(f"compile {name}"), autologged(tracker, run), _printed_to(printed) as tell:
            fit = job.fit(run, tell)
        figures = {**fit.figures, "compile_seconds": time.perf_counter() - begun, "run_id": run.id}
        origin = {**job.origin, "run_id": run.id, "python": describe_environment().python}
        saved = load_program(save_program(fit.program, out if out is not None else here / "program", origin), name)
        run.log_metrics(figures)
        run.log_text(printed.name, printed.read_text(encoding="utf-8", errors="replace"))
        run.log_folder(saved.folder, "program")
        if tracker is not None and job.lm is not None:
            with stages.stage("log the program as a model"):
                run.log_tags({"finpath.model_uri": log_model(tracker, run, saved, job.lm, job.graph)})
        if evaluated is not None:
            on_dev = evaluated(saved, run)
            run.log_metrics({f"dev/{key}": value for key, value in on_dev.items() if metric_name(key) == key})
            figures = {**on_dev, **figures, "evaluation_run_id": on_dev.get("run_id")}
    return Compiled(saved, fit, figures)


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
