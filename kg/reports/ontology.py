"""The ontology (TBox): kinds of statements and notes, and their line items, learned from a train split by counting.

    >>> table = (("", "2009", "2008"), ("net revenues", "$ 5", "$ 4"), ("net revenue ( loss )", "6", "5"))
    >>> ontology = build_ontology([Report("a", ("the income statement .",), table, ())], min_reports=1)
    >>> ontology.property_for("Net revenue ( 1 )"), ontology.property_for("goodwill")
    ('net_revenues', None)
    >>> [(merge.label, merge.into, merge.rule) for merge in ontology.merges]
    [('net revenue ( loss )', 'net_revenues', 'sign or unit')]

A **property** is a line item of tables, or what several texts name before a figure ("rental expense"): the label that
most reports write, the other labels that mean the same (merged because their words agree, see ``kg.reports.labels``),
the
classes in whose tables it stands, and its unit. A label is looked up by those words exactly; one that merely resembles
a known label is not covered, so that nothing is mapped by accident.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kg.errors import ConfigError, FrozenError
from kg.reports.kinds import DISCLOSURE, GENERAL, KINDS, Kind, KindDetector, detect_kind
from kg.reports.labels import clean_label, line_item_key, merge_rule, spelling_keys
from kg.reports.layout import TableLayout, analyse_table
from kg.reports.report import Report
from kg.reports.sentences import item_phrase, read_sentence
from kg.reports.us_gaap import CLOSE_MATCHES
from kg.text import Unit

if TYPE_CHECKING:
    from rdflib import Graph

MIN_REPORTS = 1
_MIN_TEXTS = 4


@dataclass(frozen=True)
class Property:
    """A line item.

    Attributes:
        name: Its local name.
        label: The label that most reports write.
        alt_labels: Other labels that were merged into it, in alphabetical order.
        domain: The classes in whose tables it stands: the most frequent first, the others in alphabetical order.
        unit: What its figures mostly count.
        reports: How many reports hold it.
        close_match: IRIs of the same concept in US-GAAP.
    """

    name: str
    label: str
    alt_labels: tuple[str, ...]
    domain: tuple[str, ...]
    unit: Unit
    reports: int
    close_match: tuple[str, ...] = ()


@dataclass(frozen=True)
class OntologyClass:
    """A kind of statement or note: its local name, label, the cues it is known by, and how many reports have it."""

    name: str
    label: str
    cues: tuple[str, ...]
    reports: int


@dataclass(frozen=True)
class TableReading:
    """What a reader other than the rules, such as a language model, makes of a report's table.

    Attributes:
        kind: Local name of its class, one of ``KINDS`` or a new one; empty to leave that to the rules.
        kind_label: The class in words.
        cues: Phrases that tables of a new class hold.
        same_as: For labels of the table, another name of the same line item, in words.
    """

    kind: str = ""
    kind_label: str = ""
    cues: tuple[str, ...] = ()
    same_as: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Merge:
    """A label that was taken for another spelling of a property, by which rule, and how many reports write it."""

    label: str
    into: str
    rule: str
    reports: int


class Ontology:
    """Classes and properties, frozen: a write raises ``FrozenError``.

    Attributes:
        classes: Kinds of statements and notes by name, in alphabetical order.
        properties: Line items by name, in alphabetical order.
        merges: Which labels were merged into which property.
    """

    classes: Mapping[str, OntologyClass]
    properties: Mapping[str, Property]
    merges: tuple[Merge, ...]

    def __init__(
        self, classes: Iterable[OntologyClass], properties: Iterable[Property], merges: Iterable[Merge] = ()
    ) -> None:
        write = object.__setattr__
        write(self, "classes", MappingProxyType({c.name: c for c in sorted(classes, key=lambda c: c.name)}))
        write(self, "properties", MappingProxyType({p.name: p for p in sorted(properties, key=lambda p: p.name)}))
        write(self, "merges", tuple(sorted(merges, key=lambda merge: (merge.into, merge.label))))

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenError(f"the ontology is frozen: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise FrozenError(f"the ontology is frozen: {name!r} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ontology) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        return f"Ontology({len(self.classes)} classes, {len(self.properties)} properties, {self.sha256[:12]})"

    @cached_property
    def sha256(self) -> str:
        """The hash of its Turtle."""
        return hashlib.sha256(self.to_turtle().encode()).hexdigest()

    @cached_property
    def graph(self) -> Graph:
        """The ontology as a frozen rdflib graph."""
        from kg.reports.ontology_rdf import ontology_graph

        return ontology_graph(self)

    @cached_property
    def _turtle(self) -> str:
        from kg.graphs import turtle

        return turtle(self.graph)

    def to_turtle(self) -> str:
        """The ontology in OWL, as Turtle; equal ontologies give equal bytes."""
        return self._turtle

    @classmethod
    def from_turtle(cls, text: str) -> Ontology:
        """Reads what ``to_turtle`` wrote.

        Raises:
            DataError: It is not valid Turtle.
            OntologyError: A class or property lacks what it must have.
        """
        from kg.reports.ontology_rdf import read_ontology

        return read_ontology(text)

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """Property names by every key of every label; the more frequent property wins, then the first by name."""
        names: dict[str, str] = {}
        for item in sorted(self.properties.values(), key=lambda item: (-item.reports, item.name)):
            for label in (item.label, *item.alt_labels):
                names.setdefault(line_item_key(label), item.name)
        for item in sorted(self.properties.values(), key=lambda item: (-item.reports, item.name)):
            for label in (item.label, *item.alt_labels):
                for key in spelling_keys(label):
                    names.setdefault(key, item.name)
        names.pop("", None)
        return MappingProxyType(names)

    def property_for(self, label: str) -> str | None:
        """The name of the property that a label writes, or ``None`` when the ontology does not cover it."""
        if label not in self._found:
            keys = (line_item_key(label), *spelling_keys(label))
            self._found[label] = next((self._names[key] for key in keys if key in self._names), None)
        return self._found[label]

    @cached_property
    def _found(self) -> dict[str, str | None]:
        return {}

    def class_for(self, report: Report | str, *, context: str = "") -> str:
        """The class of a report's table, or of words such as a table's labels; ``GeneralTable`` when none fits."""
        labels, around = (report, context) if isinstance(report, str) else kind_words(report)
        return self._detector.detect(labels, around)

    @cached_property
    def _detector(self) -> KindDetector:
        return KindDetector(Kind(kind.name, kind.label, kind.cues) for kind in self.classes.values())


def kind_words(report: Report) -> tuple[str, str]:
    """What tells a table's kind: its labels, and the sentences next to it."""
    table = report.table
    labels = " | ".join([row[0] for row in table] + list(table[0])) if table and table[0] else ""
    return labels, " ".join((*report.pre_text[-2:], *report.post_text[:1]))


