"""``finpath graph``: shows, queries and checks the graphs of reports; shows growing graphs and ontologies.

    $ finpath graph check dev.json --ontology ontology.ttl --json check.json
    dev.json: 207 reports, 0 failed; covered operands in tables: 100.0%; operands in text: 99.2%; ...

Any file in ConvFinQA's format can be checked: of each record only ``id``, ``pre_text``, ``table`` and ``post_text``
are needed, and ``annotation.turn_program`` if present. A report that cannot be read or built is named and
counted; the others are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from experiments.commands.ontology import DEFAULT_TRAIN, ontology_figures
from experiments.commands.options import FILE, SOURCE, Group, WriteFigures, json_option, open_tracker, subject_options
from experiments.console import format_table, read_text, say, shorten, show, terminal_width, write_share
from kg.errors import ConfigError

if TYPE_CHECKING:
    from kg.reports import Ontology, ReportGraph

_LINE_ITEMS = 40


@click.group(cls=Group)
def command() -> None:
    """Shows, queries and checks the graphs of reports; shows growing graphs and ontologies."""


@command.command(
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
@subject_options
@click.option("--history", is_flag=True, help="the updates of a growing graph, with sources and replaced values")
@json_option
def show_graph(about: tuple[str, ...], data: str, program: str, history: bool, write_figures: WriteFigures) -> None:
    """Shows the graph of a report as Turtle; an ontology; or companies, names, types and history of a growing graph."""
    from experiments.data import read_ontology
    from experiments.facade.subjects import kind_of

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
    from experiments.saved import find_program

    ontology: Ontology | None = getattr(find_program(program, open_tracker()).program, "ontology", None)
    if ontology is None:
        raise ConfigError(f"program must be one for reports, which has an ontology; got {program!r}")
    return ontology


def _show_ontology(ontology: Ontology, write_figures: WriteFigures) -> None:
    """Shows the classes of an ontology and its line items, those of most reports first."""
    width = terminal_width()
    classes = sorted(ontology.classes.values(), key=lambda kind: (-kind.reports, kind.name))
    items = sorted(ontology.properties.values(), key=lambda item: (-item.reports, item.name))
    rows = [[kind.name, kind.label, kind.reports] for kind in classes]
    show(format_table(["class", "label", "reports"], rows, width=width) + "\n")
    rows = [[i.name, i.unit, i.reports, shorten(", ".join(i.alt_labels), 60)] for i in items[:_LINE_ITEMS]]
    show(format_table(["line item", "unit", "reports", "also written"], rows, width=width))
    if len(items) > _LINE_ITEMS:
        show(f"... and {len(items) - _LINE_ITEMS} more")
    described = [{"name": i.name, "label": i.label, "unit": i.unit, "reports": i.reports} for i in items]
    write_figures({**ontology_figures(ontology), "line_items": described})


def _show_growing(path: str, write_figures: WriteFigures, *, history: bool) -> None:
    """Shows companies with their names, types that wait, and the history; the figures have all types as JSON."""
    from experiments.facade.knowledge import open_graph, types_as_json
    from kg.news import known_aliases, known_companies

    with open_graph(path, read_only=True) as opened:
        companies, facts, waiting = known_companies(opened), opened.facts(), opened.proposed.types
        aliases = {alias.name: str(entity) for alias, entity in known_aliases(opened)}
        entries = opened.history() if history else ()
        lines = [opened.in_words(entry) for entry in entries]
        newest = {(type(kind), kind.name): kind for kind in opened.schema.types}
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
    types = {**types_as_json(newest.values()), "waiting": types_as_json(waiting)}
    write_figures({**types, **figures, "history": updates})


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
@subject_options
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
        show(format_table(result.names, result.rows, width=terminal_width()))
    else:
        show("no result")
    rows = [dict(zip(result.names, row, strict=True)) for row in result.rows]
    write_figures({"rows": rows, "turtle": result.turtle})
    return 0 if result.rows or result.turtle else 1


@command.command("check", epilog="finpath graph check dev.json --ontology ontology.ttl --json check.json")
@click.argument("sources", type=FILE, nargs=-1, required=True, metavar="FILE...", help=SOURCE)
@click.option(
    "--ontology",
    type=FILE,
    metavar="TTL",
    help=f"an ontology as `finpath ontology build` writes it; without one it is learned from {DEFAULT_TRAIN}",
)
@json_option
def check(sources: tuple[str, ...], ontology: str | None, write_figures: WriteFigures) -> int:
    """Builds the graph of every report of some files and reports coverage, conformance and seconds.

    The graphs are checked against SHACL shapes if pyshacl is installed. The exit code is 1 if a report failed or
    violates the shapes.
    """
    from experiments.coverage import check_files
    from experiments.data import read_ontology
    from kg.reports import can_validate

    learned = read_ontology(ontology, [DEFAULT_TRAIN])
    if not can_validate():
        say("pyshacl is not installed: shapes are not checked (pip install pyshacl)")
    figures = check_files(sources, learned)
    for line in [*figures["failures"], *figures["violations"]]:
        say(line)
    shapes, median = figures["shacl_violations"], 1000 * (figures["seconds_per_report_p50"] or 0)
    covered = {
        "operands in tables": figures["table_operand_coverage"],
        "operands in text": figures["text_operand_coverage"],
        "line items": figures["ontology_coverage"],
    }
    shares = (f"{name}: {'no gold' if share is None else write_share(share)}" for name, share in covered.items())
    show(
        f"{', '.join(sources)}: {figures['reports']} reports, {figures['failed_reports']} failed; "
        f"covered {'; '.join(shares)}; SHACL violations: {'not checked' if shapes is None else shapes}; "
        f"{median:.1f} ms a report at the median"
    )
    write_figures(figures)
    return 1 if figures["failed_reports"] or figures["shacl_violations"] else 0
