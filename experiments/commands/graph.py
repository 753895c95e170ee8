"""``finpath graph check`` and ``finpath ontology``: builds report graphs and ontologies, and says how good they are.

    $ finpath graph check dev.json --ontology ontology.ttl --json check.json
    dev.json: 207 reports, 0 failed; operands found: 100.0% in tables, 99.2% in text; ...

Any file in ConvFinQA's format will do: of each record only ``id``, ``pre_text``, ``table`` and ``post_text`` are
needed, and ``annotation.turn_program`` where it is there. A report that cannot be read or built is named and counted;
the others are checked.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from experiments.commands.ontology import add_ontology_commands, add_ontology_options, read_ontology
from experiments.commands.operand_coverage import OperandCoverage, operand_coverage
from experiments.console import progress, say, show, write_json
from experiments.data.reports import SOURCE_HELP, read_records_of, read_report
from kg.errors import FinpathError
from kg.reports import Ontology, build_report_graph, can_validate, violations

__all__ = ["add_graph_commands", "add_ontology_commands", "check_files"]


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
        ``reports``: how many there are. ``failed_reports``: how many could not be read or built; ``failures`` says why.
        ``table_operand_coverage``, ``text_operand_coverage``: shares in [0, 1] of gold operands found (the rule is in
        ``experiments.commands.operand_coverage``), ``None`` without gold; with the counts behind them.
        ``ontology_coverage``:
        share of all line items that the ontology covers. ``shacl_violations``: how many, ``None`` if not checked.
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


def add_graph_commands(subparsers: Any) -> None:
    """Adds ``graph check`` to the ``finpath`` command."""
    actions = subparsers.add_parser("graph", help="Builds the graph of reports and checks it").add_subparsers(
        metavar="ACTION", required=True
    )
    parser = actions.add_parser(
        "check",
        help="builds every report's graph: coverage, conformance, seconds",
        description="Builds the graph of every report of some files and says what it found and what it lost.",
        epilog="example: finpath graph check dev.json --ontology ontology.ttl --json check.json",
    )
    parser.add_argument("sources", nargs="+", metavar="FILE", help=SOURCE_HELP)
    add_ontology_options(parser)
    parser.add_argument(
        "--unmapped",
        choices=("keep", "fail"),
        default="keep",
        help="rows that the ontology does not cover: keep them as the report's own (default), or fail the report",
    )
    parser.add_argument("--no-shacl", action="store_true", help="do not check the graphs against the SHACL shapes")
    parser.add_argument("--json", metavar="OUT", help="write the figures to OUT (- for the terminal)")
    parser.set_defaults(run=_run_check)


def _run_check(options: argparse.Namespace) -> int:
    ontology = read_ontology(options.ontology, options.train)
    shacl = not options.no_shacl
    if shacl and not can_validate():
        say("pyshacl is not installed: shapes are not checked (pip install pyshacl)")
    figures = check_files(options.sources, ontology, unmapped=options.unmapped, shacl=shacl)
    for line in [*figures["failures"], *figures["violations"]]:
        say(line)
    names = ", ".join(map(str, options.sources))
    show(
        f"{names}: {figures['reports']} reports, {figures['failed_reports']} failed; operands found: "
        f"{_percent(figures['table_operand_coverage'])} in tables, "
        f"{_percent(figures['text_operand_coverage'])} in text; "
        f"line items covered: {_percent(figures['ontology_coverage'])}; SHACL violations: "
        f"{'not checked' if figures['shacl_violations'] is None else figures['shacl_violations']}; "
        f"{1000 * (figures['seconds_per_report_p50'] or 0):.1f} ms a report at the median"
    )
    if options.json:
        write_json(options.json, figures)
    return 1 if figures["failed_reports"] or figures["shacl_violations"] else 0


def _percent(share: float | None) -> str:
    return "no gold" if share is None else f"{100 * share:.1f}%"
