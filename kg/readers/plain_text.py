"""Sentences of plain text files.

>>> read_plain_text(Path("notes.txt")).sentences[0].text
'We sold 12 ships in 2020.'
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kg.readers.content import Content, Place, PlacedSentence, decoded, sentences_of


def read_plain_text(path: Path) -> Content:
    """The sentences of a plain text; a paragraph ends at an empty line."""
    sentences: list[PlacedSentence] = []
    text, problems = decoded(path)
    for line, paragraph in _paragraphs(text):
        sentences += sentences_of(paragraph, Place(path.name, line))
    return Content((), tuple(sentences), problems)


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    begun, lines = 1, list[str]()
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.strip():
            begun = begun if lines else number
            lines.append(line)
        elif lines:
            yield begun, " ".join(lines)
            lines = []