def table_context(report: Report) -> tuple[str, ...]:
    """The sentences where "in millions" may stand, nearest to the table first."""
    return (*reversed(report.pre_text[-3:]), *report.post_text[:1])


def build_ontology(
    reports: Iterable[Report],
    *,
    min_reports: int = MIN_REPORTS,
    reader: Callable[[Report], TableReading] | None = None,
) -> Ontology:
    """Learns the ontology of some reports' tables and texts.

    Args:
        reports: The reports of a train split; read once.
        min_reports: In how many reports a line item must stand to become a property, at least 1.
        reader: Adds to what the rules find in each report: its table's class, and line items with two names.

    Raises:
        ConfigError: ``min_reports`` is below 1.
    """
    if min_reports < 1:
        raise ConfigError(f"min_reports must be at least 1, got {min_reports}")
    counts = _Counts()
    seen: set[tuple[tuple[str, ...], ...]] = set()
    for report in reports:
        if report.table not in seen:  # several conversations may be about one document
            seen.add(report.table)
            counts.add(report, reader(report) if reader is not None else TableReading())
    counts.add_phrases()
    properties: list[Property] = []
    merges: list[Merge] = []
    taken: set[str] = set()
    for group in counts.groups(min_reports):
        item, merged = counts.property(group, taken)
        taken.add(item.name)
        properties.append(item)
        merges += merged
    return Ontology(counts.classes(), properties, merges)


