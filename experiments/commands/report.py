"""``finpath report``: pages of conversations, to read in a browser or on paper.

finpath report latest --conversation page_49.pdf-1 --out page.html
finpath report latest --failed --limit 20              # logged to the run, under pages/
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.commands.arguments import RUN, add_json, command, lazy, positive

if TYPE_CHECKING:
    from experiments.commands.arguments import Commands


def add_parser(commands: Commands) -> None:
    """The command's arguments."""
    parser = command(
        commands,
        "report",
        "Writes conversations of a tracked evaluation as pages: the report marked up, paths, pick, arithmetic",
        lazy("experiments.commands.report"),
        "finpath report latest --conversation MRLW/2020/page_49.pdf-1 --out page.html",
        "finpath report latest --failed --limit 20    # logged to the run, under pages/",
    )
    parser.add_argument("run_reference", metavar="RUN", help=RUN)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--conversation",
        action="append",
        metavar="ID",
        help="a conversation's id, or a part of it that only one has; may be given several times",
    )
    what.add_argument("--failed", action="store_true", help="conversations of which a turn is wrong")
    parser.add_argument("--limit", type=positive, default=20, metavar="N", help="at most N pages (20)")
    parser.add_argument("--out", metavar="FILE", help="write the page of one conversation here, besides logging it")
    parser.add_argument("--no-track", action="store_true", help="log nothing to the run")
    add_json(parser)


def run_command(options: argparse.Namespace) -> None:
    """Runs it."""
    from experiments.console import show, write_json
    from experiments.evaluation.inspect import choose_conversation, read_reports, read_turns
    from experiments.files import write_text
    from experiments.rendering.conversation_pages import log_pages, make_pages
    from experiments.tracking.tracker import Tracker, TrackingConfig
    from kg.errors import ConfigError
    from optimize.metrics import scored_conversations

    if options.out and len(options.conversation or ()) != 1:
        raise ConfigError("out is for the page of one conversation: name it with --conversation")
    if options.no_track and not options.out:
        raise ConfigError("the pages would be kept nowhere: give --out, or leave out --no-track")
    tracker = Tracker(TrackingConfig.from_environment())
    record = tracker.find(options.run_reference)
    turns = read_turns(record, tracker)
    if options.conversation:
        chosen = [choose_conversation(turns, reference) for reference in options.conversation]
    else:
        failed = [one.conversation_id for one in scored_conversations(turns) if one.accuracy < 1]
        chosen = [choose_conversation(turns, name) for name in failed]
    pages = make_pages(chosen[: options.limit], read_reports(record, tracker), record.name)
    if options.out:
        write_text(options.out, pages[0].text)
        show(options.out)
    if not options.no_track:
        with tracker.adding(record) as run:
            log_pages(run, pages)
        show(f"{len(pages)} pages on the run {record.name} ({record.id}), under pages/")
    if options.json:
        written = [{"conversation_id": page.conversation_id, "file": f"pages/{page.file}"} for page in pages]
        write_json(options.json, {"run_id": record.id, "pages": written})
