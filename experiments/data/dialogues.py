"""Training conversations without their reports: what they ask is known, what they ask about is not.

One JSON object a line, with ``id``, ``dialogue_break`` (the questions) and ``turn_program`` (the gold programs)::

    {"id": "Single_ACME/2020/page_7.pdf-1", "dialogue_break": ["revenue in 2020?"], "turn_program": ["120"]}

The scorer learns from them which calculation a question asks for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ValidationError, model_validator

from experiments.console import read_text
from kg.errors import DataError, ProgramError
from kg.search import Derivation

Dialogue = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Id, questions, gold programs."""


@dataclass(frozen=True)
class Dialogues:
    """The dialogues of a file, each with as many programs as questions, with its name and the hash of its text."""

    name: str
    sha256: str
    items: tuple[Dialogue, ...]

    def without(self, ids: Collection[str]) -> Dialogues:
        """Those that are not among conversations that are known with their reports."""
        return replace(self, items=tuple(item for item in self.items if item[0] not in ids))


class _Line(BaseModel):
    id: str
    dialogue_break: tuple[str, ...]
    turn_program: tuple[str, ...]

    @model_validator(mode="after")
    def _has_programs(self) -> Self:
        if len(self.dialogue_break) != len(self.turn_program):
            raise ValueError(f"has {len(self.turn_program)} programs for {len(self.dialogue_break)} questions")
        for program in self.turn_program:
            Derivation.parse(program)
        return self


def read_dialogues(path: str | Path) -> Dialogues:
    """Reads a file of dialogues.

    Raises:
        DataError: The file cannot be read, or a line is no dialogue; the message names the line.
    """
    text, name, items = read_text(path), Path(path).name, list[Dialogue]()
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            read = _Line.model_validate_json(line) if line.strip() else None
        except (ValidationError, ProgramError) as error:
            rule = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
            raise DataError(f"is no dialogue: {rule}", file=name, place=f"line {number}") from error
        if read is not None:
            items.append((read.id, read.dialogue_break, read.turn_program))
    return Dialogues(name, hashlib.sha256(text.encode()).hexdigest(), tuple(items))
