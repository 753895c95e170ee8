"""The ontology: what is learned, merged, aligned and written, and that it is frozen."""

from __future__ import annotations

import pytest
from rdflib import OWL, RDF, RDFS, SKOS, Graph

from kg.errors import DataError, FrozenError, OntologyError
from kg.graphs.namespaces import KG
from kg.reports.learning import build_ontology
from kg.reports.ontology import Ontology
from kg.reports.report import Report


def _report(name: str, *labels: str, text: str = "") -> Report:
    table = (("", "2009", "2008"), *((label, "$ 5", "4") for label in labels))
    return Report(name, (text,), table, ())


CASH = _report("a", "net cash from operating activities", "net revenues", "capital expenditures")
MORE = _report("b", "cash provided by operating activities", "net revenue ( loss )", "Net revenues ( 1 )")
OPTIONS = _report("c", "options granted", "options forfeited", "exercise price", "total")
ONTOLOGY = build_ontology([CASH, MORE, OPTIONS])


def test_classes_are_the_kinds_that_the_reports_hold() -> None:
    assert set(ONTOLOGY.classes) == {"CashFlow", "StockOption", "GeneralTable", "Disclosure"}
    assert ONTOLOGY.classes["CashFlow"].reports == 2


def test_near_duplicates_are_merged_and_their_labels_are_recorded() -> None:
    assert set(ONTOLOGY.properties["net_revenues"].alt_labels) == {"net revenue ( loss )", "net revenues ( 1 )"}
    assert len({ONTOLOGY.property_for(label) for label in ("net revenue", "Net Revenues", "revenues , net")}) == 1


@pytest.mark.parametrize(
    ("label", "other"),
    [
        ("net revenues", "net revenue"),
        ("Net revenue", "net revenue"),
        ("2007 net revenue", "net revenue"),
        ("net revenue [3]", "net revenue"),
        ("net income ( loss )", "net income"),
        ("average priceper share", "average price per share"),
        ("interest expense net", "net interest expense"),
        ("cash used in financing activities", "net cash from financing activities"),
    ],
)
def test_labels_of_one_line_item_are_merged(label: str, other: str) -> None:
    ontology = build_ontology([_report("a", label), _report("b", other, "x y")])
    assert ontology.property_for(label) == ontology.property_for(other) is not None


@pytest.mark.parametrize(
    ("label", "other"),
    [
        ("mortgage loans ( average )", "mortgage loans ( period-end )"),
        ("balance beginning of year", "balance end of year"),
        ("net cash used in investing activities", "net cash used in financing activities"),
        ("approved by holders", "not approved by holders"),
        ("total assets", "total liabilities"),
        ("basic", "diluted"),
        ("3.75% notes", "4.75% notes"),
    ],
)
def test_what_differs_is_kept_apart(label: str, other: str) -> None:
    ontology = build_ontology([_report("a", label, other)])
    assert ontology.property_for(label) != ontology.property_for(other)


def test_labels_are_looked_up_exactly_or_refused() -> None:
    assert ONTOLOGY.property_for("net revenues") == "net_revenues"
    for label in ("revenue", "net", "net revenues of segment", "", "2009", "( 1 )"):
        assert ONTOLOGY.property_for(label) is None


def test_turtle_is_owl_and_comes_back() -> None:
    text = ONTOLOGY.to_turtle()
    again = Ontology.from_turtle(text)
    assert again.to_turtle() == text
    assert again.sha256 == ONTOLOGY.sha256
    assert dict(again.properties) == dict(ONTOLOGY.properties)
    assert again.class_for(OPTIONS) == "StockOption"
    graph = Graph().parse(data=text, format="turtle")
    node = KG["net_revenues"]
    assert (node, RDF.type, OWL.DatatypeProperty) in graph
    assert (node, RDFS.domain, KG["CashFlow"]) in graph
    assert {str(label) for label in graph.objects(node, SKOS.altLabel)} == set(
        ONTOLOGY.properties["net_revenues"].alt_labels
    )


def test_frequent_line_items_are_aligned_with_us_gaap() -> None:
    assert ONTOLOGY.properties["net_revenues"].close_match == ("http://fasb.org/us-gaap/2023#Revenues",)
    assert ONTOLOGY.properties["total"].close_match == ()


def test_a_later_write_raises() -> None:
    with pytest.raises(FrozenError, match="the ontology is frozen: 'classes' cannot be set"):
        ONTOLOGY.classes = {}  # type: ignore[misc]
    with pytest.raises(FrozenError):
        del ONTOLOGY.properties
    with pytest.raises(TypeError):
        ONTOLOGY.properties["new"] = ONTOLOGY.properties["total"]  # type: ignore[index]
    with pytest.raises(FrozenError):
        ONTOLOGY.graph.add((KG["a"], RDF.type, OWL.Class))


def test_what_is_no_ontology_is_refused() -> None:
    with pytest.raises(DataError, match="ontology: not valid Turtle"):
        Ontology.from_turtle("{")
    with pytest.raises(OntologyError, match="no class"):
        Ontology.from_turtle("")
    with pytest.raises(OntologyError, match="label"):
        Ontology.from_turtle("\n".join(line for line in ONTOLOGY.to_turtle().splitlines() if "rdfs:label" not in line))
