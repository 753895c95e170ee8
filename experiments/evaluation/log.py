"""What an evaluation's run keeps: settings, hashes, figures, a row a turn, a trace a turn, and the reports.

    with tracker.run("evaluate", name, tags=evaluation_tags(saved, data, config)) as run:
        run.log_params(evaluation_params(saved, data, config))
        ...
        log_results(run, figures, results.all())

Artifacts: ``turns.json`` and ``details.json`` (tables), ``reports.json`` and ``ontology.ttl`` (what the graphs were
built from), ``pages/`` (conversations that went wrong, to be read in a browser).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.console import format_table, percent, write_answer
from experiments.evaluation.results import Scored
from experiments.tracking.environment import describe_environment
from experiments.tracking.traces import CONVERSATION_TAG, REPORT_TAG, TURN_TAG, Trace
from experiments.tracking.tracker import Run
from kg.derivations import Candidate
from kg.reports import Report
from optimize.metrics import TurnScore, score_record, summarise, verdict
from programs.turns import plain, turn_record

if TYPE_CHECKING:
    from experiments.data.conversations import LoadedData
    from experiments.evaluation.evaluate import Evaluation, EvaluationConfig
    from experiments.saved.programs import SavedProgram

TURNS, DETAILS = "turns", "details"
"""The tables on an evaluation's run: one row a turn with its scores, and one with all that the program returned."""

REPORTS, ONTOLOGY = "reports.json", "ontology.ttl"
"""The artifacts that a report's graph can be built from again."""

KEY_TAG = "finpath.key"
"""The tag by which an evaluation with the same settings is found again."""

REVISION_TAG = "mlflow.source.git.commit"
"""MLflow's own tag for the revision of the code."""

_CANDIDATES_IN_ROW = 5
_DOCUMENTS = 10


def evaluation_key(saved: SavedProgram, data: LoadedData, config: EvaluationConfig) -> str:
    """Equal for evaluations that must give the same turns: program, model, data, history, limit and seed.

    The revision of the code is no part of it: it is on the run, and going on with another one is said there.
    """
    shaped = {
        "kind": saved.program.kind,
        "files": dict(saved.config.get("files", {})),
        "name": saved.name if not saved.config.get("files") else "",
        "settings": dataclasses.asdict(saved.program.config),
        "ontology": saved.program.ontology.sha256,
        "evidence": saved.program.evidence.to_dict() if saved.program.evidence is not None else None,
        "lm": [config.lm.name, config.lm.api_base, config.lm.temperature, config.lm.max_tokens],
        "history": config.history,
        "limit": config.limit,
        "seed": config.seed,
        "data": data.sha256,
        "finpath": describe_environment().finpath,
    }
    return hashlib.sha256(json.dumps(shaped, sort_keys=True, default=str).encode()).hexdigest()[:32]


def evaluation_params(saved: SavedProgram, data: LoadedData, config: EvaluationConfig) -> dict[str, object]:
    """The settings of an evaluation, for its run."""
    return {
        "program": saved.name,
        "kind": saved.program.kind,
        **{f"settings.{key}": value for key, value in dataclasses.asdict(saved.program.config).items()},
        **_evidence_params(saved),
        **config.lm.params(),
        "history": config.history,
        "limit": config.limit if config.limit is not None else "all",
        "seed": config.seed,
        "threads": config.thread_count,
        "traces": config.traces,
        "data": data.name,
        "split": data.split,
        "optimizers": ",".join(step["name"] for step in saved.config.get("optimizers", [])) or "none",
    }


def _evidence_params(saved: SavedProgram) -> dict[str, object]:
    """How language models help to choose; the weights that were fitted are in the program's files."""
    evidence = saved.program.evidence
    if evidence is None:
        return {}
    settings = {key: value for key, value in evidence.to_dict().items() if key not in ("plans", "demonstrations")}
    return {
        **{f"evidence.{key}": value for key, value in settings.items()},
        "evidence.fitted": ",".join(evidence.plans),
    }


