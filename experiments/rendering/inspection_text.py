"""The output of ``finpath inspect``: turns and prompts in words, for a terminal.

print(describe_scored_turn(choose_turn(read_turns(record, tracker), "page_28.pdf-1:2")))
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from experiments.console import shorten, write_answer
from experiments.rendering.turn_text import candidates_table, describe_call, understood
from optimize.metrics import ScoredTurn, score_record, verdict
from programs.turns import turn_record

_CANDIDATES_SHOWN = 5
_WIDTH = 100


def describe_scored_turn(one: ScoredTurn, candidates: int = _CANDIDATES_SHOWN, width: int | None = None) -> str:
    """A turn in words: its understanding, its tool calls, its gold, and at most ``candidates`` of its candidates."""
    score, turn = one.score, one.turn
    answer = "none" if score.answer is None else f"{write_answer(score.answer)}  =  {score.program}"
    lines = [
        f"{one.name}  ({verdict(score)})",
        f"  question   {score.question}",
        f"  answer     {answer}",
        f"  gold       {write_answer(score.gold_answer)}  =  {score.gold_program}",
        f"  rank       {score.rank if score.rank is not None else 'the gold answer is not among the candidates'}",
    ]
    if score.failure is not None:
        lines.append(f"  failure    {score.failure}: {score.message}")
    if isinstance(turn.understanding, Mapping):
        lines += [f"  understood {name}: {value}" for name, value in understood(turn.understanding)]
    elif turn.understanding is not None:
        lines.append(f"  understood {turn.understanding}")
    for call in turn.tool_calls:
        short = replace(call, output=shorten(call.output, _WIDTH))
        lines.append(f"  tool       {describe_call(short)}  [{call.seconds:.3f} s]")
    if turn.candidates:
        lines.append(candidates_table(turn, candidates, width))
    return "\n".join(lines)


def describe_paths(one: ScoredTurn, count: int = _CANDIDATES_SHOWN) -> str:
    """The paths of the first candidates, and the places of their figures."""
    lines = []
    for place, found in enumerate(one.turn.candidates[:count], start=1):
        sources = "; ".join(str(source) for source in dict.fromkeys(found.sources))
        lines += [f"  path {place}: {found.path}", *([f"          read in {sources}"] if sources else [])]
    return "\n".join(lines)


def describe_trace(trace: Mapping[str, Any]) -> str:
    """Everything that was called for a turn, in its order, with every prompt and every reply."""
    spans = sorted(
        trace["data"]["spans"], key=lambda span: (span["start_time_unix_nano"], span["parent_span_id"] is not None)
    )
    depth: dict[str, int] = {}
    lines = []
    for span in spans:
        level = depth[span["span_id"]] = depth.get(span["parent_span_id"] or "", -1) + 1
        attributes = {name: _read(value) for name, value in span["attributes"].items()}
        seconds = (span["end_time_unix_nano"] - span["start_time_unix_nano"]) / 1e9
        kind = str(attributes.get("mlflow.spanType", "")).lower()
        lines.append(f"{'  ' * level}== {span['name']} ({kind}, {seconds:.3f} s)")
        if span["status"].get("message"):
            lines.append(f"{'  ' * level}   error: {span['status']['message']}")
        lines += [f"{'  ' * level}   {line}" for line in _said(attributes)]
    return "\n".join(lines)


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _said(attributes: Mapping[str, Any]) -> list[str]:
    given, returned = attributes.get("mlflow.spanInputs"), attributes.get("mlflow.spanOutputs")
    messages = given.get("messages") if isinstance(given, dict) else None
    lines: list[str] = []
    if isinstance(messages, list):
        for message in messages:
            lines += [f"[{message['role']}]", *str(message["content"]).splitlines()]
    elif messages is not None:
        lines += ["[prompt]", *str(messages).splitlines()]
    else:
        lines += ["in:", *_pretty(given)]
    lines += ["[reply]" if messages is not None else "out:"]
    for reply in returned if isinstance(returned, list) and messages is not None else [returned]:
        lines += str(reply).splitlines() if isinstance(reply, str) else _pretty(reply)
    return lines


def _pretty(value: Any) -> list[str]:
    return json.dumps(value, ensure_ascii=False, indent=1).splitlines()


def scored_turn_figures(one: ScoredTurn) -> dict[str, Any]:
    """A turn for ``--json``: its score and the program's output."""
    turn = turn_record(one.turn)
    same = ("question", "answer", "confidence", "failure", "message")
    kept = {name: value for name, value in turn.items() if name not in same}
    return {**score_record(one.score), "report": one.report, **kept}
