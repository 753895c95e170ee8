"""``finpath ontology``: learns an ontology from a train split, and shows one.

$ finpath ontology build train.json --out ontology.ttl
28 classes, 712 properties, 203 merges from 198 reports; sha256 6f44d9d66cbd...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from experiments.commands.options import (
    FILE,
    OUT_FILE,
    POSITIVE,
    PROGRAM,
    SOURCE,
    Group,
    WriteFigures,
    exclusive,
    json_option,
    lm_options,
    open_tracker,
    options,
)
from experiments.console import format_table, say, shorten, show
from experiments.files import write_text
from experiments.lms import LMConfig, lm_settings
from experiments.terminal import terminal_width
from kg.errors import ConfigError, DataError, QueryError

if TYPE_CHECKING:
    from kg.ontology import Ontology
    from kg.reports import Report

DEFAULT_TRAIN = "sample:train"
_SHOWN = 40

ontology_options = options(
    click.option("--ontology", type=FILE, metavar="TTL", help="an ontology as `finpath ontology build` writes it"),
    click.option(
        "--train",
        type=FILE,
        multiple=True,
        default=[DEFAULT_TRAIN],
        metavar="SOURCE...",
        help=f"without --ontology: learn it from these (default {DEFAULT_TRAIN})",
    ),
)
"""The options that choose an ontology: a file, or a train split."""


@click.group(cls=Group)
def command() -> None:
    """Builds and shows an ontology."""


@command.command("build", epilog="finpath ontology build train.json --out ontology.ttl")
@click.argument("sources", type=FILE, nargs=-1, metavar="[TRAIN...]", help=SOURCE)
@click.option("--out", type=OUT_FILE, metavar="FILE", help="the Turtle file (default: the terminal)")
@click.option(
    "--min-reports",
    type=POSITIVE,
    default=1,
    help="the number of reports that a line item must occur in (default 1)",
)
@lm_options
@json_option
def build(
    sources: tuple[str, ...],
    out: str | None,
    min_reports: int,
    lm: LMConfig,
    write_figures: WriteFigures,
) -> None:
    """Learns the ontology of a train split and writes it as Turtle.

    Classes and line items are learned from tables and texts by rules and counting or, with --lm, by a typed DSPy
    module.
    """
    from experiments.data import train_reports
    from kg.ontology import build_ontology

    train = sources or (DEFAULT_TRAIN,)
    reports = list(train_reports(train))
    if not reports:
        raise DataError("no report can be read", file=", ".join(train))
    refused: list[str] = []
    if lm.is_none:
        ontology = build_ontology(reports, min_reports=min_reports)
    else:
        ontology, refused = _build_with_lm(reports, lm, min_reports)
    if out:
        write_text(out, ontology.to_turtle())
    else:
        show(ontology.to_turtle())
    for line in refused:
        say(f"refused: {line}")
    figures = {**_figures(ontology), "reports": len(reports), "refused": refused}
    say(
        f"{figures['classes']} classes, {figures['properties']} properties, {figures['merges']} merges from "
        f"{len(reports)} reports; sha256 {ontology.sha256}"
    )
    write_figures(figures)


def _build_with_lm(reports: Sequence[Report], config: LMConfig, min_reports: int) -> tuple[Ontology, list[str]]:
    import dspy

    from programs.ontology import OntologyBuilder

    builder = OntologyBuilder(min_reports)
    with dspy.context(**lm_settings(config)):
        ontology = builder(reports=reports)
    return ontology, builder.refused


@command.command(
    "show",
    epilog="""
    finpath ontology show --program beam --class CashFlow    # of the shipped program
    finpath ontology show --ontology ontology.ttl
    """,
)
@ontology_options
@click.option("--program", type=FILE, metavar="PROGRAM", help=f"the ontology of a program: {PROGRAM}")
@click.option("--class", "kind", metavar="NAME", help="the line items of this class")
@json_option
def show_ontology(
    ontology: str | None,
    train: tuple[str, ...],
    program: str | None,
    kind: str | None,
    write_figures: WriteFigures,
) -> None:
    """Shows an ontology: its classes, or the line items of one of them."""
    from experiments.data import read_ontology
    from kg.text import nearest

    exclusive(ontology=ontology, program=program)
    found = program_ontology(program) if program is not None else read_ontology(ontology, train)
    if kind is not None and kind not in found.classes:
        raise QueryError(f"the ontology has no class {kind!r}; {nearest(kind, found.classes)}")
    items = [item for item in found.properties.values() if kind in (None, *item.domain)]
    items.sort(key=lambda item: (-item.reports, item.name))
    width = terminal_width()
    if kind is None:
        classes = [[one.name, one.label, one.reports] for one in _by_reports(found)]
        show(format_table(["class", "label", "reports"], classes, width=width))
        show()
    rows = [[item.name, item.unit, item.reports, shorten(", ".join(item.alt_labels), 60)] for item in items[:_SHOWN]]
    show(format_table(["line item", "unit", "reports", "also written"], rows, width=width))
    if len(items) > _SHOWN:
        show(f"... and {len(items) - _SHOWN} more")
    described = [{"name": i.name, "label": i.label, "unit": i.unit, "reports": i.reports} for i in items]
    write_figures({**_figures(found), "line_items": described})


def program_ontology(reference: str) -> Ontology:
    """The ontology of a program.

    Raises:
        ConfigError: It has none, as it answers no questions about reports.
    """
    from experiments.saved import find_program

    found: Ontology | None = getattr(find_program(reference, open_tracker()).program, "ontology", None)
    if found is None:
        raise ConfigError(f"program must be one for reports, which has an ontology; got {reference!r}")
    return found


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
