"""``finpath demo``: compiles on the shipped sample's train split, evaluates on its dev split, and compares.

It needs no language model and no network. Three programs are compared on the same turns: the beam with nothing fitted,
the beam fitted on the sample's train split, and the shipped beam.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.main import OUT_FOLDER, WriteFigures, finpath, json_option, open_tracker
from experiments.console import Stages, show

if TYPE_CHECKING:
    from experiments.saved import SavedProgram
    from experiments.tracking import Run


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
    from experiments.evaluation import ConvFinQA, EvaluationConfig, evaluate
    from experiments.pages import describe_comparison
    from experiments.saved import find_program
    from optimize.optimizers import parse_optimizers

    stages = Stages()
    config = EvaluationConfig()
    tracker = open_tracker(writes=True)
    with stages.stage("load the libraries and open the tracking store"):
        _ = tracker.experiment_id
    with stages.stage("read the sample (conversations that ship with finpath)"):
        train, dev = load_conversations("sample:train"), load_conversations("sample:dev")
    run_ids: list[str | None] = []

    def evaluated(saved: SavedProgram, parent: Run) -> Mapping[str, Any]:
        with stages.stage(f"evaluate {saved.name} on {dev.name}"):
            evaluation = evaluate(saved, ConvFinQA(dev), config, tracker=tracker, parent=parent)
        run_ids.append(evaluation.run_id)
        return evaluation.figures

    for optimizer, name in (("none", "uncompiled"), ("scorer", "compiled")):
        job = report_job("beam", train, parse_optimizers(optimizer))
        compile_program(job, out=f"{out}/{name}", tracker=tracker, run_name=name, evaluated=evaluated, stages=stages)
    with stages.stage(f"evaluate the shipped beam on {dev.name}"):
        name = f"shipped beam on {dev.name}"
        shipped = evaluate(find_program("beam"), ConvFinQA(dev), config, tracker=tracker, run_name=name)
        run_ids.append(shipped.run_id)
    with stages.stage("compare the three on the same turns"):
        records = [tracker.find(run_id) for run_id in run_ids if run_id is not None]
        comparison = compare(records, tracker)
    show("\n" + describe_comparison(comparison, 4))
    show("\nseconds of each stage:\n" + stages.table())
    show("\nnext: finpath inspect compiled --failed --limit 5, or mlflow ui --backend-store-uri " + tracker.config.uri)
    write_figures({**comparison.figures(), "stages": stages.seconds})
