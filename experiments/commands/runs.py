"""``finpath compare``, ``inspect``, ``promote`` and ``mlflow``: evaluations that were tracked."""

from __future__ import annotations

import subprocess
import sys

import click

from experiments.commands.main import POSITIVE, WriteFigures, finpath, json_option, open_tracker
from experiments.console import say, show
from kg.errors import ConfigError

RUN = "the id or name of a run, `latest`, or `latest~1` for the one before it"
_CHANGED = 10
"""Turns of different outcome that the text names."""


@finpath.command(
    "compare",
    epilog="""
    finpath compare latest~1 latest
    finpath compare 'beam on sample/dev.json' latest --json out.json
    """,
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", help=f"{RUN}; the first is the others' baseline")
@click.option("--no-track", is_flag=True, help="do not log the comparison to MLflow")
@json_option
def compare_runs(runs: tuple[str, ...], no_track: bool, write_figures: WriteFigures) -> None:
    """Compares evaluations on the same turns by paired tests."""
    from experiments.compare import compare
    from experiments.pages import describe_comparison

    tracker = open_tracker(writes=not no_track)
    records = [tracker.find(reference) for reference in runs]
    for record in records:
        if record.status != "FINISHED":
            say(f"note: the run {record.name} did not finish ({record.status})")
    comparison = compare(records, tracker, tracked=not no_track)
    show(describe_comparison(comparison, _CHANGED))
    if comparison.run_id is not None:
        show(f"\nrun {comparison.run_id}")
    write_figures(comparison.figures())


@finpath.command(
    "inspect",
    epilog="""
    finpath inspect latest --failed --limit 5
    finpath inspect latest --turn Single_MRLW/2020/page_49.pdf-1:3    # after an evaluation on sample:dev
    """,
)
@click.argument("reference", metavar="RUN", help=RUN)
@click.option("--failed", is_flag=True, help="turns that are wrong or have no answer")
@click.option("--turn", metavar="CONVERSATION:NUMBER", help="one turn, with all candidates; turns count from 1")
@click.option("--limit", type=POSITIVE, default=20, help="at most N turns (20)")
@json_option
def inspect_run(
    reference: str,
    failed: bool,
    turn: str | None,
    limit: int,
    write_figures: WriteFigures,
) -> None:
    """Shows the turns of a tracked evaluation, with their candidates and paths; MLflow shows every prompt and reply."""
    from experiments.compare import choose_turn, read_turns
    from experiments.pages import describe_scored_turn, scored_turn_figures

    if failed and turn:
        raise click.UsageError("--failed and --turn exclude each other")
    tracker = open_tracker()
    record = tracker.find(reference)
    turns = read_turns(record, tracker)
    if turn is not None:
        chosen = [choose_turn(turns, turn)]
        show(describe_scored_turn(chosen[0], len(chosen[0].turn.candidates), paths=True))
    else:
        matching = [scored for scored in turns if not (failed and scored.score.exact)]
        chosen = matching[:limit]
        show("\n\n".join(map(describe_scored_turn, chosen)))
        what = "turns that are wrong or have no answer" if failed else "turns"
        show(f"\n{len(chosen)} of {len(matching)} {what} in {record.name} ({record.id})")
    write_figures({"run_id": record.id, "turns": [*map(scored_turn_figures, chosen)]})


@finpath.command(
    "promote",
    epilog="""
    finpath promote latest --against 'beam on sample/dev.json'    # the first time
    finpath promote my-beam    # against the program with the alias
    finpath evaluate models:/beam@champion --data sample:dev
    """,
)
@click.argument("reference", metavar="RUN", help=f"the evaluation of the program: {RUN}")
@click.option("--against", metavar="RUN", help="the evaluation to beat, in place of that of the program with the alias")
@click.option("--force", is_flag=True, help="promote without a significant gain; the run records it")
@json_option
def promote_run(reference: str, against: str | None, force: bool, write_figures: WriteFigures) -> int:
    """Sets an alias on an evaluated program if a paired test shows that it is better than the one with the alias.

    The exit code is 1 if the alias was not set.
    """
    from experiments.promote import promote

    tracker = open_tracker(writes=True)
    baseline = tracker.find(against) if against else None
    figures = promote(tracker.find(reference), tracker, against=baseline, force=force)
    write_figures(figures)
    if not figures["promoted"]:
        say(f"finpath: not promoted: {figures['reason']}")
        return 1
    forced = " (FORCED, as its run records)" if figures["forced"] else ""
    show("models:/{name}@{alias} is version {version} now{}: {reason}".format(forced, **figures))
    return 0


@finpath.command("mlflow", epilog="finpath mlflow --port 5001")
@click.option("--host", default="127.0.0.1", metavar="HOST", help="the address to serve at (127.0.0.1)")
@click.option("--port", type=click.IntRange(1, 65535), default=5000, help="the port (5000)")
def serve_mlflow(host: str, port: int) -> int:
    """Starts MLflow's pages on the runs, traces and models of the store that MLFLOW_TRACKING_URI names, until Ctrl-C.

    Nothing is sent to or fetched from elsewhere.
    """
    from experiments.tracking import quiet_mlflow

    tracker = open_tracker()
    quiet_mlflow()
    uri, place = tracker.config.uri, tracker.experiment("evaluate")
    if uri.startswith(("http://", "https://")):
        raise ConfigError(f"MLFLOW_TRACKING_URI must name a database, got {uri}, a server with pages of its own")
    say(f"* http://{host}:{port}/#/experiments/{place}")
    # Its four processes would read one file, and on a busy machine it ends those that are slow to start.
    command = ["-m", "mlflow", "server", "--backend-store-uri", uri, "--workers", "1", "--host", host]
    return subprocess.run([sys.executable, *command, "--port", str(port)], check=False).returncode
