"""``finpath advisor set`` and ``finpath advisor alias``: changes of a graph by hand, each one entry of its history."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.graphs.growing import graph_option, open_graph
from experiments.commands.groups import Command
from experiments.commands.options import WriteFigures, json_option, option
from experiments.console import show
from kg.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.growing import GrowingGraph, NodeKey, Update


def node_key(text: str) -> NodeKey:
    """Returns the node of ``TYPE/NAME``.

    Raises:
        DataError: The text is not of this form.
    """
    from kg.growing import NodeKey

    kind, _, name = text.partition("/")
    if not kind.strip() or not name.strip():
        raise DataError(f"a node must be written Company/Helixon Inc., got {text!r}")
    return NodeKey(kind, name)


@click.command("set", cls=Command, epilog='finpath advisor set "Company/Helixon Inc." country Malta --graph knowledge')
@click.argument("node", metavar="TYPE/NAME", help="the node")
@click.argument("name", metavar="PROPERTY", help="the property")
@click.argument("value", required=False, metavar="[VALUE]", help="the new value; without it, give --remove")
@option("--remove", is_flag=True, help="remove the property")
@graph_option
@json_option
def set_property(
    node: str, name: str, value: str | None, remove: bool, graph: str, write_figures: WriteFigures
) -> None:
    """Gives a property of a node a new value; the history keeps the earlier one with its sources."""
    from kg.growing import SetProperty

    if (value is None) != remove:
        raise click.UsageError("give a VALUE, or --remove")
    key = node_key(node)
    with open_graph(graph) as opened:
        rule = _rule(opened, key, name)
        _check_known(opened, key)
        _applied(opened, [SetProperty(key, name, _typed(value, rule))], write_figures)


@click.command("alias", cls=Command, epilog='finpath advisor alias NVTK "Company/Novatek Inc." --graph knowledge')
@click.argument("alias", required=False, metavar="[ALIAS]", help="the name; without it, all are listed")
@click.argument("node", required=False, metavar="[TYPE/NAME]", help="the node that it stands for")
@option("--remove", is_flag=True, help="take the name back: it no longer stands for the node")
@graph_option
@json_option
def alias(alias: str | None, node: str | None, remove: bool, graph: str, write_figures: WriteFigures) -> None:
    """Lists the names of a node, adds one, or takes one back.

    Statements move with their name. A name that was taken back stays apart when a later document joins it again.
    """
    from kg.news import add_news_types, alias_updates, known_aliases, separation_updates

    if (alias is None) != (node is None) or (alias is None and remove):
        raise click.UsageError("give an ALIAS and its TYPE/NAME, or neither")
    if alias is None or node is None:
        with open_graph(graph, read_only=True) as opened:
            pairs = [(one.name, str(entity)) for one, entity in known_aliases(opened)]
        for name, entity in pairs:
            show(f"{name} -> {entity}")
        write_figures({"aliases": [{"alias": name, "node": entity} for name, entity in pairs]})
        return
    key = node_key(node)
    with open_graph(graph) as opened:
        _check_known(opened, key)
        add_news_types(opened)
        make = separation_updates if remove else alias_updates
        _applied(opened, make(opened, alias, key), write_figures)


def _check_known(graph: GrowingGraph, key: NodeKey) -> None:
    """Raises DataError where there is no such node, with the node whose name is nearest in form."""
    from kg.sentences import plain_name

    if graph.node(key) is None:
        near = [node.key for node in graph.nodes(key.type) if plain_name(node.key.name) == plain_name(key.name)]
        raise DataError(f"there is no node {key}" + (f"; there is {near[0]}" if near else ""))


def _applied(graph: GrowingGraph, updates: Sequence[Update], write_figures: WriteFigures) -> None:
    """Applies updates, and prints the entry by which they can be undone."""
    from kg.growing import Origin
    from kg.news import BY_HAND

    last = max((entry.number for entry in graph.history()), default=0)
    applied = graph.apply(updates, Origin(BY_HAND))
    entries = [entry for entry in graph.history() if entry.number > last]
    for entry in entries:
        show(f"{entry}")
        show(f"undo: finpath advisor undo {entry.number}")
    if not entries:
        show("nothing changed")
    numbers = [entry.number for entry in entries]
    write_figures({"changes": numbers, "properties": applied.properties, "edges": applied.edges})


def _rule(graph: GrowingGraph, key: NodeKey, name: str) -> dict[str, Any]:
    """Returns the JSON Schema of a property.

    Raises:
        DataError: The type has no such property.
    """
    properties: dict[str, Any] = graph.schema.node_type(key.type).properties_schema.get("properties", {})
    if name not in properties:
        raise DataError(f"{key.type} has no property {name!r}; it has {', '.join(properties)}")
    rule: dict[str, Any] = properties[name]
    return rule


def _typed(value: str | None, rule: dict[str, Any]) -> Any:
    """Returns a value as its schema wants it: texts as they are, the others as JSON writes them."""
    if value is None or rule.get("type", "string") == "string":
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value  # the graph names the rule that it breaks
