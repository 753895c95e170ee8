"""Types of the command line's values: each checks a value, and knows what a shell may complete it to.

    @click.argument("run_reference", type=RUN_NAME)
    @option("--out", type=OUT_FOLDER)

A place that the command will write to is tried while the command line is read, so that no work is lost.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import click
from click.shell_completion import CompletionItem

from experiments.files import SAMPLE_FOLDER, SHIPPED_FOLDER, TRACKING_URI, check_target

_MOST = 200
_NAMES_OF_RUNS = """
    SELECT runs.name FROM runs JOIN tags ON tags.run_uuid = runs.run_uuid
    WHERE tags.key = 'finpath.kind' AND runs.lifecycle_stage = 'active' AND tags.value IN ({kinds})
    GROUP BY runs.name ORDER BY MAX(runs.start_time) DESC
"""
_OF_CONVERSATION = re.compile(r"^(Single_|Double_)|-\d+$")
_MARKS = "'\"\\ ;&|<>()$`"


class Whole(click.ParamType[int]):
    """A whole number from ``least``."""

    name = "N"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Reads ``value``."""
        if isinstance(value, str) and not (value.isdecimal() and int(value) >= self.least):
            self.fail(f"must be a whole number from {self.least}, got {value!r}", param, ctx)
        return int(value)


class FilePath(click.ParamType[str]):
    """Text that may be the path of a file or folder, which a shell completes."""

    name = "FILE"

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leaves the completion to the shell."""
        return [CompletionItem(incomplete, type="file")]


class Target(FilePath):
    """A file or folder that the command writes.

    Args:
        folder: Whether it is a folder; ``None`` for either.
        inside: Whether the folder is filled where it is, and not replaced as a whole.
    """

    def __init__(self, *, folder: bool | None = False, inside: bool = False) -> None:
        self.folder, self.inside = folder, inside

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the path, after a file was written next to it and removed.

        Raises:
            ConfigError: The place cannot be written.
        """
        if ctx is None or not ctx.resilient_parsing:
            name = param.name if param is not None and param.name is not None else "path"
            check_target(value, name, folder=self.folder, inside=self.inside)
        return value


class Named(FilePath):
    """A text with names that a shell completes."""

    files: ClassVar[bool] = True
    """Whether a file's name is possible, too."""

    def names(self, ctx: click.Context) -> Iterable[str]:
        """The names, the likeliest first."""
        raise NotImplementedError

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that begin with ``incomplete``, or files where there is none."""
        found = [name for name in dict.fromkeys(self.names(ctx)) if name.startswith(incomplete)]
        if found:
            return [CompletionItem(_written(name, incomplete)) for name in islice(found, _MOST)]
        return super().shell_complete(ctx, param, incomplete) if self.files else []


class RunName(Named):
    """A run of the tracking store."""

    name = "RUN"
    files = False

    def names(self, ctx: click.Context) -> Iterable[str]:
        """``latest`` and the names of evaluations, the newest first."""
        del ctx
        return ["latest", *run_names("evaluate", "answers", "kgqa")]


class ProgramName(Named):
    """A saved program."""

    name = "PROGRAM"

    def names(self, ctx: click.Context) -> Iterable[str]:
        """Shipped programs, saved programs of the working folder, and runs that compiled one."""
        del ctx
        shipped = sorted(path.parent.name for path in SHIPPED_FOLDER.glob("*/config.json"))
        here = sorted(path.parent.name for path in Path().glob("*/config.json"))
        return [*shipped, "agent", *here, *run_names("compile")]


class ReportName(Named):
    """A report of a data set, or a file."""

    name = "REPORT"

    def names(self, ctx: click.Context) -> Iterable[str]:
        """Ids of the reports in ``--data``."""
        data = str(ctx.params.get("data") or "sample:dev")
        path = SAMPLE_FOLDER / f"{data.partition(':')[2]}.json" if data.startswith("sample:") else Path(data)
        return ["geography", *_report_ids(path)]


def run_names(*kinds: str) -> list[str]:
    """Names of runs in a local tracking store, the newest first; empty where there is none or it is elsewhere."""
    address = os.environ.get("MLFLOW_TRACKING_URI") or TRACKING_URI
    if not address.startswith("sqlite:///"):
        return []
    path = Path(address.removeprefix("sqlite:///").split("?")[0])
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as store:
            query = _NAMES_OF_RUNS.format(kinds=", ".join("?" * len(kinds)))
            return [name for (name,) in store.execute(query, kinds).fetchmany(_MOST)]
    except sqlite3.Error:
        return []


def _report_ids(path: Path) -> list[str]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    if not isinstance(rows, list):
        return []
    ids = (row.get("id") for row in rows if isinstance(row, dict))
    return [_OF_CONVERSATION.sub("", one) for one in ids if isinstance(one, str)]


def _written(name: str, incomplete: str) -> str:
    """``name`` as it must be written at a prompt; only bash leaves that to the program."""
    if not os.environ.get("_FINPATH_COMPLETE", "").startswith("bash"):
        return name
    typed = os.environ.get("COMP_WORDS", "")
    if typed.endswith((f"'{incomplete}", f'"{incomplete}')):
        return name
    return "".join(f"\\{sign}" if sign in _MARKS else sign for sign in name)


POSITIVE, WHOLE, FILE = Whole(1), Whole(0), FilePath()
OUT_FILE, OUT_FOLDER, OUT_PLACE = Target(), Target(folder=True), Target(folder=None)
WORK_FOLDER = Target(folder=True, inside=True)
RUN_NAME, PROGRAM_NAME, REPORT_NAME = RunName(), ProgramName(), ReportName()
