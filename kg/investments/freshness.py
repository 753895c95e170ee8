"""Days for which events of a kind are fresh.

>>> Freshness().days("rating"), Freshness({"rating": 7}).days("rating")
(14, 7)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from pathlib import Path

from kg.errors import DataError
from kg.growing import Node

DEFAULT_DAYS = 30
"""Days for which an event of an unknown kind, or an insight, is fresh."""


TOGETHER_DAYS = 3
"""Days after the first report of an event within which another report is of the same event."""


@cache
def _shipped(table: str) -> Mapping[str, int]:
    content = json.loads(Path(__file__).with_name("freshness.json").read_text(encoding="utf-8"))
    found: Mapping[str, int] = content[table]
    return found


def together_days(kind: str) -> int:
    """Returns the days after the first report of an event of a kind within which others are of the same event."""
    return _shipped("together").get(kind, TOGETHER_DAYS)


class Freshness:
    """The days of each kind of event.

    Args:
        days: Days of kinds that differ from the shipped ones.

    Raises:
        DataError: A number of days is below 1.
    """

    def __init__(self, days: Mapping[str, int] | None = None) -> None:
        self._days = {**_shipped("days"), **(days if days is not None else {})}
        for kind, number in self._days.items():
            if number < 1:
                raise DataError(f"freshness of {kind} must be at least 1 day, got {number}")

    @staticmethod
    def kinds() -> tuple[str, ...]:
        """Returns the kinds of events that have days of their own, by name."""
        return tuple(sorted(_shipped("days")))

    def days(self, kind: str) -> int:
        """Returns the days of a kind."""
        return self._days.get(kind, DEFAULT_DAYS)

    def is_fresh(self, event: Node, today: date) -> bool:
        """Whether an event counts on a day."""
        return 0 <= (today - event_date(event)).days <= self.days(str(event.properties.get("type", "")))


def event_date(node: Node) -> date:
    """The day of an event, of a news item or of an insight."""
    for name in ("occurred_at", "published_at", "generated_at"):
        if name in node.properties:
            return date.fromisoformat(str(node.properties[name])[:10])
    return date.min + timedelta(days=1)
