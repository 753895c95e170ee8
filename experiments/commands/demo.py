"""The whole way on the sample that ships: compile on its train split, evaluate on its dev split, compare.

    $ finpath demo

Three programs are set side by side on the same turns: the beam with nothing fitted, the beam fitted on the sample's
train split, and the compiled beam that ships. Everything is logged to MLflow as any other run.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from pathlib import Path

from experiments.compiling.compile import CompileConfig, compile_and_evaluate
from experiments.console import Stages, show, write_json
from experiments.data.conversations import Conversation, load_conversations
from experiments.evaluation.compare import compare
from experiments.evaluation.evaluate import evaluate
from experiments.evaluation.records import EvaluationConfig
from experiments.rendering.comparison_text import describe
from experiments.saved.programs import find_program
from experiments.tasks.convfinqa import ConvFinQA
from experiments.tracking.tracker import Tracker, TrackingConfig
from optimize.compiling import parse_optimizers


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
        shipped = evaluate(
            find_program("beam"), ConvFinQA(dev), config, tracker=tracker, run_name=f"shipped beam on {dev.name}"
        )
        run_ids.append(shipped.run_id)
    with stages.stage("compare the three on the same turns"):
        records = [tracker.find(run_id) for run_id in run_ids if run_id is not None]
        comparison = compare(records, tracker, seed=options.seed)
    show("\n" + describe(comparison, changed=4))
    show("\nwhere the time went:\n" + stages.table())
    show(_next_steps(options.out, tracker.config.uri, dev.conversations[0]))
    if options.json:
        write_json(options.json, {**comparison.figures(), "stages": stages.seconds})


def _next_steps(out: str, uri: str, example: Conversation) -> str:
    folder = _command_folder()
    asked = " \\\n      ".join(shlex.quote(text) for text in (example.report.id, *example.questions[:2]))
    return f"""
next:
  {folder}mlflow ui --backend-store-uri {uri}
      the same runs in a browser, at http://127.0.0.1:5000/#/experiments/1/runs: open the compile
      runs with +, tick the evaluations, choose Compare
      (without a network write LITELLM_LOCAL_MODEL_COST_MAP=true before it, or MLflow may hang)
  {folder}finpath ask {asked}
      one report, with the cells that the figures were read in
  {folder}finpath inspect compiled --failed --limit 5
      what went wrong, turn by turn
  {folder}finpath evaluate {out}/compiled --data convfinqa/dev.json
      on ConvFinQA, after `{folder}finpath data fetch`"""


def _command_folder() -> str:
    """What to write before a command so that the shell finds it: the environment's folder, unless it is on the path."""
    folder = Path(sys.executable).parent
    if shutil.which("finpath") == str(folder / "finpath"):
        return ""
    return f"{os.path.relpath(folder)}{os.sep}"
