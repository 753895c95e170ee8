"""Training conversations without their reports: what they ask is known, what they ask about is not.

One JSON object a line, with ``id``, ``dialogue_break`` (the questions) and ``turn_program`` (the gold programs)::

    {"id": "Single_ACME/2020/page_7.pdf-1", "dialogue_break": ["revenue in 2020?"], "turn_program": ["120"]}

The scorer learns from them which calculation a question asks for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from kg.errors import DataError, ProgramError
from kg.search import Derivation

Dialogue = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Id, questions, gold programs."""


@dataclass(frozen=True)
class Dialogues:
    """The dialogues of a file.

    Attributes:
        name: The file's name.
        sha256: Hash of its bytes.
        items: Each with as many programs as questions.
    """

    name: str
    sha256: str
    items: tuple[Dialogue, ...]

    def without(self, ids: Collection[str]) -> Dialogues:
        """Those that are not among conversations that are known with their reports."""
        return Dialogues(self.name, self.sha256, tuple(item for item in self.items if item[0] not in ids))


class _Line(BaseModel):
    id: str
    dialogue_break: tuple[str, ...]
    turn_program: tuple[str, ...]


def read_dialogues(path: str | Path) -> Dialogues:
    """Reads a file of dialogues.

    Raises:
        DataError: The file cannot be read, or a line is no dialogue; the message names the line.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
        lines = data.decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", file=str(path)) from error
    items = tuple(_dialogue(line, number, path.name) for number, line in enumerate(lines, start=1) if line.strip())
    return Dialogues(path.name, hashlib.sha256(data).hexdigest(), items)


def _dialogue(line: str, number: int, name: str) -> Dialogue:
    try:
        read = _Line.model_validate_json(line)
        for program in read.turn_program:
            Derivation.parse(program)
        if len(read.dialogue_break) != len(read.turn_program):
            raise ProgramError(f"has {len(read.turn_program)} programs for {len(read.dialogue_break)} questions")
    except ValidationError as error:
        rule = "must be an object with id, dialogue_break and turn_program"
        raise DataError(rule, file=name, place=f"line {number}") from error
    except ProgramError as error:
        raise DataError(str(error), file=name, place=f"line {number}") from error
    return read.id, read.dialogue_break, read.turn_program
