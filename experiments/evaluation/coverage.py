"""Report graphs of whole files, measured: failures, coverage of gold operands, conformance and seconds.

    >>> stands_in("-26", "$ -26 ( 26 )"), stands_in("26", "$ 1926")
    (True, False)

**Gold operands.** Each different operand of a conversation's gold programs counts once. It is a *table operand* if its
digits occur in a cell, and otherwise a *text operand*. Text operands without any occurrence are also counted as
``absent_operands``. A table operand is *covered* if the value of a cell's observation equals it or its negation;
a text operand is covered by the observation of a sentence. Signs are ignored because programs write losses with and
without them; ``N%`` is compared as N. Digits are searched in the plain text, independently of the graph's reader.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from experiments.console import progress
from experiments.data import read_records_of, read_report
from kg.errors import FinpathError, ProgramError
from kg.reports import (
    CellSource,
    Ontology,
    ReportGraph,
    Unmapped,
    build_report_graph,
    can_validate,
    violations,
)
from kg.search import Derivation


@dataclass(frozen=True)
class OperandCoverage:
    """Counts of gold operands; they add up over reports.

    Attributes:
        table: Operands whose digits occur in a cell.
        table_covered: Those of them that a cell's observation holds.
        text: All other operands.
        text_covered: Those of them that a sentence's observation holds.
        absent: Operands (counted in ``text`` too) whose digits do not occur in the report.
        missed: Operands that are not covered, each with its place.
    """

    table: int = 0
    table_covered: int = 0
    text: int = 0
    text_covered: int = 0
    absent: int = 0
    missed: tuple[str, ...] = ()

    def __add__(self, other: OperandCoverage) -> OperandCoverage:
        return OperandCoverage(
            self.table + other.table,
            self.table_covered + other.table_covered,
            self.text + other.text,
            self.text_covered + other.text_covered,
            self.absent + other.absent,
            self.missed + other.missed,
        )


def operands(programs: Iterable[str]) -> list[str]:
    """The different figures of some programs in the order of their first use; unreadable programs have none."""
    found: dict[str, None] = {}
    for program in programs:
        try:
            numbers = Derivation.parse(program).numbers
        except ProgramError:
            continue
        found |= dict.fromkeys(number.text for number in numbers)
    return list(found)


def stands_in(operand: str, text: str) -> bool:
    """Whether the operand's digits, without sign and percent sign, occur in a text as a separate number."""
    digits = operand.lstrip("-").rstrip("%")
    return re.search(rf"(?<!\d)(?<!\d\.){re.escape(digits)}(?!\d|\.\d)", text.replace(",", "")) is not None


def operand_coverage(graph: ReportGraph, programs: Sequence[str]) -> OperandCoverage:
    """Counts the operands of programs that a graph covers, by the module's rule."""
    cells = {abs(o.quantity.value) for o in graph.observations if isinstance(o.source, CellSource)}
    phrases = {abs(o.quantity.value) for o in graph.observations if not isinstance(o.source, CellSource)}
    report = graph.report
    table = " | ".join(" | ".join(row) for row in report.table)
    text = " | ".join(report.sentences)
    total = OperandCoverage()
    for operand in operands(programs):
        value = abs(Decimal(operand.rstrip("%")))
        if stands_in(operand, table):
            covered = value in cells
            missed = () if covered else (f"{report.id}: {operand} in the table",)
            total += OperandCoverage(table=1, table_covered=covered, missed=missed)
        else:
            covered, absent = value in phrases, not stands_in(operand, text)
            missed = () if covered else (f"{report.id}: {operand} {'nowhere' if absent else 'in the text'}",)
            total += OperandCoverage(text=1, text_covered=covered, absent=absent, missed=missed)
    return total


@dataclass
class _Tally:
    reports: int = 0
    failures: list[str] = field(default_factory=list)
    operands: OperandCoverage = field(default_factory=OperandCoverage)
    with_gold: int = 0
    rows: int = 0
    mapped: int = 0
    observations: int = 0
    violations: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def check_files(
    sources: Sequence[str | Path],
    ontology: Ontology,
    *,
    unmapped: Unmapped = "keep",
    shacl: bool = True,
) -> dict[str, Any]:
    """Builds the graph of every report of some files.

    Args:
        sources: Files, folders or archives in ConvFinQA's format.
        ontology: The frozen ontology.
        unmapped: ``fail`` counts a report as failed when the ontology does not cover all of its rows.
        shacl: Whether every graph is checked against the shapes, which takes longer than building it.

    Returns:
        ``reports``: their number. ``failed_reports``: the number that could not be read or built, with the reasons in
        ``failures``.
        ``table_operand_coverage``, ``text_operand_coverage``: shares in [0, 1] of gold operands
        found, ``None`` without gold; with their counts.
        ``ontology_coverage``:
        share of all line items that the ontology covers. ``shacl_violations``: their number, ``None`` if not checked.
        ``seconds_per_report_p50``, ``seconds_per_report_p95``: wall time to build one report's graph.

    Raises:
        DataError: A file cannot be read at all.
    """
    tally = _Tally()
    records = [(name, place, record) for source in sources for name, place, record in read_records_of(source)]
    bar = progress(len(records), "reports", "graphs")
    for name, place, record in records:
        tally.reports += 1
        try:
            _check_record(record, ontology, unmapped, shacl, tally)
        except FinpathError as error:
            tally.failures.append(f"{name}: {place}: {error}")
        bar.update()
    bar.close()
    return _figures(tally, ontology, shacl)


def _check_record(record: Any, ontology: Ontology, unmapped: Unmapped, shacl: bool, tally: _Tally) -> None:
    report = read_report(record)
    start = time.perf_counter()
    graph = build_report_graph(report, ontology, unmapped=unmapped)
    tally.seconds.append(time.perf_counter() - start)
    tally.rows += graph.rows
    tally.mapped += graph.rows - len(graph.unmapped)
    tally.observations += len(graph.observations)
    annotation = record.get("annotation")
    programs = annotation.get("turn_program") if isinstance(annotation, dict) else None
    if isinstance(programs, list):
        tally.with_gold += 1
        tally.operands += operand_coverage(graph, [program for program in programs if isinstance(program, str)])
    if shacl and can_validate():
        tally.violations += [f"{report.id}: {violation}" for violation in violations(graph.graph)]


def _figures(tally: _Tally, ontology: Ontology, shacl: bool) -> dict[str, Any]:
    operands = tally.operands
    seconds = sorted(tally.seconds)
    return {
        "reports": tally.reports,
        "failed_reports": len(tally.failures),
        "table_operand_coverage": _share(operands.table_covered, operands.table),
        "text_operand_coverage": _share(operands.text_covered, operands.text),
        "ontology_coverage": _share(tally.mapped, tally.rows),
        "shacl_violations": len(tally.violations) if shacl and can_validate() else None,
        "seconds_per_report_p50": statistics.median(seconds) if seconds else None,
        "seconds_per_report_p95": seconds[int(0.95 * (len(seconds) - 1))] if seconds else None,
        "reports_with_gold": tally.with_gold,
        "table_operands": operands.table,
        "text_operands": operands.text,
        "absent_operands": operands.absent,
        "line_items": tally.rows,
        "observations": tally.observations,
        "ontology_sha256": ontology.sha256,
        "failures": tally.failures,
        "violations": tally.violations,
        "missed_operands": list(operands.missed),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
