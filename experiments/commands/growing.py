"""Options and functions that the commands of growing graphs share."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiments.commands.options import FILE, POSITIVE, options
from experiments.lms import LMConfig, lm_settings
from kg.errors import DataError
from kg.locks import BusyError

if TYPE_CHECKING:
    import dspy

    from kg.growing import GrowingGraph, NodeKey
    from kg.investments import NewsDocument
    from programs.advisor import Ingestion


def _day(_ctx: click.Context, _param: click.Parameter, value: str | None) -> date:
    """The date of ``--today``, or the current one."""
    if value is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise DataError(f"--today must be written 2026-11-20, got {value!r}") from error


graph_option = click.option("--graph", type=FILE, required=True, metavar="FOLDER", help="the graph's folder")
day_option = click.option(
    "--today", callback=_day, metavar="DATE", help="the reference date of freshness (the current day)"
)
graph_options = options(graph_option, day_option)
threads_option = click.option(
    "--threads",
    type=POSITIVE,
    metavar="N",
    help="questions, or documents, that a language model reads at a time (1; 8 with a remote model)",
)


def open_graph(path: str, *, new: bool = False, read_only: bool = False) -> GrowingGraph:
    """The graph of a folder.

    Raises:
        DataError: There is none and ``new`` is not set.
    """
    from kg.growing import GrowingGraph
    from kg.investments import investment_schema

    if not new and not Path(path).is_dir():
        raise DataError("is no graph: create one with `finpath advisor ingest`", file=path)
    return GrowingGraph(path, investment_schema(), read_only=read_only)


def open_when_free(path: str, *, new: bool = False, read_only: bool = False) -> GrowingGraph:
    """The graph of a folder, after at most some seconds in which another process writes an answer.

    Raises:
        DataError: There is none, or another process keeps it open.
    """
    last = time.monotonic() + _SECONDS
    while True:
        try:
            return open_graph(path, new=new, read_only=read_only)
        except DataError as error:
            if not is_busy(error) or time.monotonic() > last:
                raise
            time.sleep(_PAUSE)


_SECONDS, _PAUSE = 2.0, 0.05


def is_busy(error: DataError) -> bool:
    """Whether a graph could not be opened since another process has it open."""
    return isinstance(error.__cause__, BusyError)


def node_key(text: str) -> NodeKey:
    """Returns the node of ``TYPE/NAME``.

    Raises:
        DataError: The text is not of this form.
    """
    from kg.growing import NodeKey

    kind, _, name = text.partition("/")
    if not kind.strip() or not name.strip():
        raise DataError(f"a node must be written Company/Helixon Inc., got {text!r}")
    return NodeKey(kind.strip(), name)


def check_known(graph: GrowingGraph, key: NodeKey) -> None:
    """Raises DataError where there is no such node, with the names of its type that are near."""
    from kg.text import nearest

    graph.schema.node_type(key.type, graph.scope)  # an unknown type has near names of its own
    if graph.node(key) is None:
        raise DataError(f"there is no node {key}; {nearest(key.name, (one.key.name for one in graph.nodes(key.type)))}")


def known_node(graph: GrowingGraph, key: NodeKey) -> NodeKey:
    """Returns a node by its name or by another name of it: that of "Company/Helixon" is Company(Helixon Inc.).

    Raises:
        DataError: No node of the type has the name, or several have.
    """
    from kg.news import known_aliases
    from kg.sentences import plain_name

    if graph.node(key) is None:
        plain = plain_name(key.name)
        pairs = known_aliases(graph) if any(kind.name == "Alias" for kind in graph.schema.types) else []
        found = {entity for one, entity in pairs if entity.type == key.type and plain_name(one.name) == plain}
        if len(found) > 1:
            names = " and ".join(sorted(map(str, found)))
            raise DataError(f"{key.name!r} is a name of {names}: write the node by its full name")
        if found:
            return found.pop()
    check_known(graph, key)
    return key


@contextmanager
def chosen_lm(config: LMConfig) -> Iterator[dspy.LM | None]:
    """Uses a language model inside the context and yields it; ``None`` for no model."""
    if config.is_none:
        yield None
        return
    import dspy

    settings = lm_settings(config)
    with dspy.context(**settings):
        yield settings["lm"]


def described(entry: Ingestion) -> str:
    """Returns what was read of a document, and what was left out."""
    if entry.known:
        return f"{entry.document}: known"
    applied = entry.applied
    text = f"{entry.document}: {applied.nodes} nodes, {applied.edges} edges, {applied.properties} properties"
    types = "".join(f"; type {name} {verdict}" for name, verdict in entry.proposed)
    if entry.sentences:
        text += f"; {entry.understood} of {entry.sentences} sentences gave facts"
    if entry.earlier is not None:
        text += f"; another text of this name was read before: its facts stay, {entry.earlier}"
        text += f"; to have the new text alone, undo {entry.document} and ingest it again"
    text += types + (f"; {entry.left_out} updates wait for a type" if entry.left_out else "")
    return text + "".join(f"\n    left out: {problem}" for problem in entry.problems)


def inferred_days(documents: Iterable[NewsDocument]) -> list[str]:
    """Returns a message for each document that states no full date."""
    return [
        f"{one.name}: states no full date; it is taken to be of {one.published}"
        for one in documents
        if one.day_inferred
    ]
