"""Answer: the typed answer of a choice with words, path and sources, or an abstention with the nearest facts.

    >>> turn = answer(search, choice, config)
    >>> turn.answer, turn.words, turn.confidence
    (Decimal('50652'), '$50,652 thousand', 0.96)

With ``explain=True`` a language model writes one sentence on the answer, whose numbers and names must be those of the
question, the derivation and its sources; any other sentence is refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import dspy

from programs.aggregate import Choice, EvidenceConfig
from programs.lm import plain_text
from programs.turns import Turn
from programs.wording import is_grounded
from programs.worlds.base import Search
from signatures.answer import Answer as ExplainAnswer


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
        sentence = self.explanation(search.question, turn.words, meaning, **search.grounds(turn))
        return replace(turn, explanation=sentence) if sentence else turn

    def explanation(self, question: str, answer: str, meaning: str = "none", **grounds: str) -> str:
        """Returns a sentence on an answer; empty where it has a number or a name that is not shown.

        Args:
            question: The question.
            answer: The answer in words.
            meaning: The question spelled out by a model, which proves nothing.
            grounds: The fields ``calculation`` and ``facts`` of the signature.
        """
        shown = {"question": plain_text(question), "answer": answer, **grounds}
        sentence = " ".join(str(self.predict(meaning=meaning, **shown).sentence).split())
        text = " ".join(shown.values()).replace("_", " ")
        return sentence if is_grounded(sentence, text, shown["question"]) else ""
