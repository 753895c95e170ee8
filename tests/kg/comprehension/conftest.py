"""The parser of sentences, which needs the model of the extra ``news``."""

from __future__ import annotations

import pytest

from kg.clauses import SentenceParser


@pytest.fixture(scope="session")
def parser() -> SentenceParser:
    pytest.importorskip("spacy")
    found = SentenceParser.load()
    if found is None:
        pytest.skip("the model of the extra 'news' is not installed")
    return found
