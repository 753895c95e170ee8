"""The journal of an evaluation: every turn as soon as it is answered, so that nothing done is lost or done again.

    journal = Journal(journals_folder() / f"{run_id}.jsonl")
    journal.append({"kind": "turn", "conversation": "...", "index": 0, ...})
    [line["index"] for line in journal.read()]      # [0], also after `kill -9`

It lies in the user's cache (``FINPATH_CACHE``, or ``XDG_CACHE_HOME``) while the evaluation runs and until it is
finished; a run that is stopped keeps a copy among its artifacts, so that it can go on from another machine.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.lms.catalogue import models_folder

ARTIFACT = "journal.jsonl"
"""The copy's name among the artifacts of a run that was stopped."""


def journals_folder() -> Path:
    """Where the journals of evaluations that are not finished lie."""
    return models_folder().parent / "evaluations"


class Journal:
    """Lines of JSON in a file that is only ever added to; safe to use from several threads.

    Args:
        path: The file; ``None`` keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()

    def append(self, line: Mapping[str, Any]) -> None:
        """Adds a line, which is in the file when this returns."""
        if self.path is None:
            return
        text = json.dumps(line, ensure_ascii=False, allow_nan=False)
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(text + "\n")

    def read(self) -> list[dict[str, Any]]:
        """All whole lines. What was being written when the process was killed is cut off, in the file too."""
        if self.path is None or not self.path.exists():
            return []
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self.path.write_bytes(whole)
        return [json.loads(line) for line in whole.decode("utf-8").splitlines()]

    def text(self) -> str:
        """The file's content; empty where there is none."""
        return self.path.read_text(encoding="utf-8") if self.path is not None and self.path.exists() else ""

    def restore(self, text: str) -> None:
        """Puts a copy in the place of a file that is not there."""
        if self.path is not None and not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(text, encoding="utf-8")

    def remove(self) -> None:
        """Removes the file: what it held is on the run."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
