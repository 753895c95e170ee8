"""``finpath promote``: sets the alias ``champion`` on a program that a paired test shows to be better."""

from __future__ import annotations

import click

from experiments.commands.options import RUN, Command, WriteFigures, find_run, json_option, open_tracker
from experiments.console import say, show


@click.command(
    cls=Command,
    epilog="""
    finpath promote latest --against 'beam on sample/dev.json'    # the first time
    finpath promote my-beam    # against the program with the alias
    finpath evaluate models:/beam@champion --data sample:dev
    """,
)
@click.argument("run_reference", metavar="RUN", help=f"the evaluation of the program: {RUN}")
@click.option("--against", metavar="RUN", help="the evaluation to beat, in place of that of the program with the alias")
@click.option("--force", is_flag=True, help="promote without a significant gain; the run records it")
@json_option
def command(run_reference: str, against: str | None, force: bool, write_figures: WriteFigures) -> int:
    """Sets an alias on an evaluated program if a paired test shows that it is better than the one with the alias.

    The exit code is 1 if the alias was not set.
    """
    from experiments.promote import ALIAS, promote

    tracker = open_tracker(writes=True)
    baseline = find_run(tracker, against) if against else None
    promotion = promote(find_run(tracker, run_reference), tracker, against=baseline, force=force)
    write_figures(promotion.figures())
    if not promotion.is_promoted:
        say(f"finpath: not promoted: {promotion.reason}")
        return 1
    assert promotion.version is not None
    model, version = promotion.name, promotion.version
    forced = " (FORCED, as its run records)" if promotion.is_forced else ""
    show(f"models:/{model}@{ALIAS} is version {version} now{forced}: {promotion.reason}")
    return 0
