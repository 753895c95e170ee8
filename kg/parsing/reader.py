"""Reading of a question together with the clauses of a parse: how well they say what is asked.

>>> reader = ParseReader.load()
>>> reader.scores([("who runs Valley Line?", "company: Valley Line (line) operated by company = Stellan Rail")])
array([2.7], dtype=float32)

The transformer is that of the extra ``news`` with a low-rank change of its matrices. ``benchmarks/fit_parse_reader.py``
fits the change and a head, which are the file ``reader.npz``. Reading takes time, so only the derivations that rank
first without it are read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kg.algebra import kind_of, tell
from kg.arrays import FloatArray
from kg.encoders import LowRankTransformer, word_pieces
from kg.graphs import FactGraph
from kg.parsing.parser import Parse

FILE = Path(__file__).with_name("reader.npz")

READ, OF_ONE_ANSWER = 12, 2
"""Derivations of a question that are read, and the most of one answer."""

LOOKED_AT = 80
"""Derivations, those that rank first, that reading tells apart."""

READ_FEATURES = ("read", "unread")
"""The features that reading adds to those of :data:`kg.parsing.evidence.FEATURES`."""

QUESTION_PIECES, CLAUSE_PIECES, ANSWER_PIECES = 72, 56, 12
"""Pieces that are read of a question, of the clauses of a parse and of its answer."""

_ANSWER = " = "
_NAMES, _LONGEST = 2, 40


def telling(parse: Parse, graph: FactGraph) -> str:
    """A parse in words: what is done with its nodes, what they are, its clauses, and its answer."""
    said = tell(parse.query, graph)
    if parse.holds is not None:
        return f"yes or no: {said}{_ANSWER}{'yes' if parse.holds else 'no'}"
    kind = kind_of(parse.nodes, graph) or "thing"
    asked = f"{parse.operation} of {kind}" if parse.operation else kind
    if parse.number is not None and parse.operation:
        return f"{asked}: {said}{_ANSWER}{parse.number}"
    names = [graph.name(node) for node in parse.nodes[:_NAMES]]
    return f"{asked}: {said}{_ANSWER}{first_names(names, len(parse.nodes))}"


def first_names(names: Sequence[str], count: int) -> str:
    """The first of some names, shortened, and how many more of ``count`` there are."""
    first = ", ".join(name[:_LONGEST] for name in names[:_NAMES])
    return f"{first} and {count - _NAMES} more" if count > _NAMES else first


def answer_of(told: str) -> str:
    """The answer of what :func:`telling` gives."""
    return told.rpartition(_ANSWER)[2]


def chosen(order: Sequence[int], answers: Sequence[Hashable], texts: Sequence[Hashable]) -> list[int]:
    """The places of the derivations that are read: the first of each text, few of each answer.

    Args:
        order: The places, best first.
        answers: The answer of each derivation.
        texts: What is read of each.
    """
    found: list[int] = []
    seen: set[Hashable] = set()
    times: dict[Hashable, int] = {}
    for place in order:
        answer = answers[place]
        if texts[place] in seen or times.get(answer, 0) >= OF_ONE_ANSWER:
            continue
        seen.add(texts[place])
        times[answer] = times.get(answer, 0) + 1
        found.append(place)
        if len(found) == READ:
            break
    return found


def read_features(scores: Mapping[int, float], texts: Sequence[Hashable]) -> FloatArray:
    """The features that reading adds to each derivation; shape ``(derivations, features)``.

    One that was not read has the score of the derivation with the same text, else the least of all scores.

    Args:
        scores: The scores of the derivations that were read, by their places.
        texts: What is or would be read of each.
    """
    of_text = {texts[place]: score for place, score in scores.items()}
    least = min(scores.values(), default=0.0)
    rows = [(of_text.get(text, least), float(text not in of_text)) for text in texts]
    return np.array(rows, dtype=np.float32).reshape(-1, len(READ_FEATURES))


def pieces_of(question: str, told: str) -> tuple[list[int], tuple[int, int]]:
    """The pieces' numbers of a question and a parse, and the first and last piece of the parse's answer.

    A long question, which begins with the turns before it, keeps its end.
    """
    wordpiece = word_pieces()
    clauses, _, answer = told.rpartition(_ANSWER)
    short = wordpiece(answer)[:ANSWER_PIECES] or [wordpiece.sep]
    head = [wordpiece.cls, *wordpiece(question)[-QUESTION_PIECES:], wordpiece.sep]
    long = [*wordpiece(clauses)[:CLAUSE_PIECES], wordpiece.sep]
    first = len(head) + len(long)
    numbers = [*head, *long, *short, wordpiece.sep]
    return numbers, (first, first + len(short) - 1)


def with_reading(
    parses: Sequence[Parse],
    question_of: Callable[[Parse], str],
    hand: FloatArray,
    graph: FactGraph,
    reader: ParseReader,
) -> list[Parse]:
    """The parses with the features of reading the best of them.

    Args:
        parses: All parses of a question.
        question_of: Gives the question as a parse reads it.
        hand: Their scores without reading.
        graph: The graph.
        reader: The reader.
    """
    order = np.argsort(-hand, kind="stable").tolist()[:LOOKED_AT]
    texts = [("", "")] * len(parses)
    for place in order:
        texts[place] = question_of(parses[place]), telling(parses[place], graph)
    places = chosen(order, [one.answer for one in parses], texts)
    scores = reader.scores([texts[place] for place in places])
    added = read_features(dict(zip(places, scores.tolist(), strict=True)), texts)
    return [replace(one, evidence=(*one.evidence, *values)) for one, values in zip(parses, added.tolist(), strict=True)]


class ParseReader(LowRankTransformer):
    """The transformer as it is fitted for this."""

    file = FILE

    def scores(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """The scores of parses; above 0 a parse rather says what is asked.

        Args:
            pairs: For each parse the question and the parse in words.
        """
        given = [pieces_of(*pair) for pair in pairs]
        return self.span_scores([pieces for pieces, _ in given], [span for _, span in given])
