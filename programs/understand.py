"""Understand: a language model reads what a world shows and names an expression, which becomes a candidate.

    >>> execution = understand(search, config)
    >>> execution.understanding.calculation, execution.candidate.answer
    ('subtract([r3c2], [r3c1])', Decimal('25587'))

The expression is executed over the world alone, with the provenance of any other candidate. One over anything else is
refused, and the model gets the reason once.
"""

from __future__ import annotations

from typing import Any

import dspy

from kg.errors import ProgramError, QueryError
from programs.aggregate import EvidenceConfig, Execution
from programs.lm import plain_text, sampling
from programs.worlds.base import Search
from programs.worlds.page import shortened
from programs.worlds.report import LinesSearch, ReportSearch
from signatures.queries import UnderstandGraph, UnderstandPaths
from signatures.understand import UnderstandLines, UnderstandReport


class Understand(dspy.Module):
    """Names the expression that answers a question: a calculation over a page, a query over a graph, a quotation.

    Args:
        signature: The signature of the world that is asked about; over the index of a graph, a model controls the
            search by another prompt. About any other world the program asks with that world's own signature, which
            nothing is compiled for.

    Attributes:
        lines: The prompt over a few figures of a report, for the models whose plan has it; ``None`` until it is
            compiled, as it needs a pool of demonstrations.
    """

    lines: dspy.Predict | None = None

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
        if self.lines is not None and config.plan_for(dspy.settings.lm).lines and isinstance(search, ReportSearch):
            search = LinesSearch(search)
        paths = getattr(self, "paths", None)
        own = {UnderstandPaths: paths, UnderstandLines: self.lines, self.signature: self.predict}
        predict = own.get(search.signature) or dspy.Predict(search.signature)
        prompt = search.prompt(config, predict)
        settings: dict[str, Any] = {"config": sampling(dspy.settings.lm)} if search.samples else {}
        if "page" in predict.signature.fields:
            settings["demos"] = [shortened(demo) for demo in predict.demos]
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
