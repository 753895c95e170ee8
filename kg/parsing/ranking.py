"""The ranking of a question's parses, and the confidence in the first: small networks over their evidence.

    >>> ranked = Ranker.shipped().ranked(parses)
    >>> ranked[0].parse.answer, ranked[0].share
    (frozenset({17}), 0.93)

Derivations with the same answer support each other: an answer's share is the sum of theirs. Yes and no are the answers
of too many derivations for that, so the best decides. The confidence says how probable it is that the first answer is
right, as none may be. ``benchmarks/fit_ranking.py`` fits the networks of ``ranking.npz`` on questions about graphs of
many authors, and those of ``ranking_read.npz`` for parses that the reader has read.

The reader is a transformer that reads a question together with the clauses of a parse: how well they say what is asked.
Its weights are those of the extra ``news`` with a low-rank change of its matrices and a head, which
``benchmarks/fit_parse_reader.py`` fits (``reader.npz``). Reading takes time, so only the derivations that rank first
without it are read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kg.algebra import kind_of, tell
from kg.arrays import FloatArray, read_arrays
from kg.encoders import LowRankTransformer, word_pieces
from kg.graphs import FactGraph
from kg.parsing.evidence import FEATURES
from kg.parsing.parser import Parse

READER_FILE = Path(__file__).with_name("reader.npz")

READ, OF_ONE_ANSWER = 12, 2
"""Derivations of a question that are read, and the most of one answer."""

LOOKED_AT = 80
"""Derivations, those that rank first, that reading tells apart."""

READ_FEATURES = ("read", "unread")
"""The features that reading adds to those of :data:`kg.parsing.evidence.FEATURES`."""

QUESTION_PIECES, CLAUSE_PIECES, ANSWER_PIECES = 72, 56, 12
"""Pieces that are read of a question, of the clauses of a parse and of its answer."""

_ANSWER = " = "
_SHOWN, _LONGEST = 2, 40


def telling(parse: Parse, graph: FactGraph) -> str:
    """A parse in words: what is done with its nodes, what they are, its clauses, and its answer."""
    said = tell(parse.query, graph)
    if parse.holds is not None:
        return f"yes or no: {said}{_ANSWER}{'yes' if parse.holds else 'no'}"
    kind = kind_of(parse.nodes, graph) or "thing"
    asked = f"{parse.operation} of {kind}" if parse.operation else kind
    if parse.number is not None and parse.operation:
        return f"{asked}: {said}{_ANSWER}{parse.number}"
    first = ", ".join(graph.name(node)[:_LONGEST] for node in parse.nodes[:_SHOWN])
    more = f" and {len(parse.nodes) - _SHOWN} more" if len(parse.nodes) > _SHOWN else ""
    return f"{asked}: {said}{_ANSWER}{first}{more}"


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
    places: list[int] = []
    read: set[Hashable] = set()
    times: Counter[Hashable] = Counter()
    for place in order:
        if len(places) < READ and texts[place] not in read and times[answers[place]] < OF_ONE_ANSWER:
            read.add(texts[place])
            times[answers[place]] += 1
            places.append(place)
    return places


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

    One that was not read has the score of the derivation with the same text, else the least of all scores.

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
    read = [texts[place] for place in chosen(order, [one.answer for one in parses], texts)]
    scores = dict(zip(read, reader.scores(read).tolist(), strict=True))
    least = min(scores.values(), default=0.0)
    return [
        replace(one, evidence=(*one.evidence, scores.get(text, least), float(text not in scores)))
        for one, text in zip(parses, texts, strict=True)
    ]


class ParseReader(LowRankTransformer):
    """The transformer as it is fitted for this."""

    file = READER_FILE

    def scores(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """The scores of parses; above 0 a parse rather says what is asked.

        Args:
            pairs: For each parse the question and the parse in words.
        """
        given = [pieces_of(*pair) for pair in pairs]
        return self.span_scores([pieces for pieces, _ in given], [span for _, span in given])


class WordEncoder(LowRankTransformer):
    """The transformer without a change, by which words are compared: it knows more of them than the small encoder."""

    file = None


FILE, FILE_READ = Path(__file__).with_name("ranking.npz"), Path(__file__).with_name("ranking_read.npz")
MORE_FEATURES = ("share", "log_share", "margin", "after_abstention", "trusted", "read_lead")
"""The features of the confidence besides those of the first parse."""

_NAMES = (*FEATURES, *READ_FEATURES)
_LEAST_SHARE = 1e-6
_LEAST_TRUSTED = 0.02
_MOST_MARGIN = 4.0


class RankedParse(NamedTuple):
    """The best parse of an answer, with the probability of its answer among all answers, in [0, 1]."""

    parse: Parse
    share: float


@dataclass(frozen=True)
class FeatureNetwork:
    """A function of features: a linear part, and rectified units of one hidden layer.

    Attributes:
        names: The features; shape ``(features,)``.
        mean: What is taken from each feature; shape ``(features,)``.
        scale: What each is divided by then; shape ``(features,)``.
        linear: The weights of the linear part; shape ``(features,)``.
        bias: Its constant; shape ``()``.
        hidden: The weights of the units; shape ``(features, units)``.
        hidden_bias: Their constants; shape ``(units,)``.
        out: The weight of each unit; shape ``(units,)``.
    """

    names: NDArray[Any]
    mean: FloatArray
    scale: FloatArray
    linear: FloatArray
    bias: FloatArray
    hidden: FloatArray
    hidden_bias: FloatArray
    out: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        """The values of some rows of features; shape ``(rows,)``."""
        scaled = (rows - self.mean) / self.scale
        units = np.maximum(scaled @ self.hidden + self.hidden_bias, 0)
        return np.asarray(scaled @ self.linear + self.bias + units @ self.out, dtype=np.float32)

    def of(self, values: Mapping[str, float]) -> float:
        """The value of features by their names; one that is missing is 0."""
        row = np.array([[values.get(str(name), 0.0) for name in self.names]], dtype=np.float32)
        return float(self(row)[0])

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Its arrays, by their names with a prefix."""
        return {f"{prefix}{one.name}": getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> Self:
        """A network from what :meth:`arrays` gives."""
        return cls(**{one.name: arrays[f"{prefix}{one.name}"] for one in fields(cls)})


@dataclass(frozen=True)
class Ranker:
    """The fitted networks.

    Attributes:
        ranking: Ranks derivations by their evidence.
        confidence: The log-odds that the first answer is right, of the features of :func:`features`.
    """

    ranking: FeatureNetwork
    confidence: FeatureNetwork

    @classmethod
    def shipped(cls, *, read: bool = False) -> Self:
        """The fitted networks, or those for parses that were read."""
        arrays = _shipped(FILE_READ if read else FILE)
        return cls(*(FeatureNetwork.from_arrays(arrays, f"{one.name}_") for one in fields(cls)))

    def scores_of(self, evidence: FloatArray) -> FloatArray:
        """The scores of derivations by their evidence; shape ``(derivations, features)`` gives ``(derivations,)``."""
        return self.ranking(evidence[:, [_NAMES.index(str(name)) for name in self.ranking.names]])

    def scores(self, parses: Sequence[Parse]) -> FloatArray:
        """The score of each derivation; the first has the highest."""
        return self.scores_of(np.array([one.evidence for one in parses], dtype=np.float32).reshape(len(parses), -1))

    def ranked(self, parses: Sequence[Parse]) -> list[RankedParse]:
        """The best parse of each answer, the most probable answer first."""
        if not parses:
            return []
        scores = self.scores(parses)
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        total: dict[object, float] = {}
        best: dict[object, int] = {}
        for place, one in enumerate(parses):
            answer = one.answer
            share, known = float(shares[place]), total.get(answer, 0.0)
            total[answer] = max(known, share) if one.holds is not None else known + share
            if answer not in best or scores[place] > scores[best[answer]]:
                best[answer] = place
        found = [RankedParse(parses[best[answer]], share) for answer, share in total.items()]
        return sorted(found, key=lambda one: (-one.share, one.parse.cost, str(one.parse.query)[:200]))

    def confidence_in(self, values: Mapping[str, float]) -> float:
        """The probability in [0, 1] that a first answer with these features is right; 0 without an answer."""
        if not values:
            return 0.0
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, self.confidence.of(values)))))


