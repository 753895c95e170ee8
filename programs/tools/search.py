"""The search agent: a question is searched in the web step by step, and what was found is summed up with its addresses.

>>> agent = SearchAgent(WebTools(WebLimits(), engine="http://localhost:8888"))
>>> print(agent.search_agent("How long is the Rhine?"))
The Rhine is 1,230 km long.
https://en.wikipedia.org/wiki/Rhine
"""

from __future__ import annotations

import dspy

from programs.tools.documents import NOTHING
from programs.tools.web import WebTools
from signatures.thoughts import SearchWeb

STEPS = 12
"""Calls of tools for one question, at the most."""


class SearchAgent(dspy.Module):
    """Searches by the tools for the web, reads pages and their earlier versions, finds words in them, and sums up."""

    def __init__(self, web: WebTools) -> None:
        super().__init__()
        tools = [web.web_search, web.visit_page, web.find_in_page, web.archived_page]
        self.act = dspy.ReAct(SearchWeb, tools=tools, max_iters=STEPS)

    def forward(self, question: str) -> dspy.Prediction:
        """Returns ``summary`` and ``addresses``, those of pages that were called alone."""
        reply = self.act(question=question)
        called = [str(value) for name, value in reply.trajectory.items() if name.startswith("tool_args")]
        addresses = [one for one in reply.addresses if any(repr(one) in given for given in called)]
        return dspy.Prediction(summary=reply.summary, addresses=addresses, trajectory=reply.trajectory)

    def search_agent(self, question: str) -> str:
        """Searches the web for the answer of a question in several steps; returns what pages say with addresses."""
        found = self(question=question)
        return "\n".join([found.summary, *found.addresses]) if found.addresses else f"{NOTHING} for {question!r}"
