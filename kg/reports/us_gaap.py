"""Concepts of the FASB taxonomy (US-GAAP) by the keys of their labels.

>>> close_matches()[line_item_key("Net income ( loss )")]
('http://fasb.org/us-gaap/2023#NetIncomeLoss',)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from kg.reports.labels import line_item_key

US_GAAP = "http://fasb.org/us-gaap/2023#"


@cache
def close_matches() -> Mapping[str, tuple[str, ...]]:
    """The IRIs of the concepts of ``us_gaap.json`` by the keys of their labels."""
    text = Path(__file__).with_name("us_gaap.json").read_text(encoding="utf-8")
    concepts = TypeAdapter(dict[str, tuple[str, ...]]).validate_json(text)
    return {line_item_key(label): (US_GAAP + name,) for name, labels in concepts.items() for label in labels}
