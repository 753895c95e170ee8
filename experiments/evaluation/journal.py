"""Journal of an evaluation: every answered turn as one checksummed line, for resuming after a stop.

    journal = Journal(journals_folder() / f"{run_id}.jsonl")
    journal.append({"kind": "turn", "conversation": "...", "index": 0, ...})
    [line["index"] for line in journal.read()]      # [0], also after `kill -9`

The file is in the user's cache (``FINPATH_CACHE`` names another folder) until the evaluation is finished. A run that is
stopped keeps a copy among its artifacts, so that another machine can resume it. A line is the CRC-32 of its JSON in
eight hexadecimal digits, a blank and the JSON; lines of earlier versions are JSON alone.
"""

from __future__ import annotations

import json
import os
import threading
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.console import say
from experiments.files import write_text
from kg.files import cache_folder

ARTIFACT = "journal.jsonl"
"""The copy's name among the artifacts of a run that was stopped."""


def journals_folder() -> Path:
    """Returns the folder of the journals of unfinished evaluations."""
    return cache_folder() / "evaluations"


class Journal:
    """Lines of JSON in an append-only file; safe to use from several threads.

    Args:
        path: The file; ``None`` for no journal.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()

    def append(self, line: Mapping[str, Any]) -> None:
        """Adds a line; it is on the disk when this returns."""
        if self.path is None:
            return
        text = json.dumps(line, ensure_ascii=False, allow_nan=False).encode("utf-8")
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write(b"%08x %b\n" % (zlib.crc32(text), text))
                file.flush()
                os.fsync(file.fileno())

    def read(self) -> list[dict[str, Any]]:
        """Returns all valid lines.

        A last line without an end, which a killed process leaves, is removed from the file. Any other line that is
        broken is reported and skipped.
        """
        if self.path is None or not self.path.exists():
            return []
        content = self.path.read_bytes()
        complete = content[: content.rfind(b"\n") + 1]
        if len(complete) < len(content):
            os.truncate(self.path, len(complete))
        lines = [_line(text) for text in complete.split(b"\n")[:-1]]
        broken = [str(number) for number, line in enumerate(lines, start=1) if line is None]
        if broken:
            say(f"note: the journal {self.path} has broken lines, which are skipped: {', '.join(broken)}")
        return [line for line in lines if line is not None]

    def text(self) -> str:
        """Returns the file's content; empty where there is no file."""
        if self.path is None or not self.path.exists():
            return ""
        return self.path.read_bytes().decode("utf-8", errors="replace")

    def restore(self, text: str) -> None:
        """Writes a copy of the journal where there is no file."""
        if self.path is not None and not self.path.exists():
            write_text(self.path, text)

    def remove(self) -> None:
        """Removes the file; the run has its content."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _line(text: bytes) -> dict[str, Any] | None:
    """Returns the line's content; ``None`` where it is not what was written."""
    checksum, _, content = (b"", b"", text) if text.startswith(b"{") else text.partition(b" ")
    try:
        if checksum and int(checksum, 16) != zlib.crc32(content):
            return None
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
