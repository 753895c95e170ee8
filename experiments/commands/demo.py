"""``finpath demo``: demonstrations on the shipped sample.

    $ finpath demo                # compile on the sample's train split, evaluate on its dev split, compare
    $ finpath demo geography      # three conversations about a graph of countries
    $ finpath demo advisor        # thirty questions before and after twelve documents, and a user's briefings

No demonstration needs a language model or a network. ``reports`` compares three programs on the same turns: the beam
with nothing fitted, the beam fitted on the sample's train split, and the shipped beam. ``advisor`` reads documents by
rules; with ``--lm`` a model reads them and answers (with ``--reader rules`` it only answers).
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from experiments.commands.growing import chosen_lm
from experiments.commands.options import (
    FILE,
    POSITIVE,
    Command,
    WriteFigures,
    json_option,
    lm_options,
    open_tracker,
    seed_option,
)
from experiments.console import Stages, format_table, say, show
from experiments.files import check_target
from experiments.lms import LMConfig
from experiments.terminal import terminal_width

if TYPE_CHECKING:
    from experiments.data import ConversationRecord
    from programs.worlds.entities import EntityTurn

_SHOWN_REFUSALS = 20


@click.command(
    cls=Command,
    epilog="""
    finpath demo
    finpath demo geography --json out.json
    finpath demo advisor --lm local --limit 5
    """,
)
@click.argument(
    "name",
    type=click.Choice(["reports", "geography", "advisor"]),
    default="reports",
    help="reports: compile, evaluate and compare (the default); geography: three conversations about a graph of "
    "countries, with follow-up questions resolved without a language model; advisor: a growing graph",
)
@seed_option
@click.option(
    "--out",
    type=FILE,
    default="runs/demo",
    metavar="FOLDER",
    help="the folder of the compiled programs (runs/demo)",
)
@click.option("--no-track", is_flag=True, help="log nothing to MLflow (advisor)")
@click.option("--limit", type=POSITIVE, help="only the first N questions (advisor)")
@click.option(
    "--reader",
    type=click.Choice(["model", "rules"]),
    default="model",
    help="with a language model: the documents are read by it (the default) or by the rules (advisor)",
)
@lm_options
@json_option
def command(
    name: Literal["reports", "geography", "advisor"],
    seed: int,
    out: str,
    no_track: bool,
    limit: int | None,
    reader: Literal["model", "rules"],
    lm: LMConfig,
    write_figures: WriteFigures,
) -> int:
    """Runs a demonstration on the shipped sample: reports, geography or advisor."""
    if name == "geography":
        return _geography(write_figures)
    if name == "advisor":
        return _advisor(lm, limit, reader, write_figures, no_track=no_track)
    return _reports(seed, out, write_figures)


def _reports(seed: int, out: str, write_figures: WriteFigures) -> int:
    """Compiles, evaluates and compares."""
    from experiments.compiling import CompileConfig, compile_and_evaluate
    from experiments.data import load_conversations
    from experiments.evaluation import EvaluationConfig, compare, evaluate
    from experiments.rendering import describe_comparison
    from experiments.saved import find_program
    from experiments.tasks import ConvFinQA
    from optimize.compiling import parse_optimizers

    check_target(out, "out", folder=True, inside=True)
    stages = Stages()
    config = EvaluationConfig(seed=seed)
    tracker = open_tracker(writes=True)
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
            out=f"{out}/{name}",
            tracker=tracker,
            run_name=name,
            stages=stages,
        )
        assert compiled.evaluation is not None
        run_ids.append(compiled.evaluation.run_id)
    with stages.stage(f"evaluate the shipped beam on {dev.name}"):
        name = f"shipped beam on {dev.name}"
        shipped = evaluate(find_program("beam"), ConvFinQA(dev), config, tracker=tracker, run_name=name)
        run_ids.append(shipped.run_id)
    with stages.stage("compare the three on the same turns"):
        records = [tracker.find(run_id) for run_id in run_ids if run_id is not None]
        comparison = compare(records, tracker, seed=seed)
    show("\n" + describe_comparison(comparison, 4, terminal_width()))
    show("\nseconds of each stage:\n" + stages.table())
    show(_next_steps(out, tracker.config.uri, dev.conversations[0]))
    write_figures({**comparison.figures(), "stages": stages.seconds})
    return 0


def _next_steps(out: str, uri: str, example: ConversationRecord) -> str:
    folder = _command_folder()
    asked = " \\\n      ".join(shlex.quote(text) for text in (example.report.id, *example.questions[:2]))
    return f"""
