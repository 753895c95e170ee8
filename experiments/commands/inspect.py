"""``finpath inspect``: the details of a tracked evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiments.commands.options import (
    OUT_FOLDER,
    POSITIVE,
    RUN,
    Command,
    WriteFigures,
    find_run,
    json_option,
    open_tracker,
)
from experiments.console import show, terminal_width, write_text
from kg.errors import ConfigError

if TYPE_CHECKING:
    from experiments.tracking import RunRecord, Tracker


@click.command(
    cls=Command,
    epilog="""
    finpath inspect latest --failed --limit 5
    finpath inspect latest --failed --html pages    # pages/index.html, for a browser or for paper
    finpath inspect latest --turn Single_MRLW/2020/page_49.pdf-1:3    # after an evaluation on sample:dev
    """,
)
@click.argument("run_reference", metavar="RUN", help=RUN)
@click.option("--failed", is_flag=True, help="turns that are wrong or have no answer")
@click.option("--turn", metavar="CONVERSATION:NUMBER", help="one turn, with all candidates; turns count from 1")
@click.option("--prompts", is_flag=True, help="with --turn: every call, with every prompt and reply")
@click.option("--limit", type=POSITIVE, default=20, help="at most N turns (20)")
@click.option(
    "--html",
    type=OUT_FOLDER,
    metavar="FOLDER",
    help="write the conversations of these turns as pages: the report marked up, paths, selection, arithmetic",
)
@json_option
def command(
    run_reference: str,
    failed: bool,
    turn: str | None,
    prompts: bool,
    limit: int,
    html: str | None,
    write_figures: WriteFigures,
) -> None:
    """Shows the details of a tracked evaluation: turns, prompts, pages of conversations."""
    if failed and turn:
        raise click.UsageError("--failed and --turn exclude each other")
    if prompts and not turn:
        raise ConfigError("prompts of one turn are shown: name it with --turn")
    tracker = open_tracker()
    record = find_run(tracker, run_reference)
    figures = _turns(record, tracker, turn, html, limit, failed=failed, prompts=prompts)
    write_figures({"run_id": record.id, **figures})


def _turns(
    record: RunRecord,
    tracker: Tracker,
    reference: str | None,
    html: str | None,
    limit: int,
    *,
    failed: bool,
    prompts: bool,
) -> dict[str, object]:
    from experiments.compare import choose_turn, read_reports, read_turns
    from experiments.pages import describe_scored_turn, describe_trace, make_pages, scored_turn_figures
    from experiments.traces import read_traces
    from kg.errors import TrackingError

    turns, more = read_turns(record, tracker), {}
    if reference is not None:
        one = choose_turn(turns, reference)
        chosen = [one]
        show(describe_scored_turn(one, len(one.turn.candidates), terminal_width(), paths=True))
        if prompts:
            traces = read_traces(
                tracker, record, conversation=one.score.conversation_id, turn_index=one.score.turn_index
            )
            if not traces:
                raise TrackingError(f"the run {record.name} kept no trace of {one.name}")
            show("\n" + describe_trace(traces[-1]))
            more["trace"] = traces[-1]
    else:
        matching = [turn for turn in turns if not (failed and turn.score.exact)]
        chosen = matching[:limit]
        show("\n\n".join(describe_scored_turn(turn, width=terminal_width()) for turn in chosen))
        what = "turns that are wrong or have no answer" if failed else "turns"
        show(f"\n{len(chosen)} of {len(matching)} {what} in {record.name} ({record.id})")
    if html is not None:
        names = dict.fromkeys(turn.score.conversation_id for turn in chosen)
        conversations = [[turn for turn in turns if turn.score.conversation_id == name] for name in names]
        pages = make_pages(conversations, read_reports(record, tracker), record.name)
        for file, text in pages.items():
            write_text(Path(html) / file, text)
        show(str(Path(html) / "index.html"))
    return {"turns": [scored_turn_figures(turn) for turn in chosen], **more}
