"""``finpath ontology build | show``: learns an ontology from a train split, and shows one.

$ finpath ontology build train.json --out ontology.ttl
28 classes, 712 properties, 203 merges from 198 reports; sha256 6f44d9d66cbd...
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.console import format_table, say, shorten, show, write_json
from experiments.data.reports import SOURCE_HELP, read_records_of, read_report
from experiments.lms.config import LMConfig, lm_settings
from kg.errors import DataError, QueryError
from kg.reports import MIN_REPORTS, Ontology, Report, build_ontology
from kg.text import nearest

DEFAULT_TRAIN = "sample:train"
_SHOWN = 40


def train_reports(sources: Sequence[str]) -> Iterator[Report]:
    """The reports of a train split; those that cannot be read are said and left out."""
    for source in sources:
        for name, place, record in read_records_of(source):
            try:
                yield read_report(record)
            except DataError as error:
                say(f"{name}: {place}: {error}; left out")


def read_ontology(path: str | None, train: Sequence[str]) -> Ontology:
    """The ontology of a Turtle file or, without one, that of a train split.

    Raises:
        DataError: The file cannot be read or is not Turtle.
    """
    if path is None:
        return build_ontology(train_reports(train))
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", file=path) from error
    return Ontology.from_turtle(text)


def add_ontology_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that choose an ontology."""
    parser.add_argument("--ontology", metavar="TTL", help="an ontology as `finpath ontology build` writes it")
    parser.add_argument(
        "--train",
        nargs="+",
        default=[DEFAULT_TRAIN],
        metavar="SOURCE",
        help=f"without --ontology: learn it from these (default {DEFAULT_TRAIN})",
    )


def add_ontology_commands(subparsers: Any) -> None:
    """Adds ``ontology build`` and ``ontology show`` to the ``finpath`` command."""
    actions = subparsers.add_parser("ontology", help="Builds and shows an ontology").add_subparsers(
        metavar="ACTION", required=True
    )
    build = actions.add_parser(
        "build",
        help="learns the ontology of a train split and writes it as Turtle",
        description="Learns classes and line items from the tables and texts of a train split, by rules and counting\n"
        "or, with --lm, by a typed DSPy module.",
        epilog="example: finpath ontology build train.json --out ontology.ttl",
    )
    build.add_argument("sources", nargs="*", default=[DEFAULT_TRAIN], metavar="TRAIN", help=SOURCE_HELP)
    build.add_argument("--out", metavar="FILE", help="where to write the Turtle (default: the terminal)")
    build.add_argument(
        "--min-reports",
        type=int,
        default=MIN_REPORTS,
        metavar="N",
        help=f"in how many reports a line item must stand (default {MIN_REPORTS})",
    )
    build.add_argument("--lm", default="none", metavar="MODEL", help="provider/model as DSPy names it, or none")
    build.add_argument("--api-base", metavar="URL", help="address of a server of your own")
    build.add_argument("--json", metavar="OUT", help="write the figures to OUT (- for the terminal)")
    build.set_defaults(run=_run_build)
    shown = actions.add_parser(
        "show",
        help="shows an ontology's classes and line items",
        description="Shows an ontology: its classes, or the line items of one of them.",
        epilog="example: finpath ontology show --ontology ontology.ttl --class CashFlow",
    )
    add_ontology_options(shown)
    shown.add_argument("--class", dest="kind", metavar="NAME", help="the line items of this class")
    shown.add_argument("--json", metavar="OUT", help="write it to OUT (- for the terminal)")
    shown.set_defaults(run=_run_show)


def _run_build(options: argparse.Namespace) -> int:
    reports = list(train_reports(options.sources))
    if not reports:
        raise DataError("no report can be read", file=", ".join(options.sources))
    refused: list[str] = []
    config = LMConfig(name=options.lm, api_base=options.api_base)
    if config.is_none:
        ontology = build_ontology(reports, min_reports=options.min_reports)
    else:
        ontology, refused = _build_with_lm(reports, config, options.min_reports)
    if options.out:
        Path(options.out).write_text(ontology.to_turtle(), encoding="utf-8")
    elif options.json != "-":
        show(ontology.to_turtle())
    for line in refused:
        say(f"refused: {line}")
    figures = {**_figures(ontology), "reports": len(reports), "refused": refused}
    say(
        f"{figures['classes']} classes, {figures['properties']} properties, {figures['merges']} merges from "
        f"{len(reports)} reports; sha256 {ontology.sha256}"
    )
    if options.json:
        write_json(options.json, figures)
    return 0


def _build_with_lm(reports: Sequence[Report], config: LMConfig, min_reports: int) -> tuple[Ontology, list[str]]:
    import dspy

    from programs.reports import OntologyBuilder

    builder = OntologyBuilder(min_reports)
    with dspy.context(**lm_settings(config)):
        ontology = builder(reports=reports)
    return ontology, builder.refused


def _run_show(options: argparse.Namespace) -> int:
    ontology = read_ontology(options.ontology, options.train)
    if options.kind is not None and options.kind not in ontology.classes:
        raise QueryError(f"the ontology has no class {options.kind!r}; {nearest(options.kind, ontology.classes)}")
    items = [item for item in ontology.properties.values() if options.kind in (None, *item.domain)]
    items.sort(key=lambda item: (-item.reports, item.name))
    if options.kind is None:
        show(format_table(["class", "label", "reports"], [[c.name, c.label, c.reports] for c in _by_reports(ontology)]))
        show()
    rows = [[item.name, item.unit, item.reports, shorten(", ".join(item.alt_labels), 60)] for item in items[:_SHOWN]]
    show(format_table(["line item", "unit", "reports", "also written"], rows))
    if len(items) > _SHOWN:
        show(f"... and {len(items) - _SHOWN} more")
    if options.json:
        described = [{"name": i.name, "label": i.label, "unit": i.unit, "reports": i.reports} for i in items]
        write_json(options.json, {**_figures(ontology), "line_items": described})
    return 0


def _by_reports(ontology: Ontology) -> list[Any]:
    return sorted(ontology.classes.values(), key=lambda kind: (-kind.reports, kind.name))


def _figures(ontology: Ontology) -> dict[str, Any]:
    return {
        "sha256": ontology.sha256,
        "classes": len(ontology.classes),
        "properties": len(ontology.properties),
        "merges": len(ontology.merges),
        "aligned_properties": sum(bool(item.close_match) for item in ontology.properties.values()),
    }
