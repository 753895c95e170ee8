"""Compiling the extraction: gold facts become examples, demonstrations and scores."""

from __future__ import annotations

import json
from collections.abc import Callable

import dspy
import pytest

from kg.errors import ConfigError
from kg.investments import parse_document
from optimize.extraction import FactScore, GoldFact, extraction_examples, fact_metric, fit_extraction, score_facts
from programs.advisor import FactExtraction

WIRE = """Orvane buys Brightlane
2026-01-14

BOISE - Orvane Semiconductor Corp. agreed to buy laser maker Brightlane Photonics for $340 million. It praised staff.
"""
BOUGHT = "BOISE - Orvane Semiconductor Corp. agreed to buy laser maker Brightlane Photonics for $340 million."
GOLD = [
    GoldFact("wire", "Orvane Semiconductor", "acquires", "Brightlane Photonics", BOUGHT),
    GoldFact("wire", "Brightlane", "deal_value", "340 million dollars", BOUGHT),
]


def examples() -> list[dspy.Example]:
    return extraction_examples([parse_document(WIRE, "wire.txt")], GOLD)


def test_gold_facts_are_those_of_their_sentence() -> None:
    first, second = examples()
    assert [fact.relation for fact in first.gold] == ["acquires", "deal_value"]
    assert second.gold == ()


def test_labelled_demonstrations_are_replies_with_one_that_states_nothing() -> None:
    fit = fit_extraction(FactExtraction(), "labeled-few-shot", examples(), count=2)
    first, second = fit.program.extract_facts.demos
    assert first.facts == [
        "Orvane Semiconductor Corp | acquires | Brightlane Photonics",
        "Brightlane Photonics | deal value | $340 million",
    ]
    assert second.facts == []
    assert "section" not in first
    with pytest.raises(ConfigError, match="must be one of none, labeled-few-shot, bootstrap"):
        fit_extraction(FactExtraction(), "gepa", examples())


def test_bootstrapped_demonstrations_are_what_the_model_read_rightly(scripted_lm: Callable[..., dspy.LM]) -> None:
    right = "Orvane Semiconductor Corp | acquires | Brightlane Photonics"
    lm = scripted_lm([{"facts": json.dumps([right])}])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        fit = fit_extraction(FactExtraction(), "bootstrap", examples(), count=2)
    assert list(fit.program.extract_facts.demos[0].facts) == [right]
    assert len(fit.program.extract_facts.demos) == 2


def test_precision_and_recall_compare_names_in_any_form() -> None:
    first, second = examples()
    names = ("Orvane Semiconductor Corp", "Brightlane Photonics")
    right = first.section.fact(f"{names[0]} | acquires | {names[1]}", 1.0)
    other = first.section.fact(f"{names[0]} | sells | {names[1]}", 1.0) if "sells" in first.section.relations else None
    swapped = first.section.fact(f"{names[1]} | acquires | {names[0]}", 1.0)
    found = [one for one in (right, other, swapped) if one is not None]
    score = score_facts([first.gold, second.gold], [found, []])
    assert (score.gold, score.found, score.right) == (2, len(found), 1)
    assert FactScore(2, 2, 1).f1 == 0.5
    prediction = dspy.Prediction(facts=(right,))
    assert fact_metric(first, prediction) == pytest.approx(2 / 3)
    assert fact_metric(first, prediction, trace=[]) is True
    assert fact_metric(second, dspy.Prediction(facts=()), trace=[]) is False
