"""The loop of the tool agent: DSPy's ReAct, which an answer that is not grounded does not end.

DSPy's loop ends with every call of ``finish``. This one goes on where ``finish`` was refused: its observation is the
reason, and the model may look the figure up.
"""

from __future__ import annotations

import logging
from typing import Any

import dspy
from dspy.utils.exceptions import ContextWindowExceededError

from programs.agent.tools import TOOLS, Session, current
from signatures.agent import STEPS, AnswerWithTools, ChooseFound

NONE = "none"
_logger = logging.getLogger(__name__)


class GroundedReAct(dspy.ReAct):
    """DSPy's ReAct over the tools of the current session.

    Args:
        max_iters: The limit of calls of tools.
    """

    def __init__(self, max_iters: int) -> None:
        super().__init__(AnswerWithTools, tools=[getattr(Session, name) for name in TOOLS], max_iters=max_iters)
        self.react.signature = self.react.signature.with_instructions(STEPS)
        self.extract = dspy.Predict(ChooseFound)

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Calls tools until one gives the answer, or the iterations end; then asks for a choice among the findings."""
        trajectory: dict[str, Any] = {}
        for place in range(self.max_iters):
            try:
                step = self._call_with_potential_trajectory_truncation(self.react, trajectory, **inputs)
            except (ContextWindowExceededError, ValueError) as error:
                _logger.warning("the agent's steps end: %s", type(error).__name__)
                break
            trajectory[f"thought_{place}"] = step.next_thought
            trajectory[f"tool_name_{place}"] = step.next_tool_name
            trajectory[f"tool_args_{place}"] = step.next_tool_args
            trajectory[f"observation_{place}"] = current().call(step.next_tool_name, step.next_tool_args)
            if current().answer is not None:
                break
        if current().answer is not None or current().found.is_empty:
            return dspy.Prediction(trajectory=trajectory, answer=NONE)
        choice = self.extract(question=inputs["question"], history=inputs["history"], found=current().found.lines())
        return dspy.Prediction(trajectory=trajectory, answer=choice.answer)
