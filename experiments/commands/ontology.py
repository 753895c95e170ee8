"""``finpath ontology``: learns an ontology from a train split; ``finpath graph show`` shows one.

$ finpath ontology build train.json --out ontology.ttl
28 classes, 712 properties, 203 merges from 198 reports; sha256 6f44d9d66cbd...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from experiments.commands.options import FILE, OUT_FILE, SOURCE, Group, WriteFigures, json_option, lm_options
from experiments.console import say, show, write_text
from experiments.lms import LMConfig, lm_settings
from kg.errors import DataError

if TYPE_CHECKING:
    from kg.reports import Ontology

DEFAULT_TRAIN = "sample:train"


@click.group(cls=Group)
def command() -> None:
    """Builds an ontology."""


@command.command("build", epilog="finpath ontology build train.json --out ontology.ttl")
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
    reports = list(train_reports(train))
    if not reports:
        raise DataError("no report can be read", file=", ".join(train))
    refused: list[str] = []
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
    figures = {**ontology_figures(ontology), "reports": len(reports), "refused": refused}
    say(
        f"{figures['classes']} classes, {figures['properties']} properties, {figures['merges']} merges from "
        f"{len(reports)} reports; sha256 {ontology.sha256}"
    )
    write_figures(figures)


def ontology_figures(ontology: Ontology) -> dict[str, object]:
    """The sizes of an ontology."""
    return {
        "sha256": ontology.sha256,
        "classes": len(ontology.classes),
        "properties": len(ontology.properties),
        "merges": len(ontology.merges),
        "aligned_properties": sum(bool(item.close_match) for item in ontology.properties.values()),
    }
