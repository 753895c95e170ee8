"""What is kept of a compile while it runs, so that one that is stopped can go on and a finished one is not repeated.

    FOLDER/plan.json            what was measured and stated before it started
    FOLDER/spent.json           what the language models took so far
    FOLDER/candidates.jsonl     every candidate with its score
    FOLDER/step-0/program/      the program after the first optimizer of the chain
    FOLDER/step-0/work/         what an optimizer keeps itself (GEPA's search)
    FOLDER/result/              the compiled program, when all is done

A step that was stopped half-way begins anew, and gets the replies that it had from DSPy's cache, so that it asks for
nothing twice and comes the same way again; where that cache is off or was emptied it asks anew. GEPA goes on from its
own folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from programs.reports import ConversationQA


@dataclass(frozen=True)
class Checkpoints:
    """The folder of one compile; its name should say what shapes the result, such as a hash of settings and data.

    Attributes:
        folder: Where it is; made when something is written.
        save: Writes a program to a folder.
        load: Reads it back.
    """

    folder: Path
    save: Callable[[ConversationQA, Path], object]
    load: Callable[[Path], ConversationQA]

    @property
    def candidates(self) -> Path:
        """The file of the candidates."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / "candidates.jsonl"

    @property
    def is_begun(self) -> bool:
        """Whether there is something to go on from."""
        return (self.folder / "plan.json").exists() or any(self.folder.glob("step-*/program"))

    def work(self, place: int) -> Path:
        """A folder for what the optimizer at ``place`` keeps itself."""
        folder = self.folder / f"step-{place}" / "work"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def step(self, place: int) -> ConversationQA | None:
        """The program after the optimizer at ``place``, if that is done."""
        return self._program(self.folder / f"step-{place}" / "program")

    def save_step(self, place: int, program: ConversationQA) -> None:
        """Keeps the program after the optimizer at ``place``."""
        self.save(program, self.folder / f"step-{place}" / "program")

    def result(self) -> ConversationQA | None:
        """The compiled program, if all is done."""
        return self._program(self.folder / "result")

    def save_result(self, program: ConversationQA) -> None:
        """Keeps the compiled program."""
        self.save(program, self.folder / "result")

    def read(self, name: str) -> dict[str, Any] | None:
        """What :meth:`write` wrote under this name."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            return None
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def write(self, name: str, value: Mapping[str, Any]) -> None:
        """Keeps a mapping, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        new = self.folder / f".{name}.new"
        new.write_text(json.dumps(value, default=str), encoding="utf-8")
        new.replace(self.folder / f"{name}.json")

    def _program(self, folder: Path) -> ConversationQA | None:
        return self.load(folder) if folder.is_dir() else None
