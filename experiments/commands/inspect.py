"""``finpath inspect``: the details of a tracked evaluation."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from experiments.commands.options import (
    POSITIVE,
    RUN,
    Command,
    WriteFigures,
    exclusive,
    find_run,
    json_option,
    open_tracker,
)
from experiments.console import say, show
from experiments.terminal import terminal_width
from kg.errors import ConfigError

if TYPE_CHECKING:
    from experiments.tracking import RunRecord, Tracker


@click.command(
    cls=Command,
    epilog="""
    finpath inspect latest --failed --limit 5
    finpath inspect latest --examples
    finpath inspect latest --tools
    finpath inspect latest --turn Single_MRLW/2020/page_49.pdf-1:3    # after an evaluation on sample:dev
    finpath inspect latest --graph MRLW/2020/page_49.pdf --json graph.json
    """,
)
@click.argument("run_reference", metavar="RUN", help=RUN)
@click.option("--failed", is_flag=True, help="turns that are wrong or have no answer")
@click.option("--examples", is_flag=True, help="conversations with a wrong turn")
@click.option("--tools", is_flag=True, help="calls of each tool: number, duration, errors")
@click.option("--graph", "report", metavar="REPORT", help="the triples of one report's graph, as Turtle")
@click.option("--turn", metavar="CONVERSATION:NUMBER", help="one turn, with all candidates; turns count from 1")
@click.option("--prompts", is_flag=True, help="with --turn: every call, with every prompt and reply")
@click.option("--limit", type=POSITIVE, default=20, help="at most N turns or examples (20)")
@json_option
def command(
    run_reference: str,
    failed: bool,
    examples: bool,
    tools: bool,
    report: str | None,
    turn: str | None,
    prompts: bool,
    limit: int,
    write_figures: WriteFigures,
) -> None:
    """Shows the details of a tracked evaluation: turns, examples, tools, graphs, prompts."""
    exclusive(failed=failed, examples=examples, tools=tools, graph=report, turn=turn)
    if prompts and not turn:
        raise ConfigError("prompts of one turn are shown: name it with --turn")
    tracker = open_tracker()
    record = find_run(tracker, run_reference)
    if examples:
        figures = _examples(record, tracker, limit)
    elif tools:
        figures = _tools(record, tracker)
    elif report:
        figures = _graph(record, tracker, report)
    elif turn:
        figures = _turn(record, tracker, turn, prompts=prompts)
    else:
        figures = _turns(record, tracker, limit, failed=failed)
    write_figures({"run_id": record.id, **figures})


def _turns(record: RunRecord, tracker: Tracker, limit: int, *, failed: bool) -> dict[str, object]:
    from experiments.evaluation import read_turns
    from experiments.rendering import describe_scored_turn, scored_turn_figures

    turns = read_turns(record, tracker)
    matching = [turn for turn in turns if not (failed and turn.score.exact)]
    chosen = matching[:limit]
    show("\n\n".join(describe_scored_turn(turn, width=terminal_width()) for turn in chosen))
    what = "turns that are wrong or have no answer" if failed else "turns"
    show(f"\n{len(chosen)} of {len(matching)} {what} in {record.name} ({record.id})")
    return {"turns": [scored_turn_figures(turn) for turn in chosen]}


def _examples(record: RunRecord, tracker: Tracker, limit: int) -> dict[str, object]:
    from experiments.evaluation import read_turns
    from experiments.rendering import describe_examples, example_figures
    from optimize.metrics import scored_conversations

    every = scored_conversations(read_turns(record, tracker))
    wrong = [one for one in every if one.accuracy < 1]
    chosen = wrong[:limit]
    show(describe_examples(chosen, terminal_width()))
    show(f"\n{len(chosen)} of {len(wrong)} examples with a wrong turn, of {len(every)} in {record.name}")
    return {"examples": [example_figures(one) for one in chosen], "failed": len(wrong), "all": len(every)}


def _tools(record: RunRecord, tracker: Tracker) -> dict[str, object]:
    from experiments.evaluation import read_turns
    from experiments.rendering import describe_tools
    from optimize.metrics import tool_use

    uses = tool_use(read_turns(record, tracker))
    show(describe_tools(uses, terminal_width()) if uses else f"no tool was called in {record.name}")
    return {"tools": {name: dataclasses.asdict(one) for name, one in uses.items()}}


def _graph(record: RunRecord, tracker: Tracker, reference: str) -> dict[str, object]:
    from experiments.evaluation import report_graph

    report, graph = report_graph(record, tracker, reference)
    turtle = graph.to_turtle()
    show(turtle.rstrip())
    say(f"{len(graph.graph)} triples, {len(graph.observations)} figures; graph {graph.sha256[:12]} of {report.id}")
    return {
        "report": report.id,
        "triples": len(graph.graph),
        "figures": len(graph.observations),
        "coverage": graph.coverage,
        "sha256": graph.sha256,
        "turtle": turtle,
    }


def _turn(record: RunRecord, tracker: Tracker, reference: str, *, prompts: bool) -> dict[str, object]:
    from experiments.evaluation import choose_turn, read_turns
    from experiments.rendering import describe_paths, describe_scored_turn, describe_trace, scored_turn_figures
    from experiments.tracking import read_traces
    from kg.errors import TrackingError

    one = choose_turn(read_turns(record, tracker), reference)
    show(describe_scored_turn(one, candidates=len(one.turn.candidates), width=terminal_width()))
    show(describe_paths(one))
    if not prompts:
        return {"turns": [scored_turn_figures(one)]}
    traces = read_traces(tracker, record, conversation=one.score.conversation_id, turn_index=one.score.turn_index)
    if not traces:
        raise TrackingError(f"the run {record.name} kept no trace of {one.name}")
    show("\n" + describe_trace(traces[-1]))
    return {"turns": [scored_turn_figures(one)], "trace": traces[-1]}
