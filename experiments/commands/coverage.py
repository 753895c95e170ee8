"""Report graphs of whole files, measured: failures, coverage, conformance and seconds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.commands.operand_coverage import OperandCoverage, operand_coverage
from experiments.console import progress
from experiments.data import read_records_of, read_report
from kg.errors import FinpathError
from kg.ontology import Ontology
from kg.report_graphs import Unmapped, build_report_graph, can_validate, violations


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
        ``table_operand_coverage``, ``text_operand_coverage``: shares in [0, 1] of gold operands found (the rule is in
        ``experiments.commands.operand_coverage``), ``None`` without gold; with their counts.
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
