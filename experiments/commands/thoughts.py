"""``finpath thoughts``: an answer from documents and tools, by a graph that a language model fills.

$ finpath thoughts "who insures the port with the most freight?" --documents ports/ --lm openai/gpt-4o-mini
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.main import FILE, WriteFigures, finpath, json_option, lm_options, set_option, track_option
from experiments.console import say, show
from experiments.lms import LMConfig, reach_lm
from kg.errors import ConfigError, DataError

if TYPE_CHECKING:
    from experiments.tracking import Tracker
    from programs.thoughts import KnowledgeGraphOfThoughts, Thoughts

_SETTINGS = (
    "a setting; may be given several times. Of the loop: max_iterations=4, calls=3, patience=300 seconds, "
    "schema=open, investments or a JSON file, types=auto, review or never. Of the tools: tools=NAME,NAME, "
    "search_engine=URL, seconds=30 for a call (docs/guide/thoughts.md)"
)


def thoughts_program(
    settings: Mapping[str, str], folder: Path | None = None, report: Callable[[str], object] = str
) -> KnowledgeGraphOfThoughts:
    """The program with its tools over a folder of documents.

    Args:
        settings: As the command takes them: ``max_iterations`` and ``3``, ``tools`` and ``visit_page``.
        folder: The documents; where there are any, the tools are by default those for them.
        report: Takes each step as it begins, in words.

    Raises:
        ConfigError: There is no such setting, or its value is wrong.
    """
    from experiments.data import read_types
    from experiments.readers import question_reader, shipped_meaning
    from optimize.optimizers import with_setting
    from programs.thoughts import KnowledgeGraphOfThoughts, ThoughtsConfig
    from programs.tools import FILE_TOOLS, ToolSettings, load_tools

    config = ThoughtsConfig(types="auto")
    tools = ToolSettings(folder=folder, search_engine=settings.get("search_engine"))
    for key in settings.keys() - {"tools", "search_engine", "schema"}:
        if key == "seconds":
            tools = with_setting(tools, key, settings[key], "thoughts")
        else:
            config = with_setting(config, key, settings[key], "thoughts")
    names = tuple(filter(None, settings.get("tools", "").split(",")))
    manager = load_tools(names or (() if folder is None else FILE_TOOLS), tools)
    about: dict[str, Any] = {"folder": folder, "reader_of": question_reader, "report": report}
    about["types"] = read_types(settings.get("schema", "open"))
    return KnowledgeGraphOfThoughts(manager, config, meaning=shipped_meaning(), **about)


def copy_documents(names: Sequence[str], folder: Path) -> Path | None:
    """Copies documents into a folder, where tools may unpack archives; returns it, or ``None`` without documents.

    Args:
        names: Files and folders; hidden files and links of a folder are left out.
        folder: The folder.

    Raises:
        DataError: There is no such file, or two have one name.
    """

    def copy(source: str, target: str) -> None:
        if Path(target).exists():
            raise DataError("another document has this name: give their common folder", file=source)
        shutil.copyfile(source, target)

    def left_out(place: str, inside: Sequence[str]) -> list[str]:
        return [name for name in inside if name.startswith(".") or Path(place, name).is_symlink()]

    for name in names:
        if Path(name).is_dir():
            shutil.copytree(name, folder, ignore=left_out, copy_function=copy, dirs_exist_ok=True)
        elif Path(name).is_file():
            copy(name, str(folder / Path(name).name))
        else:
            raise DataError("there is no such file or folder", file=name)
    return folder if names else None


def thoughts_figures(question: str, thoughts: Thoughts) -> dict[str, Any]:
    """Returns a result under its stable names."""
    same = ("answer", "why", "parts", "queries", "iterations", "refused")
    return {
        "question": question,
        "abstained": thoughts.answer is None,
        **{name: getattr(thoughts, name) for name in same},
        "facts": [asdict(fact) for fact in thoughts.facts],
        "tool_calls": [
            {"tool": call.tool, "arguments": dict(call.arguments), "failed": call.failed}
            for call in thoughts.tool_calls
        ],
        "types": [{"name": name, "said": outcome} for name, outcome in thoughts.proposed],
        "inserted": asdict(thoughts.applied),
    }


@finpath.command(
    "thoughts",
    epilog="""
    finpath thoughts "who insures the port with the most freight?" --documents ports/ --lm openai/gpt-4o-mini
    finpath thoughts "how long is the Rhine?" --set tools=visit_page,find_in_page --lm local
    finpath thoughts "which rules bind Helixon?" --graph knowledge --documents rules.pdf --lm openai/gpt-4o-mini
    """,
)
@click.argument("question", metavar="QUESTION", help="the question")
@click.option("--documents", multiple=True, type=FILE, metavar="FILE", help="a file or folder that tools may read")
@click.option("--graph", type=FILE, metavar="FOLDER", help="a growing graph to begin with; by default an empty one")
@click.option("--keep", is_flag=True, help="write the facts of the answer into --graph; else they are forgotten")
@click.option("--program", type=FILE, metavar="PROGRAM", help="the prompts of a program of finpath compile thoughts")
@set_option(_SETTINGS)
@lm_options
@track_option
@json_option
def ask_thoughts(
    question: str,
    documents: tuple[str, ...],
    graph: str | None,
    keep: bool,
    program: str | None,
    settings: dict[str, str],
    lm: LMConfig | None,
    tracker: Tracker | None,
    write_figures: WriteFigures,
) -> int:
    """Answers by Knowledge Graph of Thoughts, and names the facts that the answer rests on.

    A model calls tools, fills a graph, and queries it. The exit code is 1 if there is no answer.
    """
    import dspy

    from experiments.asking import asked
    from experiments.facade import open_graph, saved_program
    from kg.growing import GrowingGraph

    if not question.strip():
        raise ConfigError("a question must not be empty")
    if lm is None:
        raise ConfigError("lm must name a language model, got none; questions without one: `finpath ask`")
    if keep and graph is None:
        raise click.UsageError("--keep needs --graph")
    started = time.monotonic()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="finpath-documents-")))
        loop = thoughts_program(
            settings,
            copy_documents(documents, folder),
            lambda step: say(f"* {time.monotonic() - started:4.0f} s  {step}"),
        )
        if program is not None:
            loop.load_state(saved_program(program).dump_state())
        if graph is None or keep:
            working = stack.enter_context(GrowingGraph(graph, loop.types))
        else:
            working = stack.enter_context(open_graph(graph, copied=True))
        if not (loop.tools.names or working.facts()):
            raise ConfigError("there is nothing to answer from: give --documents, --set tools= or a --graph with facts")
        stack.enter_context(dspy.context(**reach_lm(lm)))
        log = stack.enter_context(asked(tracker, "thoughts", graph or "documents", {**settings, **lm.params()}))
        with log.turn(question) as turn:
            thoughts = loop(question=question, graph=working).thoughts
            figures = thoughts_figures(question, thoughts)
            turn.outputs, turn.failure = figures, figures["why"] or None
        _show(thoughts)
    write_figures({**figures, "run_id": log.run.id})
    return 0 if figures["answer"] is not None else 1


def _show(thoughts: Thoughts) -> None:
    show(thoughts.answer if thoughts.answer is not None else f"no answer: {thoughts.why}")
    for line in (*thoughts.facts, *(f"query: {query}" for query in thoughts.queries)):
        show(f"    {line}")
    used = ", ".join(dict.fromkeys(call.tool for call in thoughts.tool_calls)) or "none"
    applied = thoughts.applied
    say(f"* {thoughts.iterations} iterations; tools: {used}; {applied.nodes} nodes, {applied.edges} edges inserted")
    for name, verdict in thoughts.proposed:
        say(f"* type {name}: {verdict}")
