"""The namespaces of finpath's graphs and their prefixes.

Observations use RDF Data Cube and SDMX, provenance uses PROV-O, and text positions use Web Annotation. The ontology
uses SKOS and OWL. ``kg:`` has the remaining terms.
"""

from __future__ import annotations

from rdflib import Literal, Namespace, URIRef
from rdflib.namespace import OWL, PROV, RDF, RDFS, SDO, SKOS, XSD

KG = Namespace("https://w3id.org/finpath/ontology#")
QB = Namespace("http://purl.org/linked-data/cube#")
SDMX_MEASURE = Namespace("http://purl.org/linked-data/sdmx/2009/measure#")
SDMX_ATTRIBUTE = Namespace("http://purl.org/linked-data/sdmx/2009/attribute#")
SDMX_DIMENSION = Namespace("http://purl.org/linked-data/sdmx/2009/dimension#")
OA = Namespace("http://www.w3.org/ns/oa#")
PREFIXES = {
    "kg": KG, "qb": QB, "rdf": RDF, "schema": SDO, "prov": PROV, "skos": SKOS, "owl": OWL, "oa": OA, "rdfs": RDFS,
    "xsd": XSD, "sdmx-measure": SDMX_MEASURE, "sdmx-attribute": SDMX_ATTRIBUTE,
    "sdmx-dimension": SDMX_DIMENSION,
}  # fmt: skip

Terms = tuple[URIRef, URIRef, URIRef | Literal]