next:
  {folder}mlflow ui --backend-store-uri {uri}
      the same runs in a browser, at http://127.0.0.1:5000/#/experiments/1/runs: open the compile
      runs with +, tick the evaluations, choose Compare
      (without a network write LITELLM_LOCAL_MODEL_COST_MAP=true before it, or MLflow may hang)
  {folder}finpath ask {asked}
      one report, with the cells of the figures
  {folder}finpath inspect compiled --failed --limit 5
      the wrong turns
  {folder}finpath evaluate {out}/compiled --data convfinqa/dev.json
      on ConvFinQA, after `{folder}finpath data fetch`"""


def _command_folder() -> str:
    """The folder to write before a command so that the shell finds it: the environment's, unless it is on the path."""
    folder = Path(sys.executable).parent
    if shutil.which("finpath") == str(folder / "finpath"):
        return ""
    return f"{os.path.relpath(folder)}{os.sep}"


def _geography(write_figures: WriteFigures) -> int:
    """Answers the scripted conversations; the exit code is 1 if an answer is not the expected one."""
    from experiments.evaluation import evaluate
    from experiments.saved import SavedProgram
    from experiments.tasks import GraphConversations, is_right, load_geography, scripted_conversations
    from programs.conversation import ConversationQA
    from programs.worlds.entities import EntityWorld

    graph = load_geography()
    say(f"* {len(graph.lexicon.types)} entities, no language model")
    task = GraphConversations(scripted_conversations(), EntityWorld(graph, graph.name), "geography")
    evaluation = evaluate(SavedProgram(ConversationQA.for_graphs(), "entity", Path()), task)
    asked: list[dict[str, Any]] = []
    for number, script in enumerate(task.items(), start=1):
        show(f"{number}. {script.id}")
        for index, expected in enumerate(script.turns):
            turn = evaluation.turns[script.id, index]
            right = is_right(turn, expected)
            show(_turn_text(turn, right) + "\n")
            asked.append({"conversation": script.id, **_turn_figures(turn), "right": right})
    count = sum(turn["right"] for turn in asked)
    show(f"{count} of {len(asked)} answers are right; continue with `finpath chat geography`")
    write_figures({"turns": len(asked), "right": count, "asked": asked})
    return 0 if count == len(asked) else 1


def _turn_text(turn: EntityTurn, right: bool) -> str:
    lines = [f"   Q  {turn.question}"]
    if turn.resolved.kind != "none":
        lines.append(f"      {turn.resolved.kind}: {turn.canonical}")
    lines.append(f"   A  {turn.words or turn.message}{'' if right else '   (wrong)'}")
    lines.append(f"      in play: {', '.join(entity.label for entity in turn.context.entities) or 'nothing yet'}")
    return "\n".join(lines)


def _turn_figures(turn: EntityTurn) -> dict[str, Any]:
    from programs.turns import EntityDetail

    found = (turn.detail or EntityDetail()).found
    return {
        "question": turn.question,
        "kind": turn.resolved.kind,
        "canonical": turn.canonical,
        "answer": turn.words or None,
        "facts": list(found.facts) if found is not None else [],
        "context": [entity.label for entity in turn.context.entities],
    }


def _advisor(
    lm: LMConfig, limit: int | None, reader: Literal["model", "rules"], write_figures: WriteFigures, *, no_track: bool
) -> int:
    """Grows a graph and questions it; the exit code is 1 if no question has an answer."""
    from experiments.tasks import EvaluationPlan, evaluate_advisor

    tracker = None if no_track else open_tracker(writes=True)
    plan = EvaluationPlan(limit, reader, lm.params())
    with chosen_lm(lm) as model:
        name = f"advisor-{lm.name.replace('/', '-')}"
        found = evaluate_advisor(plan, model, tracker=tracker, run_name=name)
    for row in found.rows:
        show(f"{'right' if row['right_after'] else 'wrong':5}  {row['question']}\n       {row['after'] or 'no answer'}")
    for briefing in found.briefings:
        show(f"* {briefing.text}")
    for line in found.refused[:_SHOWN_REFUSALS]:
        say(f"refused: {line}")
    figures = found.figures()
    rounded = {**figures, **{name: round(value, 3) for name, value in found.accuracy().items()}}
    show(format_table(["figure", "value"], list(rounded.items()), width=terminal_width()))
    write_figures({**figures, **found.accuracy(), "rows": list(found.rows), "refused": list(found.refused)})
    return 0 if figures["answered_after"] else 1
