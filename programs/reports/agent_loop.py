"""The loop of the tool agent: DSPy's ReAct, which an answer that is not grounded does not end.

    >>> loop = GroundedReAct(AnswerWithTools, tools=recorded_tools(), max_iters=7)

DSPy's loop ends with every call of ``finish``. This one goes on where ``finish`` was refused: its observation is the
reason, and the model may look the figure up.
"""

from __future__ import annotations

import logging
from typing import Any

import dspy
from dspy.utils.exceptions import ContextWindowExceededError

from programs.reports.agent_tools import current

_logger = logging.getLogger(__name__)


class GroundedReAct(dspy.ReAct):
    """DSPy's ReAct over the tools of the current session."""

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Calls tools until one gives the answer, or the iterations end; then asks for what is left to choose."""
        trajectory: dict[str, Any] = {}
        for place in range(inputs.pop("max_iters", self.max_iters)):
            try:
                step = self._call_with_potential_trajectory_truncation(self.react, trajectory, **inputs)
            except (ContextWindowExceededError, ValueError) as error:
                _logger.warning("the agent's steps end: %s", type(error).__name__)
                break
            trajectory[f"thought_{place}"] = step.next_thought
            trajectory[f"tool_name_{place}"] = step.next_tool_name
            trajectory[f"tool_args_{place}"] = step.next_tool_args
            tool = self.tools.get(step.next_tool_name)
            if tool is None:
                trajectory[f"observation_{place}"] = f"there is no tool {step.next_tool_name!r}"
                continue
            trajectory[f"observation_{place}"] = tool(**step.next_tool_args)
            if current().answer is not None:
                break
        chosen = self._call_with_potential_trajectory_truncation(self.extract, trajectory, **inputs)
        return dspy.Prediction(trajectory=trajectory, **chosen)
