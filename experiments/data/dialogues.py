"""Training conversations without their reports, from which the scorer learns which calculation a question asks for.

One JSON object a line, with ``id``, ``dialogue_break`` (the questions) and ``turn_program`` (the gold programs)::

    {"id": "Single_ACME/2020/page_7.pdf-1", "dialogue_break": ["revenue in 2020?"], "turn_program": ["120"]}
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

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


def read_dialogues(path: str | Path) -> Dialogues:
    """Reads a file of dialogues.

    Raises:
        DataError: The file cannot be read, or a line is no dialogue; the message names the line.
    """
    text, name, items = read_text(path), Path(path).name, list[Dialogue]()
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            read = json.loads(line) if line.strip() else None
            if read is not None:
                questions, programs = tuple(read["dialogue_break"]), tuple(read["turn_program"])
                for _, program in zip(questions, programs, strict=True):
                    Derivation.parse(program)
                items.append((read["id"], questions, programs))
        except (ValueError, KeyError, TypeError, ProgramError) as error:
            raise DataError(f"is no dialogue: {error}", file=name, place=f"line {number}") from error
    return Dialogues(name, hashlib.sha256(text.encode()).hexdigest(), tuple(items))
