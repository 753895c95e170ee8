"""``finpath thoughts``: answers from documents and tools, by a graph that a language model fills.

$ finpath thoughts ask "who insures the port with the most freight?" --documents ports/ --lm openai/gpt-4o-mini
$ finpath thoughts evaluate benchmarks/data/thoughts/tasks.jsonl --lm local --json out.json
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

import click

from experiments.commands.growing import day_option, open_graph
from experiments.commands.options import (
    FILE,
    POSITIVE,
    WHOLE,
    Function,
    Group,
    RunOptions,
    WriteFigures,
    json_option,
    lm_options,
    options,
    run_options,
    track_option,
)
from experiments.console import format_table, percent, say, show
from experiments.lms import LMConfig, lm_settings, reach_lm
from kg.errors import ConfigError

if TYPE_CHECKING:
    from experiments.tasks import ThoughtsSetup
    from experiments.tracking import Tracker
    from kg.growing import GrowingGraph, TypeProposals
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

_LIMITS = ("seconds", "characters", "bytes", "calls")
_tool = click.option
_loop = click.option
_loop_options = options(
    _loop(
        "--schema",
        type=FILE,
        default="open",
        metavar="SCHEMA",
        help="the types that an empty graph begins with: open (a few general types, the default), investments, or a "
        "JSON file with node_types and edge_types",
    ),
    _loop(
        "--types",
        type=click.Choice(["auto", "review", "never"]),
        help="types that the model proposes: accept them (auto, the default without --graph), queue them for "
        "`finpath schema accept` and use them for this question alone (review, the default with --graph), or none "
        "(never)",
    ),
    _loop("--iterations", type=POSITIVE, default=5, help="inserts and retrieves at the most (5)"),
    _loop("--votes", type=POSITIVE, default=1, help="opinions on each next step, an odd number (1)"),
    _loop("--repairs", type=WHOLE, default=2, help="further attempts after a refused query or update (2)"),
    _loop("--calls", type=POSITIVE, default=3, help="calls of tools in an iteration (3)"),
    _loop("--shown", type=POSITIVE, default=40, help="nodes of the graph in a prompt (40)"),
    _loop(
        "--retrieve",
        type=click.Choice(["query", "beam", "both"]),
        default="both",
        help="retrieval by a query of the model, by the beam over paths, or by the beam where the query finds nothing "
        "(both, the default)",
    ),
    _loop("--explain", is_flag=True, help="let the model explain the answer from the facts that it rests on"),
)
_tool_options = options(
    _tool(
        "--tools",
        multiple=True,
        type=click.Choice(TOOLS),
        metavar="NAME...",
        help=f"the tools (those for documents, if there are any): {', '.join(TOOLS)}",
    ),
    _tool(
        "--tool-limit",
        multiple=True,
        metavar="NAME:LIMITS",
        help="limits of a tool, or of all: run_python:seconds=5,calls=2 or all:characters=4000,bytes=1000000",
    ),
    _tool(
        "--allow-url",
        multiple=True,
        metavar="URL",
        help="pages may be visited below this address alone, also on this machine; by default all public ones",
    ),
    _tool("--search-engine", metavar="URL", help="address of a SearXNG server, for web_search"),
    _tool("--prices", metavar="FILE|URL", help="closing prices as CSV, for price"),
    _tool("--wikipedia-api", metavar="URL", help="address of a MediaWiki API (English Wikipedia)"),
    _tool("--tool-lm", metavar="MODEL", help="the model of ask_model and ask_about_image"),
)


def setup_options(function: Function) -> Function:
    """The loop and its tools: passes ``setup``."""

    @_tool_options
    @_loop_options
    @functools.wraps(function)
    def wrapped(
        *,
        tools: tuple[str, ...],
        tool_limit: tuple[str, ...],
        allow_url: tuple[str, ...],
        search_engine: str | None,
        prices: str | None,
        wikipedia_api: str | None,
        tool_lm: str | None,
        schema: str,
        types: Literal["auto", "review", "never"] | None,
        iterations: int,
        votes: int,
        repairs: int,
        calls: int,
        shown: int,
        retrieve: Literal["query", "beam", "both"],
        explain: bool,
        **others: Any,
    ) -> Any:
        from experiments.tasks import ThoughtsSetup
        from programs.thoughts import ThoughtsConfig
        from programs.tools import ToolSettings, WebLimits

        lm = lm_settings(LMConfig(tool_lm, others["lm"].api_base))["lm"] if tool_lm is not None else None
        settings = ToolSettings(
            search_engine=search_engine, prices=prices, lm=lm, seeing_lm=lm, web=WebLimits(allowed=allow_url)
        )
        if wikipedia_api is not None:
            settings = replace(settings, wikipedia=wikipedia_api)
        kept = others.get("graph") is not None
        config = ThoughtsConfig(
            max_iterations=iterations,
            votes=votes,
            repairs=repairs,
            calls=calls,
            shown=shown,
            retrieve=retrieve,
            types=types if types is not None else "review" if kept else "auto",
            explain=explain,
        )
        setup = ThoughtsSetup(tools, schema, config, read_limits(tool_limit), settings)
        return function(setup=setup, **others)

    return wrapped


def read_limits(given: tuple[str, ...]) -> dict[str, ToolLimits]:
    """Returns the limits of tools from texts such as ``run_python:seconds=5,calls=2``.

    Raises:
        ConfigError: A text is not written so.
    """
    from programs.tools import ToolLimits

    found = {}
    for text in given:
        name, _, rest = text.partition(":")
        if name not in (*TOOLS, "all"):
            raise ConfigError(f"tool-limit must name a tool or all, got {name!r}; the tools are {', '.join(TOOLS)}")
        values: dict[str, Any] = {}
        for part in rest.split(","):
            key, _, value = part.partition("=")
            try:
                number = float(value) if key == "seconds" else int(value)
            except ValueError:
                number = None
            if key not in _LIMITS or number is None:
                raise ConfigError(f"tool-limit must be written NAME:{'=N,'.join(_LIMITS)}=N, got {text!r}")
            values["size" if key == "bytes" else key] = number
        found[name] = ToolLimits(**values)
    return found


@click.group(cls=Group)
def command() -> None:
    """Answers questions by Knowledge Graph of Thoughts: a model calls tools, fills a graph, and queries it."""


@command.command(
    "ask",
    epilog="""
    finpath thoughts ask "who insures the port with the most freight?" --documents ports/ --lm openai/gpt-4o-mini
    finpath thoughts ask "how long is the Rhine?" --tools wikipedia run_python --lm local --explain
    finpath thoughts ask "which rules bind Helixon?" --graph knowledge --documents rules.pdf --lm openai/gpt-4o-mini
    """,
)
@click.argument("question", metavar="QUESTION", help="the question")
@click.option("--documents", multiple=True, type=FILE, metavar="FILE...", help="files and folders that tools may read")
@click.option(
    "--graph",
    type=FILE,
    metavar="FOLDER",
    help="a growing graph to begin with, such as that of `finpath advisor`; by default an empty one",
)
@click.option("--keep", is_flag=True, help="write the facts that were found into --graph; else they are forgotten")
@day_option
@setup_options
@lm_options
@track_option
@json_option
def ask(
    question: str,
    documents: tuple[str, ...],
    graph: str | None,
    keep: bool,
    today: date,
    setup: ThoughtsSetup,
    lm: LMConfig,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Answers a question and names the facts that the answer rests on.

    The exit code is 1 if there is no answer.
    """
    import dspy

    from experiments.tasks import documents_folder, supported_answer, thoughts_figures
    from experiments.tracking import asked
    from kg.growing import TypeProposals

    _check(question, lm, graph, keep)
    with ExitStack() as stack:
        folder = stack.enter_context(documents_folder(documents))
        stored = stack.enter_context(_opened(graph, setup, keep=keep)) if graph is not None else None
        program = setup.program(folder)
        if not (program.tools.names or (stored is not None and stored.facts())):
            raise ConfigError("there is nothing to answer from: give --documents, --tools or a --graph with facts")
        working = stored if stored is not None and keep else stack.enter_context(_scratch(stored, setup))
        if not keep and setup.config.types == "review":
            program.config = _accepting(setup)
        stack.enter_context(dspy.context(**reach_lm(lm)))
        log = stack.enter_context(asked(tracker, "thoughts", graph or "documents", {**setup.params(), **lm.params()}))
        with log.turn(question) as seen:
            found = program(question=question, graph=working, today=today).thoughts
            figures = thoughts_figures(question, found)
            seen.outputs, seen.failure = figures, figures["why"] or None
        if stored is not None and not keep and setup.config.types == "review":
            _queue(working, TypeProposals(stored, "review"))
        answer, _ = supported_answer(found)
        _show(found, answer, figures)
    write_figures({**figures, "run_id": log.run_id})
    return 0 if answer is not None else 1


