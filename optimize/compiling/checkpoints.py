"""Checkpoints of a compile: a stopped one continues from them, and a finished one is not repeated.

    FOLDER/plan.json            the measured turns that the plan is based on
    FOLDER/spent.json           the use of the language models so far
    FOLDER/candidates.jsonl     every candidate with its score
    FOLDER/step-0/program/      the program after the first optimizer of the chain
    FOLDER/step-0/work/         the files of the optimizer itself (GEPA's search)
    FOLDER/result/              the compiled program, when all is done

A step that was stopped half-way starts again. It gets its earlier replies from DSPy's cache, so it asks nothing twice
and takes the same course; without that cache it asks again. GEPA continues from its own folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kg.errors import ConfigError
from kg.files import replacing

if TYPE_CHECKING:
    from programs.conversation import ConversationQA


def _unset(*_: object) -> Any:
    raise ConfigError("checkpoints in a folder must have save and load")


@dataclass(frozen=True)
class Checkpoints:
    """The folder of one compile, or nothing.

    Attributes:
        folder: The folder, made when something is written; without it nothing is kept. Its name should identify all
            that shapes the result, such as a hash of settings and data.
        save: Writes a program to a folder.
        load: Reads it back.
    """

    folder: Path | None = None
    save: Callable[[ConversationQA, Path], object] = _unset
    load: Callable[[Path], ConversationQA] = _unset

    @property
    def candidates(self) -> Path | None:
        """The file of the candidates."""
        return self._made("") / "candidates.jsonl" if self.folder is not None else None

    @property
    def is_begun(self) -> bool:
        """Whether an earlier run left something."""
        folder = self.folder
        return folder is not None and ((folder / "plan.json").exists() or any(folder.glob("step-*/program")))

    def work(self, place: int) -> Path | None:
        """Returns a folder for the files of the optimizer at ``place``."""
        return self._made(f"step-{place}/work") if self.folder is not None else None

    def step(self, place: int) -> ConversationQA | None:
        """Returns the program after the optimizer at ``place``, if that step is done."""
        return self._program(f"step-{place}/program")

    def save_step(self, place: int, program: ConversationQA) -> None:
        """Keeps the program after the optimizer at ``place``."""
        if self.folder is not None:
            self.save(program, self.folder / f"step-{place}" / "program")

    def result(self) -> ConversationQA | None:
        """Returns the compiled program, if all is done."""
        return self._program("result")

    def save_result(self, program: ConversationQA) -> None:
        """Keeps the compiled program."""
        if self.folder is not None:
            self.save(program, self.folder / "result")

    def read(self, name: str) -> dict[str, Any] | None:
        """Returns the mapping that :meth:`write` kept under this name."""
        if self.folder is None or not (path := self.folder / f"{name}.json").exists():
            return None
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def write(self, name: str, value: Mapping[str, Any]) -> None:
        """Keeps a mapping, whole or not at all."""
        if self.folder is not None:
            with replacing(self.folder / f"{name}.json") as file:
                file.write(json.dumps(value, default=str).encode())

    def _made(self, name: str) -> Path:
        assert self.folder is not None
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _program(self, name: str) -> ConversationQA | None:
        return self.load(self.folder / name) if self.folder is not None and (self.folder / name).is_dir() else None
