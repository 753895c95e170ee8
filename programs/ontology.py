"""A builder of ontologies with the help of a language model, which reads one table at a time.

    >>> builder = OntologyBuilder()
    >>> ontology = builder(reports=[report])          # doctest: +SKIP
    >>> builder.refused                               # doctest: +SKIP
    ['a report: the table has no label "cash"']

Each part of a reply is validated:

- A kind is a CamelCase word with a cue that occurs among the labels or in the text next to the table. For a new kind,
  and where the rules find none, a cue from the model counts if it occurs there.
- A line item's label occurs in the table, and its standard term is not that of another row.

Invalid parts are refused and listed. After a failed call the rules read the table, and the failure is listed too. So
``refused`` shows the part of the ontology that the model did not contribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.errors import LMError
from kg.reports import (
    GENERAL,
    RESERVED,
    Ontology,
    Report,
    TableReading,
    analyse_table,
    build_ontology,
    figure_kinds,
    kind_detector,
    kind_words,
    line_item_key,
    line_items,
    table_context,
)
from signatures.ontology import DescribeTable, LineItem, TableSchema

_KNOWN = frozenset(kind.name for kind in figure_kinds())
_KIND = re.compile(r"[A-Z][A-Za-z]{2,39}")
_LETTERS = re.compile(r"[^a-z]")
_CUE = re.compile(r"[a-z][a-z0-9 &-]{2,39}")


class OntologyBuilder(dspy.Module):
    """Learns an ontology from reports: kinds and merged line items by the model, counts by rules.

    Attributes:
        refused: Refused parts of the model's replies in the last call, one line each.
    """

    def __init__(self) -> None:
        super().__init__()
        self.describe = dspy.Predict(DescribeTable)
        self.refused: list[str] = []
        self._kinds: list[str] = []
        self._answered = 0
        self._unreached = ""

    def forward(self, reports: Iterable[Report]) -> Ontology:
        """Reads every report's table, one model call each, and builds the frozen ontology.

        Raises:
            LMError: The model answered no call at all.
        """
        self.refused = []
        self._kinds = [kind.name for kind in figure_kinds()]
        self._answered, self._unreached = 0, ""
        ontology = build_ontology(reports, reader=self._read)
        if self._unreached and not self._answered:
            raise LMError(f"the language model cannot be reached: {self._unreached}")
        return ontology

    def _read(self, report: Report) -> TableReading:
        layout = analyse_table(report.table, table_context(report))
        labels = [label for label, _ in line_items(layout) if label.strip()]
        if not labels:
            return TableReading()
        try:
            reply = self.describe(
                known_kinds=list(self._kinds),
                labels=labels,
                header=[column.label for column in layout.columns],
                text=kind_words(report)[1],
            )
        except AdapterParseError as error:
            self._answered += 1
            self.refused.append(f"{report.id}: the model's reply cannot be read: {error}")
            return TableReading()
        except Exception as error:  # noqa: BLE001 - whatever a provider raises costs this table only
            self._unreached = str(error)
            self.refused.append(f"{report.id}: the model failed: {error}")
            return TableReading()
        self._answered += 1
        return self._checked(report, labels, reply.description)

    def _checked(self, report: Report, labels: list[str], schema: TableSchema) -> TableReading:
        words = " | ".join(kind_words(report)).lower()
        given = (" ".join(cue.lower().split()).strip("\"'") for cue in schema.cues)
        cues = tuple(cue for cue in dict.fromkeys(given) if _CUE.fullmatch(cue) and cue in words)
        kind = self._checked_kind(report, schema.kind.strip(), cues)
        label = " ".join(schema.kind_label.lower().split())
        return TableReading(kind, label or kind, cues, self._checked_items(report.id, labels, schema.items))

    def _checked_kind(self, report: Report, kind: str, cues: tuple[str, ...]) -> str:
        """The kind, or nothing where it is no name or nothing shows it: the rules choose then."""
        kind = next((known for known in self._kinds if _same_words(known, kind)), kind)
        if not _KIND.fullmatch(kind) or kind in RESERVED:
            self.refused.append(f"{report.id}: {kind!r} is not a name for a kind")
            return ""
        words = kind_words(report)
        free = kind not in _KNOWN or kind_detector().detect(*words) == GENERAL
        if kind not in kind_detector().shown(" | ".join(words)) and not (cues and free):
            self.refused.append(f"{report.id}: neither the table nor the text next to it shows that it is {kind!r}")
            return ""
        if kind not in self._kinds:
            self._kinds.append(kind)
        return kind

    def _checked_items(self, report_id: str, labels: list[str], items: list[LineItem]) -> dict[str, str]:
        same_as: dict[str, str] = {}
        taken = {line_item_key(label): label for label in labels}
        for item in items:
            key = line_item_key(item.name)
            if item.label not in labels:
                self.refused.append(f"{report_id}: the table has no label {item.label!r}")
            elif key and taken.setdefault(key, item.label) != item.label:
                rows = f"{item.label!r} and {taken[key]!r}"
                self.refused.append(f"{report_id}: {rows} are two rows of the table, not both {item.name!r}")
            elif key:
                same_as[item.label] = item.name
        return same_as


def _same_words(known: str, written: str) -> bool:
    """Whether a kind's name is written as words: ``cash_flows`` for ``CashFlow``."""
    return _LETTERS.sub("", written.lower()).rstrip("s") == known.lower().rstrip("s")
