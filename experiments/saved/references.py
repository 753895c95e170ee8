"""The shipped models that programs share: of texts as vectors, of parses and of paths."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from experiments.console import SHIPPED_FOLDER

if TYPE_CHECKING:
    from kg.encoders import TextEncoder
    from kg.facts import FactGraph
    from kg.growing import TypeMeaning
    from kg.parsing import ParseReader, QuestionReader
    from kg.paths import Reader
    from kg.vocabulary import Thesaurus


@lru_cache(maxsize=1)
def shipped_encoder() -> TextEncoder:
    """The encoder of the shipped program, whose vectors know words that are not in a graph."""
    from kg.encoders import TextEncoder

    return TextEncoder.read(SHIPPED_FOLDER / "beam" / "encoder")


@lru_cache(maxsize=1)
def shipped_thesaurus() -> Thesaurus:
    """The shipped table of senses, from WordNet."""
    from kg.vocabulary import Thesaurus

    return Thesaurus.read(SHIPPED_FOLDER / "thesaurus" / "thesaurus.npz")


@lru_cache(maxsize=1)
def shipped_meaning() -> TypeMeaning:
    """The comparison of types by meaning, with the shipped encoder and thesaurus."""
    from kg.growing import TypeMeaning

    return TypeMeaning(shipped_encoder().vectors, shipped_thesaurus().likeness)


def parse_reader() -> ParseReader | None:
    """Returns the reader of questions and parses; ``None`` without the extra ``news``, as a printed note explains."""
    from experiments.lms.reader import fetch_reader
    from kg.parsing import ParseReader

    fetch_reader()
    return ParseReader.load()


def question_reader(graph: FactGraph) -> QuestionReader:
    """Returns the reader of questions about any graph, with the shipped vectors, senses and weights."""
    from kg.parsing import QuestionReader

    return QuestionReader(graph, shipped_encoder().vectors, shipped_thesaurus(), parse_reader=parse_reader())


def path_reader() -> Reader | None:
    """Returns the same reader for questions and paths."""
    reader = parse_reader()
    return reader.scores if reader is not None else None
