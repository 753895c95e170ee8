"""The signature that parses a question before the search: its line items, periods and operation.

For "and in 2006?" after "what was the exercise price in 2007?"::

    Understanding(description="the exercise price in 2006", properties=["exercise price"], periods=["2006"],
                  operation="select", operands=["exercise price @ 2006"], requires_calculation=False)
"""

from __future__ import annotations

from typing import Literal

import dspy
from pydantic import BaseModel, Field

Operation = Literal["select", "add", "subtract", "multiply", "divide", "greater", "change_ratio", "average"]


class Understanding(BaseModel):
    """The typed result of the Understand module."""

    description: str = Field(description="the question spelled out, with what it refers to in the conversation")
    entity_type: str = Field(default="", description="the kind of statement or note that holds the figures")
    properties: list[str] = Field(description="line items it asks about, in the report's words")
    periods: list[str] = Field(description="years or dates it asks about")
    operation: Operation = Field(
        description="select: one figure; change_ratio: relative change of the first figure to the second"
    )
    operands: list[str] = Field(
        default_factory=list,
        description='what the operation takes, in order: "line item @ period", "answer 1" or a number',
    )
    requires_calculation: bool = Field(default=True, description="false where one figure of the report is the answer")


class Understand(dspy.Signature):
    """Say what the last question of a conversation about a financial report asks for."""

    # What changes least comes first: the beginning that prompts share is read once.
    line_items: str = dspy.InputField(desc="what the report has figures for")
    history: str = dspy.InputField(desc="earlier questions with the answers that were given")
    question: str = dspy.InputField()
    understanding: Understanding = dspy.OutputField()
