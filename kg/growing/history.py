"""The history of a growing graph: one entry for each update, with its source, its spans and the values it replaced.

    >>> [graph.in_words(entry) for entry in graph.history(NodeKey("Company", "Helixon Inc."))][-1]
    "2  wire-9.txt: Company(Helixon Inc.) country: 'Germany' -> 'Atlantis'"
    >>> graph.undo(2)

The entries are in a named graph of their own, which queries do not see. An entry is undone unless a later one depends
on it. What another entry states too remains.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import unquote

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store, parse

from kg.errors import SchemaError
from kg.growing import terms

_CONTENT = NamedNode(terms.KG + "entryContent")
_JSON = NamedNode(terms.PREFIXES["rdf"] + "JSON")
_MOST = 3
"""The most new nodes and edges that are named one by one."""

_ALIAS, _NO_ALIAS = "alias_of", "not_alias_of"

_WRITING = (terms.VERSION, terms.ADDED)
"""Notes on the writing of a node or an edge, which go with it."""


@dataclass(frozen=True)
class Replaced:
    """A property's value before and after an update.

    Attributes:
        node: Type and name.
        property: Its name.
        before: The earlier value, ``None`` where there was none.
        source: The sources of the earlier value.
        after: The new value, ``None`` where it was removed.
    """

    node: str
    property: str
    before: Any
    source: tuple[str, ...]
    after: Any

    def __str__(self) -> str:
        stated = f" ({', '.join(self.source)})" if self.source else ""
        before, after = ("none" if value is None else repr(value) for value in (self.before, self.after))
        return f"{self.node} {self.property}: {before}{stated} -> {after}"


@dataclass(frozen=True)
class HistoryEntry:
    """An update of the graph.

    Attributes:
        number: From 1.
        document: Its source.
        place: The place in the source.
        at: The moment, as ISO text.
        spans: For each operation the passage of the source that states it; empty where none is known.
        replaced: The values that it replaced, each with its source.
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
    replaced: tuple[Replaced, ...] = ()
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
        names = [f"{one.number} ({one.document})" for one in later]
        if len(names) > 1:
            what = f"changes {', '.join(names[:-1])} and {names[-1]} build on it; undo these first, in this order"
        else:
            what = f"{f'change {names[0]}' if names else 'an earlier version'} builds on it; undo that first"
        super().__init__(f"change {number} cannot be undone: {what}")
        self.number = number
        self.later = tuple(one.number for one in later)


