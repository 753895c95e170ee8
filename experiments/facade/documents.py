"""Reports that the words of a command line name: by id, or built from files of tables and text.

>>> resolve_report(["income.csv", "notes.md"], "sample:dev").title
'report income.csv + notes.md: 12 table rows, 7 sentences'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from experiments.console import read_object
from experiments.data import find_report, read_report
from experiments.pages import describe_source
from kg.errors import DataError
from kg.readers import is_file_list, read_files
from kg.reports import Report, Source

_MOST_ROWS = 40


@dataclass(frozen=True, repr=False)
class FoundReport:
    """A report, and descriptions of the places of its figures.

    Attributes:
        report: The report.
        describe: The place of a figure, with the text around it.
        problems: Parts that could not be read.
    """

    report: Report
    describe: Callable[[Source], str] = field(repr=False)
    problems: tuple[str, ...] = ()

    def __repr__(self) -> str:
        tables = len(self.report.tables) if self.report.table else 0
        return f"<{self.title}, {tables} tables, {len(self.problems)} problems>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.report.table[:_MOST_ROWS]
        )
        more = (
            f"<p>and {len(self.report.table) - _MOST_ROWS} more rows</p>" if len(self.report.table) > _MOST_ROWS else ""
        )
        return f"<p>{escape(self.title)}</p><table>{rows}</table>{more}"

    @property
    def title(self) -> str:
        """The report in one line."""
        sizes = f"{len(self.report.table)} table rows, {len(self.report.sentences)} sentences"
        return f"report {self.report.id}: {sizes}"


def resolve_report(targets: Sequence[str], data: str) -> FoundReport:
    """The report that the words of a command line name.

    Args:
        targets: Files with tables and text, which make one report; or a JSON file with one report, or an id as
            :func:`experiments.data.conversations.find_report` takes it.
        data: Where an id is looked up.

    Raises:
        DataError: A file cannot be read or holds nothing, or the words name no report or several.
    """
    if is_file_list(targets):
        own = read_files(targets)
        return FoundReport(own.report, own.describe, own.problems)
    if len(targets) != 1:
        raise DataError(f"one report or files of tables and text must be named, got {', '.join(targets)}")
    path = Path(targets[0])
    report = _read_report(path) if path.suffix == ".json" else find_report(targets[0], data)
    return FoundReport(report, lambda source: describe_source(source, report))


def _read_report(path: Path) -> Report:
    record = read_object(path, "id, pre_text, table and post_text")
    try:
        return read_report(record)
    except DataError as error:
        raise DataError(error.rule, file=str(path), place=error.place) from error


def read(*documents: Any) -> FoundReport:
    """A report of a user's own, read from files; several files make one report.

    Args:
        documents: Paths of files, the id of a report of the sample, the JSON object of a report, a ``Report``, or what
            this function returned.

    Raises:
        DataError: A file cannot be read or holds nothing, or there is no such report.
    """
    if len(documents) == 1 and isinstance(documents[0], FoundReport):
        return documents[0]
    if len(documents) == 1 and isinstance(documents[0], Report | Mapping):
        given = documents[0]
        report = given if isinstance(given, Report) else Report.from_dict(given)
        return FoundReport(report, lambda source: describe_source(source, report))
    return resolve_report([str(one) for one in documents], "sample:dev")
