"""The whole way on the sample that ships: compile on its train split, evaluate on its dev split, compare.

    $ finpath demo

Three programs are set side by side on the same turns: the beam with nothing fitted, the beam fitted on the sample's
train split, and the compiled beam that ships. Everything is logged to MLflow as any other run.
"""

from __future__ import annotations

import argparse

from experiments.compare import compare, describe
from experiments.compile import CompileConfig, compile_and_evaluate
from experiments.console import Stages, show, write_json
from experiments.data import load_conversations
from experiments.evaluate import EvaluationConfig, evaluate
from experiments.saved import find_program
from experiments.tracking import Tracker, TrackingConfig
from optimize.compile import parse_optimizers


def run_command(options: argparse.Namespace) -> None:
    """``finpath demo``."""
    stages = Stages()
    config = EvaluationConfig(seed=options.seed)
    tracker = Tracker(TrackingConfig.from_environment())
    with stages.stage("load the libraries and open the tracking store"):
        tracker.open()
    with stages.stage("read the sample (conversations that ship with finpath)"):
        train, dev = load_conversations("sample:train"), load_conversations("sample:dev")
    run_ids = []
    for optimizer, name in (("none", "uncompiled"), ("scorer", "compiled")):
        compiled = compile_and_evaluate(
            "beam",
            train,
            dev,
            CompileConfig(parse_optimizers(optimizer), config, log_model=optimizer != "none"),
            out=f"{options.out}/{name}",
            tracker=tracker,
            run_name=name,
            stages=stages,
        )
        assert compiled.evaluation is not None
        run_ids.append(compiled.evaluation.run_id)
    with stages.stage(f"evaluate the shipped beam on {dev.name}"):
        shipped = evaluate(find_program("beam"), dev, config, tracker=tracker, run_name="shipped beam")
        run_ids.append(shipped.run_id)
    with stages.stage("compare the three on the same turns"):
        records = [tracker.find(run_id) for run_id in run_ids if run_id is not None]
        comparison = compare(records, tracker, seed=options.seed)
    show("\n" + describe(comparison, changed=6))
    show("\nwhere the time went:\n" + stages.table())
    show(_next_steps(options.out, tracker.config.uri))
    if options.json:
        write_json(options.json, {**comparison.figures(), "stages": stages.seconds})


def _next_steps(out: str, uri: str) -> str:
    return f"""
next:
  mlflow ui --backend-store-uri {uri}              the same runs in a browser
  finpath inspect compiled --failed --limit 5      what went wrong, turn by turn
  finpath ask REPORT "question" "and then?"        one report; `finpath ask --help` says how
  finpath evaluate {out}/compiled --data dev.json  on the full ConvFinQA; `finpath data fetch` gets it"""
