"""``finpath compile``: fits a program of any kind, evaluates it and saves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.evaluate import FORMATS, GRAPH
from experiments.commands.main import (
    FILE,
    OUT_PLACE,
    POSITIVE,
    SOURCE,
    RunOptions,
    WriteFigures,
    finpath,
    json_option,
    lm_options,
    load_and_report,
    open_tracker,
    run_options,
    set_option,
)
from experiments.console import format_table, say, show
from experiments.lms import LMConfig
from kg.errors import ConfigError, DataError, LMError

if TYPE_CHECKING:
    from experiments.compiling import CompileJob
    from experiments.evaluation import Task
    from experiments.tracking import Tracker
    from optimize.optimizers import OptimizerStep, Role


@finpath.command(
    "compile",
    epilog=r"""
    finpath compile beam --optimizer scorer --train sample:train --dev sample:dev --out my-beam
    finpath compile my-beam --optimizer labeled-few-shot+gepa --lm openai/gpt-4o-mini --train sample:train --out asked
    finpath compile my-beam --optimizer bootstrap --set bootstrap.max_rounds=2 --lm local \
        --teacher-lm openai/gpt-4o-mini --lm-set budget=usd=1 --train sample:train --out taught
    finpath compile beam --optimizer none --train sample:train --out uncompiled    # the ontology only
    finpath compile kgqa --graph sample:graph --train sample:train --dev sample:dev --format metaqa --out my-kgqa
    finpath compile kgqa --graph sample:graph --train sample:train --format metaqa --optimizer bootstrap --lm local
    finpath compile thoughts --train questions.json --optimizer bootstrap --lm local --out my-thoughts
    finpath compile agent --from latest --out learned    # the right turns of an evaluation become demonstrations
    """,
)
@click.argument(
    "program",
    type=FILE,
    metavar="PROGRAM",
    help="beam, agent, kgqa or thoughts, with nothing fitted; shipped:beam, to continue from the shipped one; or a "
    "saved program to continue from: a folder, runs:/ID/program, models:/NAME/1 or the name of a compile run",
)
@click.option(
    "--train",
    type=FILE,
    multiple=True,
    metavar="SOURCE",
    help=f"{SOURCE}; for kgqa a file of questions; for thoughts rows with files, question and answer",
)
@click.option(
    "--from",
    "use",
    metavar="RUN",
    help="in place of --train: right turns of this run of evaluate or ask become demonstrations",
)
@click.option("--dev", type=FILE, metavar="SOURCE", help="evaluate the compiled program on this, a source as --train's")
@click.option("--out", type=OUT_PLACE, metavar="FOLDER", help="save the program here, in addition to its run")
@click.option(
    "--optimizer",
    default="scorer",
    metavar="NAME[+NAME]",
    help="optimizers in their order (scorer), or none; for kgqa those of prompts, after the fit",
)
@set_option(
    "a setting of an optimizer (miprov2.num_trials=4), or of the program (page_tokens=3000; for kgqa "
    "max_depth=2, rank_paths=true); may be given several times"
)
@click.option("--train-turns", type=POSITIVE, default=60, help="turns that prompt optimizers learn from (60)")
@click.option("--val-turns", type=POSITIVE, default=24, help="turns of other reports that select a program (24)")
@click.option("--graph", type=FILE, metavar="KB", help=f"for kgqa: {GRAPH}; sample:graph is shipped")
@click.option("--format", "form", type=click.Choice(FORMATS), help="for kgqa: the format of the questions")
@lm_options
@click.option("--teacher-lm", metavar="MODEL", help="answers the turns that demonstrations are taken from (--lm)")
@click.option("--prompt-lm", metavar="MODEL", help="proposes instructions and rules (--lm)")
@click.option("--reflection-lm", metavar="MODEL", help="reflects on failures, for gepa (--lm); MODEL@URL is a server")
@run_options("limit", "resume")
@json_option
def compile_command(
    program: str, out: str | None, lm: LMConfig | None, run: RunOptions, write_figures: WriteFigures, **given: Any
) -> int:
    """Fits a program to a train split, evaluates it on a dev split and saves it.

    Language models are asked through DSPy's cache on disk: the same command continues a compile that was stopped.
    """
    from experiments.compiling import compile_program
    from optimize.optimizers import parse_optimizers

    is_kgqa, graph, form = program == "kgqa", given.pop("graph"), given.pop("form")
    if not is_kgqa and (graph or form):
        raise click.UsageError(f"{'--graph' if graph else '--format'} does not apply to programs for reports")
    if ((use := given.pop("use")) is None) == (not given["train"]):
        raise click.UsageError("--train or --from must be given, and not both")
    tracker = run.tracker()  # a store that cannot be written is reported before the work
    say("* read the data")
    roles: tuple[Role, ...] = ("teacher", "prompt", "reflection")
    named = {role: given.pop(f"{role}_lm") for role in roles}
    given["other_lms"] = {role: _other_lm(lm, name) for role, name in named.items() if name is not None}
    if is_kgqa and not (graph and form):
        raise click.UsageError("questions about a graph need --graph and --format")
    of_optimizers = [f"{key}={given['settings'].pop(key)}" for key in [*given["settings"]] if "." in key]
    given["optimizers"] = parse_optimizers(given.pop("optimizer"), of_optimizers)
    given |= {"lm": lm, "seed": run.seed, "threads": run.threads}
    jobs: dict[str, Any] = {"kgqa": partial(_graph_job, graph, form), "thoughts": _thoughts_job}
    jobs |= {program: partial(_use_job, program, use)} if use is not None else {}
    job, task = jobs.get(program, partial(_report_job, program, tracker))(**given)
    config = run.config(lm, traces=not is_kgqa) if task is not None else None
    compiled = compile_program(job, out=out, tracker=tracker, run_name=run.run_name, task=task, config=config)
    if task is not None and (evaluation := compiled.evaluation) is not None:
        show(task.table(evaluation.name, evaluation.figures))
    for name, value in compiled.fit.figures.items():
        show(f"{name}: {value:.3f}" if isinstance(value, float) else f"{name}: {value}")
    run_id = compiled.figures["run_id"]
    reference = out or f"runs:/{run_id}/program"
    show(f"\nsaved: {reference}" + (f"   run {run_id} ({compiled.saved.name})" if run_id else ""))
    write_figures(compiled.figures)
    if compiled.fit.failure is not None:
        raise LMError(f"the compile ended early: {compiled.fit.failure}; the best program until then is saved")
    return 0


@finpath.command("optimizers", epilog="finpath optimizers --json optimizers.json")
@json_option
def list_optimizers(write_figures: WriteFigures) -> int:
    """Lists the optimizers: what each changes of which programs, what it needs, and about what it costs.

    A turn is a question answered; a validation is one of the program on all --val-turns.
    """
    from optimize.optimizers import FITS, PROMPT_OPTIMIZERS

    names = ("changes", "programs", "needs", "costs")
    rows = [[name, *(getattr(one, key) for key in names)] for name, one in (FITS | PROMPT_OPTIMIZERS).items()]
    show(format_table(["optimizer", *names], rows))
    write_figures([dict(zip(("optimizer", *names), row, strict=True)) for row in rows])
    return 0


def _report_job(
    program: str,
    tracker: Tracker | None,
    train: tuple[str, ...],
    dev: str | None,
    settings: dict[str, str],
    **given: Any,
) -> tuple[CompileJob, Task | None]:
    """The compile of a program for reports, and its evaluation on a dev split, if there is one."""
    from experiments.compiling import report_job
    from experiments.data import join_loaded
    from experiments.evaluation import ReportQuestions

    train_data = join_loaded([load_and_report(source) for source in train])
    task = ReportQuestions(load_and_report(dev)) if dev else None
    job = report_job(program, train_data, program_settings=settings, tracker=tracker, **given)
    return job, task


def _thoughts_job(
    train: tuple[str, ...], dev: str | None, settings: dict[str, str], **given: Any
) -> tuple[CompileJob, None]:
    """The compile of the prompts of thoughts, which validation questions of the train file evaluate."""
    from experiments.commands.thoughts import thoughts_program
    from experiments.compiling import thoughts_job

    if dev is not None or len(train) != 1:
        raise click.UsageError("thoughts are compiled on one --train file, and without --dev")
    return thoughts_job(thoughts_program(settings), train[0], **given), None


def _graph_job(
    graph: str,
    form: str,
    train: tuple[str, ...],
    dev: str | None,
    settings: dict[str, str],
    optimizers: Sequence[OptimizerStep],
    **given: Any,
) -> tuple[CompileJob, Task | None]:
    """The compile of a program for questions about a graph, and its evaluation."""
    from experiments.data import graph_and_questions
    from experiments.kgqa import KGQuestions, graph_job
    from optimize.optimizers import FITS, read_value, with_setting
    from programs.worlds.graph import GraphConfig

    given["ranked"] = read_value(bool, settings.pop("rank_paths", "false"), "rank_paths")
    given["optimizers"] = chain = [step for step in optimizers if step.name not in FITS]
    config = GraphConfig()
    for key, value in settings.items():
        config = with_setting(config, key, value, "a program about graphs")
    given["lm"] = given["lm"] if chain else None
    job = graph_job(*graph_and_questions(graph, train, form), config, **given)
    return job, KGQuestions(*graph_and_questions(graph, (dev,), form)) if dev is not None else None


def _use_job(program: str, use: str, dev: str | None, lm: LMConfig | None, **_: Any) -> tuple[CompileJob, Task | None]:
    """The compile of a program from its use, and its evaluation on a dev split, if there is one."""
    from experiments.compiling import CompileJob, Fit
    from experiments.evaluation import ReportQuestions
    from experiments.saved import find_program
    from experiments.tracking import DataInput
    from programs.agent.use import learn_from_use

    store = open_tracker()
    record = store.find(use, kinds=("evaluate", "ask"))
    turns = [calls for calls in store.right_turns(record) if calls]
    if not turns:
        raise DataError("has no right answer by a language model to learn from", file=f"run {record.name}")
    learned = learn_from_use(find_program(program, store).program, turns)
    data = DataInput(record.name, record.tags.get("finpath.data_sha256", record.id), "train", len(turns))
    about = {"program": program, "from": record.id}
    job = CompileJob(f"{program}-use", [data], about, about, lambda _: Fit(learned, {"right_turns": len(turns)}), lm)
    return job, ReportQuestions(load_and_report(dev)) if dev else None


def _other_lm(lm: LMConfig | None, name: str) -> LMConfig:
    """Another model for compiling, with the settings of the program's own but its own address."""
    if lm is None:
        raise ConfigError(f"{name} helps the program's own language model: name one with --lm, got none")
    model, _, base = name.partition("@")
    return replace(lm, name=model, api_base=base or None, budget=None)
