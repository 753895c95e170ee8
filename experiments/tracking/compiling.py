"""The records of a compile in MLflow: candidates, prompts, and the budget.

    log_candidate(run, candidate)                              # as each is scored: a metric by step
    log_compilation(run, compilation)                          # budget, tables, the difference of the prompts
    register_prompts(tracker, run, "beam", compilation)        # one prompt a predictor, alias "compiled"

MLflow's autologging for DSPy is not used. It loses an optimizer's settings, cuts long ones, and logs evaluations of
several threads on the active run, whatever run they belong to.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from typing import Any

from experiments.console import format_table
from experiments.tracking.tracker import Run, Tracker, quiet_mlflow
from optimize.compiling import Compilation, CompilePlan, PromptCandidate

PROMPT_ALIAS = "compiled"
"""The alias, in the prompt registry, of the result of the newest compile for a predictor."""

_NO_MODEL_NAME = re.compile(r"[^\w -]+")
_NO_PROMPT_NAME = re.compile(r"[^\w.-]+")


def plan_params(plan: CompilePlan) -> dict[str, object]:
    """Returns the plan of a compile as settings of its run."""
    stated: dict[str, object] = {
        "plan.train_turns": plan.sizes.train,
        "plan.val_turns": plan.sizes.val,
        "plan.predictors": plan.sizes.predictors,
    }
    for role, one in plan.budgets.items():
        stated[f"budget.{role}.calls"] = one.calls
        stated[f"budget.{role}.tokens"] = "unknown" if one.tokens is None else one.tokens
        stated[f"budget.{role}.usd"] = "unknown" if one.usd is None else f"{one.usd:.4f}"
    return stated


def log_candidate(run: Run, candidate: PromptCandidate, val_turns: int) -> None:
    """A candidate's score as a metric, by the candidate's place; those on fewer turns under a name of their own."""
    name = "candidate_score" if candidate.turns >= val_turns else "candidate_score_on_few_turns"
    run.log_metrics({name: candidate.score}, step=candidate.place)


def log_candidates(run: Run, candidates: list[PromptCandidate]) -> None:
    """All candidates as a table, with their instructions and demonstrations."""
    rows = [
        {
            "place": one.place,
            "step": one.step,
            "optimizer": one.optimizer,
            "score": one.score,
            "turns": one.turns,
            "seconds": round(one.seconds, 3),
            "prompts": one.prompts,
            "state": json.dumps(one.state, ensure_ascii=False, default=str),
        }
        for one in candidates
    ]
    if rows:
        run.log_table("candidates", rows)


def log_spent(run: Run, spent: Mapping[str, float]) -> None:
    """Logs the calls, tokens and costs of the language models, by role and in total."""
    together: dict[str, float] = {}
    for name, value in spent.items():
        key = f"compile_{name.partition('_')[2]}"
        together[key] = together.get(key, 0.0) + value
    run.log_metrics({**{f"compile_{name}": value for name, value in spent.items()}, **together})


def log_compilation(run: Run, compilation: Compilation) -> None:
    """Candidates, scores, what was spent, and the prompts before and after with their difference."""
    log_candidates(run, list(compilation.candidates))
    log_spent(run, compilation.spent)
    tags = {"finpath.kept": compilation.kept, "finpath.resumed": str(compilation.resumed).lower()}
    if compilation.stopped is not None:
        tags["finpath.stopped"] = compilation.stopped
    run.log_tags(tags)
    if compilation.scores:
        run.log_metrics({f"val_score_{place}_{name}": score for place, (name, score) in enumerate(compilation.scores)})
    for place, (name, rates) in enumerate(compilation.fields.items()):
        run.log_metrics({f"understanding_{key}_{place}_{name}": value for key, value in rates.items()})
    before, after = written_prompts(compilation.prompts_before), written_prompts(compilation.prompts_after)
    run.log_text("prompts/before.txt", before)
    run.log_text("prompts/after.txt", after)
    run.log_text("prompts/difference.diff", prompt_difference(before, after))


def written_prompts(state: Mapping[str, Mapping[str, Any]]) -> str:
    """Instructions and demonstrations as a person would read them."""
    lines: list[str] = []
    for name, one in state.items():
        lines += [f"=== {name} ===", "", "instructions:", *_indented(str(one["instructions"]))]
        for number, demo in enumerate(one["demos"], start=1):
            lines += ["", f"demonstration {number}:"]
            for key, value in demo.items():
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
                lines += _indented(f"{key}: {text}")
        lines.append("")
    return "\n".join(lines)


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]


def prompt_difference(before: str, after: str) -> str:
    """Returns a unified diff, or a line that reports no change."""
    changed = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=2)
    return "\n".join(changed) or "The instructions and demonstrations are as they were."


def describe_compilation(compilation: Compilation, width: int | None = None) -> str:
    """Returns a summary of the candidates and the selected one, for the terminal and the run's page."""
    rows = [[name, 100 * score] for name, score in compilation.scores]
    parts = []
    if rows and compilation.plan is not None:
        title = f"% right of {compilation.plan.sizes.val} validation turns"
        parts.append(
            format_table(["after", title], [[name, f"{score:.1f}"] for name, score in rows], right={1}, width=width)
        )
        if fields := [[name, *_percents(rates)] for name, rates in compilation.fields.items() if rates]:
            parts.append(
                format_table(["understood rightly, in %", *_FIELDS], fields, right={1, 2, 3, 4, 5}, width=width)
            )
        parts.append(f"kept: {compilation.kept}; {len(compilation.candidates)} candidates were scored")
    if compilation.stopped is not None:
        parts.append(f"ended early: {compilation.stopped}; this is the best until then")
    return "\n".join(parts)


_FIELDS = ("operation", "periods", "properties", "all", "turns")


def _percents(rates: Mapping[str, float]) -> list[str]:
    return [*(f"{100 * rates[name]:.0f}" for name in _FIELDS[:-1]), f"{rates['turns']:.0f}"]


def register_prompts(tracker: Tracker, run: Run, program: str, compilation: Compilation) -> list[str]:
    """A version of each predictor's prompt in the prompt registry, with the alias :data:`PROMPT_ALIAS`.

    Returns:
        Their URIs, ``prompts:/finpath.beam.understand/3``.
    """
    quiet_mlflow()
    found = []
    for name, one in compilation.prompts_after.items():
        full = f"finpath.{_NO_PROMPT_NAME.sub('-', program)}.{_NO_PROMPT_NAME.sub('-', name)}"
        template = f"{written_prompts({name: one})}\nquestion: {{{{question}}}}"
        version = tracker.client.register_prompt(
            full, template, commit_message=f"compiled by run {run.name}", tags={"run_id": str(run.id)}
        )
        tracker.client.set_prompt_alias(full, PROMPT_ALIAS, version.version)
        tracker.client.link_prompt_version_to_run(run.id, version)
        found.append(f"prompts:/{full}/{version.version}")
    return found


def logged_ontology(tracker: Tracker | None, sha256: str) -> str | None:
    """The id of the run that logged this ontology, if there is one: it is logged once, however often it is used."""
    if tracker is None or tracker.config.new_store is not None:
        return None
    found = tracker.search(["ontology"], limit=1, tags={"finpath.ontology_sha256": sha256})
    return found[0].id if found else None