def features(ranked: Sequence[RankedParse], *, follows_abstention: bool, trusted: float = 1.0) -> dict[str, float]:
    """The values that the confidence in the first of some answers depends on; empty without one.

    Args:
        ranked: The parses, best first, one for each answer.
        follows_abstention: Whether the turn before has no answer.
        trusted: The confidence, in [0, 1], in the earlier answers that the first depends on.
    """
    if not ranked:
        return {}
    best = ranked[0]
    found = dict(zip(_NAMES, best.parse.evidence, strict=False))
    second = ranked[1].share if len(ranked) > 1 else 0.0
    found["share"] = best.share
    found["log_share"] = math.log(max(best.share, _LEAST_SHARE))
    found["margin"] = min(math.log(max(best.share, _LEAST_SHARE) / max(second, _LEAST_SHARE)), _MOST_MARGIN)
    found["after_abstention"] = float(follows_abstention and found["references"] > 0)
    found["trusted"] = math.log(max(trusted, _LEAST_TRUSTED))
    if "read" in found:
        place = _NAMES.index("read")
        other = max((one.parse.evidence[place] for one in ranked[1:]), default=found["read"] - _MOST_MARGIN)
        found["read_lead"] = max(-_MOST_MARGIN, min(found["read"] - other, _MOST_MARGIN))
    return found


@cache
def _shipped(file: Path) -> dict[str, NDArray[Any]]:
    return read_arrays(file)
