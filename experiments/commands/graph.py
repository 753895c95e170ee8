"""``finpath graph`` and ``finpath ontology``: graphs of reports, growing graphs, and ontologies.

$ finpath ontology build train.json --out ontology.ttl
28 classes, 712 properties, 203 merges from 198 reports; sha256 6f44d9d66cbd...
$ finpath graph check income.csv
income.csv: 83.3% of 12 line items covered; 0 violations
"""

from __future__ import annotations

from collections.abc import Sequence
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
    load_and_report,
    program_option,
    track_option,
)
from experiments.console import format_table, read_text, say, show, write_share, write_text
from kg.errors import ConfigError, DataError

if TYPE_CHECKING:
    from experiments.tracking import Tracker
    from kg.reports import Ontology, ReportGraph


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
    finpath graph show MRLW/2020/page_49.pdf --html report.html    # a picture
    finpath graph show --program beam    # the ontology of a program
    finpath graph show knowledge --history    # of `finpath ingest`
    """,
)
@click.argument(
    "about",
    type=FILE,
    nargs=-1,
    metavar="[REPORT|GRAPH...]",
    help="the id of a report in --data, or a unique part of it; files of tables and text, which make one report; the "
    "folder of a growing graph; or nothing, for the ontology of --program",
)
@data_option
@program_option
@click.option("--history", is_flag=True, help="the updates of a growing graph, with sources and replaced values")
@click.option("--html", type=OUT_FILE, metavar="FILE", help="draw a report's graph or an ontology into this file")
@json_option
def show_graph(
    about: tuple[str, ...], data: str, program: str, history: bool, html: str | None, write_figures: WriteFigures
) -> None:
    """Shows the graph of a report, or an ontology, as Turtle or as a picture; or what a growing graph holds."""
    from experiments.facade import kind_of, resolve_report
    from kg.reports import build_report_graph

    if about and kind_of(about) == "growing graph":
        if html:
            raise ConfigError("html is of a report or an ontology, got a growing graph")
        _show_growing(about[0], write_figures, history=history)
        return
    if history:
        raise ConfigError("history is of a growing graph: name its folder")
    ontology = _ontology(program)
    if about:
        own = resolve_report(about, data)
        graph = build_report_graph(own.report, ontology)
        turtle, title = graph.to_turtle(), graph.report.id
        say(f"{len(graph.graph)} triples, {len(graph.observations)} figures of {title}")
        counts = {"triples": len(graph.graph), "figures": len(graph.observations), "coverage": graph.coverage}
        figures: dict[str, Any] = {"report": title, **counts}
    else:
        turtle, title = ontology.to_turtle(), f"ontology of {program}"
        figures = _ontology_figures(ontology)
    if html:
        from experiments.ui.pictures import graph_page, ontology_edges, report_edges

        places = (own.describe(one.source) for one in graph.observations) if about else ()
        write_text(html, graph_page(title, report_edges(graph, places) if about else ontology_edges(ontology)))
    else:
        show(turtle.rstrip())
    write_figures({**figures, "turtle": turtle})


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


def _show_growing(path: str, write_figures: WriteFigures, *, history: bool) -> None:
    """Shows companies with their names, types that wait, and the history; the figures have all types as JSON."""
    from experiments.data import types_as_json
    from experiments.facade import open_graph
    from kg.news import known_aliases, known_companies

    with open_graph(path, read_only=True) as opened:
        companies, facts, waiting = known_companies(opened), opened.facts(), opened.proposed.types
        aliases = {alias.name: str(entity) for alias, entity in known_aliases(opened)}
        updates = [(entry, opened.in_words(entry)) for entry in (opened.history() if history else ())]
        types = opened.schema.types
    for company, names in companies.items():
        show(f"{company}; also {', '.join(names)}" if names else company)
    for kind in waiting:
        show(f"type {kind.name} waits (by {kind.created_by}): {kind.description}\n    why: {kind.justification}")
    for entry, line in updates:
        show("\n    ".join([line, *filter(None, dict.fromkeys(entry.spans))]))
    show(f"{facts} facts about {len(companies)} companies in {path}")
    rows = [
        {"number": entry.number, "document": entry.document, "line": line, "undone": entry.undone}
        for entry, line in updates
    ]
    content = {**types_as_json(types), "waiting": types_as_json(waiting)}
    write_figures({**content, "facts": facts, "companies": companies, "aliases": aliases, "history": rows})


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
    else:
        show(format_table(result.names, result.rows) if result.rows else "no result")
    rows = [dict(zip(result.names, row, strict=True)) for row in result.rows]
    write_figures({"rows": rows, "turtle": result.turtle})
    return 0 if result.rows or result.turtle else 1


@graph_group.command("check", epilog="finpath graph check income.csv notes.md --json check.json")
@click.argument("about", type=FILE, nargs=-1, required=True, metavar="REPORT...", help="as in `finpath graph show`")
@data_option
@program_option
@json_option
def check_graph(about: tuple[str, ...], data: str, program: str, write_figures: WriteFigures) -> int:
    """Shows what the ontology of --program does not cover in a report, and where its graph violates the SHACL shapes.

    Shapes are checked if pyshacl is installed. The exit code is 1 if one is violated.
    """
    from kg.reports import can_validate, violations

    graph = _graph_of(about, data, program)
    broken = violations(graph.graph) if can_validate() else None
    for label in graph.unmapped:
        show(f"not in the ontology: {label}")
    for violation in broken or ():
        show(violation)
    shapes = "pyshacl is not installed: shapes are not checked" if broken is None else f"{len(broken)} violations"
    say(f"{graph.report.id}: {write_share(graph.coverage)} of {graph.rows} line items covered; {shapes}")
    figures = {"report": graph.report.id, "coverage": graph.coverage, "unmapped": graph.unmapped}
    write_figures({**figures, "violations": broken})
    return 1 if broken else 0


@ontology_group.command("build", epilog="finpath ontology build train.json --out ontology.ttl")
@click.argument("sources", type=FILE, nargs=-1, metavar="[TRAIN...]", help=SOURCE)
@click.option("--out", type=OUT_FILE, metavar="FILE", help="the Turtle file (default: the terminal)")
@track_option
@json_option
def build(sources: tuple[str, ...], out: str | None, tracker: Tracker | None, write_figures: WriteFigures) -> None:
    """Learns the ontology of a train split and writes it as Turtle: classes and line items of its tables, counted."""
    from experiments.data import join_loaded
    from experiments.tracking import DataInput, open_run
    from kg.reports import build_ontology

    data = join_loaded([load_and_report(source) for source in sources or ("sample:train",)])
    reports = list({one.report.id: one.report for one in data.conversations}.values())
    if not reports:
        raise DataError("has no report that can be read", file=data.name)
    with open_run(tracker, "ontology", f"ontology of {data.name}") as run:
        run.log_data(DataInput(data.name, data.sha256, "train", len(data.conversations)))
        ontology = build_ontology(reports)
        figures = {**_ontology_figures(ontology), "reports": len(reports)}
        run.log_params({"train": data.name})
        run.log_metrics(figures)
        run.log_text("ontology.ttl", ontology.to_turtle())
    if out:
        write_text(out, ontology.to_turtle())
    else:
        show(ontology.to_turtle())
    counts = "{classes} classes, {properties} properties, {merges} merges from {reports} reports; sha256 {sha256}"
    say(counts.format_map(figures))
    write_figures(figures)


def _ontology_figures(ontology: Ontology) -> dict[str, Any]:
    return {
        "sha256": ontology.sha256,
        "classes": len(ontology.classes),
        "properties": len(ontology.properties),
        "merges": sum(len(item.alt_labels) for item in ontology.properties.values()),
    }
