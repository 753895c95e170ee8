"""``finpath advisor set`` and ``finpath advisor alias``: changes of a graph by hand, each one entry of its history."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.growing import graph_option, known_node, node_key, open_graph
from experiments.commands.options import Command, WriteFigures, json_option
from experiments.console import say, show
from kg.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg.growing import Applied, GrowingGraph, NodeKey


@click.command("set", cls=Command, epilog='finpath advisor set "Company/Helixon Inc." country Malta --graph knowledge')
@click.argument("node", metavar="TYPE/NAME", help="the node")
@click.argument("name", metavar="PROPERTY", help="the property")
@click.argument("value", required=False, metavar="[VALUE]", help="the new value; without it, give --remove")
@click.option("--remove", is_flag=True, help="remove the property")
@graph_option
@json_option
def set_property(
    node: str, name: str, value: str | None, remove: bool, graph: str, write_figures: WriteFigures
) -> None:
    """Gives a property of a node a new value; the history keeps the earlier one with its sources."""
    from kg.growing import Origin, SetProperty
    from kg.news import BY_HAND

    if (value is None) != remove:
        raise click.UsageError("give a VALUE, or --remove")
    key = node_key(node)
    with open_graph(graph) as opened:
        rule = _rule(opened, key, name)
        key = known_node(opened, key)
        _check_no_key(opened, key, name, value)
        update = SetProperty(key, name, _typed(value, rule))
        updates = [] if opened.has_value(update) else [update]
        _applied(opened, graph, lambda: opened.apply(updates, Origin(BY_HAND)), write_figures)


@click.command("alias", cls=Command, epilog='finpath advisor alias NVTK "Company/Novatek Inc." --graph knowledge')
@click.argument("alias", required=False, metavar="[ALIAS]", help="the name; without it, all are listed")
@click.argument("node", required=False, metavar="[TYPE/NAME]", help="the node that it stands for")
@click.option("--remove", is_flag=True, help="take the name back: it no longer stands for the node")
@graph_option
@json_option
def alias(alias: str | None, node: str | None, remove: bool, graph: str, write_figures: WriteFigures) -> None:
    """Lists the names of a node, adds one, or takes one back.

    Statements move with their name. A name that was taken back stays apart when a later document joins it again, until
    it is added again by hand. No two nodes have one name.
    """
    from kg.growing import Origin
    from kg.news import BY_HAND, add_news_types, join_alias, separation_updates

    if (alias is None) != (node is None) or (alias is None and remove):
        raise click.UsageError("give an ALIAS and its TYPE/NAME, or neither")
    if alias is None or node is None:
        _list_aliases(graph, write_figures)
        return
    key = node_key(node)
    with open_graph(graph) as opened:
        key = known_node(opened, key)
        add_news_types(opened)
        if remove:
            updates = separation_updates(opened, alias, key)
            _applied(opened, graph, lambda: opened.apply(updates, Origin(BY_HAND)), write_figures)
        else:
            _applied(opened, graph, lambda: join_alias(opened, alias, key), write_figures)


def _list_aliases(graph: str, write_figures: WriteFigures) -> None:
    """Prints all aliases, and a warning for each of several nodes."""
    from kg.news import known_aliases, shared_aliases

    with open_graph(graph, read_only=True) as opened:
        pairs = [(one.name, str(entity)) for one, entity in known_aliases(opened)]
        shared = shared_aliases(opened)
    for text, entities in shared.items():
        say(f"{text!r} stands for {' and '.join(map(str, entities))}: give it to one of them by hand")
    for name, entity in pairs:
        show(f"{name} -> {entity}")
    write_figures({"aliases": [{"alias": name, "node": entity} for name, entity in pairs]})


def _applied(graph: GrowingGraph, path: str, change: Callable[[], Applied], write_figures: WriteFigures) -> None:
    """Changes the graph by hand, and prints the new entries of its history with how each is undone."""
    before = {entry.number: entry.undone for entry in graph.history()}
    applied = change()
    after = graph.history()
    undone = [entry for entry in after if entry.undone and not before.get(entry.number, True)]
    entries = [entry for entry in after if entry.number not in before]
    for entry in (*undone, *entries):
        show(graph.in_words(entry))
    for entry in entries:
        show(f"undo: finpath advisor undo {entry.number} --graph {quote(path)}")
    if not entries and not undone:
        show("nothing changes: the graph has it already")
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


def _check_no_key(graph: GrowingGraph, key: NodeKey, name: str, value: str | None) -> None:
    """Raises DataError where a property holds the name by which a node is known, and the value is another one."""
    stored = graph.node(key)
    required = graph.schema.node_type(key.type, graph.scope).required
    known = stored.key.name if stored is not None else key.name
    if name not in required[:1] or stored is None or stored.properties.get(name) != known or value in (None, known):
        return
    other = f"finpath advisor alias {quote(str(value))} {quote(f'{key.type}/{known}')}"
    raise DataError(
        f"{name} is the name by which {key.type}({known}) is known, and cannot change; `{other}` adds another name"
    )


def _typed(value: str | None, rule: dict[str, Any]) -> Any:
    """Returns a value as its schema wants it: texts as they are, the others as JSON writes them."""
    if value is None or rule.get("type", "string") == "string":
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value  # the graph names the rule that it breaks
