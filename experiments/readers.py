"""The shipped encoder, and readers with its vectors: of types, and of questions about any graph.

>>> question_reader(graph).graph is graph
True
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from experiments.console import SHIPPED_FOLDER

if TYPE_CHECKING:
    from kg.encoders import TextEncoder
    from kg.graphs import FactGraph
    from kg.growing import TypeMeaning
    from kg.parsing import ParseReader, QuestionReader


@lru_cache(maxsize=1)
def shipped_encoder() -> TextEncoder:
    """The encoder of the shipped program, whose vectors know words that are not in a graph."""
    from kg.encoders import TextEncoder

    return TextEncoder.read(SHIPPED_FOLDER / "beam" / "encoder")


@lru_cache(maxsize=1)
def shipped_meaning() -> TypeMeaning:
    """The comparison of types by meaning, with the shipped encoder."""
    from kg.growing import TypeMeaning

    return TypeMeaning(shipped_encoder().vectors)


def parse_reader() -> ParseReader | None:
    """Returns the reader of questions and parses; ``None`` without the extra ``news``, as a printed note explains."""
    from experiments.lms import fetch_reader
    from kg.parsing import ParseReader

    fetch_reader()
    return ParseReader.load()


def question_reader(graph: FactGraph) -> QuestionReader:
    """Returns the reader of questions about any graph, with the shipped vectors and weights."""
    from kg.parsing import QuestionReader

    return QuestionReader(graph, shipped_encoder().vectors, parse_reader=parse_reader())
