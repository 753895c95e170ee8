"""``finpath graph check``: builds report graphs and measures them.

    $ finpath graph check dev.json --ontology ontology.ttl --json check.json
    dev.json: 207 reports, 0 failed; operands found: 100.0% in tables, 99.2% in text; ...

Any file in ConvFinQA's format can be checked: of each record only ``id``, ``pre_text``, ``table`` and ``post_text``
are needed, and ``annotation.turn_program`` if present. A report that cannot be read or built is named and
counted; the others are checked.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import click

from experiments.commands.graphs.ontology import ontology_options, read_ontology
from experiments.commands.graphs.operand_coverage import OperandCoverage, operand_coverage
from experiments.commands.groups import Group
from experiments.commands.options import FILE, WriteFigures, json_option, option
from experiments.console import progress, say, show, write_share
from experiments.data.reports import SOURCE_HELP, read_records_of, read_report
from kg.errors import FinpathError
from kg.reports import Ontology, build_report_graph, can_validate, violations


@click.group(cls=Group)
def command() -> None:
    """Builds the graphs of reports and checks them."""


@command.command("check", epilog="finpath graph check dev.json --ontology ontology.ttl --json check.json")
@click.argument("sources", type=FILE, nargs=-1, required=True, metavar="FILE...", help=SOURCE_HELP)
@ontology_options
@option(
    "--unmapped",
    type=click.Choice(["keep", "fail"]),
    default="keep",
    help="rows that the ontology does not cover: keep them as the report's own (default), or fail the report",
)
@option("--no-shacl", is_flag=True, help="do not check the graphs against the SHACL shapes")
@json_option
def check(
    sources: tuple[str, ...],
    ontology: str | None,
    train: tuple[str, ...],
    unmapped: Literal["keep", "fail"],
    no_shacl: bool,
    write_figures: WriteFigures,
) -> int:
    """Builds the graph of every report of some files and reports coverage, conformance and seconds.

    The exit code is 1 if a report failed or violates the shapes.
    """
    found = read_ontology(ontology, train)
    if not no_shacl and not can_validate():
        say("pyshacl is not installed: shapes are not checked (pip install pyshacl)")
    figures = check_files(sources, found, unmapped=unmapped, shacl=not no_shacl)
    for line in [*figures["failures"], *figures["violations"]]:
        say(line)
    show(
        f"{', '.join(sources)}: {figures['reports']} reports, {figures['failed_reports']} failed; operands found: "
        f"{_percent(figures['table_operand_coverage'])} in tables, "
        f"{_percent(figures['text_operand_coverage'])} in text; "
        f"line items covered: {_percent(figures['ontology_coverage'])}; SHACL violations: "
        f"{'not checked' if figures['shacl_violations'] is None else figures['shacl_violations']}; "
        f"{1000 * (figures['seconds_per_report_p50'] or 0):.1f} ms a report at the median"
    )
    write_figures(figures)
    return 1 if figures["failed_reports"] or figures["shacl_violations"] else 0


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
    unmapped: Literal["keep", "fail"] = "keep",
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
        ``experiments.commands.graphs.operand_coverage``), ``None`` without gold; with their counts.
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


def _check_record(
    record: Any, ontology: Ontology, unmapped: Literal["keep", "fail"], shacl: bool, tally: _Tally
) -> None:
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


def _percent(share: float | None) -> str:
    return "no gold" if share is None else write_share(share)
