"""``finpath demo``: compiles on the shipped sample's train split, evaluates on its dev split, and compares.

It needs no language model and no network. Three programs are compared on the same turns: the beam with nothing fitted,
the beam fitted on the sample's train split, and the shipped beam.
"""

from __future__ import annotations

import click

from experiments.commands.main import OUT_FOLDER, WriteFigures, finpath, json_option, open_tracker
from experiments.console import say, show


@finpath.command("demo", epilog="finpath demo --json out.json")
@click.option(
    "--out",
    type=OUT_FOLDER,
    default="runs/demo",
    metavar="FOLDER",
    help="the folder of the compiled programs (runs/demo)",
)
@json_option
def run_demo(out: str, write_figures: WriteFigures) -> None:
    """Compiles, evaluates and compares programs on the shipped sample."""
    from experiments.compare import compare
    from experiments.compiling import compile_program, report_job
    from experiments.data import load_conversations
    from experiments.evaluation import ReportQuestions, evaluate
    from experiments.pages import describe_comparison
    from experiments.promote import promote
    from experiments.saved import find_program
    from optimize.optimizers import parse_optimizers

    tracker = open_tracker(writes=True)
    say("* read the sample (conversations that ship with finpath)")
    train, dev = load_conversations("sample:train"), ReportQuestions(load_conversations("sample:dev"))
    run_ids = []
    for optimizer, name in (("none", "uncompiled"), ("scorer", "compiled")):
        job = report_job("beam", train, parse_optimizers(optimizer))
        compiled = compile_program(job, out=f"{out}/{name}", tracker=tracker, run_name=name, task=dev)
        run_ids.append(compiled.figures["evaluation_run_id"])
    say(f"* evaluate the shipped beam on {dev.name}")
    shipped = evaluate(find_program("beam"), dev, tracker=tracker, run_name=f"shipped beam on {dev.name}")
    say("* compare the three on the same turns")
    comparison = compare([tracker.find(run_id) for run_id in (*run_ids, shipped.figures["run_id"])], tracker)
    say("* promote the best")
    promote(tracker.find(shipped.figures["run_id"]), tracker, against=tracker.find(run_ids[-1]))
    show("\n" + describe_comparison(comparison, 4))
    show("\nnext: finpath inspect compiled --failed --limit 5, or finpath mlflow")
    write_figures(comparison.figures())