@dataclass
class _Counts:
    """What is counted over the reports: labels, and the kinds and units that go with them."""

    documents: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    kinds: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    units: defaultdict[str, Counter[Unit]] = field(default_factory=lambda: defaultdict(Counter))
    tables: Counter[str] = field(default_factory=Counter)
    phrases: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    new_kinds: dict[str, tuple[str, set[str]]] = field(default_factory=dict)
    same_as: dict[str, str] = field(default_factory=dict)
    reports: int = 0

    def add(self, report: Report, reading: TableReading) -> None:
        layout = analyse_table(report.table, table_context(report))
        kind = reading.kind or detect_kind(*kind_words(report))
        self.tables[kind] += 1
        if reading.kind:
            self.new_kinds.setdefault(kind, (reading.kind_label, set()))[1].update(reading.cues)
        for label, name in reading.same_as.items():
            self.same_as.setdefault(" ".join(label.lower().split()), name)
        for label, units in line_items(layout):
            label = " ".join(label.lower().split())
            if line_item_key(label):
                self.documents[label].add(self.reports)
                self.kinds[label][kind] += 1
                self.units[label].update(units)
        for sentence in report.sentences:
            for mention in read_sentence(sentence):
                phrase = "" if mention.is_date else item_phrase(mention)
                if " " in line_item_key(phrase) and mention.quantity.unit != "plain":
                    self.phrases[phrase].add(self.reports)
                    self.units[phrase][mention.quantity.unit] += 1
        self.reports += 1

    def add_phrases(self) -> None:
        """Takes what many texts name before a figure for a line item too, where no table has it."""
        known = {key for label in self.documents for key in (line_item_key(label), *spelling_keys(label))}
        for phrase, documents in self.phrases.items():
            if len(documents) >= _MIN_TEXTS and not known & {line_item_key(phrase), *spelling_keys(phrase)}:
                self.documents[phrase] = documents
                self.kinds[phrase][DISCLOSURE] += len(documents)

    def groups(self, min_reports: int) -> list[list[str]]:
        """Labels that write one line item, most frequent label first; frequent line items first."""
        members: list[list[str]] = []
        place_of_key: dict[str, int] = {}
        for label in sorted(self.documents, key=self._rank):
            names = (label, self.same_as.get(label, label))  # what the rules merge stays merged, whatever a reader says
            keys = tuple(dict.fromkeys(key for name in names for key in (line_item_key(name), *spelling_keys(name))))
            place = next((place_of_key[key] for key in keys if key in place_of_key), len(members))
            if place == len(members):
                members.append([])
            members[place].append(label)
            for key in keys:
                place_of_key.setdefault(key, place)
        groups = [group for group in members if len(self._reports_of(group)) >= min_reports]
        return sorted(groups, key=lambda group: (-len(self._reports_of(group)), group[0]))

    def _rank(self, label: str) -> tuple[int, int, int, str]:
        """Frequent labels first; among equals those with more words, since some labels have lost their spaces."""
        return (-len(self.documents[label]), -line_item_key(label).count(" "), len(label), label)

    def _reports_of(self, group: Iterable[str]) -> set[int]:
        return set().union(*(self.documents[label] for label in group))

    def property(self, group: list[str], taken: set[str]) -> tuple[Property, list[Merge]]:
        from kg.graphs import slug
        from kg.reports.vocabulary import RESERVED

        main = clean_label(group[0])
        others = [label for label in group if label != main]
        stem = name = slug(main)
        number = 1
        while name in taken or name in RESERVED:
            number += 1
            name = f"{stem}_{number}"
        kinds = sum((self.kinds[label] for label in group), Counter[str]())
        units = sum((self.units[label] for label in group), Counter[Unit]())
        known = [unit for unit, _ in sorted(units.items(), key=lambda pair: (-pair[1], pair[0])) if unit != "plain"]
        domain = sorted(kinds, key=lambda kind: (-kinds[kind], kind))
        item = Property(
            name=name,
            label=main,
            alt_labels=tuple(sorted(others)),
            domain=(domain[0], *sorted(domain[1:])),
            unit=known[0] if known else "plain",
            reports=len(self._reports_of(group)),
            close_match=CLOSE_MATCHES.get(line_item_key(main), ()),
        )
        merges = [Merge(label, name, merge_rule(label, main), len(self.documents[label])) for label in others]
        return item, merges

    def classes(self) -> list[OntologyClass]:
        found = [
            OntologyClass(kind.name, kind.label, tuple(sorted(kind.cues)), self.tables[kind.name])
            for kind in KINDS
            if self.tables[kind.name]
        ]
        known = {kind.name for kind in KINDS}
        for name, (label, cues) in self.new_kinds.items():
            if name not in known:
                found.append(OntologyClass(name, label, tuple(sorted(cues)), self.tables[name]))
        general = OntologyClass(GENERAL, "table of no known kind", (), self.tables[GENERAL])
        return [*found, general, OntologyClass(DISCLOSURE, "figures stated in text", (), self.reports)]


def line_items(layout: TableLayout) -> list[tuple[str, set[Unit]]]:
    """The labels of a table's line items (columns, in a transposed table) with the units of their figures."""
    columns = range(1, len(layout.columns))
    if layout.transposed:
        cells = {layout.columns[column].label: [(row, column) for row in layout.data_rows] for column in columns}
    else:
        cells = {layout.rows[row].label: [(row, column) for column in columns] for row in layout.data_rows}
    return [
        (label, {layout.unit(*place, figure) for place in places for figure in layout.figures(*place)})
        for label, places in cells.items()
    ]
