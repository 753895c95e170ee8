"""``finpath graph`` and ``finpath ontology``: graphs of reports, growing graphs, and ontologies.

    $ finpath ontology build train.json --out ontology.ttl
    28 classes, 712 properties, 203 merges from 198 reports; sha256 6f44d9d66cbd...
    $ finpath graph check dev.json --ontology ontology.ttl --json check.json
    dev.json: 207 reports, 0 failed; covered operands in tables: 100.0%; operands in text: 99.2%; ...

Any file in ConvFinQA's format can be checked: of each record only ``id``, ``pre_text``, ``table`` and ``post_text``
are needed, and ``annotation.turn_program`` if present. A report that cannot be read or built is named and
counted; the others are checked.

**Gold operands.** Each different operand of a conversation's gold programs counts once. It is a *table operand* if its
digits occur in a cell, and otherwise a *text operand*. It is *covered* if the value of an observation, of a cell or of
a sentence, equals it or its negation. Signs are ignored because programs write losses with and without them; ``N%`` is
compared as N. Digits are searched in the plain text, independently of the graph's reader.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.main import (
    FILE,
    OUT_FILE,
    SOURCE,
    WriteFigures,
    data_option,
    finpath,
    json_option,
    lm_options,
    program_option,
)
from experiments.console import (
    format_table,
    progress,
    read_text,
    say,
    shorten,
    show,
    write_share,
    write_text,
)
from experiments.lms import LMConfig, lm_settings
from kg.errors import ConfigError, DataError, FinpathError, ProgramError

if TYPE_CHECKING:
    from kg.reports import Ontology, ReportGraph

DEFAULT_TRAIN = "sample:train"
_LINE_ITEMS = 40


@finpath.group("graph")
def graph_group() -> None:
    """Shows, queries and checks the graphs of reports; shows growing graphs and ontologies."""


@finpath.group("ontology")
def ontology_group() -> None:
    """Builds an ontology."""


@graph_group.command(
    "show",
    epilog="""
    finpath graph show income.csv notes.md > report.ttl
    finpath graph show MRLW/2020/page_49.pdf > report.ttl
    finpath graph show --program beam    # the ontology of a program
    finpath graph show ontology.ttl    # of `finpath ontology build`
    finpath graph show knowledge --history    # of `finpath ingest`
    """,
)
@click.argument(
    "about",
    type=FILE,
    nargs=-1,
    metavar="[REPORT|GRAPH|ONTOLOGY...]",
    help="the id of a report in --data, or a unique part of it; files of tables and text, which make one report; the "
    "folder of a growing graph; an ontology (.ttl); or nothing, for the ontology of --program",
)
@data_option
@program_option
@click.option("--history", is_flag=True, help="the updates of a growing graph, with sources and replaced values")
@json_option
def show_graph(about: tuple[str, ...], data: str, program: str, history: bool, write_figures: WriteFigures) -> None:
    """Shows the graph of a report as Turtle; an ontology; or companies, names, types and history of a growing graph."""
    from experiments.data import read_ontology
    from experiments.facade import kind_of

    if about and kind_of(about) == "growing graph":
        _show_growing(about[0], write_figures, history=history)
        return
    if history:
        raise ConfigError("history is of a growing graph: name its folder")
    if not about or (len(about) == 1 and about[0].endswith(".ttl")):
        _show_ontology(read_ontology(about[0], ()) if about else _ontology(program), write_figures)
        return
    graph = _graph_of(about, data, program)
    turtle = graph.to_turtle()
    show(turtle.rstrip())
    counts = {"triples": len(graph.graph), "figures": len(graph.observations), "coverage": graph.coverage}
    say(f"{counts['triples']} triples, {counts['figures']} figures of {graph.report.id}")
    write_figures({"report": graph.report.id, **counts, "turtle": turtle})


def _graph_of(documents: Sequence[str], data: str, program: str) -> ReportGraph:
    from experiments.facade import resolve_report
    from kg.reports import build_report_graph

    return build_report_graph(resolve_report(documents, data).report, _ontology(program))


def _ontology(program: str) -> Ontology:
    """The ontology of a program.

    Raises:
        ConfigError: The program has none, as it answers no questions about reports.
    """
    from experiments.facade import saved_program

    ontology: Ontology | None = getattr(saved_program(program), "ontology", None)
    if ontology is None:
        raise ConfigError(f"program must be one for reports, which has an ontology; got {program!r}")
    return ontology


def _show_ontology(ontology: Ontology, write_figures: WriteFigures) -> None:
    """Shows the classes of an ontology and its line items, those of most reports first."""
    classes = sorted(ontology.classes.values(), key=lambda kind: (-kind.reports, kind.name))
    items = sorted(ontology.properties.values(), key=lambda item: (-item.reports, item.name))
    rows = [[kind.name, kind.label, kind.reports] for kind in classes]
    show(format_table(["class", "label", "reports"], rows) + "\n")
    rows = [[i.name, i.unit, i.reports, shorten(", ".join(i.alt_labels), 60)] for i in items[:_LINE_ITEMS]]
    show(format_table(["line item", "unit", "reports", "also written"], rows))
    if len(items) > _LINE_ITEMS:
        show(f"... and {len(items) - _LINE_ITEMS} more")
    described = [{"name": i.name, "label": i.label, "unit": i.unit, "reports": i.reports} for i in items]
    write_figures({**_ontology_figures(ontology), "line_items": described})


def _show_growing(path: str, write_figures: WriteFigures, *, history: bool) -> None:
    """Shows companies with their names, types that wait, and the history; the figures have all types as JSON."""
    from experiments.facade import open_graph, types_as_json
    from kg.news import known_aliases, known_companies

    with open_graph(path, read_only=True) as opened:
        companies, facts, waiting = known_companies(opened), opened.facts(), opened.proposed.types
        aliases = {alias.name: str(entity) for alias, entity in known_aliases(opened)}
        entries = opened.history() if history else ()
        lines = [opened.in_words(entry) for entry in entries]
        types = opened.schema.types
    for company, names in companies.items():
        show(f"{company}; also {', '.join(names)}" if names else company)
    for kind in waiting:
        show(f"type {kind.name} waits (by {kind.created_by}): {kind.description}\n    why: {kind.justification}")
    updates = []
    for entry, line in zip(entries, lines, strict=True):
        show("\n    ".join([line, *filter(None, dict.fromkeys(entry.spans))]))
        updates.append({"number": entry.number, "document": entry.document, "line": line, "undone": entry.undone})
    show(f"{facts} facts about {len(companies)} companies in {path}")
    figures = {"facts": facts, "companies": companies, "aliases": aliases}
    content = {**types_as_json(types), "waiting": types_as_json(waiting)}
    write_figures({**content, **figures, "history": updates})


@graph_group.command(
    "query",
    epilog="""
    finpath graph query income.csv "SELECT ?year ?value { ?x kg:year ?year ; kg:net_sales ?value }"
    finpath graph query MRLW/2020/page_49.pdf query.rq --json rows.json
    """,
)
@click.argument(
    "words",
    type=FILE,
    nargs=-1,
    required=True,
    metavar="REPORT... QUERY",
    help="a report as in `finpath graph show`; then a SPARQL query, or the file of one (.rq)",
)
@data_option
@program_option
@json_option
def query_graph(words: tuple[str, ...], data: str, program: str, write_figures: WriteFigures) -> int:
    """Answers a SPARQL query over the graph of a report: SELECT, ASK, CONSTRUCT or DESCRIBE.

    The exit code is 1 if there is no result.
    """
    from kg.reports import query_report

    *documents, text = words
    if not documents:
        raise click.UsageError("give a report and a query")
    query = read_text(text) if text.endswith(".rq") else text
    result = query_report(_graph_of(documents, data, program), query)
    if result.turtle is not None:
        show(result.turtle.rstrip())
    elif result.rows:
        show(format_table(result.names, result.rows))
    else:
        show("no result")
    rows = [dict(zip(result.names, row, strict=True)) for row in result.rows]
    write_figures({"rows": rows, "turtle": result.turtle})
    return 0 if result.rows or result.turtle else 1


@ontology_group.command("build", epilog="finpath ontology build train.json --out ontology.ttl")
@click.argument("sources", type=FILE, nargs=-1, metavar="[TRAIN...]", help=SOURCE)
@click.option("--out", type=OUT_FILE, metavar="FILE", help="the Turtle file (default: the terminal)")
@lm_options
@json_option
def build(sources: tuple[str, ...], out: str | None, lm: LMConfig, write_figures: WriteFigures) -> None:
    """Learns the ontology of a train split and writes it as Turtle.

    Classes and line items are learned from tables and texts by rules and counting or, with --lm, by a typed DSPy
    module.
    """
    from experiments.data import train_reports
    from kg.reports import build_ontology

    train = sources or (DEFAULT_TRAIN,)
    reports, refused = list(train_reports(train)), list[str]()
    if not reports:
        raise DataError("no report can be read", file=", ".join(train))
    if lm.is_none:
        ontology = build_ontology(reports)
    else:
        import dspy

        from programs.ontology import OntologyBuilder

        builder = OntologyBuilder()
        with dspy.context(**lm_settings(lm)):
            ontology = builder(reports=reports)
        refused = builder.refused
    if out:
        write_text(out, ontology.to_turtle())
    else:
        show(ontology.to_turtle())
    for line in refused:
        say(f"refused: {line}")
    figures = {**_ontology_figures(ontology), "reports": len(reports), "refused": refused}
    say(
        f"{figures['classes']} classes, {figures['properties']} properties, {figures['merges']} merges from "
        f"{len(reports)} reports; sha256 {ontology.sha256}"
    )
    write_figures(figures)


def _ontology_figures(ontology: Ontology) -> dict[str, object]:
    return {
        "sha256": ontology.sha256,
        "classes": len(ontology.classes),
        "properties": len(ontology.properties),
        "merges": sum(len(item.alt_labels) for item in ontology.properties.values()),
        "aligned_properties": sum(bool(item.close_match) for item in ontology.properties.values()),
    }


@graph_group.command("check", epilog="finpath graph check dev.json --ontology ontology.ttl --json check.json")
@click.argument("sources", type=FILE, nargs=-1, required=True, metavar="FILE...", help=SOURCE)
@click.option(
    "--ontology",
    type=FILE,
    metavar="TTL",
    help=f"an ontology as `finpath ontology build` writes it; without one it is learned from {DEFAULT_TRAIN}",
)
@json_option
def check_graphs(sources: tuple[str, ...], ontology: str | None, write_figures: WriteFigures) -> int:
    """Builds the graph of every report of some files and reports coverage, conformance and seconds.

    The graphs are checked against SHACL shapes if pyshacl is installed. The exit code is 1 if a report failed or
    violates the shapes.
    """
    from experiments.data import read_ontology
    from kg.reports import can_validate

    if not can_validate():
        say("pyshacl is not installed: shapes are not checked (pip install pyshacl)")
    figures = check_files(sources, read_ontology(ontology, [DEFAULT_TRAIN]))
    for line in [*figures["failures"], *figures["violations"]]:
        say(line)
    shapes, seconds = figures["shacl_violations"], figures["seconds_per_report_p50"] or 0
    covered = {
        "operands in tables": figures["table_operand_coverage"],
        "operands in text": figures["text_operand_coverage"],
        "line items": figures["ontology_coverage"],
    }
    shares = (f"{name}: {'no gold' if share is None else write_share(share)}" for name, share in covered.items())
    show(
        f"{', '.join(sources)}: {figures['reports']} reports, {figures['failed_reports']} failed; "
        f"covered {'; '.join(shares)}; SHACL violations: {'not checked' if shapes is None else shapes}; "
        f"{1000 * seconds:.1f} ms a report at the median"
    )
    write_figures(figures)
    return 1 if figures["failed_reports"] or figures["shacl_violations"] else 0


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
    from experiments.data import read_records_of, read_report
    from kg.reports import build_report_graph, can_validate, violations

    records = [record for source in sources for record in read_records_of(source)]
    shacl = shacl and can_validate()
    lists: dict[str, list[Any]] = {name: [] for name in ("failures", "violations", "missed_operands")}
    tallies: dict[str, list[float]] = {name: [] for name in ("table", "text", "seconds", "rows", "unmapped")}
    with progress(len(records), "reports", "graphs") as bar:
        for name, place, record in records:
            bar.update()
            try:
                report, start = read_report(record), time.perf_counter()
                graph = build_report_graph(report, ontology)
            except FinpathError as error:
                lists["failures"].append(f"{name}: {place}: {error}")
                continue
            tallies["seconds"].append(time.perf_counter() - start)
            tallies["rows"].append(graph.rows)
            tallies["unmapped"].append(len(graph.unmapped))
            for operand, where, is_covered in _operands(record, graph):
                tallies[where].append(is_covered)
                lists["missed_operands"] += [] if is_covered else [f"{report.id}: {operand} in the {where}"]
            broken = violations(graph.graph) if shacl else ()
            lists["violations"] += [f"{report.id}: {violation}" for violation in broken]
    rows = sum(tallies["rows"])
    return {
        "reports": len(records),
        "failed_reports": len(lists["failures"]),
        **{
            f"{place}_operand_coverage": fmean(tallies[place]) if tallies[place] else None
            for place in ("table", "text")
        },
        "ontology_coverage": 1 - sum(tallies["unmapped"]) / rows if rows else None,
        "shacl_violations": len(lists["violations"]) if shacl else None,
        "seconds_per_report_p50": median(tallies["seconds"]) if tallies["seconds"] else None,
        "ontology_sha256": ontology.sha256,
        **lists,
    }


def _operands(record: Any, graph: ReportGraph) -> Iterator[tuple[str, str, bool]]:
    """Yields each figure of gold programs with its place, ``table`` or ``text``, and whether the graph covers it."""
    from kg.reports import CellSource
    from kg.search import Derivation

    values: dict[bool, set[Decimal]] = {True: set(), False: set()}
    for observation in graph.observations:
        values[isinstance(observation.source, CellSource)].add(abs(observation.quantity.value))
    table = " | ".join(" | ".join(row) for row in graph.report.table).replace(",", "")
    annotation = record.get("annotation")
    programs = annotation.get("turn_program") if isinstance(annotation, dict) else None
    operands: dict[str, None] = {}
    for program in programs if isinstance(programs, list) else ():
        with suppress(ProgramError):  # unreadable programs have no figures
            operands |= dict.fromkeys(number.text for number in Derivation.parse(str(program)).numbers)
    for operand in operands:
        digits = re.escape(operand.lstrip("-").rstrip("%"))
        in_table = re.search(rf"(?<!\d)(?<!\d\.){digits}(?!\d|\.\d)", table) is not None
        yield operand, "table" if in_table else "text", abs(Decimal(operand.rstrip("%"))) in values[in_table]