def evaluation_tags(saved: SavedProgram, data: LoadedData, config: EvaluationConfig) -> dict[str, str]:
    """Hashes, versions and the evaluation's key, for its run."""
    scorer = saved.program.scorer
    compiled_by = saved.config.get("run_id")
    return {
        **run_tags(config.seed),
        "finpath.data": data.name,
        "finpath.data_sha256": data.sha256,
        "finpath.split": data.split,
        "finpath.ontology_sha256": saved.program.ontology.sha256,
        "finpath.scorer_sha256": scorer.sha256 if scorer is not None else "none",
        KEY_TAG: evaluation_key(saved, data, config),
        **({"finpath.compiled_by": str(compiled_by)} if compiled_by else {}),
    }


def run_tags(seed: int) -> dict[str, str]:
    """What every run says about the code it ran with."""
    environment = describe_environment()
    return {
        "finpath.version": environment.finpath,
        "finpath.seed": str(seed),
        "finpath.packages": json.dumps(environment.packages),
        "finpath.python": environment.python,
        **({REVISION_TAG: environment.git_revision} if environment.git_revision else {}),
    }


def log_inputs(run: Run, saved: SavedProgram, reports: Sequence[Report]) -> None:
    """The reports and the ontology, so that a turn can be looked into without the files that it came from."""
    texts = {one.id: {"pre_text": one.pre_text, "table": one.table, "post_text": one.post_text} for one in reports}
    run.log_text(REPORTS, json.dumps(texts, ensure_ascii=False))
    run.log_text(ONTOLOGY, saved.program.ontology.to_turtle())


def result_figures(
    done: Sequence[Scored], *, seed: int, seconds: float, spent: Mapping[str, float], resumed: int = 0
) -> dict[str, Any]:
    """The figures of the turns that are done, and what they cost altogether.

    Args:
        done: At least one turn.
        seed: Seed of the intervals.
        seconds: Wall time.
        spent: What the language model took, under stable names.
        resumed: How many of the turns were taken over from a run that was stopped.
    """
    scores = [one.score for one in done]
    return {
        **summarise(scores, seed=seed),
        "prompt_tokens": sum(one.prompt_tokens for one in scores),
        "completion_tokens": sum(one.completion_tokens for one in scores),
        "failures_lm_timeout": sum(_is_timeout(one) for one in scores),
        "seconds": seconds,
        "resumed_turns": resumed,
        **spent,
    }


def _is_timeout(score: TurnScore) -> bool:
    """Whether a language model took too long: one of the failures that count as ``lm_error``."""
    said = score.message.lower()  # clients call it LMTimeoutError, or "read timed out"
    return score.failure == "lm_error" and ("timeout" in said or "timed out" in said)


def log_results(run: Run, figures: Mapping[str, Any], done: Sequence[Scored]) -> None:
    """The figures and both tables."""
    run.log_metrics({key: value for key, value in figures.items() if key not in ("seed", "limit")})
    run.log_description(figures_table([run.name], [figures]))
    run.log_table(TURNS, [_turn_row(one) for one in done])
    run.log_table(DETAILS, [_detail_row(one) for one in done])


def _turn_row(one: Scored) -> dict[str, Any]:
    turn = one.answered.turn
    candidates = [
        f"{place}. {write_answer(found.answer)} = {found.derivation} ({found.score:.2f})"
        for place, found in enumerate(turn.candidates[:_CANDIDATES_IN_ROW], start=1)
    ]
    return {
        "report": one.report,
        **score_record(one.score),
        "candidates": "; ".join(candidates),
        "tool_calls": len(turn.tool_calls),
    }


def _detail_row(one: Scored) -> dict[str, Any]:
    return {
        "conversation_id": one.score.conversation_id,
        "turn_index": one.score.turn_index,
        **turn_record(one.answered.turn),
    }


