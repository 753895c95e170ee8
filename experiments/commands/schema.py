"""The types of a growing graph on the command line."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path

from experiments.commands.advisor import open_graph
from experiments.console import format_table, show, write_json
from kg.errors import DataError
from kg.growing import EdgeType, GrowingGraph, NodeType, TypeProposals
from programs.wording import rendered_types

_REVISED = {"properties_schema", "description", "example", "labels", "inverse_labels"}
_LABELS = ("labels", "inverse_labels")


def run_list(options: argparse.Namespace) -> None:
    """``finpath schema list``."""
    with open_graph(options.graph) as graph:
        show(rendered_types(graph.schema))
        _write(options, {"types": [asdict(kind) for kind in graph.schema.types]})


def run_review(options: argparse.Namespace) -> None:
    """``finpath schema review``."""
    with open_graph(options.graph) as graph:
        pending = TypeProposals(graph).pending()
    for kind in pending:
        what = "edge type" if isinstance(kind, EdgeType) else "node type"
        show(f"{kind.name} ({what}, by {kind.created_by}): {kind.description}\n    why: {kind.justification}")
    if not pending:
        show("no type waits")
    _write(options, {"pending": [asdict(kind) for kind in pending]})


def run_accept(options: argparse.Namespace) -> None:
    """``finpath schema accept``."""
    with open_graph(options.graph) as graph:
        taken = TypeProposals(graph).accept(options.name)
    show(f"{taken.name} is a type now; ingest again what waits for it")
    _write(options, {"accepted": taken.name})


def run_refuse(options: argparse.Namespace) -> None:
    """``finpath schema refuse``."""
    with open_graph(options.graph) as graph:
        dropped = TypeProposals(graph).refuse(options.name)
    show(f"{dropped.name} is refused")
    _write(options, {"refused": dropped.name})


def run_revise(options: argparse.Namespace) -> None:
    """``finpath schema revise``."""
    try:
        changes = json.loads(Path(options.file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read as JSON: {error}", file=options.file) from error
    if not isinstance(changes, dict) or not changes or set(changes) - _REVISED:
        raise DataError(f"must be an object with any of {', '.join(sorted(_REVISED))}", file=options.file)
    for name in _LABELS:
        if name in changes:
            changes[name] = tuple(changes[name]) if isinstance(changes[name], list) else changes[name]
    with open_graph(options.graph) as graph:
        current = _current(graph, options.name)
        if "inverse_labels" in changes and not isinstance(current, EdgeType):
            raise DataError(
                f"gives inverse_labels, which only an edge type has; {options.name} is none", file=options.file
            )
        changed = replace(current, **changes)
        graph.change_schema(graph.schema.with_version(changed))
        version = _current(graph, options.name).version
        outdated = sum(1 for _ in graph.outdated())
    show(f"{options.name} has version {version} now; {outdated} nodes of older versions stay valid")
    _write(options, {"type": options.name, "version": version, "outdated": outdated})


def run_migrate(options: argparse.Namespace) -> None:
    """``finpath schema migrate``."""
    with open_graph(options.graph) as graph:
        found = list(graph.outdated())
        left = graph.migrate() if options.apply else ()
    rows = [(str(e.node.key), f"{e.node.version} -> {e.newest}", e.problem or "fits") for e in found]
    if rows:
        show(format_table(["node", "version", "newest version"], rows))
    fitting = sum(entry.problem is None for entry in found)
    done = f"{fitting} moved, {len(left)} left as they are" if options.apply else f"{fitting} would move (--apply)"
    show(f"{len(found)} nodes of older versions: {done}" if found else "every node is of its type's newest version")
    problems = {str(entry.node.key): entry.problem for entry in found if entry.problem}
    _write(options, {"outdated": len(found), "fitting": fitting, "applied": options.apply, "problems": problems})


def _current(graph: GrowingGraph, name: str) -> NodeType | EdgeType:
    edges = [kind for kind in graph.schema.edge_types() if kind.name == name]
    return edges[0] if edges else graph.schema.node_type(name)


def _write(options: argparse.Namespace, content: dict[str, object]) -> None:
    if options.json:
        write_json(options.json, content)
