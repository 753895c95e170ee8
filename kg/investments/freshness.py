"""Days for which events of a kind are fresh, and within which reports are of one event; ``freshness.json`` has them.

>>> fresh_days("rating"), fresh_days("merger"), together_days("share_price")
(14, 120, 0)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from pathlib import Path

from kg.growing import Node

DEFAULT_DAYS, TOGETHER_DAYS = 30, 3
"""Days for which an event of an unknown kind, or an insight, is fresh; and within which reports are of one event."""


@cache
def _shipped(table: str) -> Mapping[str, int]:
    content: Mapping[str, Mapping[str, int]] = json.loads(
        Path(__file__).with_name("freshness.json").read_text(encoding="utf-8")
    )
    return content[table]


def fresh_days(kind: str) -> int:
    """Returns the days for which an event of a kind is fresh."""
    return _shipped("days").get(kind, DEFAULT_DAYS)


def together_days(kind: str) -> int:
    """Returns the days after the first report of an event of a kind within which others are of the same event."""
    return _shipped("together").get(kind, TOGETHER_DAYS)


def is_fresh(event: Node, today: date) -> bool:
    """Whether an event counts on a day."""
    return 0 <= (today - event_date(event)).days <= fresh_days(str(event.properties.get("type", "")))


def event_date(node: Node) -> date:
    """The day of an event, of a news item or of an insight."""
    for name in ("occurred_at", "published_at", "generated_at"):
        if name in node.properties:
            return date.fromisoformat(str(node.properties[name])[:10])
    return date.min + timedelta(days=1)
