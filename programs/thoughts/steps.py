"""Steps on the graph as modules of DSPy, so that a trace shows them with their inputs and outputs.

>>> run_query = GraphStep("run_query", lambda query: {"rows": graph.query(query).rows})
>>> run_query(query="SELECT ?name WHERE { ?c a type:Company ; rdfs:label ?name }").rows
(('Helixon Inc.',),)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dspy


class GraphStep(dspy.Module):
    """A step that asks no language model.

    Args:
        name: The name of its span.
        work: Takes the step's inputs by name and returns its outputs by name.
    """

    def __init__(self, name: str, work: Callable[..., Mapping[str, Any]]) -> None:
        super().__init__()
        self.span_name = name
        self._work = work

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Returns the step's outputs."""
        return dspy.Prediction(**self._work(**inputs))
