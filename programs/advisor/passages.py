"""Answers by a language model to questions that rules leave open, from the passages nearest to the question.

>>> reader = PassageReader(clauses, lm)
>>> reader.answer("How much did Orvane pay for Brightlane?")
PassageAnswer(value="$340 million", confidence=0.81, passage=Passage(...))

The ranking of :mod:`kg.clauses` offers values, each with its sentence. An embedded model gives their probabilities in
one call, and that of "not stated". They are blended with those of the ranking. Another model writes its answer, which
counts only if it is one of the values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.clauses import ClauseAnswers, Ranked
from kg.news import Passage
from kg.sentences import plain_name
from signatures.extraction import AnswerFromPassages

VALUES, PASSAGES = 8, 6
"""Values that a model chooses among, and sentences that it is shown, at the most."""

NOT_STATED = "not stated"

SHARE_OF_MODEL = 0.7
"""The weight of the model's logarithms of probabilities; the ranking's have the rest."""

LEAST = 0.75
"""The least confidence of an answer."""

_FLOOR = 1e-4
_STATED = 0.8
"""The confidence of an answer that a model without probabilities wrote."""


@dataclass(frozen=True)
class PassageAnswer:
    """An answer.

    Attributes:
        value: The answer; empty where there is none.
        confidence: In [0, 1].
        passage: The sentence that has it.
        why: The reason, where there is no answer.
    """

    value: str = ""
    confidence: float = 0.0
    passage: Passage | None = None
    why: str = ""


class PassageReader(dspy.Module):
    """A language model over the sentences of a graph.

    Args:
        clauses: The sentences and their ranking.

    Attributes:
        answer_from_passages: Its predictor; an embedded model is asked the same prompt for probabilities.
    """

    needs_lm = True

    def __init__(self, clauses: ClauseAnswers) -> None:
        super().__init__()
        self.clauses = clauses
        self.answer_from_passages = dspy.Predict(AnswerFromPassages)

    def forward(self, question: str) -> dspy.Prediction:
        """Returns ``found``, a :class:`PassageAnswer`.

        Args:
            question: One that asks for a single value; others get no answer.

        Raises:
            LMError: The model cannot be asked.
        """
        asked = self.clauses.parse(question)
        if asked.words.polar or asked.plural:
            return dspy.Prediction(found=PassageAnswer(why="several values, or yes or no, are asked for"))
        ranked = self.clauses.ranked(asked)[:VALUES]
        if not ranked:
            return dspy.Prediction(found=PassageAnswer(why="no sentence has what is asked for"))
        passages = shown_passages(ranked)
        if getattr(dspy.settings.lm, "can_choose", False):
            shares = self._shares(question, passages, [one.value for one in ranked])
            return dspy.Prediction(found=blended(ranked, shares))
        return dspy.Prediction(found=self._written(question, passages, ranked))

    def _shares(self, question: str, passages: str, values: Sequence[str]) -> list[float]:
        """Returns the logarithms of the probabilities of some values, and of "not stated", which sum to 1."""
        signature = self.answer_from_passages.signature
        prompt = [
            {"role": "system", "content": f"{signature.instructions}\nReply with the answer alone."},
            {"role": "user", "content": f"{passages}\nquestion: {question}"},
        ]
        return [one.log_share for one in dspy.settings.lm.choose(prompt, [*values, NOT_STATED])]

    def _written(self, question: str, passages: str, ranked: Sequence[Ranked]) -> PassageAnswer:
        try:
            written = self.answer_from_passages(passages=passages, question=question).answer.strip()
        except (AdapterParseError, RecursionError):
            return PassageAnswer(why="the reply could not be read")
        if plain_name(written) == NOT_STATED or not written:
            return PassageAnswer(why="the passages do not say so")
        found = next((one for one in ranked if plain_name(one.value) == plain_name(written)), None)
        if found is None:
            return PassageAnswer(why=f"no passage has {written!r} for what is asked")
        return PassageAnswer(found.value, _STATED, found.candidates[0].statement.passage)


def blended(ranked: Sequence[Ranked], shares: Sequence[float]) -> PassageAnswer:
    """Returns the best value by the ranking and the model together.

    Args:
        ranked: The values.
        shares: The logarithm of the model's probability of each, and of "not stated" at the end.
    """
    stated = math.log(max(-math.expm1(min(shares[-1], -_FLOOR)), _FLOOR))
    scores = [
        SHARE_OF_MODEL * (share - stated) + (1 - SHARE_OF_MODEL) * math.log(max(one.probability, _FLOOR))
        for one, share in zip(ranked, shares, strict=False)
    ]
    top = max(scores)
    best = scores.index(top)
    confidence = math.exp(stated) / sum(math.exp(score - top) for score in scores)
    value, passage = ranked[best].value, ranked[best].candidates[0].statement.passage
    if confidence < LEAST:
        return PassageAnswer(
            confidence=confidence, why=f"the best answer, {value!r}, has a confidence of {confidence:.2f}"
        )
    return PassageAnswer(value, confidence, passage)


def shown_passages(ranked: Sequence[Ranked]) -> str:
    """Returns the sentences of some values, the oldest first, with the names and days that their words mean."""
    statements: dict[Passage, Any] = {}
    for one in ranked:
        statements.setdefault(one.candidates[0].statement.passage, one.candidates[0].statement)
    kept = sorted(list(statements)[:PASSAGES], key=lambda passage: (passage.published, passage.document, passage.place))
    return "\n".join(f"{passage.published}: {_written_out(statements[passage])}" for passage in kept)


def _written_out(statement: Any) -> str:
    """Returns a sentence with each referent and day after the words that stand for it."""
    notes = {statement.parse.tokens[place].end: name for place, name in statement.referred}
    notes |= {one.end: one.value for one in statement.mentions if one.kind == "date" and one.value != one.text}
    text: str = statement.passage.text
    for end in sorted(notes, reverse=True):
        text = f"{text[:end]} [{notes[end]}]{text[end:]}"
    return text
