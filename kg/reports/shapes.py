"""Validation of report graphs against ``shapes.ttl`` with pyshacl, an optional dependency.

>>> violations(build_report_graph(report, ontology).graph)
[]
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from rdflib import Graph, URIRef

from kg.errors import ConfigError

_SHAPES = Path(__file__).with_name("shapes.ttl")
_SH = "http://www.w3.org/ns/shacl#"


def can_validate() -> bool:
    """Whether pyshacl is installed."""
    return find_spec("pyshacl") is not None


def violations(graph: Graph) -> list[str]:
    """The violations of shapes in a report graph, one sorted line each; empty if it conforms.

    Raises:
        ConfigError: pyshacl is not installed.
    """
    if not can_validate():
        raise ConfigError("shapes are checked with pyshacl, which is not installed: pip install pyshacl")
    import pyshacl

    copy = Graph()  # pyshacl needs a store with contexts
    for triple in graph:
        copy.add(triple)
    conforms, results, _ = pyshacl.validate(copy, shacl_graph=_shapes(), inference="none", inplace=True)
    if conforms:
        return []
    found = []
    for result in results.subjects(URIRef(_SH + "focusNode")):
        focus = results.value(result, URIRef(_SH + "focusNode"))
        path = results.value(result, URIRef(_SH + "resultPath"))
        message = results.value(result, URIRef(_SH + "resultMessage"))
        found.append(f"{focus}: {path}: {message}")
    return sorted(found)


@lru_cache(maxsize=1)
def _shapes() -> Graph:
    return Graph().parse(_SHAPES, format="turtle")
