"""The reports of conversation files.

>>> find_report("ACME/2020/page_7.pdf", "sample").table[0]
('', '2020', '2019')
"""

from __future__ import annotations

from pathlib import Path

from experiments.data.conversations import find_part, read_records, shared_report
from kg.errors import DataError
from kg.reports import Report, document_of


def find_report(reference: str, source: str) -> Report:
    """The one report of a source that has an id, or a part of it.

    Args:
        reference: A report's or conversation's id, or a part of a conversation's id.
        source: Conversations, as :func:`experiments.data.conversations.load_conversations` takes them.

    Raises:
        DataError: No report or several have it, or the source or the report cannot be read.
    """
    part = find_part(source)
    rows = read_records(part.read(), part.name)
    by_id = {row["id"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)}
    exact = [row for name, row in by_id.items() if reference in (name, document_of(name))]
    matches = exact or [row for name, row in by_id.items() if reference in name]
    known: dict[str, Report] = {}
    reports = {report.id: report for report in (shared_report(row, known) for row in matches)}
    if len(reports) != 1:
        some = ", ".join(list(reports or dict.fromkeys(map(document_of, by_id)))[:3])
        there = "is no file and " if Path(reference).suffix else ""
        raise DataError(
            f"{reference!r} {there}names {len(reports)} reports, it must name one ({some}, ...)", file=source
        )
    return next(iter(reports.values()))
