"""Rules for news as data: how they are read, and what they extract."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from kg.errors import DataError
from kg.growing.graph import GrowingGraph
from kg.growing.updates import AddEdge, AddNode, NodeKey
from kg.investments.documents import NewsDocument
from kg.investments.rules import NewsRules, RuleReader, load_rules
from kg.investments.schema import investment_schema

OTHER = """{
  "companies": ["(?P<name>{NAME}), an? (?P<sector>[a-z]+) firm(?P<country>)"],
  "events": [{"type": "product", "direction": "positive", "phrase": "opened a plant in {NAME}"}]
}"""


def test_another_collection_brings_its_own_patterns() -> None:
    reader = RuleReader(GrowingGraph(None, investment_schema()), NewsRules.model_validate_json(OTHER))
    text = "Orbex Ltd, a battery firm, opened a plant in Porto."
    found = reader.read(NewsDocument("a.txt", "A plant", "Wire", date(2026, 1, 2), text)).updates
    event = NodeKey("MarketEvent", "Orbex Ltd opened a plant in Porto")
    assert AddNode("Sector", "Battery") in found
    assert AddEdge("affects", event, NodeKey("Company", "Orbex Ltd"), {"direction": "positive"}) in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Invalid JSON"),
        ('{"evnts": []}', "evnts"),
        ('{"companies": ["("]}', "companies"),
        ('{"events": [{"type": "x", "direction": "up", "phrase": "y"}]}', "direction"),
    ],
)
def test_a_file_that_holds_no_rules_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "rules.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        load_rules(file)
