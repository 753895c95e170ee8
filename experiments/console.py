"""Output of commands, and the files that they write.

    >>> print(format_table(["name", "turns"], [["beam", 746]]))
    name  turns
    -----------
    beam    746

Results go to standard output, and messages about the work go to standard error. A terminal shows tables that fit, and a
sign of life. Control characters of a report or of a model's reply are written as escapes. Files are written completely
or not at all.
"""

from __future__ import annotations

import functools
import io
import json
import math
import os
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TextIO
from urllib.parse import urlsplit
from weakref import WeakSet

from pydantic_core import to_jsonable_python

from kg.errors import ConfigError, DataError
from kg.files import replacing
from kg.secrets import without_secrets

if TYPE_CHECKING:
    from rich.console import Console

SHIPPED_FOLDER = Path(__file__).parent / "shipped"
"""The folder of the programs that ship with finpath."""

SAMPLE_FOLDER = Path(__file__).parent / "sample"
"""The folder of the data that ships with finpath."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and newline, and those that reverse the direction of text."""

_LEAST_WIDTH, _NO_LIMIT, _REPORTED = 20, 100_000, 5
_RULE = "    \n    \n--- \n    \n    \n    \n    \n    \n"
"""Rich's drawing of a table: a line below the headers, and nothing else."""

REPORT_FIGURES = {
    "right answers (exe_accuracy)": "exe_accuracy",
    "right calculations (program_accuracy)": "program_accuracy",
    "whole conversations right": "conversation_accuracy",
    "right answer ranked first": "recall_at_1",
    "right answer among the first 5": "recall_at_5",
    "right answer among the first 20": "recall_at_20",
    "answered": "answered_share",
    "right of the answered": "accuracy_when_answered",
    "abstained where the report does not answer": "abstained_right",
    "abstained where it does": "abstained_wrong",
    "turns / conversations": "{turns:.0f} / {conversations:.0f}",
    "turns without an answer": "{failed_turns:.0f}",
    "LM calls a turn": "{lm_calls_per_turn:.2f}",
    "prompt tokens a turn": "{prompt_tokens_per_turn:.0f}",
    "of them not cached": "{uncached_prompt_tokens_per_turn:.0f}",
    "completion tokens a turn": "{completion_tokens_per_turn:.0f}",
    "seconds a turn, median": "{seconds_per_turn_p50:.3f}",
    "seconds a turn, 95%": "{seconds_per_turn_p95:.3f}",
}
"""The headline figures of evaluations about reports by their titles: names of shares, or formats."""


def printable(text: str) -> str:
    """``text`` with its control characters as escapes, and without secrets."""
    return str(without_secrets(_CONTROL.sub(lambda sign: ascii(sign[0])[1:-1], text)))


def terminal_width() -> int | None:
    """The number of columns of standard output; ``None`` where it is no terminal."""
    return max(_LEAST_WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def show(text: str = "") -> None:
    """Writes a part of the result to standard output."""
    sys.stdout.write(printable(text) + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """Writes a message about the work to standard error."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


def say_left_out(problems: Sequence[str]) -> None:
    """Writes the first of some parts of files that could not be read, and how many others there are."""
    for problem in problems[:_REPORTED]:
        say(f"left out: {problem}")
    if len(problems) > _REPORTED:
        say(f"... and {len(problems) - _REPORTED} more")


def _console(stream: TextIO, **options: Any) -> Console:
    from rich.console import Console

    return Console(file=stream, no_color=True, highlight=False, markup=False, emoji=False, **options)


def waiting(title: str) -> AbstractContextManager[Any]:
    """Shows a spinner on standard error while the block lasts, on terminals only."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return nullcontext()
    return _console(sys.stderr).status(title)


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


def format_table(headers: Sequence[str], rows: Sequence[Sequence[object]], right: Collection[int] = ()) -> str:
    """A table in plain text, numbers and the columns ``right`` to the right; floats have three decimals.

    Cells are folded where a line would not fit the terminal.
    """
    from rich.box import Box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=Box(_RULE, ascii=True), show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, header in enumerate(headers):
        numeric = bool(rows) and all(row[place] is None or isinstance(row[place], int | float) for row in rows)
        table.add_column(Text(header), justify="right" if numeric or place in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    out = io.StringIO()
    _console(out, width=terminal_width() or _NO_LIMIT).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").splitlines())


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else " ".join(str(value).splitlines())


def figures_table(
    names: Sequence[str],
    figures: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str] = REPORT_FIGURES,
) -> str:
    """The figures of evaluations, one column a run; shares have their intervals, and a row without any is left out.

    Args:
        names: The names of the runs.
        figures: Their figures.
        titles: As :data:`REPORT_FIGURES`.
    """
    rows = [
        [title, *(form.format(**own) if "{" in form else percent(own, form) for own in figures)]
        for title, form in titles.items()
        if "{" in form or any(form in own for own in figures)
    ]
    return format_table(["", *names], rows)


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
    """Gives the function that writes figures to ``path``: a file, or ``-`` for standard output, alone; NaN is null."""
    if path is None:
        yield lambda _: None
    elif path == "-":
        out = sys.stdout
        with redirect_stdout(sys.stderr):
            yield lambda figures: print(_as_json(figures), file=out, flush=True)
    else:
        yield lambda figures: write_text(path, _as_json(figures) + "\n")


def _as_json(figures: Any) -> str:
    plain = to_jsonable_python(figures, inf_nan_mode="null", fallback=str)
    return json.dumps(plain, indent=2, ensure_ascii=False)


def why_unwritable(target: Path) -> str | None:
    """Returns the reason why a file or folder cannot be made, if so: a nameless file is tried next to it."""
    if target.exists() and not (target.is_dir() or target.is_file()):
        return None  # a device or a pipe
    place = next(parent for parent in target.absolute().parents if parent.exists())
    try:
        tempfile.TemporaryFile(dir=place).close()
    except OSError as error:
        return f"{place}: {error.strerror or error}"
    return None


def check_address(address: str) -> None:
    """Raises ConfigError where an address is malformed, or holds a user or a password: addresses are written down."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise ConfigError(f"this is no address: {error}") from None
    if "@" in parts.netloc:
        raise ConfigError("an address must hold no user and no password")


def read_text(path: str | Path) -> str:
    """Returns the text of a UTF-8 file.

    Raises:
        DataError: It cannot be read.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"cannot be read: {reason}", file=str(path)) from error


def read_object(path: str | Path, content: str) -> dict[str, Any]:
    """Returns the JSON object in a file.

    Raises:
        DataError: The file cannot be read, or is no object with ``content``.
    """
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON: {error}", file=str(path)) from error
    if not isinstance(value, dict):
        raise DataError(f"must be an object with {content}", file=str(path))
    return value


def write_text(path: str | Path, text: str) -> None:
    """Writes a UTF-8 file completely or not at all; makes its folder. Half a character of a pair is escaped.

    Raises:
        DataError: It cannot be written.
    """
    with replacing(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))
