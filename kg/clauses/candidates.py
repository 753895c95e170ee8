"""Possible answers in statements, and the names of their features."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from kg.clauses.documents import Statement
from kg.clauses.questions import Term
from kg.news import Mention

FEATURES = (
    "kind", "weak kind", "noun", "no noun", "words", "context words", "best word", "missed words", "unknown words",
    "names", "names missing", "names near", "tree", "line", "role", "role opposed", "name role", "name role opposed",
    "same clause", "headline", "in period", "date in period", "out of period", "former", "former asked", "negated",
    "opposite words", "newest", "newest asked", "oldest asked", "length", "typed other", "title",
    "weekday", "typed", "kind conflict", "container", "leaving", "arriving", "words and names", "all words",
    "role and words", "converse", "weakest word", "superseded", "superseded asked", "superseding asked", "phrase",
    "region", "weakest context", "gone", "weakest name", "meaning", "meaning alone", "meaning lead",
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A possible answer.

    Attributes:
        value: It as an answer.
        kind: Its kind.
        mention: Where it is.
        statement: The sentence.
        features: Its features, by the names of :data:`FEATURES`.
    """

    value: str
    kind: str
    mention: Mention
    statement: Statement
    features: dict[str, float]

    @property
    def day(self) -> date:
        """The day of its document."""
        return self.statement.passage.published


@dataclass(frozen=True)
class TermMatch:
    """The word of a statement that is nearest to a word of a question.

    Attributes:
        term: The question's word.
        place: The statement's word, or -1.
        similarity: In [-1, 1].
    """

    term: Term
    place: int
    similarity: float

    @property
    def strength(self) -> float:
        """The similarity, by the weight of the question's word."""
        return self.similarity * self.term.weight
