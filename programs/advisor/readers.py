"""The interface of readers of news documents: by rules, or by rules and a language model.

>>> SentenceReader(graph).read(document).updates[0]
AddNode('News', 'Orbex sued over delays', {'source': 'Quay Post', 'published_at': '2026-03-02'})
"""

from __future__ import annotations

from typing import Protocol

from kg.investments import DocumentReading, NewsDocument


class NewsReader(Protocol):
    """A reader of news documents."""

    name: str

    def read(self, document: NewsDocument) -> DocumentReading:
        """Returns the statements of a document as updates."""
        ...
