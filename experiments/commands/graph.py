"""``finpath graph``: shows, queries and checks the graphs of reports; shows and changes growing graphs.

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

from experiments.commands.ontology import DEFAULT_TRAIN, ontology_figures
from experiments.commands.options import (
    FILE,
    SOURCE,
    Group,
    WriteFigures,
    json_option,
    open_tracker,
    options,
    read_pairs,
)
from experiments.console import format_table, read_text, say, shorten, show, terminal_width, write_share
from kg.errors import ConfigError

if TYPE_CHECKING:
    from kg.reports import Ontology, ReportGraph

_LINE_ITEMS = 40


@click.group(cls=Group)
def command() -> None:
    """Shows, queries and checks the graphs of reports; shows and changes growing graphs."""


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
@_graph_options
@click.option("--history", is_flag=True, help="the updates of a growing graph, with sources and replaced values")
@json_option
def show_graph(about: tuple[str, ...], data: str, program: str, history: bool, write_figures: WriteFigures) -> None:
    """Shows the graph of a report as Turtle; an ontology; or companies, names, types and history of a growing graph."""
    from experiments.facade.subjects import kind_of

    if about and kind_of(about) == "growing graph":
        _show_growing(about[0], write_figures, history=history)
        return
    if history:
        raise ConfigError("history is of a growing graph: name its folder")
    if not about or (len(about) == 1 and about[0].endswith(".ttl")):
        _show_ontology(_ontology(about[0] if about else None, program), write_figures)
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

    return build_report_graph(resolve_report(documents, data).report, _ontology(None, program))


def _ontology(file: str | None, program: str) -> Ontology:
    """The ontology of a file, or else of a program.

    Raises:
        ConfigError: The program has none, as it answers no questions about reports.
    """
    from experiments.data import read_ontology
    from experiments.saved import find_program

    if file is not None:
        return read_ontology(file, ())
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
    for entry, line in zip(entries, lines, strict=True):
        show("\n    ".join([line, *filter(None, dict.fromkeys(entry.spans))]))
    show(f"{facts} facts about {len(companies)} companies in {path}")
    write_figures(
        {
            **types_as_json(newest.values()),
            "waiting": types_as_json(waiting),
            "facts": facts,
            "companies": companies,
            "aliases": aliases,
            "history": [
                {"number": entry.number, "document": entry.document, "line": line, "undone": entry.undone}
                for entry, line in zip(entries, lines, strict=True)
            ],
        }
    )


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


@command.command(
    "edit",
    epilog="""
    finpath graph edit knowledge "Company/Helixon Inc." country=Malta sector=
    finpath graph edit knowledge "Company/Novatek Inc." --alias NVTK
    finpath graph edit knowledge --undo 12    # an update of `finpath graph show knowledge --history`
    finpath graph edit knowledge --undo wire-17.txt    # all of a document
    """,
)
@click.argument("graph", type=FILE, metavar="GRAPH", help="the folder of a growing graph")
@click.argument("node", required=False, metavar="[TYPE/NAME]", help="the node that changes")
@click.argument("values", nargs=-1, metavar="[PROPERTY=VALUE...]", help="new values; without a value it is removed")
@click.option("--alias", metavar="NAME", help="another name of the node; statements move with their name")
@click.option(
    "--undo",
    metavar="NUMBER|DOCUMENT",
    help="take an update back, or all of a document: its facts go, and the values that it replaced return; so do "
    "insights and inserted answers that build on it",
)
@json_option
def edit(
    graph: str,
    node: str | None,
    values: tuple[str, ...],
    alias: str | None,
    undo: str | None,
    write_figures: WriteFigures,
) -> None:
    """Changes a growing graph by hand; each change is an entry of its history, which can be undone."""
    from experiments.facade.knowledge import known_node, open_graph, typed_value
    from kg.growing import Origin, SetProperty
    from kg.news import BY_HAND, add_news_types, join_alias
    from programs.advisor import take_back

    changes = read_pairs(values, "a value")
    if (node is None) == (undo is None) or (node is not None and not (changes or alias)):
        raise click.UsageError("give a node with values or --alias; or --undo alone")
    with open_graph(graph) as opened:
        if undo is not None:
            for entry in (undone := take_back(opened, int(undo) if undo.isdigit() else undo)):
                show(opened.in_words(entry))
            show(f"{opened.facts()} facts in {graph}")
            write_figures({"undone": [entry.number for entry in undone], "facts": opened.facts()})
            return
        assert node is not None
        key = known_node(opened, node)
        before = {entry.number: entry.undone for entry in opened.history()}
        for name, text in changes.items():
            update = SetProperty(key, name, typed_value(opened, key, name, text))
            if not opened.has_value(update):
                opened.apply([update], Origin(BY_HAND))
        if alias:
            add_news_types(opened)
            join_alias(opened, alias, key)
        entries = [entry for entry in opened.history() if entry.undone != before.get(entry.number)]
        for entry in entries:
            show(opened.in_words(entry))
    show(f"finpath graph edit {graph} --undo NUMBER takes one back" if entries else "nothing new: it is so already")
    write_figures({"changes": [entry.number for entry in entries]})