@command.command(
    "evaluate", epilog="finpath thoughts evaluate benchmarks/data/thoughts/tasks.jsonl --lm local --json out.json"
)
@click.argument("tasks", type=FILE, metavar="TASKS", help="JSON lines with id, question, answers and files")
@day_option
@setup_options
@run_options("questions", ("seed", "limit", "threads", "run_name", "resume", "traces", "no_track"))
@lm_options
@json_option
def evaluate(
    tasks: str, today: date, setup: ThoughtsSetup, run: RunOptions, lm: LMConfig, write_figures: WriteFigures
) -> int:
    """Answers questions with files, each from an empty graph, and scores them as GAIA does."""
    from pathlib import Path

    from experiments.evaluation import evaluate as evaluated
    from experiments.saved import SavedProgram
    from experiments.tasks import ThoughtsQuestions, read_tasks

    if lm.is_none:
        raise ConfigError("lm must name a language model, got none")
    task = ThoughtsQuestions(read_tasks(tasks), setup, Path(tasks).name, today)
    done = evaluated(
        SavedProgram(None, "thoughts", Path()),
        task,
        run.config(lm),
        tracker=run.tracker(),
        run_name=run.run_name,
        resume=run.resume,
    )
    figures = done.figures
    counts = [[name, str(figures[name])] for name in ("questions", "right", "abstained", "wrong")]
    show(format_table(["", done.name], [*counts, ["accuracy", percent(figures, "accuracy")]], right={1}))
    if done.run_id is not None:
        show(f"\nrun {done.run_id}")
    write_figures({**figures, "answers": [done.turns[key] for key in done.turns]})
    return 0


