"""Search over the documents of a folder by the words of a query (BM25).

>>> DocumentSearch(Workspace(Path("reports"))).search("insurer of the Port of Varna")[0]
FoundPassage(file='ports.html', text='The Port of Varna is insured by Meridian Re.', score=4.1)

A passage is a few lines. A document that cannot be read is left out; reading it by name gives the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kg.errors import FinpathError
from kg.text import WordIndex, search_words
from programs.tools.documents import READABLE, read_document
from programs.tools.paging import NOTHING
from programs.tools.workspace import Workspace

PASSAGE = 600
"""Characters of a passage."""

MOST_PASSAGES = 6
"""Passages that a search shows."""

MOST_FILES = 500
"""Documents that a search reads."""


@dataclass(frozen=True)
class FoundPassage:
    """A passage that a search found: its document, its lines, and its score above 0."""

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
        self._passages: list[tuple[str, str]] = []
        self._index = WordIndex([])

    def search(self, query: str, most: int = MOST_PASSAGES) -> list[FoundPassage]:
        """Returns the best passages for a query, best first; equally good ones in the order of the documents."""
        self._read()
        scores = self._index.scores(search_words(query))
        best = self._index.best(search_words(query), most)
        return [FoundPassage(*self._passages[place], score=float(scores[place])) for place in best]

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
            self._passages += [(name, part) for part in _passages(text)]
        self._index = WordIndex(search_words(part) + search_words(name) for name, part in self._passages)


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
