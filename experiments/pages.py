"""Turns, scored turns and comparisons in words, for a terminal, and turns as figures.

print(describe_turn(turn, basis_of(turn, own_report.describe)))
print(describe_comparison(compare(records, tracker), changed=10))
"""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from experiments.console import (
    figures_table,
    format_table,
    shorten,
    terminal_width,
    write_answer,
    write_share,
)
from kg.reports import Source
from optimize.metrics import ChangedTurn, Comparison, RunDifference, ScoredTurn, TurnScore, score_record, verdict
from programs.turns import AnyTurn, GraphDetail, TextDetail, ToolCall, Turn, turn_record

_WIDTH = 100
_CANDIDATES = 5
_MOST_FACTS = 20


def describe_turn(turn: AnyTurn, basis: Iterable[tuple[str, str]]) -> str:
    """A turn for a reader: the question, the answer, then its basis.

    Args:
        turn: The turn.
        basis: The basis of its answer, as :func:`basis_of` gives it.
    """
    answer = write_answer(turn.answer)
    notes = [f"exactly {answer}"] if isinstance(turn.answer, Decimal) and turn.words not in ("", answer) else []
    if turn.confidence is not None:
        notes.append(f"confidence {write_share(turn.confidence, 0)}")
    lines = [f"Q  {turn.question}", f"A  {turn.words or answer}" + (f"   ({', '.join(notes)})" if notes else "")]
    return "\n".join([*lines, describe_basis(turn, basis)]).rstrip("\n")


def describe_basis(turn: AnyTurn, basis: Iterable[tuple[str, str]]) -> str:
    """The basis of a turn's answer, or the reason that there is none, a line each under its title."""
    lines = [f"   no answer: {turn.message or turn.failure}"] if turn.failure is not None else []
    calls = (("asked", _describe_call(call)) for call in turn.tool_calls)
    return "\n".join([*lines, *(_wrapped(title, text) for title, text in (*calls, *basis))])


def basis_of(turn: AnyTurn, describe: Callable[[Source], str] = str) -> Iterator[tuple[str, str]]:
    """The basis of an answer, as titles and texts: the calculation or query, the paths, the places of the figures.

    Args:
        turn: The turn.
        describe: Names the place of a figure of a report.
    """
    if turn.detail is not None:
        yield from _basis_in_graph(turn) if turn.answer is not None else ()
        return
    if turn.answer is not None and turn.resolution is not None:
        turns = ", ".join(str(place + 1) for place in turn.resolution.turns)
        yield (
            "read",
            "alone" if turn.resolution.alone else f"as a follow-up of turn {turns}" if turns else "as a follow-up",
        )
    if turn.answer is not None and turn.derivation is not None and not turn.derivation.is_look_up:
        yield "calculated", f"{turn.derivation} = {write_answer(turn.answer)}"
    if turn.pick is not None:
        picked = turn.candidates[turn.pick]
        paths = dict.fromkeys(number.path for number in picked.derivation.numbers if number.path is not None)
        yield from (("path", path) for path in paths or [picked.path])
        yield from (("read in", describe(source)) for source in dict.fromkeys(picked.sources))


def _basis_in_graph(turn: AnyTurn) -> Iterator[tuple[str, str]]:
    detail: GraphDetail | TextDetail = turn.detail  # type: ignore[assignment]
    facts = list(detail.facts)
    if isinstance(detail, GraphDetail) and detail.path:
        yield "query", detail.path
    elif isinstance(detail, GraphDetail):
        if detail.topics.is_ambiguous:
            yield "ambiguous", "; ".join(detail.topics.entities)
        pairs = zip(detail.raw_paths, detail.answers, strict=True)
        answers = [(path, share) for (path, _), (name, share) in pairs if name in detail.nodes]
        facts = [f"{path}   (confidence {write_share(share, 0)})" for path, share in answers]
    yield from (("path", fact) for fact in facts[:_MOST_FACTS])
    if len(facts) > _MOST_FACTS:
        yield "", f"and {len(facts) - _MOST_FACTS} more"


def _candidates_table(turn: Turn, count: int) -> str:
    """The first ``count`` candidates, the pick marked with ``>``."""
    rows = [
        [">" if place == turn.pick else "", place + 1, f"{one.score:.2f}", write_answer(one.answer), one.derivation]
        for place, one in enumerate(turn.candidates[:count])
    ]
    headers = ["", "", "score", "answer", "calculation"]
    return format_table(headers, rows, right={2})