def trace_of(run: Run, program: str, one: Scored) -> Trace:
    """A turn's trace, with its gold and its verdict on the root."""
    turn, score = one.answered.turn, one.score
    broken = turn.failure in ("lm_error", "error")
    chosen = turn.candidates[turn.pick] if turn.pick is not None else None
    return Trace(
        name=f"{score.conversation_id} turn {score.turn_index + 1}",
        key=(score.conversation_id, score.turn_index),
        start=one.answered.start,
        end=one.answered.end,
        inputs={"question": turn.question, "report": one.report},
        outputs=_present(
            {
                "answer": write_answer(turn.answer),
                "gold": write_answer(score.gold_answer),
                "verdict": verdict(score),
                "program": score.program,
                "gold_program": score.gold_program,
                "path": chosen.path if chosen is not None else None,
                "failure": turn.message if turn.failure is not None else None,
            }
        ),
        spans=[*one.answered.spans, *_search_span(one)],
        tags={
            REPORT_TAG: one.report,
            CONVERSATION_TAG: score.conversation_id,
            TURN_TAG: str(score.turn_index),
            "finpath.run": str(run.id),
            "finpath.program": program,
            "finpath.correct": str(score.exact).lower(),
            "finpath.stage": score.stage,
        },
        attributes={"finpath.rank": score.rank, "finpath.understanding": plain(turn.understanding)},
        error=turn.message if broken else None,
    )


def _present(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def _search_span(one: Scored) -> list[dict[str, Any]]:
    """The search as a retrieval: what it proposed. It is what happens between the first module and the last."""
    turn, top = one.answered.turn, [span for span in one.answered.spans if span["type"] == "CHAIN"]
    if not turn.candidates:
        return []
    start = top[0]["end"] or one.answered.start if len(top) > 1 else one.answered.start
    end = top[-1]["start"] if len(top) > 1 else one.answered.end
    documents = [_document(place, found) for place, found in enumerate(turn.candidates[:_DOCUMENTS], start=1)]
    return [
        {
            "id": "search",
            "parent": None,
            "name": "search",
            "type": "RETRIEVER",
            "start": min(start, end),
            "end": end,
            "inputs": {"question": turn.question},
            "outputs": documents,
            "error": None,
            "usage": None,
        }
    ]


def _document(place: int, found: Candidate) -> dict[str, Any]:
    metadata = {"rank": place, "log_probability": round(found.score, 4), "program": str(found.derivation)}
    return {"page_content": f"{write_answer(found.answer)}  =  {found.path}", "metadata": metadata}


def summary_table(evaluations: Sequence[Evaluation]) -> str:
    """The headline figures of evaluations, one column each."""
    return figures_table([one.name for one in evaluations], [one.figures for one in evaluations])


def figures_table(names: Sequence[str], figures: Sequence[Mapping[str, Any]]) -> str:
    """The headline figures, one column a run."""
    errors = ("failures_lm_error", "failures_error")
    rows: list[list[object]] = [
        ["right answers (exe_accuracy)", *(percent(one, "exe_accuracy") for one in figures)],
        ["right calculations (program_accuracy)", *(percent(one, "program_accuracy") for one in figures)],
        ["whole conversations right", *(percent(one, "conversation_accuracy") for one in figures)],
        ["right answer among the first 5 (recall_at_5)", *(percent(one, "recall_at_5") for one in figures)],
        ["right answer among the first 20", *(percent(one, "recall_at_20") for one in figures)],
        ["turns / conversations", *(f"{one['turns']:.0f} / {one['conversations']:.0f}" for one in figures)],
        ["turns without an answer", *(f"{one['failed_turns']:.0f}" for one in figures)],
        ["of these stopped by an error", *(f"{sum(one.get(name, 0) for name in errors):.0f}" for one in figures)],
        ["LM calls a turn", *(f"{one['lm_calls_per_turn']:.2f}" for one in figures)],
        ["prompt tokens a turn", *(f"{one['prompt_tokens_per_turn']:.0f}" for one in figures)],
        [
            "seconds a turn, median / 95%",
            *(f"{one['seconds_per_turn_p50']:.3f} / {one['seconds_per_turn_p95']:.3f}" for one in figures),
        ],
    ]
    return format_table(["", *names], rows)
