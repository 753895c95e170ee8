"""``finpath compile``: fits a program of any kind, evaluates it and saves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import click

from experiments.commands.graph_questions import fit_graphs, read_task, task_options
from experiments.commands.options import (
    FILE,
    OUT_PLACE,
    POSITIVE,
    PROGRAM_SETTINGS,
    SOURCE,
    WORK_FOLDER,
    Command,
    Flag,
    RunOptions,
    WriteFigures,
    exclusive,
    json_option,
    lm_options,
    load_and_report,
    refuse,
    run_options,
    set_option,
    take_choice,
    take_unmapped,
    written_pairs,
)
from experiments.console import Stages, say, show
from experiments.lms import LMConfig
from experiments.terminal import terminal_width
from kg.errors import ConfigError


@click.command(
    cls=Command,
    epilog=r"""
    finpath compile beam --optimizer scorer --train sample:train --dev sample:dev --out my-beam
    finpath compile my-beam --optimizer labeled-few-shot,gepa --lm local --set understand=true \
        --train sample:train --out asked
    finpath compile my-beam --optimizer bootstrap --optimizer-settings bootstrap.max_rounds=2 \
        --lm local --teacher-lm openai/gpt-4o-mini --lm-set budget=usd=1 --train sample:train --out taught
    finpath compile beam --optimizer none --train sample:train --out uncompiled    # the ontology only
    finpath compile beam --train convfinqa/train.json --dev convfinqa/dev.json    # after `finpath data fetch`
    finpath compile references --train sample:train --out references.json
    finpath compile kgqa --graph sample:graph --questions sample:train --dev sample:dev --format metaqa \
        --out my-kgqa
    finpath compile queries --optimizer labeled-few-shot --lm local --train graphs/mine --dev graphs/other \
        --out my-queries
    """,
)
@click.argument(
    "program",
    type=FILE,
    metavar="PROGRAM",
    help="beam, agent, kgqa or queries, with nothing fitted; shipped:beam, to continue from the shipped one; "
    "references, the model of follow-up questions about a report, which is written to the file --out; or a saved "
    "program to continue from: a folder, runs:/ID/program, models:/NAME/1 or the name of a compile run",
)
@click.option("--train", type=FILE, multiple=True, metavar="SOURCE...", help=f"{SOURCE}; several are joined")
@click.option(
    "--dialogues",
    type=FILE,
    metavar="FILE",
    help="training conversations without reports: a JSON object a line with id, dialogue_break, turn_program",
)
@click.option(
    "--dev",
    type=FILE,
    metavar="SOURCE",
    help="evaluate the compiled program on this: conversations, for kgqa a file of questions, for queries a folder",
)
@task_options
@click.option(
    "--out", type=OUT_PLACE, metavar="FOLDER", help="save the compiled program here (it is always saved on its run)"
)
@click.option(
    "--optimizer",
    default="scorer",
    metavar="NAME[,NAME]",
    help="optimizers in their order, or none (scorer): scorer, encoder, labeled-few-shot, "
    "bootstrap, bootstrap-random-search, miprov2, gepa, simba, infer-rules, copro, knn-few-shot, evidence; "
    "docs/reference/optimizers.md describes each and its cost",
)
@click.option(
    "--optimizer-settings",
    multiple=True,
    metavar="NAME.KEY=VALUE...",
    help="settings of the optimizers that differ from their defaults",
)
@set_option(f"{PROGRAM_SETTINGS}. For kgqa: rank_paths=true also fits a ranker of whole paths, max_depth, link")
@click.option("--train-turns", type=POSITIVE, default=60, help="turns that prompt optimizers learn from (60)")
@click.option(
    "--val-turns", type=POSITIVE, default=24, help="turns of other training reports that select a candidate (24)"
)
@click.option(
    "--keep",
    type=click.Choice(["best", "last"]),
    default="best",
    help="the program with the best score on those turns, possibly the initial one (best), or the last of the chain "
    "(last)",
)
@click.option(
    "--checkpoints",
    type=WORK_FOLDER,
    metavar="FOLDER",
    help="folder of checkpoints of a stopped compile (the user's cache)",
)
@click.option("--fresh", is_flag=True, help="ignore the checkpoints of this compile")
@lm_options
@click.option("--teacher-lm", metavar="MODEL", help="answers the turns that demonstrations are taken from")
@click.option("--prompt-lm", metavar="MODEL", help="proposes instructions and rules")
@click.option("--reflection-lm", metavar="MODEL", help="reflects on failures, for gepa")
@run_options("conversations of the dev split, or questions about a graph")
@json_option
def command(
    program: str,
    train: tuple[str, ...],
    dialogues: str | None,
    dev: str | None,
    graph: str | None,
    questions: tuple[str, ...],
    form: str | None,
    out: str | None,
    optimizer: str,
    optimizer_settings: tuple[str, ...],
    settings: dict[str, str],
    train_turns: int,
    val_turns: int,
    keep: Literal["best", "last"],
    checkpoints: str | None,
    fresh: bool,
    lm: LMConfig,
    teacher_lm: str | None,
    prompt_lm: str | None,
    reflection_lm: str | None,
    run: RunOptions,
    write_figures: WriteFigures,
) -> int:
    """Fits a program to a train split, evaluates it on a dev split and saves it.

    Programs of the kinds beam and agent need --train, and programs of the kind kgqa need --questions. For queries,
    --train and --dev are folders of graphs with conversations in questions.jsonl; --val-turns turns of dev are scored,
    and the confidence in replies is fitted on as many turns of train.
    """
    from experiments.compiling import CompileConfig, compile_and_evaluate, compiles_folder
    from experiments.data import join_loaded, read_dialogues
    from optimize.compiling import CompileSettings, parse_optimizers

    exclusive(required=True, train=train, questions=questions)
    task = read_task(graph, questions, form, settings)
    if task is not None:
        ranked = take_choice(settings, "rank_paths", Flag) == "true"
        refuse(
            "does not apply to questions about a graph",
            dialogues=dialogues,
            set=settings,
            lm=not lm.is_none,
        )
        if program != "kgqa" or optimizer != "scorer":
            raise ConfigError(f"questions need the program kgqa and the optimizer scorer; got {program}, {optimizer}")
        if out is None:
            raise click.UsageError("--questions needs --out")
        return fit_graphs(task, run, out, write_figures, dev=dev, ranked=ranked)
    if program == "references":
        return _fit_references(train, dialogues, out, write_figures)
    if program == "queries":
        return _fit_demonstrations(train, dev, out, optimizer, lm, run, val_turns, write_figures)
    if program == "kgqa":
        raise ConfigError("the program kgqa needs --questions in place of --train")
    config = CompileConfig(
        parse_optimizers(optimizer, list(optimizer_settings)),
        run.config(lm),
        read_dialogues(dialogues) if dialogues else None,
        settings=CompileSettings(train_turns, val_turns, keep=keep),
        teacher=_other_lm(lm, teacher_lm),
        prompt=_other_lm(lm, prompt_lm),
        reflection=_other_lm(lm, reflection_lm),
        unmapped=take_unmapped(settings),
        program_settings=written_pairs(settings),
        checkpoints=Path(checkpoints) if checkpoints else compiles_folder(),
        fresh=fresh,
    )
    tracker = run.tracker()
    stages = Stages()
    with stages.stage("read the data"):
        train_data = join_loaded([load_and_report(source) for source in train])
        dev_data = load_and_report(dev) if dev else None
    compiled = compile_and_evaluate(
        program,
        train_data,
        dev_data,
        config,
        out=out,
        tracker=tracker,
        run_name=run.run_name,
        stages=stages,
    )
    if compiled.compilation.resumed:
        say(f"* checkpoints of this compile in {config.checkpoints} were used; --fresh ignores them")
    _show(compiled, stages, out)
    write_figures(compiled.figures())
    return 0


def _show(compiled: Any, stages: Stages, out: str | None) -> None:
    from experiments.tasks import figures_table
    from experiments.tracking import describe_compilation

    if description := describe_compilation(compiled.compilation, terminal_width()):
        show(description + "\n")
    if compiled.evaluation is not None:
        show(figures_table([compiled.evaluation.name], [compiled.evaluation.figures], terminal_width()))
    show("\n" + stages.table())
    reference = out or f"runs:/{compiled.run_id}/program"
    show(f"\nsaved: {reference}" + (f"   run {compiled.run_id} ({compiled.saved.name})" if compiled.run_id else ""))


def _fit_references(train: Sequence[str], dialogues: str | None, out: str | None, write_figures: WriteFigures) -> int:
    from experiments.compiling import compile_references
    from experiments.data import join_loaded, read_dialogues

    if out is None:
        raise click.UsageError("references needs --out")
    data = join_loaded([load_and_report(source) for source in train])
    model = compile_references(data, read_dialogues(dialogues) if dialogues else None, out)
    say(f"* fitted on {len(data.conversations)} conversations of {data.name}; saved in {out}")
    write_figures({"train": data.name, "conversations": len(data.conversations), "weights": len(model.weights)})
    return 0


def _fit_demonstrations(
    train: Sequence[str],
    dev: str | None,
    out: str | None,
    optimizer: str,
    lm: LMConfig,
    run: RunOptions,
    scored: int,
    write_figures: WriteFigures,
) -> int:
    from experiments.compiling import QueryCompileConfig, compile_queries

    if out is None:
        raise click.UsageError("queries needs --out")
    given = run.config(lm)
    parts: dict[str, Any] = {"out": out, "tracker": run.tracker(), "run_name": run.run_name}
    folders = [dev] if dev else []
    queries = QueryCompileConfig(
        optimizer, given.lm, seed=given.seed, turns=scored, confidence_turns=scored, threads=given.thread_count
    )
    compiled = compile_queries(queries, train, folders, **parts)
    for name, value in compiled.figures.items():
        show(f"{name}: {value:.3f}" if isinstance(value, float) else f"{name}: {value}")
    show(f"saved: {out}" + (f"   run {compiled.run_id}" if compiled.run_id else ""))
    write_figures({**compiled.figures, "run_id": compiled.run_id or None})
    return 0


def _other_lm(lm: LMConfig, name: str | None) -> LMConfig | None:
    """Another model for compiling, with the settings of the program's own but its own address and no budget."""
    if name is None:
        return None
    model, _, base = name.partition("@")
    return replace(lm, name=model, api_base=base or None, budget=None)
