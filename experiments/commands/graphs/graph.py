"""``finpath graph check``: builds report graphs and measures them.

    $ finpath graph check dev.json --ontology ontology.ttl --json check.json
    dev.json: 207 reports, 0 failed; operands found: 100.0% in tables, 99.2% in text; ...

Any file in ConvFinQA's format can be checked: of each record only ``id``, ``pre_text``, ``table`` and ``post_text``
are needed, and ``annotation.turn_program`` if present. A report that cannot be read or built is named and
counted; the others are checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from experiments.commands.graphs.ontology import ontology_options
from experiments.commands.groups import Group
from experiments.commands.options import SOURCE, WriteFigures, json_option, option, unmapped_option
from experiments.commands.values import FILE
from experiments.console import say, show, write_share

if TYPE_CHECKING:
    from kg.report_graphs import Unmapped


@click.group(cls=Group)
def command() -> None:
    """Builds the graphs of reports and checks them."""


@command.command("check", epilog="finpath graph check dev.json --ontology ontology.ttl --json check.json")
@click.argument("sources", type=FILE, nargs=-1, required=True, metavar="FILE...", help=SOURCE)
@ontology_options
@unmapped_option
@option("--no-shacl", is_flag=True, help="do not check the graphs against the SHACL shapes")
@json_option
def check(
    sources: tuple[str, ...],
    ontology: str | None,
    train: tuple[str, ...],
    unmapped: Unmapped | None,
    no_shacl: bool,
    write_figures: WriteFigures,
) -> int:
    """Builds the graph of every report of some files and reports coverage, conformance and seconds.

    The exit code is 1 if a report failed or violates the shapes.
    """
    from experiments.commands.graphs.coverage import check_files
    from experiments.data import read_ontology
    from kg.report_graphs import can_validate

    found = read_ontology(ontology, train)
    if not no_shacl and not can_validate():
        say("pyshacl is not installed: shapes are not checked (pip install pyshacl)")
    figures = check_files(sources, found, unmapped=unmapped or "keep", shacl=not no_shacl)
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