def _check(question: str, lm: LMConfig, graph: str | None, keep: bool) -> None:
    if not question.strip():
        raise ConfigError("a question must not be empty")
    if lm.is_none:
        raise ConfigError("lm must name a language model, got none; questions without one: `finpath ask`")
    if keep and graph is None:
        raise click.UsageError("--keep needs --graph")


def _opened(path: str, setup: ThoughtsSetup, *, keep: bool) -> GrowingGraph:
    """Returns the graph of a folder; one that is to be kept is created where it is not there."""
    from kg.growing import GrowingGraph

    if keep:
        return GrowingGraph(path, setup.types())
    return open_graph(path, read_only=setup.config.types != "review")


def _scratch(stored: GrowingGraph | None, setup: ThoughtsSetup) -> GrowingGraph:
    from kg.growing import GrowingGraph

    return stored.copy() if stored is not None else GrowingGraph(None, setup.types())


def _accepting(setup: ThoughtsSetup) -> Any:
    """Returns the loop's settings for a graph that is forgotten: there, types hold at once."""
    return replace(setup.config, types="auto")


def _queue(working: GrowingGraph, proposals: TypeProposals) -> None:
    """Queues the types that a question has made, for a person's review."""
    from kg.errors import SchemaError

    made = [kind for kind in working.schema.types if kind not in proposals.known() and kind.version == 1]
    for kind in made:
        try:
            proposals.propose(kind)
            say(f"type {kind.name} waits: finpath schema review")
        except SchemaError as error:
            say(f"type {kind.name} is not queued: {error}")


def _show(found: Thoughts, answer: str | None, figures: Mapping[str, Any]) -> None:
    if answer is None:
        show(f"no answer: {figures['why']}")
    else:
        show(answer)
        if found.explanation:
            show(found.explanation)
        for fact in found.facts:
            show(f"    {fact}")
        if found.calculation:
            show(f"    calculated: {found.calculation}")
        if found.forced:
            show("    (the iterations ended before the model found the graph complete)")
    used = ", ".join(dict.fromkeys(call.tool for call in found.tool_calls)) or "none"
    applied = found.applied
    say(f"* {found.iterations} iterations; tools: {used}; {applied.nodes} nodes, {applied.edges} edges inserted")
    for name, said in found.proposed:
        say(f"* type {name}: {said}")
