"""Builds an ontology with the help of a language model, which reads one table at a time.

    >>> builder = OntologyBuilder()
    >>> ontology = builder(reports=[report])          # doctest: +SKIP
    >>> builder.refused                               # doctest: +SKIP
    ['a report: the table has no label "cash"']

What the model says is checked before it counts: a line item's label must stand in the table, a kind must be a CamelCase
word. What fails the check is refused and listed; a call that fails leaves the table to the rules and is listed too, so
that ``refused`` says how much of the ontology is not the model's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.classes import KINDS
from kg.errors import LMError
from kg.layout import analyse_table
from kg.ontology import MIN_REPORTS, Ontology, TableReading, build_ontology, kind_words, line_items, table_context
from kg.report import Report
from kg.vocabulary import RESERVED
from signatures.ontology import DescribeTable, TableSchema

_KIND = re.compile(r"[A-Z][A-Za-z]{2,39}")
_CUE = re.compile(r"[a-z][a-z0-9 &-]{2,39}")


class OntologyBuilder(dspy.Module):
    """Learns an ontology from reports: kinds and merged line items by the model, the counting by rules.

    Args:
        min_reports: In how many reports a line item must stand, at least 1.

    Attributes:
        refused: What the last call refused of the model's replies, one line each.
    """

    def __init__(self, min_reports: int = MIN_REPORTS) -> None:
        super().__init__()
        self.describe = dspy.Predict(DescribeTable)
        self.min_reports = min_reports
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
        self._kinds = [kind.name for kind in KINDS]
        self._answered, self._unreached = 0, ""
        ontology = build_ontology(reports, min_reports=self.min_reports, reader=self._read)
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
        return self._checked(report.id, labels, reply.description)

    def _checked(self, report_id: str, labels: list[str], schema: TableSchema) -> TableReading:
        kind = schema.kind.strip()
        if not _KIND.fullmatch(kind) or kind in RESERVED:
            self.refused.append(f"{report_id}: {kind!r} is not a name for a kind")
            kind = ""
        elif kind not in self._kinds:
            self._kinds.append(kind)
        same_as: dict[str, str] = {}
        for item in schema.items:
            if item.label not in labels:
                self.refused.append(f"{report_id}: the table has no label {item.label!r}")
            elif item.name.strip():
                same_as[item.label] = item.name
        cues = tuple(cue for cue in (cue.strip().lower() for cue in schema.cues) if _CUE.fullmatch(cue))
        return TableReading(kind, schema.kind_label.strip().lower() or kind, cues, same_as)