class History:
    """The entries of a store.

    Args:
        store: The store of the graph.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        found = store.quads_for_pattern(None, _CONTENT, None, terms.HISTORY)
        self._last = max((int(terms.text_of(quad.subject).rpartition("/")[2]) for quad in found), default=0)

    def entries(self) -> list[HistoryEntry]:
        """Returns all entries in the order of their writing."""
        found = self._store.quads_for_pattern(None, _CONTENT, None, terms.HISTORY)
        return sorted((_entry(terms.text_of(quad.object)) for quad in found), key=lambda entry: entry.number)

    def about(self, node: NamedNode) -> list[HistoryEntry]:
        """Returns the entries that state or remove something of a node, or an edge to it."""
        start, end = f"{node} ", f" {node}"
        return [
            entry
            for entry in self.entries()
            if any(line.startswith(start) or line.endswith(end) for line in (*entry.asserted, *entry.removed))
        ]

    def next_number(self) -> int:
        """Returns the number of the next entry."""
        return self._last + 1

    def written(self, entry: HistoryEntry) -> None:
        """Notes that an entry is stored."""
        self._last = max(self._last, entry.number)

    def sources_of(self, quads: Iterable[Quad]) -> dict[str, tuple[str, ...]]:
        """Returns for each triple the sources that state it."""
        wanted = {line(quad) for quad in quads}
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for entry in self.entries() if wanted else ():
            for stated in wanted.intersection(entry.asserted) if not entry.undone else ():
                found[stated][entry.document] = None
        return {stated: tuple(sources) for stated, sources in found.items()}

    def reverted(self, number: int) -> tuple[list[Quad], list[Quad]]:
        """Returns the triples to remove and to add, so that an entry is undone.

        Raises:
            SchemaError: There is no such entry, it was undone before, or a later one depends on it.
        """
        entries = {entry.number: entry for entry in self.entries()}
        if number not in entries:
            raise SchemaError(f"there is no change {number}; the last one is {self._last}")
        entry = entries[number]
        if entry.undone:
            raise SchemaError(f"change {number} was undone before")
        live = [other for other in entries.values() if other.number != number and not other.undone]
        stated = _stated(live)
        known = {line for other in entries.values() for line in other.asserted}
        new = {line for other in entries.values() for line in other.added}  # not from before the history
        gone = [quad for quad in quads_of(new.intersection(entry.asserted) - stated.keys()) if quad in self._store]
        back = [quad for quad in quads_of(entry.removed) if line(quad) in stated or line(quad) not in known]
        self._check_values(entry, stated)
        gone += self._notes(gone)
        later = self._later(gone, live)
        if later is not None:
            raise BuiltOnError(number, self._with_further(later, entries))
        return [*gone, entry_quad(entry)], [*back, entry_quad(replace(entry, undone=True))]

    def _check_values(self, entry: HistoryEntry, stated: Mapping[str, int]) -> None:
        """Raises SchemaError where a value that the entry replaced has changed since."""
        written = set(entry.added)
        for removed in quads_of(entry.removed):
            now = self._store.quads_for_pattern(removed.subject, removed.predicate, None, terms.KNOWLEDGE)
            for quad in now:
                if line(quad) not in written:
                    later = f", by change {stated[line(quad)]}" if line(quad) in stated else ""
                    raise SchemaError(f"change {entry.number} cannot be undone: its value has changed since{later}")
                if line(quad) in stated:
                    other = stated[line(quad)]
                    raise SchemaError(f"change {entry.number} cannot be undone: change {other} states its value too")

    def _notes(self, gone: Sequence[Quad]) -> list[Quad]:
        """Returns the notes on the writing of the nodes and edges that are gone."""
        subjects = {quad.subject for quad in gone if quad.predicate == terms.RDF_TYPE}
        found = {
            quad
            for subject in subjects
            for predicate in _WRITING
            for quad in self._store.quads_for_pattern(subject, predicate, None, terms.KNOWLEDGE)
        }
        return sorted(found - set(gone), key=str)

    def _later(self, gone: Sequence[Quad], live: Sequence[HistoryEntry]) -> set[int] | None:
        """Returns the entries that state what remains of nodes that are gone; ``None`` where nothing remains."""
        removed = set(gone)
        subjects = {quad.subject for quad in gone if quad.predicate == terms.RDF_TYPE}
        left = {
            line(quad)
            for subject in subjects
            for pattern in ((subject, None), (None, subject))
            for quad in self._store.quads_for_pattern(pattern[0], None, pattern[1], terms.KNOWLEDGE)
            if quad not in removed
        }
        return {other.number for other in live if not left.isdisjoint(other.asserted)} if left else None

    def _with_further(self, later: Iterable[int], entries: Mapping[int, HistoryEntry]) -> list[HistoryEntry]:
        """Returns entries with those that build on them, the newest first."""
        found = set(later)
        for number in sorted(found):
            try:
                self.reverted(number)
            except BuiltOnError as error:
                found |= set(error.later)
            except SchemaError:  # its value has changed since, which its own undoing reports
                continue
        return [entries[number] for number in sorted(found, reverse=True)]

    def in_words(self, entry: HistoryEntry) -> str:
        """Returns an entry in one line, with its number, its source and its changes.

        New nodes and edges are named, or counted where there are many ("12 nodes, 30 edges").
        """
        source = " ".join(part for part in (entry.document, entry.place) if part)
        changes = "; ".join(self._changes(entry)) or "nothing new"
        return f"{entry.number}  {source}: {changes}{' (undone)' if entry.undone else ''}"

    def _changes(self, entry: HistoryEntry) -> list[str]:
        """Returns the changes of an entry, each in words; none where it only confirms what was stored."""
        added = quads_of(entry.added)
        new = [terms.text_of(quad.subject) for quad in added if quad.predicate == terms.RDF_TYPE]
        nodes = [node for node in new if node.startswith(terms.NODE)]
        direct: dict[frozenset[object], Quad] = {}  # a symmetric edge has two triples
        for quad in filter(_is_direct, added):
            direct.setdefault(frozenset((quad.subject, quad.predicate, quad.object)), quad)
        edges = list(direct.values())
        replaced = list(map(str, entry.replaced))
        if len(nodes) + len(edges) <= _MOST:
            return [*self._new(entry, nodes, edges), *replaced, *self._first_values(entry, added, nodes)]
        counted = [f"{len(found)} {kind}" for found, kind in ((nodes, "nodes"), (edges, "edges")) if found]
        return [", ".join(counted), *replaced]

    def _new(self, entry: HistoryEntry, nodes: Sequence[str], edges: Sequence[Quad]) -> Iterator[str]:
        """Yields the new nodes that no new edge names, and the new edges."""
        joined = {terms.text_of(end) for quad in edges for end in (quad.subject, quad.object)}
        yield from (f"new {self._name(node, entry)}" for node in nodes if node not in joined)
        for quad in edges:
            kind = quad.predicate.value.removeprefix(terms.EDGE)
            source, target = (self._name(terms.text_of(end), entry) for end in (quad.subject, quad.object))
            if kind in (_ALIAS, _NO_ALIAS):
                taken = " taken back from " if kind == _NO_ALIAS else " of "
                yield f"alias {source.partition('(')[2].removesuffix(')')}{taken}{target}"
            else:
                yield f"{source} {kind} {target}"

    def _first_values(self, entry: HistoryEntry, added: Sequence[Quad], nodes: Sequence[str]) -> Iterator[str]:
        """Yields the values of properties that had none, of nodes that are not new."""
        replaced = {(value.node, value.property) for value in entry.replaced}
        for quad in added:
            subject, name = terms.text_of(quad.subject), quad.predicate.value.removeprefix(terms.PROPERTY)
            is_value = quad.predicate.value.startswith(terms.PROPERTY) and subject.startswith(terms.NODE)
            if is_value and subject not in nodes and isinstance(quad.object, Literal):
                node = self._name(subject, entry)
                if (node, name) not in replaced:
                    yield str(Replaced(node, name, None, (), terms.json_value(quad.object)))

    def _name(self, node: str, entry: HistoryEntry) -> str:
        """Returns the type and the name of a node by its IRI, also of one that is gone: ``Company(Helixon Inc.)``."""
        kind, _, plain = node.removeprefix(terms.NODE).partition("/")
        labels = self._store.quads_for_pattern(NamedNode(node), terms.LABEL, None, terms.KNOWLEDGE)
        label = next(labels, None) or _label(node, entry)
        if label is None:
            label = next((quad for other in reversed(self.entries()) if (quad := _label(node, other))), None)
        return f"{kind}({terms.text_of(label.object) if label is not None else unquote(plain)})"


def _is_direct(quad: Quad) -> bool:
    """Whether a triple leads from one node to another."""
    ends = (terms.text_of(quad.subject), terms.text_of(quad.object))
    return quad.predicate.value.startswith(terms.EDGE) and all(end.startswith(terms.NODE) for end in ends)


def _label(node: str, entry: HistoryEntry) -> Quad | None:
    """Returns the name of a node that an entry states."""
    start = f"{NamedNode(node)} {terms.LABEL} "
    stated = next((one for one in entry.asserted if one.startswith(start)), None)
    return quads_of([stated])[0] if stated is not None else None


def _stated(entries: Iterable[HistoryEntry]) -> dict[str, int]:
    """Returns for each triple the last entry that states it, without those that a later entry removed."""
    stated: dict[str, int] = {}
    for entry in entries:
        for removed in entry.removed:
            stated.pop(removed, None)
        stated |= dict.fromkeys(entry.asserted, entry.number)
    return stated


def line(quad: Quad) -> str:
    """Returns a triple as N-Triples, without the name of its graph."""
    return f"{quad.subject} {quad.predicate} {quad.object}"


def entry_quad(entry: HistoryEntry) -> Quad:
    """Returns an entry as a triple of the history."""
    content = json.dumps(asdict(entry), ensure_ascii=False, sort_keys=True, default=str)
    subject = NamedNode(f"{terms.BASE}change/{entry.number}")
    return Quad(subject, _CONTENT, Literal(content, datatype=_JSON), terms.HISTORY)


def _entry(content: str) -> HistoryEntry:
    found = json.loads(content)
    for name in ("spans", "asserted", "added", "removed"):
        found[name] = tuple(found[name])
    found["replaced"] = tuple(Replaced(**{**one, "source": tuple(one["source"])}) for one in found["replaced"])
    return HistoryEntry(**found)


def quads_of(lines: Iterable[str]) -> list[Quad]:
    """Returns triples from N-Triples, as facts of the graph."""
    text = "".join(f"{line} .\n" for line in lines)
    return [
        Quad(triple.subject, triple.predicate, triple.object, terms.KNOWLEDGE)
        for triple in parse(text.encode(), format=RdfFormat.N_TRIPLES)
    ]
