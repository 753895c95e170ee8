"""Facts of a whole document by a model behind an API: what the document or the schema does not hold is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import dspy
import pytest
from dspy import lm15

from kg.errors import LMError, SchemaError
from kg.growing import GrowingGraph, NodeKey, TypeProposals
from kg.investments import investment_schema, parse_document
from kg.news import stored_facts
from kg.sentences import Directory
from programs.advisor import Advisor, DocumentReader
from programs.advisor import document_facts as module
from programs.advisor.document_facts import ReadDocument, relations_shown, shown_parts
from signatures.news import StatedFact

WIRE = """Orvane buys Brightlane
2026-01-14

BOISE - Orvane Semiconductor Corp. agreed to buy laser maker Brightlane Photonics for $340 million. Closing is planned \
for 4 May 2026. It praised the staff of the Élan works, who were paid late.
"""


@pytest.fixture
def graph() -> GrowingGraph:
    return GrowingGraph(None, investment_schema())


def stated(sentence: int, subject: str, relation: str, value: str, kind: str = "company") -> StatedFact:
    return StatedFact(sentence=sentence, subject=subject, subject_kind=kind, relation=relation, object=value)  # type: ignore[arg-type]


@pytest.fixture
def read() -> ReadDocument:
    return ReadDocument(parse_document(WIRE, "wire.txt"), Directory())


def test_a_document_is_shown_with_numbers_and_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    document = parse_document(WIRE, "wire.txt")
    [whole] = shown_parts(document)
    assert whole.splitlines()[:2] == ["2026-01-14 (Wednesday)", "[1] Orvane buys Brightlane"]
    assert "[3] Closing is planned" in whole
    monkeypatch.setattr(module, "LONGEST", 60)
    parts = list(shown_parts(document))
    assert len(parts) > 1
    assert all(part.startswith("2026-01-14 (Wednesday)\n[") for part in parts)


def test_the_model_sees_each_relation_with_the_kinds_that_it_joins() -> None:
    assert "deal value: company, thing, product -> money" in relations_shown().splitlines()


@pytest.mark.parametrize(
    ("given", "fact"),
    [
        (
            stated(2, "Orvane Semiconductor", "acquires", "Brightlane Photonics"),
            ("Orvane Semiconductor Corp", "company", "acquires", "Brightlane Photonics", "company"),
        ),
        (
            stated(2, "Brightlane Photonics", "deal value", "340 million dollars"),
            ("Brightlane Photonics", "company", "deal_value", "$340 million", "money"),
        ),
        (
            stated(3, "Brightlane Photonics", "completed on", "2026-05-04"),
            ("Brightlane Photonics", "company", "completed_on", "2026-05-04", "date"),
        ),
        (
            stated(4, "Orvane Semiconductor Corp", "praised staff of", "Élan works"),
            ("Orvane Semiconductor Corp", "company", "praised staff of", "Élan works", "text"),
        ),
        (
            stated(4, "the staff", "were paid", "late", "thing"),
            ("the staff", "name", "were paid", "late", "text"),
        ),
    ],
)
def test_a_fact_has_full_names_kinds_and_its_sentence(
    read: ReadDocument, given: StatedFact, fact: tuple[str, ...]
) -> None:
    found = read.fact(given)
    parts = found.subject, found.subject_kind, found.relation, found.object
    assert tuple(part.removesuffix(".") for part in parts) == fact[:4]
    assert found.object_kind in (fact[4], "name")
    assert found.sentence == read.sentences[given.sentence - 1]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (stated(9, "Orvane", "acquires", "Brightlane"), "there is no sentence 9"),
        (stated(2, "Apple", "acquires", "Brightlane"), "does not have the subject 'Apple'"),
        (stated(3, "Brightlane Photonics", "deal value", "$340 million"), "sentence 3 does not have the object"),
        (stated(2, "Brightlane Photonics", "employees", "$340 million"), "employees does not join company and money"),
        (stated(2, "Orvane Semiconductor", "sued", "Brightlane Photonics"), "of the schema or of the sentence"),
        (stated(2, "Orvane Semiconductor", "acquires", "Orvane Semiconductor Corp."), "has two ends"),
    ],
)
def test_what_the_document_or_the_schema_does_not_hold_is_refused(
    read: ReadDocument, given: StatedFact, problem: str
) -> None:
    with pytest.raises(SchemaError, match=re.escape(problem)):
        read.fact(given)


def reply(*facts: StatedFact) -> dict[str, Any]:
    return {"facts": json.dumps([one.model_dump() for one in facts])}


def test_facts_of_a_model_join_those_of_the_rules(graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM]) -> None:
    advisor = Advisor(graph, reader := DocumentReader(graph), TypeProposals(graph, "never"))
    written = reply(
        stated(2, "Orvane Semiconductor", "acquires", "Brightlane Photonics"),
        stated(3, "Brightlane Photonics", "completed on", "2026-05-04"),
        stated(2, "Apple", "acquires", "Orvane"),
    )
    document = parse_document(WIRE, "wire.txt")
    with dspy.context(lm=scripted_lm([written]), adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        reader.read_ahead(document)
        found = advisor.ingest(document)
        assert advisor.ingest(document).known
    facts = {(fact.relation, fact.object): fact.confidence for fact in stored_facts(graph)}
    assert facts["acquires", "Brightlane Photonics"] == 0.81  # by rules
    assert facts["deal_value", "$340 million"] == 0.32  # by rules alone, of a sentence of which the model states others
    assert facts["completed_on", "2026-05-04"] == 0.8
    assert found.understood >= 2
    assert reader.refused == ["wire.txt: the document does not have the subject 'Apple'"]
    assert graph.node(NodeKey("Company", "Apple")) is None
    assert advisor.knows(document)


def test_a_model_that_cannot_be_asked_costs_the_document_and_is_asked_again(
    graph: GrowingGraph, scripted_lm: Callable[..., dspy.LM]
) -> None:
    reader, document = DocumentReader(graph), parse_document(WIRE, "wire.txt")
    lm = scripted_lm([lm15.TransportError("it is down"), reply()])
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        assert reader.read_ahead(document) is None
        with pytest.raises(LMError, match=r"failed: .*it is down"):
            reader.read(document)
        assert reader.read(document).updates
