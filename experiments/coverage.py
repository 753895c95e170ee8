"""Report graphs of whole files, measured: failures, coverage of gold operands, conformance and seconds.

    >>> check_files(["sample:dev"], ontology)["table_operand_coverage"]
    1.0

**Gold operands.** Each different operand of a conversation's gold programs counts once. It is a *table operand* if its
digits occur in a cell, and otherwise a *text operand*. It is *covered* if the value of an observation, of a cell or of
a sentence, equals it or its negation. Signs are ignored because programs write losses with and without them; ``N%`` is
compared as N. Digits are searched in the plain text, independently of the graph's reader.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from statistics import fmean, median
from typing import Any

from experiments.console import progress
from experiments.data import read_records_of, read_report
from kg.errors import FinpathError, ProgramError
from kg.reports import CellSource, Ontology, ReportGraph, build_report_graph, can_validate, violations
from kg.search import Derivation


@dataclass
class _Tally:
    """Counts over reports; of operands by their place, ``table`` or ``text``, whether each is covered."""

    failures: list[str] = field(default_factory=list)
    operands: dict[str, list[bool]] = field(default_factory=lambda: {"table": [], "text": []})
    missed: list[str] = field(default_factory=list)
    rows: int = 0
    mapped: int = 0
    violations: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def operands_of(programs: Iterable[str]) -> list[str]:
    """The different figures of some programs in the order of their first use; unreadable programs have none."""
    operands: dict[str, None] = {}
    for program in programs:
        try:
            operands |= dict.fromkeys(number.text for number in Derivation.parse(program).numbers)
        except ProgramError:
            continue
    return list(operands)


def occurs_in(operand: str, text: str) -> bool:
    """Whether the operand's digits, without sign and percent sign, occur in a text as a separate number."""
    digits = operand.lstrip("-").rstrip("%")
    return re.search(rf"(?<!\d)(?<!\d\.){re.escape(digits)}(?!\d|\.\d)", text.replace(",", "")) is not None


def operand_coverage(graph: ReportGraph, programs: Sequence[str]) -> list[tuple[str, str, bool]]:
    """Returns each operand of programs with its place, ``table`` or ``text``, and whether the graph covers it."""
    values: dict[str, set[Decimal]] = {"table": set(), "text": set()}
    for one in graph.observations:
        values["table" if isinstance(one.source, CellSource) else "text"].add(abs(one.quantity.value))
    table = " | ".join(" | ".join(row) for row in graph.report.table)
    places = [(operand, "table" if occurs_in(operand, table) else "text") for operand in operands_of(programs)]
    return [(operand, place, abs(Decimal(operand.rstrip("%"))) in values[place]) for operand, place in places]


def check_files(sources: Sequence[str | Path], ontology: Ontology, *, shacl: bool = True) -> dict[str, Any]:
    """Builds the graph of every report of some files.

    Args:
        sources: Files, folders or archives in ConvFinQA's format.
        ontology: The frozen ontology.
        shacl: Whether every graph is checked against the shapes, if pyshacl is installed; it takes longer than building
            it.

    Returns:
        ``reports``: their number. ``failed_reports``: the number that could not be read or built, with the reasons in
        ``failures``. ``table_operand_coverage``, ``text_operand_coverage``: shares in [0, 1] of gold operands that are
        covered, ``None`` without gold; ``missed_operands``: the other ones. ``ontology_coverage``: share of all line
        items that the ontology covers. ``shacl_violations``: their number, ``None`` if not checked.
        ``seconds_per_report_p50``: median wall time to build one report's graph.

    Raises:
        DataError: A file cannot be read at all.
    """
    tally = _Tally()
    records = [(name, place, record) for source in sources for name, place, record in read_records_of(source)]
    shacl = shacl and can_validate()
    bar = progress(len(records), "reports", "graphs")
    for name, place, record in records:
        try:
            _check_record(record, ontology, tally, shacl=shacl)
        except FinpathError as error:
            tally.failures.append(f"{name}: {place}: {error}")
        bar.update()
    bar.close()
    return {
        "reports": len(records),
        "failed_reports": len(tally.failures),
        **{f"{place}_operand_coverage": fmean(own) if own else None for place, own in tally.operands.items()},
        "ontology_coverage": tally.mapped / tally.rows if tally.rows else None,
        "shacl_violations": len(tally.violations) if shacl else None,
        "seconds_per_report_p50": median(tally.seconds) if tally.seconds else None,
        "ontology_sha256": ontology.sha256,
        "failures": tally.failures,
        "violations": tally.violations,
        "missed_operands": tally.missed,
    }


def _check_record(record: Any, ontology: Ontology, tally: _Tally, *, shacl: bool) -> None:
    report = read_report(record)
    start = time.perf_counter()
    graph = build_report_graph(report, ontology)
    tally.seconds.append(time.perf_counter() - start)
    tally.rows += graph.rows
    tally.mapped += graph.rows - len(graph.unmapped)
    annotation = record.get("annotation")
    programs = annotation.get("turn_program") if isinstance(annotation, dict) else None
    texts = [program for program in programs if isinstance(program, str)] if isinstance(programs, list) else []
    for operand, place, covered in operand_coverage(graph, texts):
        tally.operands[place].append(covered)
        tally.missed += [] if covered else [f"{report.id}: {operand} in the {place}"]
    if shacl:
        tally.violations += [f"{report.id}: {violation}" for violation in violations(graph.graph)]
