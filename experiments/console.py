"""The output of a command: stages, progress bars and tables on a terminal, plain lines in a pipe.

    >>> print(format_table(["program", "turns"], [["beam", 746]]))
    program  turns
    -------  -----
    beam       746

Results go to standard output, and messages about the work go to standard error. Control characters of a report or of a
model's reply are written as escapes; no text changes the terminal.
"""

from __future__ import annotations

import functools
import json
import math
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from decimal import Decimal
from typing import Any, ClassVar, Protocol, cast
from weakref import WeakSet

from experiments.files import check_target, write_text
from experiments.terminal import fitted_table, terminal_width, wants_colour, write_coloured


class Bar(Protocol):
    """The part of a progress bar that finpath uses."""

    def update(self, n: float = 1) -> Any:
        """Moves the bar on by ``n``."""

    def set_postfix_str(self, s: str = "", refresh: bool = True) -> Any:
        """Writes ``s`` after the bar."""

    def close(self) -> None:
        """Removes or completes the bar."""


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and newline, and those that reverse the direction of text."""


_USER = re.compile(r"(?<=://)[^/@\s'\"]*@")


def printable(text: str) -> str:
    """``text`` with its control characters as escapes, and without users and passwords in addresses."""
    return without_password(_CONTROL.sub(lambda found: ascii(found[0])[1:-1], text))


def without_password(text: str) -> str:
    """``text`` with ``[…]`` in place of users and passwords in addresses."""
    return _USER.sub("[…]@", text)


def show(text: str = "") -> None:
    """Writes a part of the result to standard output, in colour on a terminal."""
    if wants_colour(sys.stdout):
        write_coloured(printable(text), sys.stdout)
    else:
        sys.stdout.write(printable(text) + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """Writes a message about the work to standard error."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


@functools.cache
def progress_bars() -> Any:
    """The class of progress bars: that of tqdm, with a list of bars of its own.

    ``dspy.Parallel`` empties tqdm's common list in its threads; a bar that is made at that moment would raise KeyError.
    """
    from tqdm import tqdm

    class Bars(tqdm):
        _instances: ClassVar[WeakSet[Any]] = WeakSet()

    return Bars


def progress(total: int, unit: str, title: str = "") -> Bar:
    """A progress bar on standard error, shown after two seconds of work and on terminals only."""
    bar = progress_bars()(
        total=total, unit=f" {unit}", desc=title, delay=2, disable=None, file=sys.stderr, dynamic_ncols=True
    )
    return cast(Bar, bar)


class Stages:
    """Names each stage as it starts, and measures its duration.

    Attributes:
        seconds: Wall time of each finished stage, by title, in the order of their start.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """Shows ``title`` and times the block; a repeated title adds to its earlier time."""
        say(f"* {title}")
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[title] = self.seconds.get(title, 0.0) + time.perf_counter() - start

    def table(self) -> str:
        """The time of each stage, and their sum in the last row; it fits the terminal."""
        total = sum(self.seconds.values())
        rows = [[title, f"{seconds:.1f} s"] for title, seconds in self.seconds.items()]
        return format_table(
            ["stage", "time"], [*rows, ["together", f"{total:.1f} s"]], right={1}, width=terminal_width()
        )


def format_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    right: set[int] | None = None,
    *,
    width: int | None = None,
) -> str:
    """A table in plain text: numbers to the right, everything else to the left, a line of text for each row.

    Args:
        headers: One for each column.
        rows: Cells of any type; ``None`` is shown as ``-`` and floats with three decimals.
        right: Further columns to set to the right.
        width: The most characters of a line; longer cells are then folded. ``None`` for no limit.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    numeric = {
        column
        for column in range(len(headers))
        if rows and all(isinstance(row[column], int | float) or row[column] is None for row in rows)
    } | (right or set())
    if width is not None and _width(headers, cells) > width:
        return fitted_table(headers, cells, numeric, width)
    widths = [max(len(line[column]) for line in [list(headers), *cells]) for column in range(len(headers))]

    def line(values: Sequence[str]) -> str:
        parts = [
            value.rjust(width) if column in numeric else value.ljust(width)
            for column, (value, width) in enumerate(zip(values, widths, strict=True))
        ]
        return "  ".join(parts).rstrip()

    return "\n".join([line(list(headers)), "  ".join("-" * width for width in widths), *map(line, cells)])


def _width(headers: Sequence[str], cells: Sequence[Sequence[str]]) -> int:
    """Returns the characters of the longest line of a table whose cells are not folded."""
    columns = [max(map(len, column)) for column in zip(headers, *cells, strict=True)]
    return sum(columns) + 2 * (len(columns) - 1)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.3f}"
    return " ".join(str(value).splitlines())


def shorten(text: str, width: int) -> str:
    """``text`` on one line, cut at a word to ``width`` characters."""
    return textwrap.shorten(text, width, placeholder=" ...") if len(text) > width else text


def percent(figures: Mapping[str, Any], name: str) -> str:
    """An accuracy with its interval, ``71.2% [68.0, 74.3]``, from ``name``, ``name_low`` and ``name_high``."""
    value = figures.get(name)
    if value is None:
        return "-"
    low, high = figures.get(f"{name}_low"), figures.get(f"{name}_high")
    interval = f" [{100 * low:.1f}, {100 * high:.1f}]" if low is not None and high is not None else ""
    return write_share(value) + interval


def write_share(value: float, digits: int = 1) -> str:
    """A share in [0, 1] in percent: ``71.2%``."""
    return f"{100 * value:.{digits}f}%"


def write_points(difference: float) -> str:
    """A difference of shares in points, with its sign: ``+1.5``."""
    return f"{100 * difference:+.1f}"


def write_answer(answer: Decimal | str | tuple[str, ...] | None) -> str:
    """Returns an answer to five digits at most, ``yes``, ``no``, names with commas between them, or ``none``."""
    if answer is None:
        return "none"
    if isinstance(answer, Decimal):
        digits = f"{answer:.5f}".rstrip("0").rstrip(".")
        return digits if digits != "-0" else "0"
    return answer if isinstance(answer, str) else ", ".join(answer)


@contextmanager
def json_output(path: str | None) -> Iterator[Callable[[Mapping[str, Any] | Sequence[Mapping[str, Any]]], None]]:
    """Gives the function that writes a command's figures to ``path``: a file, or ``-`` for standard output.

    The figures are then alone on standard output; everything else that is printed goes to standard error. Without a
    path nothing is written.

    Raises:
        ConfigError: The file cannot be written; this is checked before the work.
    """
    if path is None:
        yield lambda _: None
    elif path == "-":
        out = sys.stdout
        with redirect_stdout(sys.stderr):
            yield lambda result: print(_as_json(result), file=out, flush=True)
    else:
        check_target(path, "json")
        yield lambda result: write_text(path, _as_json(result) + "\n")


def _as_json(result: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> str:
    """A command's figures; NaN becomes ``null``."""
    return json.dumps(_plain(result), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """``value`` as JSON knows it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
