"""Names in the form in which they are compared, and the names of a growing graph that stand for others.

>>> plain_name("The Helixon Semiconductors Inc.")
'helixon semiconductors'
>>> known_companies(graph)["Novatek Semiconductors Inc."]
('NVTK',)
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache

from kg.growing import GrowingGraph, NodeKey, without_legal_form

STANDS_FOR = "alias_of"
"""The edge from another name to an entity."""

_ARTICLES = ("the", "a", "an")


@cache
def plain_name(name: str) -> str:
    """Returns a name in lower case without accents, punctuation, article and legal form."""
    split = unicodedata.normalize("NFKD", name)
    text = "".join(letter for letter in split if not unicodedata.combining(letter))
    text = re.sub(r"['’]s\b", "", text).replace("S.p.A", "SpA").replace("A/S", "AS")
    plain = re.findall(r"[\w&]+(?:-\w+)*", re.sub(r"\b([A-Z])\.([A-Z])\.?(?!\w)", r"\1\2", text))
    words = without_legal_form(" ".join(plain)).split()
    while len(words) > 1 and words[0].lower() in _ARTICLES:
        words = words[1:]
    return " ".join(words).lower()


def known_aliases(graph: GrowingGraph) -> list[tuple[NodeKey, NodeKey]]:
    """Returns the names with the entities that they stand for."""
    return sorted(((edge.source, edge.target) for edge in graph.edges(kind=STANDS_FOR)), key=str)


def alias_key(graph: GrowingGraph, alias: str, entity: NodeKey) -> NodeKey:
    """Returns the node of a name of an entity, as it was first written: "the Derby group" is known by "Derby group"."""
    keys = (key for key, other in known_aliases(graph) if other == entity and plain_name(key.name) == plain_name(alias))
    return next(keys, NodeKey("Alias", alias))


def known_companies(graph: GrowingGraph) -> dict[str, tuple[str, ...]]:
    """Returns the companies of a graph with their other names and symbols."""
    others: defaultdict[NodeKey, list[str]] = defaultdict(list)
    for edge in graph.edges(kind="issued_by"):
        others[edge.target].append(edge.source.name)
    for alias, entity in known_aliases(graph):
        others[entity].append(alias.name)
    return {node.key.name: tuple(dict.fromkeys(others[node.key])) for node in graph.nodes("Company")}
