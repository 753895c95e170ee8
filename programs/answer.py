"""Answer: the typed answer of a choice with words, path and sources, or an abstention with the nearest facts.

    >>> turn = answer(search, choice, config)
    >>> turn.answer, turn.words, turn.confidence
    (Decimal('50652'), '$50,652 thousand', 0.96)

With ``explain=True`` a language model writes one sentence on the answer, whose numbers and names must be those of the
question, the derivation and its sources; any other sentence is refused.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import dspy

from programs.evidence import Choice, EvidenceConfig
from programs.lm import plain_text
from programs.turns import Turn
from programs.worlds.base import Search
from signatures.answer import Answer as ExplainAnswer

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w&'-]*")


class Answer(dspy.Module):
    """Makes the turn of a choice.

    Args:
        explain: Whether a language model explains the answer, in one call.
    """

    def __init__(self, *, explain: bool = False) -> None:
        super().__init__()
        self.explain = explain
        if explain:
            self.predict = dspy.Predict(ExplainAnswer)

    def forward(self, search: Search, choice: Choice, config: EvidenceConfig) -> Turn[Any, Any]:
        """Answers, or abstains.

        Args:
            search: The question, with its candidates.
            choice: Their probabilities.
            config: Whether a turn may abstain.
        """
        turn = search.turn(choice, config)
        explains = self.explain and turn.answer is not None and dspy.settings.lm is not None
        return self._explained(search, turn) if explains else turn

    def _explained(self, search: Search, turn: Turn[Any, Any]) -> Turn[Any, Any]:
        meaning = turn.understanding.description if turn.understanding is not None else "none"
        facts = {
            "question": plain_text(search.question),
            "meaning": meaning,
            "answer": turn.words,
            **search.grounds(turn),
        }
        sentence = " ".join(str(self.predict(**facts).sentence).split())
        return replace(turn, explanation=sentence) if is_grounded(sentence, " ".join(facts.values())) else turn


def is_grounded(sentence: str, facts: str) -> bool:
    """Whether all numbers and names of a sentence occur in some facts.

    >>> is_grounded("Sales rose by 5% to $120.", "sales 2020: $ 120; an increase of 5%")
    True
    >>> is_grounded("Sales of Acme rose by 5%.", "sales 2020: $ 120; an increase of 5%")
    False
    """
    known = {one.replace(",", "") for one in _NUMBER.findall(facts)}
    words = facts.casefold()
    numbers = all(one.replace(",", "") in known for one in _NUMBER.findall(sentence))
    return bool(sentence) and numbers and all(name.casefold() in words for name in _NAME.findall(sentence))
