"""The history of a growing graph: one entry for each update, with its source, its spans and its triples.

    >>> [graph.in_words(entry) for entry in graph.history()][-1]
    "2  wire-9.txt: Company(Helixon Inc.) country: 'Germany' (wire-1.txt) -> 'Atlantis'"
    >>> graph.undo(2)

The entries are in a named graph of their own, which queries do not see. An entry is undone unless a later one depends
on it. What another entry states too remains.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from urllib.parse import unquote

from pydantic import TypeAdapter
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse

from kg.errors import SchemaError
from kg.growing import terms
from kg.growing.store import GraphDatabase

_CONTENT = NamedNode(terms.KG + "entryContent")
_MOST = 3
"""The most new nodes and edges that are named one by one."""


@dataclass(frozen=True)
class HistoryEntry:
    """An update of the graph.

    Attributes:
        number: From 1.
        document: Its source.
        place: The place in the source.
        at: The moment, as ISO text.
        spans: For each operation the passage of the source that states it; empty where none is known.
        asserted: The triples that it states, as N-Triples.
        added: Those of them that were new.
        removed: The triples that it removed.
        undone: Whether it was undone.
    """

    number: int
    document: str
    place: str
    at: str
    spans: tuple[str, ...] = ()
    asserted: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    undone: bool = False


class BuiltOnError(SchemaError):
    """An update cannot be undone, since later ones build on it.

    Attributes:
        number: The update.
        later: The later updates, the newest first, also those that build on one of them; empty where only one of an
            earlier version, which has no entry, builds on it.
    """

    def __init__(self, number: int, later: Sequence[HistoryEntry] = ()) -> None:
        names = ", ".join(f"{entry.number} ({entry.document})" for entry in later)
        what = f"{names or 'an earlier version'} {'build' if len(later) > 1 else 'builds'} on it"
        super().__init__(f"change {number} cannot be undone: {what}; undo first what builds on it, in this order")
        self.number = number
        self.later = tuple(entry.number for entry in later)


class History:
    """The entries of a store.

    Args:
        store: The store of the graph.
    """

    def __init__(self, store: GraphDatabase) -> None:
        self._store = store

    @cached_property
    def entries(self) -> dict[int, HistoryEntry]:
        """All entries by their numbers, in the order of their writing."""
        read = TypeAdapter(HistoryEntry).validate_json
        entries = (read(terms.text_of(quad.object)) for quad in self._store.quads(None, _CONTENT, graph=terms.HISTORY))
        return {entry.number: entry for entry in sorted(entries, key=lambda entry: entry.number)}

    def write(self, entry: HistoryEntry, removed: Sequence[Quad], added: Sequence[Quad]) -> None:
        """Writes an entry together with its effect, in one transaction."""
        known = self.entries.get(entry.number)
        earlier = [_quad(known)] if known is not None else []
        self._store.write([*removed, *earlier], [*added, _quad(entry)])
        self.entries[entry.number] = entry

    def next_number(self) -> int:
        """Returns the number of the next entry."""
        return max(self.entries, default=0) + 1

    def undo(self, number: int) -> HistoryEntry:
        """Takes an entry back in one transaction; see :meth:`kg.growing.graph.GrowingGraph.undo`."""
        entry = self.entries.get(number)
        if entry is None:
            raise SchemaError(f"there is no change {number}; the last one is {self.next_number() - 1}")
        if entry.undone:
            raise SchemaError(f"change {number} was undone before")
        stated = self._stated(entry)
        self._check_values(entry, stated)
        gone, later = self._gone(entry, stated)
        if later is not None:
            builders = {number}
            while later:
                builders |= later
                later = set().union(*(self._builders(one) for one in later)) - builders
            raise BuiltOnError(number, [self.entries[one] for one in sorted(builders - {number}, reverse=True)])
        known = {line for other in self.entries.values() for line in other.asserted}
        back = [quad for quad in _quads_of(entry.removed) if line(quad) in stated or line(quad) not in known]
        undone = replace(entry, undone=True)
        self.write(undone, gone, back)
        return undone

    def _stated(self, left_out: HistoryEntry) -> dict[str, int]:
        """Returns for each triple the last other entry that states it, without those that a later one removed."""
        stated: dict[str, int] = {}
        for entry in self.entries.values():
            if not entry.undone and entry.number != left_out.number:
                for removed in entry.removed:
                    stated.pop(removed, None)
                stated |= dict.fromkeys(entry.asserted, entry.number)
        return stated

    def _check_values(self, entry: HistoryEntry, stated: Mapping[str, int]) -> None:
        """Raises SchemaError where a value that the entry replaced has changed since."""
        for removed in _quads_of(entry.removed):
            for present in map(line, self._store.quads(removed.subject, removed.predicate)):
                other = stated.get(present)
                if present not in entry.added:
                    later = f", by change {other}" if other is not None else ""
                    raise SchemaError(f"change {entry.number} cannot be undone: its value has changed since{later}")
                if other is not None:
                    raise SchemaError(f"change {entry.number} cannot be undone: change {other} states its value too")

    def _gone(self, entry: HistoryEntry, stated: Mapping[str, int]) -> tuple[list[Quad], set[int] | None]:
        """Returns the triples that go with an entry, and the entries that state what would remain of their nodes.

        The notes on the writing of a node or an edge go with it. There are no entries (``None``) where nothing remains.
        """
        new = {line for other in self.entries.values() for line in other.added}  # not from before the history
        gone = {quad for quad in _quads_of(new.intersection(entry.asserted) - stated.keys()) if quad in self._store}
        left: set[Quad] = set()
        for subject in {quad.subject for quad in gone if quad.predicate == terms.RDF_TYPE}:
            own = set(self._store.quads(subject))
            gone |= {quad for quad in own if quad.predicate in terms.NOTES}
            left |= own | set(self._store.quads(None, None, subject))
        remaining = {line(quad) for quad in left - gone}
        later = {stated[one] for one in remaining if one in stated} if remaining else None
        return sorted(gone, key=str), later

    def _builders(self, number: int) -> set[int]:
        """Returns the entries that build on an entry."""
        entry = self.entries[number]
        return self._gone(entry, self._stated(entry))[1] or set()

    def in_words(self, entry: HistoryEntry) -> str:
        """Returns an entry in one line, with its number, its source and its changes.

        New nodes and edges are named, or counted where there are many ("12 nodes, 30 edges").
        """
        source = " ".join(part for part in (entry.document, entry.place) if part)
        changes = "; ".join(self._changes(entry)) or "nothing new"
        return f"{entry.number}  {source}: {changes}{' (undone)' if entry.undone else ''}"

    def _changes(self, entry: HistoryEntry) -> list[str]:
        """Returns the changes of an entry, each in words; none where it only confirms what was stored."""
        added = _quads_of(entry.added)
        new = [terms.text_of(quad.subject) for quad in added if quad.predicate == terms.RDF_TYPE]
        nodes = [node for node in new if node.startswith(terms.NODE)]
        direct: dict[frozenset[object], Quad] = {}  # a symmetric edge has two triples
        for quad in filter(_is_direct, added):
            direct.setdefault(frozenset((quad.subject, quad.predicate, quad.object)), quad)
        edges = list(direct.values())
        values = list(self._values(entry, nodes))
        if len(nodes) + len(edges) > _MOST:
            counted = [f"{len(new)} {kind}" for new, kind in ((nodes, "nodes"), (edges, "edges")) if new]
            return [", ".join(counted), *(text for is_first, text in values if not is_first)]
        joined = {terms.text_of(end) for quad in edges for end in (quad.subject, quad.object)}
        ends = [[self._name(terms.text_of(end), entry) for end in (quad.subject, quad.object)] for quad in edges]
        named = [quad.predicate.value.removeprefix(terms.EDGE) for quad in edges]
        return [
            *(f"new {self._name(node, entry)}" for node in nodes if node not in joined),
            *(f"{source} {kind} {target}" for kind, (source, target) in zip(named, ends, strict=True)),
            *(text for _, text in values),
        ]

    def _values(self, entry: HistoryEntry, nodes: Sequence[str]) -> Iterator[tuple[bool, str]]:
        """Yields the changed values of nodes that are not new, in words, and whether there was none before."""
        changed: defaultdict[tuple[str, str], dict[str, Quad]] = defaultdict(dict)
        for when, lines in (("before", entry.removed), ("after", entry.added)):
            for quad in _quads_of(lines):
                subject, name = terms.text_of(quad.subject), quad.predicate.value.removeprefix(terms.PROPERTY)
                if name != quad.predicate.value and subject.startswith(terms.NODE) and subject not in nodes:
                    changed[subject, name][when] = quad
        for (subject, name), quads in changed.items():
            texts = [_value(quads.get("before")), _value(quads.get("after"))]
            if "before" in quads:
                earlier = [other for other in self.entries.values() if other.number < entry.number]
                sources = (other.document for other in earlier if line(quads["before"]) in other.asserted)
                texts[0] += f" ({', '.join(dict.fromkeys(sources))})"
            yield "before" not in quads, f"{self._name(subject, entry)} {name}: {' -> '.join(texts)}"

    def _name(self, node: str, entry: HistoryEntry) -> str:
        """Returns the type and the name of a node by its IRI, also of one that is gone: ``Company(Helixon Inc.)``."""
        kind, _, plain = node.removeprefix(terms.NODE).partition("/")
        start = f"{NamedNode(node)} {terms.LABEL} "
        labels = [*self._store.quads(NamedNode(node), terms.LABEL)]
        labels = labels or _quads_of(one for one in entry.asserted if one.startswith(start))
        return f"{kind}({terms.text_of(labels[0].object) if labels else unquote(plain)})"


def _is_direct(quad: Quad) -> bool:
    """Whether a triple leads from one node to another."""
    ends = (terms.text_of(quad.subject), terms.text_of(quad.object))
    return quad.predicate.value.startswith(terms.EDGE) and all(end.startswith(terms.NODE) for end in ends)


def _value(quad: Quad | None) -> str:
    if quad is None:
        return "none"
    assert isinstance(quad.object, Literal)
    value = terms.json_value(quad.object)
    return repr(value) if isinstance(value, str) else str(value)


def line(quad: Quad) -> str:
    """Returns a triple as N-Triples, without the name of its graph."""
    return f"{quad.subject} {quad.predicate} {quad.object}"


def _quad(entry: HistoryEntry) -> Quad:
    """Returns an entry as a triple of the history."""
    content = json.dumps(asdict(entry), ensure_ascii=False, sort_keys=True)
    subject = NamedNode(f"{terms.BASE}change/{entry.number}")
    return Quad(subject, _CONTENT, Literal(content, datatype=terms.JSON), terms.HISTORY)


def _quads_of(lines: Iterable[str]) -> list[Quad]:
    """Returns triples from N-Triples, as facts of the graph."""
    text = "".join(f"{line} .\n" for line in lines)
    return [
        Quad(triple.subject, triple.predicate, triple.object, terms.KNOWLEDGE)
        for triple in parse(text.encode(), format=RdfFormat.N_TRIPLES)
    ]
