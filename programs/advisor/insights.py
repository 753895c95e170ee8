"""Insights by a language model: what the recent events of a company mean, citing the events, which are checked.

>>> drawn = DrawInsights()(company="Helixon Inc.", events=events, today=date(2026, 11, 20))
>>> drawn.insight.kind, drawn.insight.action, [event.kind for event in drawn.cited]
('signal', 'buy', ['earnings', 'guidance'])

A citation must be an event that was shown. A signal has an action, and nothing else has one; a pattern has two events.
A figure of the reason must be one of the events that are cited. What breaks this is refused, and no insight is stored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import dspy
from dspy.utils.exceptions import AdapterParseError

from kg.errors import SchemaError
from kg.investments import CompanyEvent
from signatures.news import DrawInsight, Insight

MOST_EVENTS = 30
"""Events of a company that the model sees, the newest first."""

_FIGURE = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


class DrawInsights(dspy.Module):
    """The program: one call for a company.

    Attributes:
        draw: Its predictor.
    """

    needs_lm = True

    def __init__(self) -> None:
        super().__init__()
        self.draw = dspy.Predict(DrawInsight)

    def forward(self, company: str, events: Sequence[CompanyEvent], today: date) -> dspy.Prediction:
        """Returns ``insight`` with ``cited``, the events that it rests on, and its ``properties`` in a graph.

        Args:
            company: The name of the company.
            events: Its events.
            today: The current day.

        Raises:
            SchemaError: The reply cannot be read, or breaks a rule.
            LMError: The model cannot be asked.
        """
        shown = sorted(events, key=lambda event: event.period, reverse=True)[:MOST_EVENTS]
        lines = [f"[{number}] {event}" for number, event in enumerate(shown, 1)]
        try:
            reply = self.draw(company=company, today=today.isoformat(), events="\n".join(lines))
        except (AdapterParseError, RecursionError) as error:
            raise SchemaError(f"the reply could not be read: {' '.join(str(error).split())[:200]}") from error
        insight: Insight = reply.insight
        if not insight.events or not set(insight.events) <= set(range(1, len(shown) + 1)):
            raise SchemaError(f"the insight must cite events from 1 to {len(shown)}, got {insight.events}")
        cited = [shown[number - 1] for number in sorted(set(insight.events))]
        _check(insight, " ".join([*map(str, cited), today.isoformat()]), len(cited))
        properties = {"type": insight.kind, "summary": insight.reason, "strength": round(insight.strength, 2)}
        properties |= {"action": insight.action} if insight.action != "none" else {}
        return dspy.Prediction(insight=insight, cited=cited, properties=properties)


def _check(insight: Insight, grounds: str, count: int) -> None:
    """Raises SchemaError if an insight contradicts itself, or has a figure that its grounds lack."""
    if (insight.kind == "signal") == (insight.action == "none"):
        raise SchemaError(f"a signal has an action and nothing else has one, got {insight.kind} {insight.action}")
    if insight.kind == "pattern" and count < 2:
        raise SchemaError("a pattern must cite two events, got 1")
    stated, known = (
        {Decimal(text.replace(",", "")) for text in _FIGURE.findall(text)} for text in (insight.reason, grounds)
    )
    if lacking := sorted(stated - known):
        raise SchemaError(f"the cited events do not have the figure {lacking[0]}: {insight.reason!r}")