def _describe_call(call: ToolCall) -> str:
    """A tool call with its output: ``query_kg(period="2009") -> f1 = 120``."""
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items())
    return f"{call.tool}({arguments}) -> {call.output}{' (an error)' if call.failed else ''}"


def _wrapped(title: str, text: str) -> str:
    """A line under its title, continued below itself; the steps of a path are kept together where they fit."""
    lead = f"   {title:<12}"
    # A space that does not break holds an arrow to the name that it leads to.
    unbroken = text.replace(" -> ", "\u00a0-> ")
    whole: dict[str, Any] = {"break_on_hyphens": False, "break_long_words": False}
    width = min(_WIDTH, terminal_width() or _WIDTH)
    lines = textwrap.wrap(unbroken, width, initial_indent=lead, subsequent_indent=" " * 17, **whole)
    return "\n".join(lines).replace("\u00a0", " ")


def turn_figures(turn: AnyTurn, describe: Callable[[Source], str] = str) -> dict[str, Any]:
    """A turn about any subject as JSON; ``describe`` names the place of a figure of a report."""
    picked = turn.candidates[turn.pick] if turn.pick is not None else None
    path = picked.path if picked is not None else None
    facts: Sequence[str] = ()
    if isinstance(turn.detail, GraphDetail):
        path, facts = turn.detail.path, turn.detail.facts or turn.detail.predictions
    elif isinstance(turn.detail, TextDetail):
        path, facts = "; ".join(turn.detail.paths), turn.detail.facts
    answers = turn.answer if isinstance(turn.answer, tuple) else (turn.answer,)
    names = ("question", "canonical", "confidence", "failure", "message", "explanation")
    costs = ("lm_calls", "prompt_tokens", "cached_prompt_tokens", "completion_tokens", "seconds")
    return {
        **{name: getattr(turn, name) for name in names},
        "answer": write_answer(turn.answer) if turn.answer is not None else None,
        "answers": [*map(str, answers)] if turn.answer is not None else None,
        "abstained": turn.failure is not None,
        "words": turn.words or None,
        "program": str(turn.derivation) if turn.derivation is not None else None,
        "path": path or None,
        "facts": list(facts),
        "sources": [describe(source) for source in picked.sources] if picked is not None else [],
        "tool_calls": [dataclasses.asdict(call) for call in turn.tool_calls],
        **{name: getattr(turn.usage, name) for name in costs},
    }


def describe_scored_turn(scored: ScoredTurn, candidates: int = _CANDIDATES, *, paths: bool = False) -> str:
    """A turn in words: its understanding, its tool calls, its gold, and at most ``candidates`` of its candidates.

    With ``paths``, the paths of the first five candidates follow, and the places of their figures.
    """
    score, turn = scored.score, scored.turn
    answer = "none" if score.answer is None else f"{write_answer(score.answer)}  =  {score.program}"
    gold = f"  =  {score.gold_program}" if score.gold_program is not None else ""
    lines = [
        f"{scored.name}  ({verdict(score)})",
        f"  question   {score.question}",
        f"  answer     {answer}",
        f"  gold       {write_answer(score.gold_answer)}{gold}",
        f"  rank       {score.rank if score.rank is not None else 'the gold answer is not among the candidates'}",
    ]
    if score.failure is not None:
        lines.append(f"  failure    {score.failure}: {score.message}")
    if turn.confidence is not None:
        lines.append(f"  confidence {write_share(turn.confidence, 0)}")
    tokens = turn.usage.prompt_tokens + turn.usage.completion_tokens
    lines.append(f"  cost       {turn.usage.lm_calls} LM calls, {tokens} tokens, {turn.usage.seconds:.3f} seconds")
    understood = turn.understanding if isinstance(turn.understanding, Mapping) else {"plan": turn.understanding}
    lines += [f"  understood {name}: {value}" for name, value in understood.items() if value not in (None, "", [])]
    for call in turn.tool_calls:
        short = dataclasses.replace(call, output=shorten(call.output, _WIDTH))
        lines.append(f"  tool       {_describe_call(short)}  [{call.seconds:.3f} s]")
    if turn.candidates:
        lines.append(_candidates_table(turn, candidates))
    for place, candidate in enumerate(turn.candidates[: _CANDIDATES if paths else 0], start=1):
        lines.append(f"  path {place}: {candidate.path}")
        if sources := "; ".join(str(source) for source in dict.fromkeys(candidate.sources)):
            lines.append(f"          read in {sources}")
    return "\n".join(lines)


