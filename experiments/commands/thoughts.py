"""``finpath thoughts``: an answer from documents and tools, by a graph that a language model fills.

$ finpath thoughts "who insures the port with the most freight?" --documents ports/ --lm openai/gpt-4o-mini
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.options import (
    FILE,
    Command,
    Flag,
    WriteFigures,
    json_option,
    lm_options,
    set_option,
    take_choice,
    track_option,
)
from experiments.console import say, show
from experiments.lms import LMConfig, lm_settings, reach_lm
from kg.errors import ConfigError

if TYPE_CHECKING:
    from experiments.tasks import ThoughtsSetup
    from experiments.tracking import Tracker
    from programs.thoughts import Thoughts
    from programs.tools import ToolLimits

TOOLS = (
    "list_documents",
    "inspect_document",
    "find_in_document",
    "search_documents",
    "extract_archive",
    "visit_page",
    "find_in_page",
    "web_search",
    "wikipedia",
    "find_in_wikipedia",
    "run_python",
    "price",
    "ask_model",
    "ask_about_image",
)
"""The tools that return facts; :mod:`programs.tools.catalogue` makes them."""

_NUMBERS = ("max_iterations", "votes", "repairs", "calls", "shown")
_SETTINGS = (
    "a setting; may be given several times. Of the loop: max_iterations=5, votes=1, repairs=2, calls=3 (of tools in an "
    "iteration), shown=40 (nodes in a prompt), retrieve=query, beam or both, explain=true, schema=open, investments or "
    "a JSON file with node_types and edge_types, types=auto, review or never. Of the tools: tools=NAME,NAME (those for "
    f"documents, if there are any; of {', '.join(TOOLS)}), NAME.calls=2 or all.seconds=5 (or characters, size), "
    "search_engine=URL of a SearXNG server, wikipedia=URL of a MediaWiki API, prices=FILE or URL, allowed=URL,URL to "
    "visit pages below these alone, tool_lm=MODEL of ask_model and ask_about_image"
)


def read_setup(settings: Mapping[str, str], lm: LMConfig) -> ThoughtsSetup:
    """Returns the loop and its tools.

    Args:
        settings: The settings of the command line.
        lm: The model of the loop, whose server is also that of ``tool_lm``.

    Raises:
        ConfigError: There is no such setting, or its value is wrong.
    """
    from typing import Literal

    from experiments.tasks import ThoughtsSetup
    from programs.thoughts import ThoughtsConfig
    from programs.tools import ToolSettings, WebLimits

    rest = dict(settings)
    loop: dict[str, Any] = {"votes": 1, "retrieve": "both", "types": "auto"}
    loop |= {name: _number(name, rest.pop(name)) for name in _NUMBERS if name in rest}
    loop["explain"] = take_choice(rest, "explain", Flag) == "true"
    for name, choices in (
        ("retrieve", Literal["query", "beam", "both"]),
        ("types", Literal["auto", "review", "never"]),
    ):
        loop[name] = take_choice(rest, name, choices) or loop[name]
    own = {name: rest.pop(name) for name in ("search_engine", "wikipedia", "prices") if name in rest}
    tools = tuple(filter(None, rest.pop("tools", "").split(",")))
    if unknown := [name for name in tools if name not in TOOLS]:
        raise ConfigError(f"tools must be of {', '.join(TOOLS)}; got {unknown[0]!r}")
    name, allowed = rest.pop("tool_lm", ""), tuple(filter(None, rest.pop("allowed", "").split(",")))
    model = lm_settings(LMConfig(name, lm.api_base))["lm"] if name else None
    tool_settings = ToolSettings(**own, lm=model, seeing_lm=model, web=WebLimits(allowed=allowed))  # type: ignore[arg-type]
    schema = rest.pop("schema", "open")
    return ThoughtsSetup(tools, schema, ThoughtsConfig(**loop), read_limits(rest), tool_settings)


def read_limits(settings: Mapping[str, str]) -> dict[str, ToolLimits]:
    """Returns the limits of tools by their names, from settings such as ``run_python.seconds=5``.

    Raises:
        ConfigError: There is no such tool or limit.
    """
    from programs.tools import ToolLimits

    names, limits = [field.name for field in fields(ToolLimits)], dict[str, dict[str, Any]]()
    for key, text in settings.items():
        tool, _, name = key.partition(".")
        if tool not in (*TOOLS, "all") or name not in names:
            raise ConfigError(f"there is no setting {key!r}; a limit is TOOL.{', TOOL.'.join(names)} or all.{names[0]}")
        limits.setdefault(tool, {})[name] = float(_number(key, text)) if name == "seconds" else _number(key, text)
    return {tool: ToolLimits(**values) for tool, values in limits.items()}


def _number(name: str, text: str) -> int:
    if not text.isdecimal():
        raise ConfigError(f"{name} must be a whole number, got {text!r}")
    return int(text)


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
    from experiments.tasks import documents_folder, supported_answer, thoughts_figures
    from experiments.tracking import asked
    from kg.growing import GrowingGraph

    if not question.strip():
        raise ConfigError("a question must not be empty")
    if lm.is_none:
        raise ConfigError("lm must name a language model, got none; questions without one: `finpath ask`")
    if keep and graph is None:
        raise click.UsageError("--keep needs --graph")
    setup = read_setup(settings, lm)
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
