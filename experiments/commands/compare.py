"""``finpath compare``: compares evaluations on the same turns by paired tests."""

from __future__ import annotations

import click

from experiments.commands.options import RUN, Command, WriteFigures, find_run, json_option, open_tracker
from experiments.console import say, show, terminal_width

_CHANGED = 10
"""Turns of different outcome that the text names."""


@click.command(
    cls=Command,
    epilog="""
    finpath compare latest~1 latest
    finpath compare 'beam on sample/dev.json' latest --json out.json
    """,
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", help=f"{RUN}; the first is the others' baseline")
@click.option("--no-track", is_flag=True, help="do not log the comparison to MLflow")
@json_option
def command(runs: tuple[str, ...], no_track: bool, write_figures: WriteFigures) -> None:
    """Compares evaluations on the same turns by paired tests."""
    from experiments.compare import compare
    from experiments.pages import describe_comparison

    tracker = open_tracker(writes=not no_track)
    records = [find_run(tracker, reference) for reference in runs]
    for record in records:
        if record.status != "FINISHED":
            say(f"note: the run {record.name} did not finish ({record.status})")
    comparison = compare(records, tracker, tracked=not no_track)
    show(describe_comparison(comparison, _CHANGED, terminal_width()))
    if comparison.run_id is not None:
        show(f"\nrun {comparison.run_id}")
    write_figures(comparison.figures())
