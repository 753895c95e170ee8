"""A graph as one HTML file to pan and zoom: a click on a node shows its facts, and the source of a figure.

write_text("page_49.html", graph_page("page_49.pdf", report_edges(own, graph)))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from experiments.ui.pages import render
from kg.reports import Ontology, ReportGraph

MOST_NODES = 400
"""Nodes of a picture; a browser places them in a second."""


class PictureEdge(NamedTuple):
    """A relation from a node to another one, which has an id, a text and maybe a note."""

    start: str
    relation: str
    end: str
    text: str
    note: str = ""


def report_edges(graph: ReportGraph, places: Iterable[str]) -> Iterator[PictureEdge]:
    """The classes, instances and figures of a report; ``places`` are the sources of its figures in words."""
    for one, place in zip(graph.observations, places, strict=True):
        if not one.in_header:
            yield PictureEdge(one.entity_type, "has the instance", one.entity, one.entity)
            yield PictureEdge(one.entity, one.property, f"#{one.id}", f"{one.quantity.text} {one.property}", place)


def ontology_edges(ontology: Ontology) -> Iterator[PictureEdge]:
    """The classes of an ontology with their line items, the frequent ones first."""
    for item in sorted(ontology.properties.values(), key=lambda item: -item.reports):
        also = [*item.alt_labels, *item.close_match]
        note = f"{item.unit}, in {item.reports} reports" + (f"; also {', '.join(also)}" if also else "")
        for domain in item.domain[:1]:
            yield PictureEdge(domain, "has the line item", f"#{item.name}", item.label, note)


def path_edges(paths: Iterable[Sequence[str]]) -> Iterator[PictureEdge]:
    """The relations of paths, each a list of names: an entity, then relations and entities in turn."""
    for path in paths:
        for start, relation, end in zip(path[::2], path[1::2], path[2::2], strict=False):
            yield PictureEdge(start, relation, end, end)


def graph_page(title: str, edges: Iterable[PictureEdge]) -> str:
    """The page; edges to nodes beyond :data:`MOST_NODES` are left out and counted."""
    nodes: dict[str, tuple[str, str]] = {}
    kept, left_out = dict[tuple[str, str, str], None](), 0
    for edge in edges:
        if len({edge.start, edge.end} - nodes.keys()) + len(nodes) > MOST_NODES:
            left_out += 1
            continue
        nodes.setdefault(edge.start, (edge.start, ""))
        nodes.setdefault(edge.end, (edge.text, edge.note))
        kept[edge.start, edge.relation, edge.end] = None
    numbers = {name: number for number, name in enumerate(nodes)}
    lines = [(numbers[start], relation, numbers[end]) for start, relation, end in kept]
    return render("graph.html", title=title, nodes=list(nodes.values()), edges=lines, left_out=left_out)
