"""``finpath compile``: its arguments, and what it says."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands.arguments import SOURCE, add_json, add_lm, add_run, command, lazy, positive

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands, Parser
    from experiments.lms.config import LMConfig


def add_parser(commands: Commands) -> None:
    """``finpath compile``."""
    parser = command(
        commands,
        "compile",
        "Fits a program to a train split, evaluates it on a dev split and saves it",
        lazy("experiments.commands.compile"),
        "finpath compile beam --optimizer scorer --train sample:train --dev sample:dev --out my-beam",
        "finpath compile my-beam --optimizer labeled-few-shot,gepa --lm local --set understand=true \\\n"
        "    --train sample:train --out asked",
        "finpath compile my-beam --optimizer bootstrap --optimizer-settings bootstrap.max_rounds=2 \\\n"
        "    --lm local --teacher-lm openai/gpt-4o-mini --budget usd=1 --train sample:train --out taught",
        "finpath compile beam --optimizer none --train sample:train --out uncompiled    # the ontology only",
        "finpath compile beam --train convfinqa/train.json --dev convfinqa/dev.json    # after `finpath data fetch`",
    )
    parser.add_argument(
        "program",
        help="beam or agent, to start with nothing fitted; or a saved program to go on from: a folder, "
        "runs:/ID/program, models:/NAME/1 or the name of a compile run",
    )
    parser.add_argument(
        "--train", required=True, nargs="+", metavar="SOURCE", help=f"{SOURCE}; several are taken together"
    )
    parser.add_argument(
        "--dialogues",
        metavar="FILE",
        help="training conversations without reports: a JSON object a line with id, dialogue_break, turn_program",
    )
    parser.add_argument("--dev", metavar="SOURCE", help="evaluate the compiled program on this")
    parser.add_argument(
        "--out", metavar="FOLDER", help="save the compiled program here (it is always saved on its run)"
    )
    _add_optimizers(parser)
    add_lm(parser)
    _add_other_lms(parser)
    add_run(parser, data="the dev split")
    add_json(parser)


def _add_optimizers(parser: Parser) -> None:
    group = parser.add_argument_group("optimizers")
    group.add_argument(
        "--optimizer",
        default="scorer",
        metavar="NAME[,NAME]",
        help="optimizers, one after the other, or none (scorer): scorer, labeled-few-shot, bootstrap, "
        "bootstrap-random-search, miprov2, gepa, simba, infer-rules, copro, knn-few-shot, reanchor, evidence; "
        "docs/reference/optimizers.md says what each changes and what it costs",
    )
    group.add_argument(
        "--optimizer-settings",
        nargs="+",
        default=[],
        metavar="NAME.KEY=VALUE",
        help="settings of the optimizers that differ from their defaults",
    )
    group.add_argument(
        "--set",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="how the program uses its language model: understand=true, evidence=index, escalate=agent and so on",
    )
    group.add_argument(
        "--train-turns", type=positive, default=60, metavar="N", help="turns that prompt optimizers learn from (60)"
    )
    group.add_argument(
        "--val-turns",
        type=positive,
        default=24,
        metavar="N",
        help="turns of other training reports that choose between candidates (24)",
    )
    group.add_argument(
        "--keep",
        choices=["best", "last"],
        default="best",
        help="the program that scored best on those turns, which may be the one started from (best), or what the "
        "chain ends with (last)",
    )
    group.add_argument(
        "--checkpoints", metavar="FOLDER", help="where a compile that is stopped can go on from (the user's cache)"
    )
    group.add_argument("--fresh", action="store_true", help="begin anew, whatever is kept of this compile")


def _add_other_lms(parser: Parser) -> None:
    group = parser.add_argument_group("language models for compiling", "each NAME as in --lm, or NAME@URL; --lm's own")
    group.add_argument("--teacher-lm", metavar="MODEL", help="answers the turns that demonstrations are taken from")
    group.add_argument("--prompt-lm", metavar="MODEL", help="proposes instructions and rules")
    group.add_argument("--reflection-lm", metavar="MODEL", help="reflects on failures, for gepa")


def run_command(options: argparse.Namespace) -> None:
    """``finpath compile``."""
    from experiments.commands.options import config_of, load_and_tell, tracker_of
    from experiments.compiling.compile import CompileConfig, compile_and_evaluate
    from experiments.compiling.run import compiles_folder
    from experiments.console import Stages, say, show, write_json
    from experiments.data.conversations import join_loaded
    from experiments.data.dialogues import read_dialogues
    from experiments.evaluation.log import summary_table
    from experiments.tracking.compiling import describe_compilation
    from optimize.compiling import CompileSettings, parse_optimizers

    config = CompileConfig(
        parse_optimizers(options.optimizer, options.optimizer_settings),
        config_of(options),
        read_dialogues(options.dialogues) if options.dialogues else None,
        settings=CompileSettings(options.train_turns, options.val_turns, keep=options.keep),
        teacher=_other_lm(options, options.teacher_lm),
        prompt=_other_lm(options, options.prompt_lm),
        reflection=_other_lm(options, options.reflection_lm),
        program_settings=tuple(options.set),
        checkpoints=Path(options.checkpoints) if options.checkpoints else compiles_folder(),
        fresh=options.fresh,
    )
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
    if compiled.compilation.resumed:
        say(f"* an earlier start of this compile, kept in {config.checkpoints}, was used; --fresh begins anew")
    if told := describe_compilation(compiled.compilation):
        show(told + "\n")
    if compiled.evaluation is not None:
        show(summary_table([compiled.evaluation]))
    show("\n" + stages.table())
    reference = options.out or f"runs:/{compiled.run_id}/program"
    show(f"\nsaved: {reference}" + (f"   run {compiled.run_id} ({compiled.saved.name})" if compiled.run_id else ""))
    if options.json:
        write_json(options.json, compiled.figures())


def _other_lm(options: argparse.Namespace, name: str | None) -> LMConfig | None:
    """Another model for compiling; what is not said of it is as for the program's own."""
    from experiments.lms.config import LMConfig

    if name is None:
        return None
    model, _, base = name.partition("@")
    return LMConfig(
        model,
        base or None,
        options.temperature,
        options.max_tokens,
        retries=options.retries,
        timeout=options.timeout,
        threads=options.lm_threads,
    )
