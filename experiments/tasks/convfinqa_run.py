"""The run of an evaluation on ConvFinQA: settings, hashes, figures, a row and a trace for each turn, and the reports.

Artifacts: ``turns.json`` and ``details.json`` (tables), ``reports.json`` and ``ontology.ttl`` (the sources of the
graphs), ``pages/`` (conversations with a wrong turn, for a browser).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.console import write_answer
from experiments.data import LoadedData
from experiments.evaluation import (
    DETAILS,
    ONTOLOGY,
    REPORTS,
    TURNS,
    Description,
    EvaluationConfig,
    Scored,
    figures_table,
)
from experiments.saved import SavedProgram
from experiments.tracking import CONVERSATION_TAG, REPORT_TAG, TURN_TAG, Run, Trace, sectioned
from kg.candidates import Candidate
from kg.reports import Report
from optimize.metrics import TurnScore, score_record, summarise, verdict
from programs.turns import Turn, plain, turn_record

_CANDIDATES_IN_ROW = 5
_DOCUMENTS = 10


def describe(saved: SavedProgram, data: LoadedData, config: EvaluationConfig) -> Description:
    """Returns the settings of an evaluation."""
    program = saved.program
    settings = dataclasses.asdict(program.config)
    key = {
        "kind": program.kind,
        "files": dict(saved.config.get("files", {})),
        "name": saved.name if not saved.config.get("files") else "",
        "settings": settings,
        "ontology": program.ontology.sha256,
        "unmapped": program.unmapped,
        "evidence": program.evidence.to_dict() if program.evidence is not None else None,
        "lm": [config.lm.name, config.lm.api_base, config.lm.temperature, config.lm.max_tokens],
        "history": config.history,
        "limit": config.limit,
        "seed": config.seed,
        "data": data.sha256,
    }
    params = {
        "program": saved.name,
        "kind": program.kind,
        "unmapped": program.unmapped,
        **{f"settings.{name}": value for name, value in settings.items()},
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
    compiled_by = saved.config.get("run_id")
    tags = {
        "finpath.data": data.name,
        "finpath.data_sha256": data.sha256,
        "finpath.split": data.split,
        "finpath.ontology_sha256": program.ontology.sha256,
        "finpath.scorer_sha256": program.scorer.sha256 if program.scorer is not None else "none",
        **({"finpath.compiled_by": str(compiled_by)} if compiled_by else {}),
    }
    figures = {
        "program": saved.name,
        "lm": config.lm.name,
        "history": config.history,
        "limit": config.limit,
        "data": data.name,
        "data_sha256": data.sha256,
        "split": data.split,
        "data_problems": len(data.problems),
    }
    return Description(key, params, tags, figures)


def _evidence_params(saved: SavedProgram) -> dict[str, object]:
    """Returns the settings of the evidence of language models; its fitted weights are in the program's files."""
    evidence = saved.program.evidence
    if evidence is None:
        return {}
    settings = {key: value for key, value in evidence.to_dict().items() if key not in ("plans", "demonstrations")}
    return {
        **{f"evidence.{key}": value for key, value in settings.items()},
        "evidence.fitted": ",".join(evidence.plans),
    }


def log_inputs(run: Run, saved: SavedProgram, reports: Sequence[Report]) -> None:
    """Logs the reports and the ontology, so that a turn can be inspected without the original files."""
    texts = {one.id: {"pre_text": one.pre_text, "table": one.table, "post_text": one.post_text} for one in reports}
    run.log_text(REPORTS, json.dumps(texts, ensure_ascii=False))
    run.log_text(ONTOLOGY, saved.program.ontology.to_turtle())


def result_figures(scores: Sequence[TurnScore], *, seed: int) -> dict[str, Any]:
    """Returns the figures of at least one turn, with the seed of the intervals."""
    return {
        **summarise(scores, seed=seed),
        "prompt_tokens": sum(one.prompt_tokens for one in scores),
        "completion_tokens": sum(one.completion_tokens for one in scores),
        "failures_lm_timeout": sum(_is_timeout(one) for one in scores),
    }


def _is_timeout(score: TurnScore) -> bool:
    """Whether a timeout is the reason of an ``lm_error``."""
    said = score.message.lower()  # clients call it LMTimeoutError, or "read timed out"
    return score.failure == "lm_error" and ("timeout" in said or "timed out" in said)


def log_results(run: Run, figures: Mapping[str, Any], done: Sequence[Scored[Turn, TurnScore]]) -> None:
    """Logs the figures and both tables."""
    run.log_metrics(sectioned({key: value for key, value in figures.items() if key not in ("seed", "limit")}))
    run.log_description(figures_table([run.name], [figures]))
    run.log_table(TURNS, [_turn_row(one) for one in done])
    run.log_table(DETAILS, [_detail_row(one) for one in done])


def _turn_row(one: Scored[Turn, TurnScore]) -> dict[str, Any]:
    turn = one.answered.turn
    candidates = [
        f"{place}. {write_answer(found.answer)} = {found.derivation} ({found.score:.2f})"
        for place, found in enumerate(turn.candidates[:_CANDIDATES_IN_ROW], start=1)
    ]
    return {
        "report": one.source,
        **score_record(one.score),
        "candidates": "; ".join(candidates),
        "tool_calls": len(turn.tool_calls),
    }


def _detail_row(one: Scored[Turn, TurnScore]) -> dict[str, Any]:
    return {
        "conversation_id": one.score.conversation_id,
        "turn_index": one.score.turn_index,
        **turn_record(one.answered.turn),
    }


def trace_of(run: Run, program: str, one: Scored[Turn, TurnScore]) -> Trace:
    """Returns a turn's trace, with its gold and its verdict on the root."""
    turn, score = one.answered.turn, one.score
    broken = turn.failure in ("lm_error", "error")
    chosen = turn.candidates[turn.pick] if turn.pick is not None else None
    return Trace(
        name=f"{score.conversation_id} turn {score.turn_index + 1}",
        key=(score.conversation_id, score.turn_index),
        start=one.answered.start,
        end=one.answered.end,
        inputs={"question": turn.question, "report": one.source},
        outputs=_present(
            {
                "answer": write_answer(turn.answer),
                "program": score.program,
                "path": chosen.path if chosen is not None else None,
                "failure": turn.message if turn.failure is not None else None,
            }
        ),
        spans=[*one.answered.spans, *_search_span(one)],
        tags={
            REPORT_TAG: one.source,
            CONVERSATION_TAG: score.conversation_id,
            TURN_TAG: str(score.turn_index),
            "finpath.run": str(run.id),
            "finpath.program": program,
            "finpath.correct": str(score.exact).lower(),
            "finpath.stage": score.stage,
        },
        attributes={"finpath.rank": score.rank, "finpath.understanding": plain(turn.understanding)},
        error=turn.message if broken else None,
        verdicts={
            "exe_accuracy": (score.exact, verdict(score)),
            **({"confidence": (turn.confidence, "")} if turn.confidence is not None else {}),
        },
        expected=_present({"answer": write_answer(score.gold_answer), "program": score.gold_program}),
    )


def _present(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def _search_span(one: Scored[Turn, TurnScore]) -> list[dict[str, Any]]:
    """Returns the search as a retrieval span between the first module and the last, with its candidates."""
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
