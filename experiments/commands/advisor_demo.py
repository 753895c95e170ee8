"""The advisor's demonstration: thirty questions before and after twelve documents, and a user's briefings.

    $ finpath demo advisor --json out.json

Everything ships with finpath and nothing needs a language model or a network: documents are read by rules, questions
with the graph's own words. With ``--lm`` a model reads the documents and answers (with ``--reader rules`` it only
answers), and both are set side by side in MLflow. ``--limit`` takes the first questions only.
"""

from __future__ import annotations

import argparse

from experiments.commands.advisor import chosen_lm
from experiments.commands.options import lm_config_of, tracker_of
from experiments.console import format_table, say, show, write_json
from experiments.tasks.advisor import USER, AdvisorEvaluation, EvaluationPlan, evaluate_advisor
from experiments.tracking.tracker import open_run

SHOWN_REFUSALS = 20


def run_demo(options: argparse.Namespace) -> int:
    """``finpath demo advisor``: exit code 1 if nothing could be answered."""
    plan = EvaluationPlan(options.limit, options.reader, _settings(options))
    with chosen_lm(options) as lm:
        found = evaluate_advisor(plan, lm)
    for row in found.rows:
        show(f"{'right' if row['right_after'] else 'wrong':5}  {row['question']}\n       {row['after'] or 'no answer'}")
    for briefing in found.briefings:
        show(f"* {briefing.text}")
    for line in found.refused[:SHOWN_REFUSALS]:
        say(f"refused: {line}")
    figures = found.figures()
    told = {**figures, **{name: round(value, 3) for name, value in found.accuracy().items()}}
    show(format_table(["figure", "value"], list(told.items())))
    _track(options, found, plan)
    if options.json:
        write_json(
            options.json,
            {**figures, **found.accuracy(), "rows": list(found.rows), "refused": list(found.refused)},
        )
    return 0 if figures["answered_after"] else 1


def _settings(options: argparse.Namespace) -> dict[str, object]:
    """What shapes a model's replies: not how long it is waited for, nor by how many threads it computes."""
    params = lm_config_of(options).params()
    return {name: params[name] for name in sorted(params) if name not in ("lm.threads", "lm.timeout", "lm.retries")}


def _track(options: argparse.Namespace, found: AdvisorEvaluation, plan: EvaluationPlan) -> None:
    name = f"advisor-{options.lm.replace('/', '-')}"
    reader = "rules" if options.lm == "none" else plan.reader
    with open_run(tracker_of(options), "advisor", name) as run:
        run.log_params({**lm_config_of(options).params(), "reader": reader, "limit": plan.limit, "user": USER})
        run.log_metrics({**found.figures(), **found.accuracy()})
        run.log_table("questions", list(found.rows))
