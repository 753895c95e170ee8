"""The conversion of observations to triples.

One observation, as Turtle::

    <#r6c1> a qb:Observation ; qb:dataSet <#data> ; kg:describes <#CashFlow_2009> ;
        kg:lineItem kg:net_cash_from_operating_activities ; sdmx-measure:obsValue 206588 ;
        sdmx-attribute:unitMeasure kg:currency ; sdmx-attribute:unitMult 3 ; sdmx-dimension:refPeriod "2009" ;
        kg:rowLabel "net cash from operating activities" ; kg:columnLabel "2009" ; prov:wasDerivedFrom <#r6c1.source> .
    <#r6c1.source> a kg:Cell ; prov:wasQuotedFrom <> ; kg:row 6 ; kg:column 1 ; oa:start 0 ; oa:end 8 .
    <#CashFlow_2009> a kg:CashFlow ; kg:year "2009" ; kg:net_cash_from_operating_activities 206588 .

:mod:`kg.reports.vocabulary` defines the terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote

from rdflib import Literal, URIRef
from rdflib.namespace import RDF, RDFS, XSD

from kg.graphs import KG, QB, Terms, slug
from kg.reports import vocabulary as terms
from kg.reports.observation import CellSource, Observation, Source
from kg.reports.vocabulary import REPORTS

_CANONICAL = re.compile(r"0|-?(?:[1-9]\d*|(?:0|[1-9]\d*)\.\d*[1-9])")


@lru_cache(maxsize=4096)
def report_base(report_id: str) -> str:
    """The IRI of a report; an instance adds ``#`` and its local name."""
    return REPORTS + quote(report_id, safe="/-._~", errors="surrogatepass")


@lru_cache(maxsize=65536)
def _ontology_term(name: str) -> URIRef:
    return URIRef(KG + name)


def storable_text(text: str) -> str:
    """A text without lone surrogates, which JSON allows and RDF does not."""
    return text.encode("utf-8", "replace").decode()


@lru_cache(maxsize=65536)
def _string(text: str) -> Literal:
    return Literal(storable_text(text))


@lru_cache(maxsize=4096)
def _integer(number: int) -> Literal:
    return Literal(number)


@lru_cache(maxsize=65536)
def _decimal(text: str) -> Literal:
    return Literal(text, datatype=XSD.decimal, normalize=False)


def observation_triples(report_id: str, observations: Iterable[Observation]) -> Iterator[Terms]:
    """The triples of a report's observations, their sources and their instances."""
    base = report_base(report_id)
    document, data = URIRef(base), URIRef(base + "#data")
    yield document, RDF.type, KG.Report
    yield data, RDF.type, terms.DATA_SET
    yield data, QB.structure, KG.structure
    yield data, terms.DERIVED, document
    local: dict[str, URIRef] = {}
    entities: dict[str, URIRef] = {}
    for observation in observations:
        entity = entities.get(observation.entity)
        if entity is None:
            entity = entities[observation.entity] = URIRef(f"{base}#{observation.entity}")
            yield entity, RDF.type, _ontology_term(observation.entity_type)
            yield entity, terms.QUOTED, document
            if observation.period is not None and _is_of_period(observation):
                yield entity, terms.YEAR, _string(observation.period)
        item = _line_item(observation, base, local)
        yield from _observation(observation, base, document, data, entity, item)
    for item in local.values():
        yield item, RDFS.subPropertyOf, terms.GENERAL_ITEM


def _is_of_period(observation: Observation) -> bool:
    """Whether the instance's name has the period."""
    name = f"{observation.entity_type}_{slug(str(observation.period))}"
    return observation.entity == name or observation.entity.startswith(name + "_")


def _line_item(observation: Observation, base: str, local: dict[str, URIRef]) -> URIRef:
    if observation.mapped:
        return _ontology_term(observation.property)
    item = local.get(observation.property)
    if item is None:
        item = local[observation.property] = URIRef(f"{base}/items#{observation.property}")
    return item


def _observation(
    observation: Observation, base: str, document: URIRef, data: URIRef, entity: URIRef, item: URIRef
) -> Iterator[Terms]:
    node, source = URIRef(f"{base}#{observation.id}"), URIRef(f"{base}#{observation.id}.source")
    quantity = observation.quantity
    number = _decimal(quantity.text.removesuffix("%"))
    yield node, RDF.type, terms.OBSERVATION
    yield node, terms.IN_DATA_SET, data
    yield node, terms.DESCRIBES, entity
    yield node, terms.LINE_ITEM, item
    yield node, terms.VALUE, number
    yield node, terms.UNIT, terms.UNITS[quantity.unit]
    yield node, terms.LABEL, _string(observation.label)
    yield node, terms.DERIVED, source
    if not observation.in_header:
        yield entity, item, number
    else:
        yield node, terms.ROLE, terms.HEADER
    if not _CANONICAL.fullmatch(quantity.text):  # stores may change 4.00 to 4
        yield node, terms.WRITTEN, _string(quantity.text)
    if quantity.scale != 1:
        yield node, terms.SCALE, _integer(terms.SCALE_POWERS[quantity.scale])
    if observation.column_label:
        yield node, terms.COLUMN_LABEL, _string(observation.column_label)
    if observation.section:
        yield node, terms.SECTION, _string(observation.section)
    if observation.period is not None:
        yield node, terms.PERIOD, _string(observation.period)
    yield from _source(observation.source, source, document)


def _source(source: Source, node: URIRef, document: URIRef) -> Iterator[Terms]:
    if isinstance(source, CellSource):
        yield node, RDF.type, terms.CELL
        yield node, terms.ROW, _integer(source.row)
        yield node, terms.COLUMN, _integer(source.column)
    else:
        yield node, RDF.type, terms.PHRASE
        yield node, terms.SENTENCE, _integer(source.sentence)
    yield node, terms.QUOTED, document
    yield node, terms.START, _integer(source.start)
    yield node, terms.END, _integer(source.end)


def document_order(source: Source) -> tuple[int, int, int, int]:
    """A sort key of sources in document order: cells row by row, then sentences."""
    if isinstance(source, CellSource):
        return (0, source.row, source.column, source.start)
    return (1, source.sentence, source.start, 0)