def scored_turn_figures(scored: ScoredTurn) -> dict[str, Any]:
    """A turn for ``--json``: its score and the program's output."""
    same = ("question", "answer", "confidence", "failure", "message")
    kept = {name: value for name, value in turn_record(scored.turn).items() if name not in same}
    return {**score_record(scored.score), "report": scored.report, **kept}


def describe_comparison(comparison: Comparison, changed: int = 10) -> str:
    """The comparison as text: figures side by side, the differences, and at most ``changed`` turns that changed.

    Args:
        comparison: The comparison.
        changed: The most turns that are shown.
    """
    names = short_names([run["run_name"] for run in comparison.runs])
    parts = [_runs_table(comparison, names), figures_table(names, comparison.runs)]
    if comparison.left_out:
        shared = f"compared on the {comparison.turns} turns that all runs share"
        parts.insert(0, f"{shared}; {comparison.left_out} were left out")
    if len(comparison.differences) > 1:
        count = len(comparison.differences)
        parts.append(f"each is compared with {names[0]}; p is also given corrected by Holm for {count} comparisons")
    for difference in comparison.differences:
        parts.append(_verdict(comparison, difference))
        if changed and difference.changed:
            parts.append(_changed_turns(difference.changed, changed))
    return "\n\n".join(parts)


def _runs_table(comparison: Comparison, names: Sequence[str]) -> str:
    """The runs that were compared, with model and limit, and with their data where these differ."""
    settings = {"run_id": "run", "lm.name": "model", "limit": "limit"}
    settings |= {"data": "data"} if len({run.get("data") for run in comparison.runs}) > 1 else {}
    rows = [[name, *map(run.get, settings)] for name, run in zip(names, comparison.runs, strict=True)]
    return format_table(["", *settings.values()], rows)


def short_names(names: Sequence[str]) -> list[str]:
    """Names of runs without the `` on DATA`` that all of them end with."""
    endings = {name.partition(" on ")[2] for name in names}
    return [name.partition(" on ")[0] for name in names] if len(endings) == 1 else list(names)


def _verdict(comparison: Comparison, difference: RunDifference) -> str:
    figures = difference.figures
    first, second = short_names([comparison.runs[0]["run_name"], difference.name])
    points, low, high = (100 * figures[name] for name in ("difference", "difference_low", "difference_high"))
    one_side = "the interval lies on one side of zero"
    corrected = f" (corrected {figures['mcnemar_p_holm']:.3g})" if len(comparison.differences) > 1 else ""
    return (
        f"{second} against {first}, {comparison.turns} turns: {points:+.1f} points [{low:+.1f}, {high:+.1f}]\n"
        f"better: {figures['better']}, worse: {figures['worse']}, McNemar p = {figures['mcnemar_p']:.3g}{corrected}; "
        f"{one_side if low > 0 or high < 0 else 'the interval includes zero: no difference is shown'}"
    )


def _changed_turns(changed: Sequence[ChangedTurn], limit: int) -> str:
    """At most ``limit`` changed turns, those that are worse first, a few lines each."""
    chosen = sorted(changed, key=lambda turn: turn.is_better)[:limit]
    lines = []
    for turn in chosen:
        place = f"{turn.after.conversation_id}:{turn.after.turn_index + 1}"
        start = f"{'better' if turn.is_better else 'worse':6}  {place}  "
        lines.append(start + shorten(turn.after.question, max(40, _WIDTH - len(start))))
        before, after = (shorten(written(score), 32) for score in (turn.before, turn.after))
        lines.append(f"        {turn.reason}")
        lines.append(f"        gold {write_answer(turn.after.gold_answer)}   before {before}   after {after}")
    rest = len(changed) - len(chosen)
    return "\n".join([*lines, *([f"... and {rest} more turns that changed"] if rest else [])])


def written(score: TurnScore) -> str:
    """The answer of a turn: its program, or the reason that there is none."""
    if score.answer is None:
        return f"none ({score.failure})"
    return score.program or write_answer(score.answer)
