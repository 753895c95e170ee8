"""``finpath report``: pages of conversations, for a browser or for paper."""

from __future__ import annotations

import click

from experiments.commands.options import (
    OUT_FILE,
    POSITIVE,
    RUN,
    Command,
    WriteFigures,
    exclusive,
    find_run,
    json_option,
    open_tracker,
)
from experiments.console import show
from experiments.files import write_text
from kg.errors import ConfigError


@click.command(
    cls=Command,
    epilog="""
    finpath report latest --conversation MRLW/2020/page_49.pdf-1 --out page.html
    finpath report latest --failed --limit 20    # logged to the run, under pages/
    """,
)
@click.argument("run_reference", metavar="RUN", help=RUN)
@click.option(
    "--conversation",
    multiple=True,
    metavar="ID",
    help="a conversation's id, or a unique part of it; may be given several times",
)
@click.option("--failed", is_flag=True, help="conversations with a wrong turn")
@click.option("--limit", type=POSITIVE, default=20, help="at most N pages (20)")
@click.option(
    "--out", type=OUT_FILE, metavar="FILE", help="write the page of one conversation here, in addition to the run"
)
@click.option("--no-track", is_flag=True, help="log nothing to the run")
@json_option
def command(
    run_reference: str,
    conversation: tuple[str, ...],
    failed: bool,
    limit: int,
    out: str | None,
    no_track: bool,
    write_figures: WriteFigures,
) -> None:
    """Writes conversations of a tracked evaluation as pages: the report marked up, paths, selection, arithmetic."""
    from experiments.evaluation import choose_conversation, read_reports, read_turns
    from experiments.rendering import log_pages, make_pages
    from optimize.metrics import scored_conversations

    exclusive(required=True, conversation=conversation, failed=failed)
    if out and len(conversation) != 1:
        raise ConfigError("out is for the page of one conversation: name it with --conversation")
    if no_track and not out:
        raise ConfigError("no place for the pages: give --out, or omit --no-track")
    tracker = open_tracker(writes=not no_track)
    record = find_run(tracker, run_reference)
    turns = read_turns(record, tracker)
    references = conversation or [one.conversation_id for one in scored_conversations(turns) if one.accuracy < 1]
    chosen = [choose_conversation(turns, reference) for reference in references]
    pages = make_pages(chosen[:limit], read_reports(record, tracker), record.name)
    if out:
        write_text(out, pages[0].text)
        show(out)
    if not no_track:
        with tracker.adding(record) as run:
            log_pages(run, pages)
        show(f"{len(pages)} pages on the run {record.name} ({record.id}), under pages/")
    written = [{"conversation_id": page.conversation_id, "file": f"pages/{page.file}"} for page in pages]
    write_figures({"run_id": record.id, "pages": written})
