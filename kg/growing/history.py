"""The history of a growing graph: one entry for each update, with its source, its spans and its triples.

    >>> [graph.in_words(entry) for entry in graph.history()][-1]
    "2  wire-9.txt: Company(Helixon Inc.) country: 'Germany' (wire-1.txt) -> 'Atlantis'"
    >>> graph.undo(2)

The entries are in a named graph of their own, which queries do not see. Without an entry, the facts are what the other
entries state and remove, one after the other. An entry is not undone if this leaves a later one without its nodes.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from pydantic import TypeAdapter
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse

from kg.errors import SchemaError
from kg.growing import terms
from kg.growing.store import GraphDatabase

_CONTENT = NamedNode(terms.KG + "entryContent")


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
    """Updates cannot be undone, since later ones build on them.

    Attributes:
        later: The later updates, the newest first; empty where only one of an earlier version, which has no entry,
            builds on them.
    """

    def __init__(self, numbers: Collection[int], later: Sequence[HistoryEntry] = ()) -> None:
        names = ", ".join(f"{entry.number} ({entry.document})" for entry in later)
        what = f"{names or 'an earlier version'} {'build' if len(later) > 1 else 'builds'} on it"
        super().__init__(
            f"change {_listed(numbers)} cannot be undone: {what}; undo first what builds on it, in this order"
        )
        self.later = tuple(later)


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

    def write(self, entries: Sequence[HistoryEntry], removed: Sequence[Quad], added: Sequence[Quad]) -> None:
        """Writes entries together with their effect, in one transaction."""
        known = [_quad(self.entries[entry.number]) for entry in entries if entry.number in self.entries]
        self._store.write([*removed, *known], [*added, *map(_quad, entries)])
        self.entries.update({entry.number: entry for entry in entries})

    def next_number(self) -> int:
        """Returns the number of the next entry."""
        return max(self.entries, default=0) + 1

    def undo(self, numbers: Collection[int]) -> list[HistoryEntry]:
        """Takes entries back in one transaction; see :meth:`kg.growing.graph.GrowingGraph.undo`."""
        for number in numbers:
            if number not in self.entries:
                raise SchemaError(f"there is no change {number}; the last one is {self.next_number() - 1}")
            if self.entries[number].undone:
                raise SchemaError(f"change {number} was undone before")
        present = {line(quad): quad for quad in self._store.quads()}
        remaining = self._without(numbers, present)
        quads = {text: present.get(text) or _quads_of([text])[0] for text in remaining}
        typed = {quad.subject for quad in quads.values() if quad.predicate == terms.RDF_TYPE}
        names = [(quad.subject, terms.text_of(quad.object)) for quad in quads.values() if quad.predicate == terms.LABEL]
        first = dict(sorted(names, key=lambda name: terms.spelling_order(name[1]), reverse=True))
        gone = {*names} - {*first.items()}  # other spellings
        for text, quad in list(quads.items()):
            is_loose = quad.predicate in terms.NOTES and quad.subject not in typed
            if is_loose or (quad.subject, terms.text_of(quad.object)) in gone:
                del quads[text]
        self._check(numbers, quads, typed)
        removed = [quad for text, quad in present.items() if text not in quads]
        undone = [replace(self.entries[number], undone=True) for number in sorted(numbers)]
        self.write(undone, removed, [quad for text, quad in quads.items() if text not in present])
        return undone

    def _without(self, numbers: Collection[int], present: Collection[str]) -> set[str]:
        """Returns the facts without some entries: those from before the history, and what the other entries leave."""
        entries = self.entries.values()
        known = {text for entry in entries for text in entry.asserted}
        facts = {*present, *(text for entry in entries for text in entry.removed)} - known
        for entry in entries:
            if not entry.undone and entry.number not in numbers:
                facts = (facts - set(entry.removed)).union(entry.asserted)
        return facts

    def _check(self, numbers: Collection[int], quads: Mapping[str, Quad], typed: Collection[object]) -> None:
        """Raises SchemaError where facts are about a node that is gone, or a property has two values."""
        loose = {
            text
            for text, quad in quads.items()
            if quad.subject not in typed or (_is_node(quad.object) and quad.object not in typed)
        }
        if loose:
            raise BuiltOnError(numbers, self._stating(loose, numbers))
        values: defaultdict[tuple[object, object], set[str]] = defaultdict(set)
        for text, quad in quads.items():
            if quad.predicate.value.startswith(terms.PROPERTY):
                values[quad.subject, quad.predicate].add(text)
        changed = {text for texts in values.values() if len(texts) > 1 for text in texts}
        if changed:
            by = self._stating(changed, numbers)[0].number
            raise SchemaError(
                f"change {_listed(numbers)} cannot be undone: its value has changed since, by change {by}"
            )

    def _stating(self, texts: Collection[str], left_out: Collection[int]) -> list[HistoryEntry]:
        """Returns the other entries that state some triples, the newest first."""
        live = [entry for entry in self.entries.values() if not entry.undone and entry.number not in left_out]
        return [entry for entry in reversed(live) if not set(texts).isdisjoint(entry.asserted)]

    def in_words(self, entry: HistoryEntry) -> str:
        """Returns an entry in one line: its number, its source, counts of what is new, and the values that it changed.

        "2  wire.txt: 12 nodes, 30 edges; Company(Helixon Inc.) country: 'Germany' (a.txt) -> 'Malta'"
        """
        source = " ".join(part for part in (entry.document, entry.place) if part)
        added = _quads_of(entry.added)
        new = {quad.subject for quad in added if quad.predicate == terms.RDF_TYPE}
        nodes = sum(map(_is_node, new))
        edges = sum(quad.predicate == terms.EDGE_TYPE for quad in added)
        counts = [f"{count} {kind}{'s' * (count > 1)}" for count, kind in ((nodes, "node"), (edges, "edge")) if count]
        changes = "; ".join(filter(None, (", ".join(counts), *self._values(entry, added, new)))) or "nothing new"
        return f"{entry.number}  {source}: {changes}{' (undone)' if entry.undone else ''}"

    def _values(self, entry: HistoryEntry, added: Sequence[Quad], new: Collection[object]) -> Iterator[str]:
        """Yields the changed values of nodes that are not new, in words, each with the source of the former one."""
        before, after = (
            {(quad.subject, quad.predicate): quad for quad in quads if _is_node(quad.subject)}
            for quads in (_quads_of(entry.removed), added)
        )
        for subject, predicate in {**before, **after}:
            name = predicate.value.removeprefix(terms.PROPERTY)
            if name == predicate.value or subject in new:
                continue
            texts = [_value(quads.get((subject, predicate))) for quads in (before, after)]
            if (subject, predicate) in before:
                text = line(before[subject, predicate])
                earlier = (other for other in self.entries.values() if other.number < entry.number)
                sources = dict.fromkeys(other.document for other in earlier if text in other.asserted)
                texts[0] += f" ({', '.join(sources)})"
            yield f"{self._name(subject, entry)} {name}: {' -> '.join(texts)}"

    def _name(self, node: Any, entry: HistoryEntry) -> str:
        """Returns the type and the name of a node, also of one that is gone: ``Company(Helixon Inc.)``."""
        kind, _, plain = terms.text_of(node).removeprefix(terms.NODE).partition("/")
        labels = [*self._store.quads(node, terms.LABEL)]
        labels = labels or [
            one for one in _quads_of(entry.asserted) if (one.subject, one.predicate) == (node, terms.LABEL)
        ]
        return f"{kind}({terms.text_of(labels[0].object) if labels else unquote(plain)})"


def _listed(numbers: Collection[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))


def _is_node(term: object) -> bool:
    return isinstance(term, NamedNode) and term.value.startswith(terms.NODE)


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
