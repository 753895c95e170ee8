"""``finpath graph``: builds report graphs, shows and queries one, and measures many.

    $ finpath graph check dev.json --ontology ontology.ttl --json check.json
    dev.json: 207 reports, 0 failed; operands found: 100.0% in tables, 99.2% in text; ...

Any file in ConvFinQA's format can be checked: of each record only ``id``, ``pre_text``, ``table`` and ``post_text``
are needed, and ``annotation.turn_program`` if present. A report that cannot be read or built is named and
counted; the others are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from experiments.commands.ontology import ontology_options, program_ontology
from experiments.commands.options import (
    FILE,
    OUT_FILE,
    SOURCE,
    Group,
    WriteFigures,
    json_option,
    options,
)
from experiments.console import format_table, say, show, write_share
from experiments.files import read_text, write_text
from experiments.terminal import terminal_width

if TYPE_CHECKING:
    from kg.report_graphs import ReportGraph


@click.group(cls=Group)
def command() -> None:
    """Builds the graphs of reports, shows, queries and checks them."""


_about = click.argument(
    "documents",
    type=FILE,
    nargs=-1,
    required=True,
    metavar="REPORT...",
    help="the id of a report in --data, or a unique part of it; or files of tables and text, which make one report",
)
_graph_options = options(
    click.option("--data", type=FILE, metavar="SOURCE", default="sample:dev", help=f"{SOURCE} (sample:dev)"),
    click.option(
        "--program", type=FILE, default="beam", metavar="PROGRAM", help="the program with the ontology (beam)"
    ),
)


@command.command(
    "show",
    epilog="""
    finpath graph show income.csv notes.md > report.ttl
    finpath graph show MRLW/2020/page_49.pdf --out report.ttl
    """,
)
@_about
@_graph_options
@click.option("--out", type=OUT_FILE, metavar="FILE", help="the Turtle file (standard output)")
@json_option
def show_graph(
    documents: tuple[str, ...], data: str, program: str, out: str | None, write_figures: WriteFigures
) -> None:
    """Shows the graph of a report as Turtle."""
    graph = _graph_of(documents, data, program)
    turtle = graph.to_turtle()
    if out is None:
        show(turtle.rstrip())
    else:
        write_text(out, turtle)
    counts = {"triples": len(graph.graph), "figures": len(graph.observations), "coverage": graph.coverage}
    say(f"{counts['triples']} triples, {counts['figures']} figures of {graph.report.id}")
    write_figures({"report": graph.report.id, **counts, "turtle": turtle})


@command.command(
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
@_graph_options
@json_option
def query_graph(words: tuple[str, ...], data: str, program: str, write_figures: WriteFigures) -> int:
    """Answers a SPARQL query over the graph of a report: SELECT, ASK, CONSTRUCT or DESCRIBE.

    The exit code is 1 if there is no result.
    """
    from kg.report_graphs import query_report

    *documents, text = words
    if not documents:
        raise click.UsageError("give a report and a query")
    query = read_text(text) if text.endswith(".rq") else text
    found = query_report(_graph_of(documents, data, program), query)
    if found.turtle is not None:
        show(found.turtle.rstrip())
    elif found.rows:
        show(format_table(found.names, found.rows, width=terminal_width()))
    else:
        show("no result")
    rows = [dict(zip(found.names, row, strict=True)) for row in found.rows]
    write_figures({"rows": rows, "turtle": found.turtle})
    return 0 if found.rows or found.turtle else 1


def _graph_of(documents: Sequence[str], data: str, program: str) -> ReportGraph:
    from experiments.facade import resolve_report
    from kg.report_graphs import build_report_graph

    return build_report_graph(resolve_report(documents, data).report, program_ontology(program))


@command.command("check", epilog="finpath graph check dev.json --ontology ontology.ttl --json check.json")
@click.argument("sources", type=FILE, nargs=-1, required=True, metavar="FILE...", help=SOURCE)
@ontology_options
@click.option("--no-shacl", is_flag=True, help="do not check the graphs against the SHACL shapes")
@json_option
def check(
    sources: tuple[str, ...],
    ontology: str | None,
    train: tuple[str, ...],
    no_shacl: bool,
    write_figures: WriteFigures,
) -> int:
    """Builds the graph of every report of some files and reports coverage, conformance and seconds.

    The exit code is 1 if a report failed or violates the shapes.
    """
    from experiments.commands.coverage import check_files
    from experiments.data import read_ontology
    from kg.report_graphs import can_validate

    found = read_ontology(ontology, train)
    if not no_shacl and not can_validate():
        say("pyshacl is not installed: shapes are not checked (pip install pyshacl)")
    figures = check_files(sources, found, shacl=not no_shacl)
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


def _percent(share: float | None) -> str:
    return "no gold" if share is None else write_share(share)
