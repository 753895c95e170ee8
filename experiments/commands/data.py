"""``finpath data``: fetches data sets and checks them."""

from __future__ import annotations

import click

from experiments.commands.main import FILE, OUT_FOLDER, SOURCE, WriteFigures, finpath, json_option
from experiments.console import say, show


@finpath.group("data")
def data() -> None:
    """Fetches and checks data sets."""


@data.command("fetch", epilog="finpath data fetch --out convfinqa")
@click.option("--out", type=OUT_FOLDER, default="convfinqa", metavar="FOLDER", help="the folder (convfinqa)")
@json_option
def fetch_convfinqa(out: str, write_figures: WriteFigures) -> None:
    """Fetches ConvFinQA as its authors publish it, and checks its hashes."""
    from experiments.data.download import downloads, fetch

    wanted = downloads()["convfinqa"]
    files = [str(file) for file in fetch(out, *wanted)]
    say(f"* {', '.join(files)}: the sha256 of each is as expected")
    write_figures({"files": files, "sha256": {item.file: item.sha256 for item in wanted}})


@data.command(
    "check",
    epilog="""
    finpath data check sample:train
    finpath data check convfinqa/dev.json    # after `finpath data fetch`
    """,
)
@click.argument("source", type=FILE, metavar="SOURCE", help=SOURCE)
@json_option
def check(source: str, write_figures: WriteFigures) -> int:
    """Reads conversations and names every violation of the format.

    The exit code is 1 if there is one.
    """
    from experiments.data import load_conversations

    data = load_conversations(source)
    for problem in data.problems:
        show(str(problem))
    figures = {
        "name": data.name,
        "split": data.split,
        "sha256": data.sha256,
        "conversations": len(data.conversations),
        "turns": sum(len(conversation.questions) for conversation in data.conversations),
        "reports": len({conversation.report.id for conversation in data.conversations}),
        "problems": [str(problem) for problem in data.problems],
    }
    counts = "{conversations} good conversations, {turns} turns, {reports} reports".format_map(figures)
    show(f"{data.name} ({data.split}): {counts}; {len(data.problems)} problems")
    write_figures(figures)
    return 1 if data.problems else 0
