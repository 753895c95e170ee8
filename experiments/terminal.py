"""Terminals: their width, colours of results, tables that fit, and a sign of life while work lasts.

    write_coloured("A  $50,652 thousand   (confidence 96%)", sys.stdout)
    with waiting("load the program") as step:
        step("asking openai/gpt-4o-mini")

Pipes get plain text: no colour, no spinner, tables of their full width. ``NO_COLOR`` switches colours off.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_LEAST_WIDTH, _NO_LIMIT = 20, 100_000
_RULE = "    \n    \n--- \n    \n    \n    \n    \n    \n"
"""Rich's drawing of a table: a line below the headers, and nothing else."""

_STYLES = (
    ("bold", r"^A  .*?(?=   \(|$)"),
    ("dim", r"^ {2,3}(path|read in|calculated|read|asked|question|answer|gold|rank|understood|tool|path \d+:) "),
    ("dim", r"^[-─]{3,}.*$"),
    ("green", r"\(right\)|^ *(?:\d+  )?better\b|^right {2,}|\+\d+\.\d+ points"),
    ("red", r"^ *(?:\d+  )?worse\b|^wrong {2,}|\(wrong\)|-\d+\.\d+ points|wrong (?=[a-z]+\)$)"),
    ("yellow", r"no answer: .*$|no difference is shown|\((?:right answer|not|no answer)[^()]*(?:\([^()]*\)[^()]*)*\)$"),
    ("cyan", r"confidence +\d+%"),
)


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wants_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal that shows colours, and ``NO_COLOR`` is not set."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def terminal_width() -> int | None:
    """The number of columns of standard output; ``None`` where it is no terminal."""
    return max(_LEAST_WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def write_coloured(text: str, stream: TextIO) -> None:
    """Writes a result with its verdicts and answers in colour; lines keep their breaks."""
    from rich.text import Text

    styled = Text(text)
    for style, pattern in _STYLES:
        styled.highlight_regex(f"(?m){pattern}", style=style)
    _console(stream).print(styled, soft_wrap=True)


def folded_table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int], width: int | None
) -> str:
    """A table whose cells are folded so that no line has more than ``width`` characters; ``None`` for no limit."""
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=Box(_RULE, ascii=True), show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, header in enumerate(headers):
        table.add_column(Text(header), justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    out = io.StringIO()
    Console(file=out, width=width or _NO_LIMIT, color_system=None, force_terminal=False).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").splitlines())


@contextmanager
def waiting(title: str) -> Iterator[Callable[[str], None]]:
    """Shows a spinner on standard error while the block lasts; gives a function that names the step."""
    if not is_terminal(sys.stderr):
        yield lambda _: None
        return
    from rich.text import Text

    with _console(sys.stderr).status(Text(title)) as status:
        yield lambda text: status.update(Text(" ".join(text.split()), no_wrap=True, overflow="ellipsis"))


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    options: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
    return Console(file=stream, no_color=not wants_colour(stream), **options)
