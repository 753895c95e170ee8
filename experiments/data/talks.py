"""Conversations about graphs with the answers that a person gave: a folder of graphs and ``questions.jsonl``.

Each line has ``graph``, ``file``, ``questions`` and ``answers``, and maybe the gold ``queries`` and the ``part``. Lines
of the part ``held_out`` are left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from experiments.files import read_text
from kg.errors import DataError

QUESTIONS, HELD_OUT = "questions.jsonl", "held_out"


def read_talks(folders: Iterable[str]) -> tuple[dict[Path, list[dict[str, Any]]], str]:
    """Returns the conversations about each file of a graph, and the hash of all that was read.

    Raises:
        DataError: A folder has no conversation, or a line cannot be read.
    """
    found: dict[Path, list[dict[str, Any]]] = {}
    digest = hashlib.sha256()
    for folder in map(Path, folders):
        text = read_text(folder / QUESTIONS)
        digest.update(text.encode())
        before = len(found)
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                row = json.loads(line)
                questions, answers = list(map(str, row["questions"])), list(row["answers"])
                queries = list(row.get("queries") or [None] * len(questions))
                if not len(questions) == len(answers) == len(queries):
                    raise ValueError("as many answers and queries as questions")
                own = {"questions": questions, "answers": answers, "queries": queries}
                file = folder / str(row["file"])
            except (ValueError, KeyError, TypeError) as error:
                rule = f"must hold file, questions and answers ({type(error).__name__}: {error})"
                raise DataError(rule, file=str(folder / QUESTIONS), place=f"line {number}") from error
            if row.get("part") != HELD_OUT:
                found.setdefault(file, []).append(own)
        if len(found) == before:
            raise DataError("has no conversation", file=str(folder / QUESTIONS))
    for file in found:
        digest.update(read_text(file).encode())
    return found, digest.hexdigest()
