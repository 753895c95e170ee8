"""``finpath schema``: the types of a growing graph, their review, their versions.

$ finpath schema review --graph knowledge
$ finpath schema accept Regulation --graph knowledge
$ finpath schema migrate --graph knowledge --apply
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from experiments.commands.growing import graph_option, open_graph
from experiments.commands.options import FILE, Group, WriteFigures, json_option
from experiments.console import format_table, show
from experiments.files import read_object
from experiments.terminal import terminal_width
from kg.errors import DataError

if TYPE_CHECKING:
    from kg.growing import GrowingGraph
    from kg.schema import EdgeType, NodeType

_REVISED = {"properties_schema", "description", "example", "labels", "inverse_labels"}
_LABELS = ("labels", "inverse_labels")


@click.group(cls=Group)
def command() -> None:
    """Shows and changes the types of a growing graph."""


@command.command("list", epilog="finpath schema list --graph knowledge")
@graph_option
@json_option
def list_types(graph: str, write_figures: WriteFigures) -> None:
    """Lists the types as a language model sees them."""
    from programs.wording import rendered_types

    with open_graph(graph, read_only=True) as opened:
        show(rendered_types(opened.schema))
        write_figures({"types": [asdict(kind) for kind in opened.schema.types]})


@command.command("review", epilog="finpath schema review --graph knowledge")
@graph_option
@json_option
def review(graph: str, write_figures: WriteFigures) -> None:
    """Lists the types that wait for review."""
    from kg.growing import TypeProposals
    from kg.schema import EdgeType

    with open_graph(graph, read_only=True) as opened:
        pending = TypeProposals(opened).pending()
    for kind in pending:
        title = "edge type" if isinstance(kind, EdgeType) else "node type"
        show(f"{kind.name} ({title}, by {kind.created_by}): {kind.description}\n    why: {kind.justification}")
    if not pending:
        show("no type waits for review")
    write_figures({"pending": [asdict(kind) for kind in pending]})


@command.command("accept", epilog="finpath schema accept Regulation --graph knowledge")
@click.argument("name", metavar="TYPE", help="the type")
@graph_option
@json_option
def accept(name: str, graph: str, write_figures: WriteFigures) -> None:
    """Accepts a type that waits for review."""
    from kg.growing import TypeProposals

    with open_graph(graph) as opened:
        taken = TypeProposals(opened).accept(name)
    show(f"{taken.name} is now a type; ingest the documents that wait for it again")
    write_figures({"accepted": taken.name})


@command.command("refuse", epilog="finpath schema refuse Regulation --graph knowledge")
@click.argument("name", metavar="TYPE", help="the type")
@graph_option
@json_option
def refuse(name: str, graph: str, write_figures: WriteFigures) -> None:
    """Drops a type that waits for review."""
    from kg.growing import TypeProposals

    with open_graph(graph) as opened:
        dropped = TypeProposals(opened).refuse(name)
    show(f"{dropped.name} is refused")
    write_figures({"refused": dropped.name})


@command.command("revise", epilog="finpath schema revise Company s.json --graph knowledge")
@click.argument("name", metavar="TYPE", help="the type")
@click.argument(
    "file", type=FILE, metavar="FILE", help="JSON with properties_schema, and description or example if changed"
)
@graph_option
@json_option
def revise(name: str, file: str, graph: str, write_figures: WriteFigures) -> None:
    """Gives a type a new JSON Schema as its next version."""
    from kg.schema import EdgeType

    content = f"any of {', '.join(sorted(_REVISED))}"
    changes = read_object(file, content)
    if not changes or set(changes) - _REVISED:
        raise DataError(f"must be an object with {content}", file=file)
    for label in _LABELS:
        if label in changes:
            changes[label] = tuple(changes[label]) if isinstance(changes[label], list) else changes[label]
    with open_graph(graph) as opened:
        current = _current(opened, name)
        if "inverse_labels" in changes and not isinstance(current, EdgeType):
            raise DataError(f"gives inverse_labels, which only an edge type has; {name} is none", file=file)
        opened.change_schema(opened.schema.with_version(replace(current, **changes)))
        version = _current(opened, name).version
        outdated = sum(1 for _ in opened.outdated())
    show(f"{name} has version {version} now; {outdated} nodes of older versions stay valid")
    write_figures({"type": name, "version": version, "outdated": outdated})


@command.command("migrate", epilog="finpath schema migrate --graph knowledge")
@graph_option
@click.option("--apply", is_flag=True, help="migrate the nodes; without this they are only shown")
@json_option
def migrate(graph: str, apply: bool, write_figures: WriteFigures) -> None:
    """Shows nodes of older versions; migrates those that fit the newest."""
    with open_graph(graph) as opened:
        found = list(opened.outdated())
        left = opened.migrate() if apply else ()
    rows = [(str(e.node.key), f"{e.node.version} -> {e.newest}", e.problem or "fits") for e in found]
    if rows:
        show(format_table(["node", "version", "newest version"], rows, width=terminal_width()))
    fitting = sum(entry.problem is None for entry in found)
    done = f"{fitting} moved, {len(left)} left as they are" if apply else f"{fitting} would move (--apply)"
    show(f"{len(found)} nodes of older versions: {done}" if found else "every node is of its type's newest version")
    problems = {str(entry.node.key): entry.problem for entry in found if entry.problem}
    write_figures({"outdated": len(found), "fitting": fitting, "applied": apply, "problems": problems})


def _current(graph: GrowingGraph, name: str) -> NodeType | EdgeType:
    edges = [kind for kind in graph.schema.edge_types() if kind.name == name]
    return edges[0] if edges else graph.schema.node_type(name)
