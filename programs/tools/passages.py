"""Search over the documents of a folder by the words of a query (BM25).

>>> DocumentSearch(Workspace(Path("reports"))).search("insurer of the Port of Varna")[0]
Passage(file='ports.html', text='The Port of Varna is insured by Meridian Re.', score=4.1)

A passage is a few lines. A document that cannot be read is left out; reading it by name gives the reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kg.errors import FinpathError
from kg.text import content_tokens, stem
from programs.tools.documents import READABLE, read_document
from programs.tools.paging import NOTHING
from programs.tools.workspace import Workspace

PASSAGE = 600
"""Characters of a passage."""

MOST_PASSAGES = 6
"""Passages that a search shows."""

MOST_FILES = 500
"""Documents that a search reads."""

_SATURATION, _BY_LENGTH = 1.2, 0.75
"""BM25's k1 and b, at their usual values."""


@dataclass(frozen=True)
class Passage:
    """A passage that a search found.

    Attributes:
        file: Its document.
        text: Its lines.
        score: Its score, above 0.
    """

    file: str
    text: str
    score: float


class DocumentSearch:
    """The documents of a folder as passages; they are read at the first search, and again after the folder changed.

    Args:
        workspace: The folder.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._files: tuple[str, ...] = ()
        self._passages: list[tuple[str, str, Counter[str]]] = []

    def search(self, query: str, most: int = MOST_PASSAGES) -> list[Passage]:
        """Returns the best passages for a query, best first; equally good ones in the order of the documents."""
        self._read()
        lengths = [sum(words.values()) for _, _, words in self._passages]
        mean = sum(lengths) / max(len(lengths), 1)
        wanted = dict.fromkeys(_words(query))
        holding = {word: sum(word in words for _, _, words in self._passages) for word in wanted}
        found = []
        for (file, text, words), length in zip(self._passages, lengths, strict=True):
            score = 0.0
            for word in wanted:
                if words[word]:
                    rare = math.log(1 + (len(lengths) - holding[word] + 0.5) / (holding[word] + 0.5))
                    norm = _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * length / mean)
                    score += rare * words[word] * (_SATURATION + 1) / (words[word] + norm)
            if score:
                found.append(Passage(file, text, score))
        return sorted(found, key=lambda one: -one.score)[:most]

    def _read(self) -> None:
        files = tuple(name for name in self._workspace.names() if name.endswith(READABLE))[:MOST_FILES]
        if files == self._files:
            return
        self._files, self._passages = files, []
        for name in files:
            try:
                text = read_document(self._workspace.file(name))
            except FinpathError:
                continue
            words = Counter(_words(name))
            self._passages += [(name, part, Counter(_words(part)) + words) for part in _passages(text)]


def search_documents(workspace: Workspace) -> Callable[[str], str]:
    """The tool that searches the documents of a folder."""
    documents = DocumentSearch(workspace)

    def search(query: str) -> str:
        """Finds passages of all documents of the folder by the words of a query; a document's name counts too."""
        found = documents.search(query)
        return "\n\n".join(f"[{one.file}]\n{one.text}" for one in found) or NOTHING

    return search


def _passages(text: str) -> Iterator[str]:
    """Yields lines in groups; the first line of a document, such as a table's header, begins its first group."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and sum(map(len, lines)) + len(line) > PASSAGE:
            yield "\n".join(lines)
            lines = []
        lines.append(line)
    if any(line.strip() for line in lines):
        yield "\n".join(lines)


def _words(text: str) -> list[str]:
    return [stem(word) for word in content_tokens(text)]
