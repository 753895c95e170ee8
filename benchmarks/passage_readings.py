"""Passages and questions that people wrote, as the fits of the readers take them.

A file of the archive ``passages`` has ten passages (``# ID | DAY | HEADLINE``) with sentences (``S``) and
questions (``Q question => answer ;; answer``). The passages of a file are one collection of documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from question_sets import unpacked

from kg.news import Passage, number_of
from kg.sentences import plain_name

FOLDER = unpacked("passages") / "reader" / "passages"

KEPT = "03"
"""The end of the names of the files that the reader is not fitted on."""

SMALL_WORDS = re.compile(
    r"^(?:(?:the|an?|some|about|around|nearly|almost|roughly|just|only|up to|more than|over|at least|its|his|her|their"
    r"|in|on|at|by|from|for|to|of|with|until|since|because of|due to) )+",
    re.I,
)
"""Small words at the beginning of an answer, which another one may lack."""


@dataclass(frozen=True)
class PassageQuestion:
    """A question about a passage.

    Attributes:
        passage: The name of its passage.
        text: The question.
        answers: The right answers, as written in the passage; none where it has none.
    """

    passage: str
    text: str
    answers: tuple[str, ...]


def read_file(path: Path) -> tuple[list[Passage], list[PassageQuestion]]:
    """Returns the sentences and the questions of a file."""
    sentences: list[Passage] = []
    questions: list[PassageQuestion] = []
    name, day, place = "", date.min, -1
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, rest = line[:1], line[2:].strip()
        if kind == "#":
            name, written, headline = (part.strip() for part in rest.split("|", 2))
            day, place = date.fromisoformat(written), -1
            sentences.append(Passage(name, day, place, headline))
        elif kind == "S":
            place += 1
            sentences.append(Passage(name, day, place, rest))
        elif kind == "Q":
            text, _, answer = rest.rpartition(" => ")
            given = tuple(part.strip() for part in answer.split(";;"))
            questions.append(PassageQuestion(name, text.strip(), () if given == ("-",) else given))
    return sentences, questions


def _plain(text: str) -> str:
    return plain_name(SMALL_WORDS.sub("", text.strip()))


def is_answer(value: str, answer: str) -> bool:
    """Whether a value says what an answer of a passage says, without small words before it."""
    if _plain(value) == _plain(answer):
        return True
    if any(re.match(r"[A-Za-z]{2}", SMALL_WORDS.sub("", text)) for text in (value, answer)):
        return False
    numbers = number_of(value), number_of(answer)
    return numbers[0] is not None and numbers[0] == numbers[1] and _unit(value) == _unit(answer)


def _unit(amount: str) -> str:
    """Returns the last word of an amount that is no number, or its sign."""
    words = [word for word in re.findall(r"[a-z%€$£¥]+", amount.lower()) if word not in _SCALES]
    return words[-1].rstrip("s") if words else ""


_SCALES = ("hundred", "thousand", "million", "billion", "trillion", "mn", "bn", "m", "k")


def passage_files(kept: bool) -> list[Path]:
    """Returns the files of passages that are kept out of the reader's fit, or the others."""
    return [path for path in sorted(FOLDER.glob("*.txt")) if path.stem.endswith(KEPT) == kept]
