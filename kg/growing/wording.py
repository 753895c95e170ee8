"""Changes of a history entry in words: values, edges and nodes, each in one line.

>>> changes_of(entry, name_of)
["Company(Novatek Inc.) country: none -> 'Malta'", "alias Nova of Company(Novatek Inc.)"]

The new nodes and edges of a document are counted instead ("12 nodes, 30 edges"), and its replaced values follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pyoxigraph import Literal, Quad

from kg.growing import terms
from kg.growing.history import HistoryEntry, Replaced, quads_of

_MOST = 3
"""The most new nodes and edges that are named one by one."""

_ALIAS, _NO_ALIAS = "alias_of", "not_alias_of"

Name = Callable[[str], str]


def changes_of(entry: HistoryEntry, name_of: Name) -> list[str]:
    """Returns what an entry changed.

    Args:
        entry: The entry.
        name_of: Returns the type and the name of a node by its IRI: ``Company(Novatek Inc.)``.

    Returns:
        One text for each change; none where the entry only confirms what was stored.
    """
    added = quads_of(entry.added)
    new = [str(terms.text_of(quad.subject)) for quad in added if quad.predicate == terms.RDF_TYPE]
    nodes = [one for one in new if one.startswith(terms.NODE)]
    direct: dict[frozenset[object], Quad] = {}  # a symmetric edge has two triples
    for quad in filter(_is_direct, added):
        direct.setdefault(frozenset((quad.subject, quad.predicate, quad.object)), quad)
    edges = list(direct.values())
    values = [str(one) for one in (*entry.replaced, *_first_values(entry, added, nodes, name_of))]
    if len(nodes) + len(edges) <= _MOST:
        return [*_named(nodes, edges, name_of), *values]
    counted = [f"{len(found)} {kind}" for found, kind in ((nodes, "nodes"), (edges, "edges")) if found]
    return [", ".join(counted), *(str(one) for one in entry.replaced)]


def line_of(entry: HistoryEntry, name_of: Name) -> str:
    """Returns an entry in one line, with its number, its source and its changes."""
    source = " ".join(part for part in (entry.document, entry.place) if part)
    changes = "; ".join(changes_of(entry, name_of))
    return f"{entry.number}  {source}: {changes if changes else 'nothing new'}{' (undone)' if entry.undone else ''}"


def _named(nodes: Sequence[str], edges: Sequence[Quad], name_of: Name) -> Iterator[str]:
    """Yields new edges, and the new nodes that no edge names."""
    joined = {terms.text_of(end) for quad in edges for end in (quad.subject, quad.object)}
    for node in nodes:
        if node not in joined:
            yield f"new {name_of(node)}"
    for quad in edges:
        kind = quad.predicate.value.removeprefix(terms.EDGE)
        source, target = (name_of(terms.text_of(end)) for end in (quad.subject, quad.object))
        if kind in (_ALIAS, _NO_ALIAS):
            taken = " taken back from " if kind == _NO_ALIAS else " of "
            yield f"alias {source.partition('(')[2].removesuffix(')')}{taken}{target}"
        else:
            yield f"{source} {kind} {target}"


def _first_values(
    entry: HistoryEntry, added: Sequence[Quad], nodes: Sequence[str], name_of: Name
) -> Iterator[Replaced]:
    """Yields the values of properties that had none, of nodes that are not new."""
    replaced = {(one.node, one.property) for one in entry.replaced}
    for quad in added:
        subject, name = terms.text_of(quad.subject), quad.predicate.value.removeprefix(terms.PROPERTY)
        is_value = quad.predicate.value.startswith(terms.PROPERTY) and subject.startswith(terms.NODE)
        if not is_value or subject in nodes or not isinstance(quad.object, Literal):
            continue
        if (name_of(subject), name) not in replaced:
            yield Replaced(name_of(subject), name, None, (), terms.json_value(quad.object))


def _is_direct(quad: Quad) -> bool:
    """Whether a triple leads from one node to another."""
    ends = (terms.text_of(quad.subject), terms.text_of(quad.object))
    return quad.predicate.value.startswith(terms.EDGE) and all(end.startswith(terms.NODE) for end in ends)
