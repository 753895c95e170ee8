"""Ontology learning: the kinds and line items of a train split's reports.

>>> table = (("", "2009", "2008"), ("net revenues", "$ 5", "$ 4"), ("net revenue ( loss )", "6", "5"))
>>> ontology = build_ontology([Report("a", ("the income statement .",), table, ())])
>>> ontology.properties["net_revenues"].alt_labels
('net revenue ( loss )',)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from kg.graphs import slug
from kg.reports import labels
from kg.reports.labels import DISCLOSURE, GENERAL, clean_label, kind_detector, line_item_key, spelling_keys
from kg.reports.layout import TableLayout, analyse_table
from kg.reports.ontology import Ontology, OntologyClass, Property, kind_words, table_context
from kg.reports.report import Report
from kg.reports.vocabulary import RESERVED
from kg.text import Unit


def build_ontology(reports: Iterable[Report]) -> Ontology:
    """Learns the ontology of the reports of a train split from their tables."""
    counts = _Counts()
    seen: set[tuple[tuple[str, ...], ...]] = set()
    for report in reports:
        if report.table not in seen:  # conversations may share a document
            seen.add(report.table)
            counts.add(report)
    properties: list[Property] = []
    taken: set[str] = set()
    for group in counts.groups():
        properties.append(counts.property(group, taken))
        taken.add(properties[-1].name)
    return Ontology(counts.classes(), properties)


@dataclass
class _Counts:
    """Counts of labels, kinds and units over the reports."""

    documents: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    kinds: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    units: defaultdict[str, Counter[Unit]] = field(default_factory=lambda: defaultdict(Counter))
    tables: Counter[str] = field(default_factory=Counter)
    reports: int = 0

    def add(self, report: Report) -> None:
        layout = analyse_table(report.table, table_context(report))
        kind = kind_detector().detect(*kind_words(report))
        self.tables[kind] += 1
        for label, units in line_items(layout):
            label = " ".join(label.lower().split())
            if line_item_key(label):
                self.documents[label].add(self.reports)
                self.kinds[label][kind] += 1
                self.units[label].update(units)
        self.reports += 1

    def groups(self) -> list[list[str]]:
        """Groups of labels of one line item, by falling frequency."""
        members: list[list[str]] = []
        place_of_key: dict[str, int] = {}
        for label in sorted(self.documents, key=self._rank):
            keys = tuple(dict.fromkeys((line_item_key(label), *spelling_keys(label))))
            place = next((place_of_key[key] for key in keys if key in place_of_key), len(members))
            if place == len(members):
                members.append([])
            members[place].append(label)
            for key in keys:
                place_of_key.setdefault(key, place)
        return sorted(members, key=lambda group: (-len(self._reports_of(group)), group[0]))

    def _rank(self, label: str) -> tuple[int, int, int, str]:
        """A sort key: frequent labels first, then more words, as some labels have lost their spaces."""
        return (-len(self.documents[label]), -line_item_key(label).count(" "), len(label), label)

    def _reports_of(self, group: Iterable[str]) -> set[int]:
        return set().union(*(self.documents[label] for label in group))

    def property(self, group: list[str], taken: set[str]) -> Property:
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
        return Property(
            name=name,
            label=main,
            alt_labels=tuple(sorted(others)),
            domain=(domain[0], *sorted(domain[1:])),
            unit=known[0] if known else "plain",
            reports=len(self._reports_of(group)),
            close_match=labels.close_matches().get(line_item_key(main), ()),
        )

    def classes(self) -> list[OntologyClass]:
        found = [
            OntologyClass(kind.name, kind.label, tuple(sorted(kind.cues)), self.tables[kind.name])
            for kind in labels.figure_kinds()
            if self.tables[kind.name]
        ]
        general = OntologyClass(GENERAL, "table of no known kind", (), self.tables[GENERAL])
        return [*found, general, OntologyClass(DISCLOSURE, "figures stated in text", (), self.reports)]


def line_items(layout: TableLayout) -> list[tuple[str, set[Unit]]]:
    """The labels of a table's line items with the units of their figures."""
    columns = range(1, len(layout.columns))
    if layout.transposed:
        cells = {layout.columns[column].label: [(row, column) for row in layout.data_rows] for column in columns}
    else:
        cells = {layout.rows[row].label: [(row, column) for column in columns] for row in layout.data_rows}
    return [
        (label, {layout.unit(*place, figure) for place in places for figure in layout.figures(*place)})
        for label, places in cells.items()
    ]
