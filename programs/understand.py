"""Understand: a language model reads what a world shows and names an expression, which becomes a candidate.

    >>> execution = understand(search, config)
    >>> execution.understanding.calculation, execution.candidate.answer
    ('subtract([r3c2], [r3c1])', Decimal('25587'))

The expression is executed over the world alone, with the provenance of any other candidate. One over anything else is
refused, and the model is told the reason once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from kg.errors import ProgramError, QueryError
from programs.evidence import EvidenceConfig, sampling
from programs.lm import plain_text
from programs.worlds.base import Execution, Search
from programs.worlds.page import shortened
from signatures.understand import Understand as UnderstandReport

ATTEMPTS = 2
"""Expressions that a turn may name: the second after the reason why the first was refused."""


class Understand(dspy.Module):
    """Names the expression that answers a question: over a report's page, a calculation.

    Args:
        signature: The signature of the world; its demonstrations of a page show only the lines that they use.
    """

    def __init__(self, signature: Any = UnderstandReport) -> None:
        super().__init__()
        self.predict = dspy.Predict(signature)

    def forward(self, search: Search, config: EvidenceConfig) -> Execution:
        """Asks for the expression of a question, and executes it.

        Args:
            search: The question, with what its world shows.
            config: The budget of the prompt.
        """
        prompt = search.prompt(config, self.predict)
        refused: list[str] = []
        for _ in range(ATTEMPTS):
            reply = self.predict(**prompt, **self._demonstrations(), config=sampling(dspy.settings.lm))
            try:
                return search.execute(reply, refused)
            except (ProgramError, QueryError) as error:
                refused.append(plain_text(str(error)))
                prompt = search.retry(prompt, reply, refused[-1])
        return Execution(search.understanding(reply, refused))

    def _demonstrations(self) -> dict[str, Sequence[Any]]:
        if not any("page" in one for one in self.predict.demos):
            return {}
        return {"demos": [shortened(one) for one in self.predict.demos]}
