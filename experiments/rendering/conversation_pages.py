"""The pages of several conversations of a run, with a list of them.

pages = make_pages([turns_of_one, turns_of_another], reports, "beam on dev.json")
log_pages(run, pages)      # pages/index.html, pages/Single_ACME-2009-page_3.pdf-1.html, ...
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.rendering.conversation import conversation_page
from experiments.rendering.html import element, heading, table, write_page
from experiments.tracking.tracker import Run
from kg.reports import Report

if TYPE_CHECKING:
    from optimize.metrics import ScoredTurn

_NO_FILE_NAME = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class ConversationPage:
    """A page.

    Attributes:
        conversation_id: The conversation.
        file: The page's file name.
        right: How many turns are right.
        turns: How many turns there are.
        text: The page.
    """

    conversation_id: str
    file: str
    right: int
    turns: int
    text: str


def make_pages(
    conversations: Sequence[Sequence[ScoredTurn]], reports: Mapping[str, Report], run_name: str
) -> list[ConversationPage]:
    """One page a conversation."""
    pages = []
    for turns in conversations:
        name = turns[0].score.conversation_id
        right = sum(one.score.exact for one in turns)
        text = conversation_page(turns, reports[turns[0].report], run_name)
        pages.append(ConversationPage(name, f"{_NO_FILE_NAME.sub('-', name)}.html", right, len(turns), text))
    return pages


def log_pages(run: Run, pages: Sequence[ConversationPage]) -> None:
    """Puts pages and their list among the run's artifacts, under ``pages/``."""
    if not pages:
        return
    for page in pages:
        run.log_text(f"pages/{page.file}", page.text)
    title = f"Conversations of {run.name}"
    rows = [
        [element("a", page.conversation_id, href=page.file), f"{page.right} of {page.turns} turns right"]
        for page in pages
    ]
    run.log_text("pages/index.html", write_page(title, [heading(1, title), table(["conversation", "turns"], rows)]))
