"""``finpath data``: fetches data sets and checks them."""

from __future__ import annotations

import zipfile
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import click

from experiments.commands.groups import Group
from experiments.commands.options import SOURCE, WriteFigures, json_option, option
from experiments.commands.values import FILE, WORK_FOLDER
from experiments.console import say, show
from experiments.files import check_address
from kg.errors import ConfigError


@click.group(cls=Group)
def command() -> None:
    """Fetches and checks data sets."""


@command.command("fetch", epilog="finpath data fetch --out convfinqa")
@option("--out", type=WORK_FOLDER, default="convfinqa", metavar="FOLDER", help="the folder of the files (convfinqa)")
@option("--url", metavar="URL", help="fetch from here in place of the authors' repository")
@option("--sha256", metavar="HASH", help="the hash of the file at --url")
@json_option
def fetch_convfinqa(out: str, url: str | None, sha256: str | None, write_figures: WriteFigures) -> None:
    """Fetches ConvFinQA as its authors publish it, and checks its hashes."""
    from experiments.data import CONVFINQA_SHA256, CONVFINQA_URL, fetch, unpack

    if (url is None) != (sha256 is None):
        raise ConfigError("--url and --sha256 must be given together, as the file is checked")
    address = url if url is not None else CONVFINQA_URL
    check_address(address)
    name = PurePosixPath(unquote(urlsplit(address).path)).name
    expected = {name: sha256} if sha256 is not None else CONVFINQA_SHA256
    say(f"* Fetching {address}")
    target = fetch(address, out, expected)
    say(f"* {target}: the sha256 of {', '.join(expected)} is as expected")
    files = list(unpack(target)) if zipfile.is_zipfile(target) else []
    if files:
        say(f"* Unpacked {', '.join(map(str, files))}")
    write_figures({"file": str(target), "sha256": expected, "unpacked": [str(file) for file in files]})


@command.command(
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
    turns = sum(len(conversation.questions) for conversation in data.conversations)
    reports = len({conversation.report.id for conversation in data.conversations})
    show(
        f"{data.name} ({data.split}): {len(data.conversations)} good conversations, {turns} turns, {reports} reports; "
        f"{len(data.problems)} problems"
    )
    write_figures(
        {
            "name": data.name,
            "split": data.split,
            "sha256": data.sha256,
            "conversations": len(data.conversations),
            "turns": turns,
            "reports": reports,
            "problems": [str(problem) for problem in data.problems],
        }
    )
    return 1 if data.problems else 0
