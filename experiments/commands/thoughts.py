"""``finpath thoughts``: an answer from documents and tools, by a graph that a language model fills.

$ finpath thoughts "who insures the port with the most freight?" --documents ports/ --lm openai/gpt-4o-mini
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.options import (
    FILE,
    Command,
    WriteFigures,
    json_option,
    lm_options,
    set_option,
    track_option,
)
from experiments.console import say, show
from experiments.lms import LMConfig, reach_lm
from kg.errors import ConfigError

if TYPE_CHECKING:
    from experiments.tracking import Tracker
    from programs.thoughts import Thoughts

_SETTINGS = (
    "a setting; may be given several times. Of the loop: max_iterations=5, votes=1, repairs=2, calls=3 (of tools in an "
    "iteration), shown=40 (nodes in a prompt), retrieve=query, beam or both, explain=true, schema=open, investments or "
    "a JSON file with node_types and edge_types, types=auto, review or never. Of the tools: tools=NAME,NAME (those for "
    "documents, if there are any; docs/guide/thoughts.md lists them), NAME.calls=2 or all.seconds=5 (or characters, "
    "size), search_engine=URL (SearXNG), wikipedia=URL (a MediaWiki API), prices=FILE or URL, allowed=URL,URL "
    "to visit pages below these alone, tool_lm=MODEL of ask_model and ask_about_image"
)


@click.command(
    cls=Command,
    epilog="""
    finpath thoughts "who insures the port with the most freight?" --documents ports/ --lm openai/gpt-4o-mini
    finpath thoughts "how long is the Rhine?" --set tools=wikipedia,run_python --set explain=true --lm local
    finpath thoughts "which rules bind Helixon?" --graph knowledge --documents rules.pdf --lm openai/gpt-4o-mini
    """,
)
@click.argument("question", metavar="QUESTION", help="the question")
@click.option(
    "--documents",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="a file or folder that tools may read; may be given several times",
)
@click.option(
    "--graph",
    type=FILE,
    metavar="FOLDER",
    help="a growing graph to begin with, such as that of `finpath ingest`; by default an empty one",
)
@click.option("--keep", is_flag=True, help="write the facts of the answer into --graph; else they are forgotten")
@set_option(_SETTINGS)
@lm_options
@track_option
@json_option
def command(
    question: str,
    documents: tuple[str, ...],
    graph: str | None,
    keep: bool,
    settings: dict[str, str],
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Answers by Knowledge Graph of Thoughts, and names the facts that the answer rests on.

    A model calls tools, fills a graph, and queries it. The exit code is 1 if there is no answer.
    """
    import dspy

    from experiments.facade.knowledge import copied_graph
    from experiments.tasks import ThoughtsSetup, documents_folder, supported_answer, thoughts_figures
    from experiments.tracking import asked
    from kg.growing import GrowingGraph

    if not question.strip():
        raise ConfigError("a question must not be empty")
    if lm.is_none:
        raise ConfigError("lm must name a language model, got none; questions without one: `finpath ask`")
    if keep and graph is None:
        raise click.UsageError("--keep needs --graph")
    setup = ThoughtsSetup.parse(settings, lm.api_base)
    with ExitStack() as stack:
        folder = stack.enter_context(documents_folder(documents))
        program = setup.program(folder)
        if graph is None or keep:
            working = stack.enter_context(GrowingGraph(graph, setup.types()))
        else:
            working = stack.enter_context(copied_graph(graph))
        if not (program.tools.names or working.facts()):
            raise ConfigError("there is nothing to answer from: give --documents, --set tools= or a --graph with facts")
        stack.enter_context(dspy.context(**reach_lm(lm)))
        log = stack.enter_context(asked(tracker, "thoughts", graph or "documents", {**setup.params(), **lm.params()}))
        with log.turn(question) as seen:
            thoughts = program(question=question, graph=working).thoughts
            figures = thoughts_figures(question, thoughts)
            seen.outputs, seen.failure = figures, figures["why"] or None
        answer, _ = supported_answer(thoughts)
        _show(thoughts, answer, figures)
    write_figures({**figures, "run_id": log.run_id})
    return 0 if answer is not None else 1


def _show(thoughts: Thoughts, answer: str | None, figures: Mapping[str, Any]) -> None:
    if answer is None:
        show(f"no answer: {figures['why']}")
    else:
        show(answer)
        if thoughts.explanation:
            show(thoughts.explanation)
        for fact in thoughts.facts:
            show(f"    {fact}")
        if thoughts.calculation:
            show(f"    calculated: {thoughts.calculation}")
        if thoughts.forced:
            show("    (the iterations ended before the model found the graph complete)")
    used = ", ".join(dict.fromkeys(call.tool for call in thoughts.tool_calls)) or "none"
    applied = thoughts.applied
    say(f"* {thoughts.iterations} iterations; tools: {used}; {applied.nodes} nodes, {applied.edges} edges inserted")
    for name, verdict in thoughts.proposed:
        say(f"* type {name}: {verdict}")
