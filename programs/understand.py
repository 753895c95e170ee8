"""Understand: a language model reads what a world shows and names an expression, which becomes a candidate.

    >>> execution = understand(search, config)
    >>> execution.understanding.calculation, execution.candidate.answer
    ('subtract([r3c2], [r3c1])', Decimal('25587'))

The expression is executed over the world alone, with the provenance of any other candidate. One over anything else is
refused, and the model gets the reason once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from kg.errors import ProgramError, QueryError
from programs.aggregate import EvidenceConfig, Execution
from programs.lm import plain_text, sampling
from programs.worlds.base import Search
from programs.worlds.page import shortened
from signatures.paths import UnderstandPaths
from signatures.queries import UnderstandGraph
from signatures.understand import UnderstandReport


class Understand(dspy.Module):
    """Names the expression that answers a question: a calculation over a page, a query over a graph, a quotation.

    Args:
        signature: The signature of the world that is asked about; over the index of a graph, a model controls the
            search by another prompt. About any other world the program asks with that world's own signature, which
            nothing is compiled for.
    """

    def __init__(self, signature: Any = UnderstandReport) -> None:
        super().__init__()
        self.signature = signature
        self.predict = dspy.Predict(signature)
        if signature is UnderstandGraph:
            self.paths = dspy.Predict(UnderstandPaths)

    def forward(self, search: Search, config: EvidenceConfig) -> Execution:
        """Asks for the expression of a question, and executes it.

        Args:
            search: The question, with what its world shows.
            config: The budget of the prompt.
        """
        own = {UnderstandPaths: getattr(self, "paths", None), self.signature: self.predict}
        predict = own.get(search.signature) or dspy.Predict(search.signature)
        prompt = search.prompt(config, predict)
        settings = {**_demonstrations(predict), "config": sampling(dspy.settings.lm)} if search.samples else {}
        refused: list[str] = []
        for _ in range(search.attempts):
            reply = search.reply(predict, **prompt, **settings)
            try:
                return search.execute(reply, refused)
            except (ProgramError, QueryError) as error:
                refused.append(plain_text(str(error)))
                if len(refused) < search.attempts:
                    prompt = search.retry(prompt, reply, refused[-1])
        return Execution(search.understanding(reply, refused))


def _demonstrations(predict: Any) -> dict[str, Sequence[Any]]:
    """The demonstrations of a page with only the lines that they use."""
    if not any("page" in one for one in predict.demos):
        return {}
    return {"demos": [shortened(one) for one in predict.demos]}
