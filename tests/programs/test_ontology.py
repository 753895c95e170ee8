"""The ontology with a language model's help: what it says counts only if it passes the checks."""

from __future__ import annotations

import json

import dspy
import pytest
from dspy.utils import DummyLM

from kg.errors import LMError
from kg.reports.learning import build_ontology
from kg.reports.ontology import Ontology
from kg.reports.report import Report
from programs.ontology import OntologyBuilder

REPORT = Report(
    "a", ("the fruit we own .",), (("", "2009"), ("apples", "$ 5"), ("pears", "6"), ("cash from operations", "7")), ()
)


def _reply(**description: object) -> dict[str, str]:
    whole = {"kind": "FruitTable", "kind_label": "Fruit", "cues": ["apples", "Pears", "!"], "items": [], **description}
    return {"description": json.dumps(whole)}


def _build(*replies: dict[str, str], reports: list[Report] | None = None) -> tuple[Ontology, OntologyBuilder, DummyLM]:
    builder, model = OntologyBuilder(), DummyLM(list(replies))
    with dspy.context(lm=model, adapter=dspy.ChatAdapter()):
        ontology = builder(reports=[REPORT] if reports is None else reports)
    return ontology, builder, model


def test_the_model_names_a_kind_and_a_line_item() -> None:
    items = [{"label": "cash from operations", "name": "net cash from operating activities"}]
    ontology, builder, model = _build(_reply(items=items))
    assert builder.refused == []
    assert ontology.classes["FruitTable"].cues == ("apples", "pears")
    assert ontology.class_for(REPORT) == "FruitTable"
    assert ontology.property_for("cash from operations") == "cash_from_operations"
    prompt = json.dumps(model.history[0]["messages"])
    assert "apples" in prompt
    assert "CashFlow" in prompt, "the known kinds are told"


def test_two_names_of_one_line_item_are_merged() -> None:
    other = Report("b", ("the fruit we own .",), (("", "2009"), ("quinces", "$ 5")), ())
    replies = [_reply(cues=["fruit"], items=[{"label": name, "name": "pome fruit"}]) for name in ("apples", "quinces")]
    ontology, builder, _ = _build(*replies, reports=[REPORT, other])
    assert builder.refused == []
    assert ontology.property_for("apples") == ontology.property_for("quinces") is not None


def test_two_rows_of_one_table_are_not_merged() -> None:
    items = [{"label": "apples", "name": "pome fruit"}, {"label": "pears", "name": "pome fruit"}]
    ontology, builder, _ = _build(_reply(items=items))
    assert builder.refused == ["a: 'pears' and 'apples' are two rows of the table, not both 'pome fruit'"]
    assert ontology.property_for("apples") != ontology.property_for("pears")
    _, builder, _ = _build(_reply(items=[{"label": "apples", "name": "Pear"}]))
    assert builder.refused == ["a: 'apples' and 'pears' are two rows of the table, not both 'Pear'"]


def test_a_kind_that_nothing_shows_is_refused() -> None:
    ontology, builder, _ = _build(_reply(kind="Pension", cues=["plan assets"]))
    assert builder.refused == ["a: neither the table nor the text next to it shows that it is 'Pension'"]
    assert set(ontology.classes) == {"GeneralTable", "Disclosure"}
    ontology, builder, _ = _build(_reply(kind="cash flows", cues=["cash from operations", "plan assets"]))
    assert builder.refused == []
    assert "CashFlow" in ontology.classes


def test_a_label_that_the_table_does_not_have_is_refused() -> None:
    ontology, builder, _ = _build(_reply(items=[{"label": "plums", "name": "apples"}]))
    assert builder.refused == ["a: the table has no label 'plums'"]
    assert ontology.property_for("plums") is None


def test_a_cue_of_the_model_does_not_overrule_those_that_the_rules_find() -> None:
    pension = Report("p", (), (("", "2009"), ("service cost", "5"), ("granted seats", "6")), ())
    ontology, builder, _ = _build(_reply(kind="Lease", cues=["seats"]), reports=[pension])
    assert builder.refused == ["p: neither the table nor the text next to it shows that it is 'Lease'"]
    assert "Pension" in ontology.classes


@pytest.mark.parametrize("kind", ["fruit table", "", "Entity", "x" * 50])
def test_a_kind_that_is_no_name_is_refused(kind: str) -> None:
    ontology, builder, _ = _build(_reply(kind=kind))
    assert builder.refused == [f"a: {kind!r} is not a name for a kind"]
    assert set(ontology.classes) == {"GeneralTable", "Disclosure"}


def test_a_reply_that_cannot_be_read_leaves_the_table_to_the_rules_and_is_listed() -> None:
    ontology, builder, _ = _build({"description": "no JSON"})
    assert len(builder.refused) == 1
    assert builder.refused[0].startswith("a: the model's reply cannot be read")
    assert ontology == build_ontology([REPORT])


def test_a_model_that_cannot_be_reached_is_an_error() -> None:
    with pytest.raises(LMError, match="the language model cannot be reached"), dspy.context(lm=None):
        OntologyBuilder()(reports=[REPORT])


def test_a_report_without_labels_costs_no_call() -> None:
    _, _, model = _build(reports=[Report("empty", (), (), ())])
    assert model.history == []
