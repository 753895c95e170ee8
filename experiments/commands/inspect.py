"""``finpath inspect``: the questions that one has about a tracked evaluation.

finpath inspect latest --examples                   # conversations that are not right throughout
finpath inspect latest --failed                     # turns that went wrong: understanding, tool calls, gold
finpath inspect latest --tools                      # how often each tool was called, and how long a call took
finpath inspect latest --graph MRLW/2020/page_49    # the graph of one report
finpath inspect latest --turn page_49.pdf-1:2 --prompts
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.commands.arguments import RUN, add_json, command, lazy, positive

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands
    from experiments.tracking.tracker import RunRecord, Tracker


def add_parser(commands: Commands) -> None:
    """The command's arguments."""
    parser = command(
        commands,
        "inspect",
        "Shows what a tracked evaluation did: turns, examples, tools, graphs, prompts",
        lazy("experiments.commands.inspect"),
        "finpath inspect latest --failed --limit 5",
        "finpath inspect latest --examples",
        "finpath inspect latest --turn Single_MRLW/2020/page_49.pdf-1:2    # after an evaluation on sample:dev",
        "finpath inspect latest --graph MRLW/2020/page_49.pdf --json graph.json",
    )
    parser.add_argument("run_reference", metavar="RUN", help=RUN)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--failed", action="store_true", help="turns that are wrong or have no answer")
    what.add_argument("--examples", action="store_true", help="conversations of which a turn is wrong")
    what.add_argument("--tools", action="store_true", help="calls of each tool: how many, how long, how many errors")
    what.add_argument("--graph", metavar="REPORT", help="the triples of one report's graph, as Turtle")
    what.add_argument(
        "--turn", metavar="CONVERSATION:INDEX", help="one turn, with all candidates; the index counts from 0"
    )
    parser.add_argument(
        "--prompts", action="store_true", help="with --turn: everything that was called, with every prompt and reply"
    )
    parser.add_argument("--limit", type=positive, default=20, metavar="N", help="at most N turns or examples (20)")
    add_json(parser)


def run_command(options: argparse.Namespace) -> None:
    """Runs it."""
    from experiments.console import write_json
    from experiments.tracking.tracker import Tracker, TrackingConfig
    from kg.errors import ConfigError

    if options.prompts and not options.turn:
        raise ConfigError("prompts are shown of one turn: name it with --turn")
    tracker = Tracker(TrackingConfig.from_environment())
    record = tracker.find(options.run_reference)
    views = {"examples": _examples, "tools": _tools, "graph": _graph, "turn": _turn}
    chosen = next((view for name, view in views.items() if getattr(options, name)), _turns)
    figures = chosen(options, record, tracker)
    if options.json:
        write_json(options.json, {"run_id": record.id, **figures})


def _turns(options: argparse.Namespace, record: RunRecord, tracker: Tracker) -> dict[str, object]:
    from experiments.console import show
    from experiments.evaluation.inspect import read_turns
    from experiments.rendering.inspection_text import describe_turn, turn_figures

    turns = read_turns(record, tracker)
    matching = [turn for turn in turns if not (options.failed and turn.score.exact)]
    chosen = matching[: options.limit]
    show("\n\n".join(describe_turn(turn) for turn in chosen))
    what = "turns that are wrong or have no answer" if options.failed else "turns"
    show(f"\n{len(chosen)} of {len(matching)} {what} in {record.name} ({record.id})")
    return {"turns": [turn_figures(turn) for turn in chosen]}


def _examples(options: argparse.Namespace, record: RunRecord, tracker: Tracker) -> dict[str, object]:
    from experiments.console import show
    from experiments.evaluation.inspect import read_turns
    from experiments.rendering.inspection_text import describe_examples, example_figures
    from optimize.metrics import scored_conversations

    every = scored_conversations(read_turns(record, tracker))
    failed = [one for one in every if one.accuracy < 1]
    chosen = failed[: options.limit]
    show(describe_examples(chosen))
    show(f"\n{len(chosen)} of {len(failed)} examples with a wrong turn, of {len(every)} in {record.name}")
    return {"examples": [example_figures(one) for one in chosen], "failed": len(failed), "all": len(every)}


def _tools(options: argparse.Namespace, record: RunRecord, tracker: Tracker) -> dict[str, object]:
    del options
    import dataclasses

    from experiments.console import show
    from experiments.evaluation.inspect import read_turns
    from experiments.rendering.inspection_text import describe_tools
    from optimize.metrics import tool_use

    uses = tool_use(read_turns(record, tracker))
    show(describe_tools(uses) if uses else f"no tool was called in {record.name}")
    return {"tools": {name: dataclasses.asdict(one) for name, one in uses.items()}}


def _graph(options: argparse.Namespace, record: RunRecord, tracker: Tracker) -> dict[str, object]:
    from experiments.console import say, show
    from experiments.evaluation.inspect import report_graph

    report, graph = report_graph(record, tracker, options.graph)
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


def _turn(options: argparse.Namespace, record: RunRecord, tracker: Tracker) -> dict[str, object]:
    from experiments.console import show
    from experiments.evaluation.inspect import choose_turn, read_turns
    from experiments.rendering.inspection_text import describe_paths, describe_trace, describe_turn, turn_figures
    from experiments.tracking.traces import read_traces
    from kg.errors import TrackingError

    one = choose_turn(read_turns(record, tracker), options.turn)
    show(describe_turn(one, candidates=len(one.turn.candidates)))
    show(describe_paths(one))
    if not options.prompts:
        return {"turns": [turn_figures(one)]}
    traces = read_traces(tracker, record, conversation=one.score.conversation_id, turn_index=one.score.turn_index)
    if not traces:
        raise TrackingError(f"the run {record.name} kept no trace of {one.name}; evaluate with --traces all")
    show("\n" + describe_trace(traces[-1]))
    return {"turns": [turn_figures(one)], "trace": traces[-1]}
