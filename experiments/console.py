"""The output of a command: stages, progress bars and tables on a terminal, plain lines in a pipe.

    >>> print(format_table(["program", "turns"], [["beam", 746]]))
    program  turns
    --------------
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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from decimal import Decimal
from typing import Any, ClassVar
from weakref import WeakSet

from experiments.files import check_target, write_text
from experiments.terminal import folded_table, terminal_width, wants_colour, write_coloured

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and newline, and those that reverse the direction of text."""

_USER = re.compile(r"(?<=://)[^/@\s'\"]*@")


def printable(text: str) -> str:
    """``text`` with its control characters as escapes, and without users and passwords in addresses."""
    return without_password(_CONTROL.sub(lambda sign: ascii(sign[0])[1:-1], text))


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
    """The class of tqdm with a list of bars of its own: ``dspy.Parallel`` empties the common one in its threads."""
    from tqdm import tqdm

    class Bars(tqdm):
        _instances: ClassVar[WeakSet[Any]] = WeakSet()

    return Bars


def progress(total: int, unit: str, title: str = "") -> Any:
    """A progress bar of tqdm on standard error, shown after two seconds of work and on terminals only."""
    return progress_bars()(
        total=total, unit=f" {unit}", desc=title, delay=2, disable=None, file=sys.stderr, dynamic_ncols=True
    )


class Stages:
    """Names each stage as it starts, and measures its wall time: ``seconds`` by title."""

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
        every = {**self.seconds, "together": sum(self.seconds.values())}
        rows = [[title, f"{seconds:.1f} s"] for title, seconds in every.items()]
        return format_table(["stage", "time"], rows, right={1}, width=terminal_width())


def format_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    right: Collection[int] = (),
    *,
    width: int | None = None,
) -> str:
    """A table in plain text, numbers and the columns ``right`` to the right; floats have three decimals.

    Cells are folded where a line would have more than ``width`` characters (``None`` for no limit).
    """
    numeric = [
        column
        for column in range(len(headers))
        if rows and all(isinstance(row[column], int | float) or row[column] is None for row in rows)
    ]
    return folded_table(headers, [list(map(_cell, row)) for row in rows], {*numeric, *right}, width)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else " ".join(str(value).splitlines())


def shorten(text: str, width: int) -> str:
    """``text`` on one line, cut at a word to ``width`` characters."""
    return textwrap.shorten(text, width, placeholder=" ...") if len(text) > width else text


def percent(figures: Mapping[str, Any], name: str) -> str:
    """An accuracy with its interval, ``71.2% [68.0, 74.3]``, from ``name``, ``name_low`` and ``name_high``."""
    value, low, high = (figures.get(key) for key in (name, f"{name}_low", f"{name}_high"))
    if value is None:
        return "-"
    return write_share(value) + (
        f" [{100 * low:.1f}, {100 * high:.1f}]" if low is not None and high is not None else ""
    )


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
def json_output(path: str | None) -> Iterator[Callable[[Any], None]]:
    """Gives the function that writes figures to ``path``: a file, or ``-`` for standard output, alone; NaN is null.

    Raises:
        ConfigError: The file cannot be written; this is checked before the work.
    """
    if path is None:
        yield lambda _: None
    elif path == "-":
        out = sys.stdout
        with redirect_stdout(sys.stderr):
            yield lambda figures: print(_as_json(figures), file=out, flush=True)
    else:
        check_target(path, "json")
        yield lambda figures: write_text(path, _as_json(figures) + "\n")


def _as_json(figures: Any) -> str:
    return json.dumps(_plain(figures), indent=2, ensure_ascii=False, allow_nan=False, default=str)


def _plain(value: Any) -> Any:
    """``value`` with ``None`` for numbers that JSON does not know."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
