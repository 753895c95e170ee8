"""The vocabulary of report graphs: the terms of an observation, and the schema of every ontology.

Observations use RDF Data Cube and SDMX, provenance uses PROV-O. Spans are text positions of Web Annotation, in
characters of the cell or sentence. The ontology uses SKOS and OWL. ``kg:`` has the remaining terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from rdflib import Literal, URIRef
from rdflib.namespace import OWL, PROV, RDF, RDFS

from kg.graphs import KG, OA, QB, SDMX_ATTRIBUTE, SDMX_DIMENSION, SDMX_MEASURE, Terms
from kg.text import Unit

ONTOLOGY = "https://w3id.org/finpath/ontology"
REPORTS = "https://w3id.org/finpath/report/"
OBSERVATION, DATA_SET, IN_DATA_SET = QB.Observation, QB.DataSet, QB.dataSet
DESCRIBES, LINE_ITEM, VALUE = KG.describes, KG.lineItem, SDMX_MEASURE.obsValue
UNIT, SCALE, PERIOD = SDMX_ATTRIBUTE.unitMeasure, SDMX_ATTRIBUTE.unitMult, SDMX_DIMENSION.refPeriod
LABEL, COLUMN_LABEL, SECTION, ROLE = KG.rowLabel, KG.columnLabel, KG.section, KG.role
DERIVED, QUOTED, CELL, PHRASE = PROV.wasDerivedFrom, PROV.wasQuotedFrom, KG.Cell, KG.Phrase
ROW, COLUMN, SENTENCE, START, END = KG.row, KG.column, KG.sentence, OA.start, OA.end
UNITS = {unit: KG[unit] for unit in get_args(Unit)}
HEADER, WRITTEN, YEAR = KG.header, KG.writtenAs, KG.year
GENERAL_ITEM = KG.reported_figure
SCALE_POWERS = {1: 0, 10**3: 3, 10**6: 6, 10**9: 9, 10**12: 12}


def schema_triples() -> Iterator[Terms]:
    """The schema of every ontology: the classes and properties of reports, and the data structure."""
    for name, (parent, comment) in _CLASSES.items():
        yield KG[name], RDF.type, OWL.Class
        yield KG[name], RDFS.comment, Literal(comment)
        if parent is not None:
            yield KG[name], RDFS.subClassOf, parent
    for name, (kind, comment) in _PROPERTIES.items():
        yield KG[name], RDF.type, kind
        yield KG[name], RDFS.comment, Literal(comment)
    for unit in UNITS.values():
        yield unit, RDF.type, KG.Unit
    yield KG.structure, RDF.type, QB.DataStructureDefinition
    for place, (role, component, attachment) in enumerate(_COMPONENTS):
        node = KG[f"component-{place}"]
        yield KG.structure, QB.component, node
        yield node, RDF.type, QB.ComponentSpecification
        yield node, QB[role], component
        yield component, RDF.type, QB[f"{role.capitalize()}Property"]
        yield node, QB.order, Literal(place + 1)
        if attachment:
            yield node, QB.componentRequired, Literal(True)


_CLASSES: dict[str, tuple[URIRef | None, str]] = {
    "Entity": (None, "what a report describes: a statement or note of one period"),
    "Report": (PROV.Entity, "a document: sentences and a table"),
    "Cell": (PROV.Entity, "characters of a table's cell"),
    "Phrase": (PROV.Entity, "characters of a sentence"),
    "Unit": (None, "what a figure counts"),
}
_PROPERTIES: dict[str, tuple[URIRef, str]] = {
    "describes": (OWL.ObjectProperty, "the instance that a figure is about"),
    "lineItem": (OWL.ObjectProperty, "the line item that a figure is a value of"),
    "year": (OWL.DatatypeProperty, "the period of an instance"),
    "rowLabel": (OWL.DatatypeProperty, "the words that a figure is about"),
    "columnLabel": (OWL.DatatypeProperty, "the other label of a cell"),
    "section": (OWL.DatatypeProperty, "the heading above a row"),
    "role": (OWL.ObjectProperty, "kg:header marks a figure that is part of a label or date"),
    "writtenAs": (OWL.DatatypeProperty, "a figure's text where its decimal's canonical form is another: 4.00, 4.23%"),
    "row": (OWL.DatatypeProperty, "a row's number, from 0"),
    "column": (OWL.DatatypeProperty, "a column's number, from 0"),
    "sentence": (OWL.DatatypeProperty, "a sentence's number, from 0, those behind the table counted on"),
    "reported_figure": (OWL.DatatypeProperty, "any line item; a report's own ones are its sub-properties too"),
    "reports": (OWL.DatatypeProperty, "in how many training reports it was found"),
    "mainDomain": (OWL.ObjectProperty, "the class that a property is found with most"),
}
_COMPONENTS: tuple[tuple[str, URIRef, bool], ...] = (
    ("dimension", KG.describes, True),
    ("dimension", KG.lineItem, True),
    ("dimension", PROV.wasDerivedFrom, True),
    ("measure", SDMX_MEASURE.obsValue, True),
    ("attribute", SDMX_ATTRIBUTE.unitMeasure, True),
    ("attribute", SDMX_ATTRIBUTE.unitMult, False),
    ("attribute", SDMX_DIMENSION.refPeriod, False),
    ("attribute", KG.rowLabel, True),
    ("attribute", KG.columnLabel, False),
    ("attribute", KG.section, False),
)
RESERVED = frozenset({*_CLASSES, *_PROPERTIES, *UNITS, "structure", "header", "agent"})
"""Local names that are reserved and not available to line items."""
