"""The companies of a graph: their names, and how much the graph knows of each.

>>> known_companies(graph)[0]
KnownCompany(name='Novatek Inc.', ticker='NVTK', aliases=('Nova',), facts=12, events=3)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from kg.growing import GrowingGraph, NodeKey
from kg.news.aliases import known_aliases, names_by_hand
from kg.news.memory import stored_facts
from kg.sentences import plain_name


@dataclass(frozen=True)
class KnownCompany:
    """A company of a graph.

    Attributes:
        name: Its name.
        ticker: Its ticker, or the symbol of an instrument that it issued; empty where none is known.
        aliases: Its other names and symbols.
        facts: Statements of documents with the company as subject or value.
        events: Events that affect it.
    """

    name: str
    ticker: str = ""
    aliases: tuple[str, ...] = ()
    facts: int = 0
    events: int = 0


def known_companies(graph: GrowingGraph) -> list[KnownCompany]:
    """Returns the companies of a graph by name, without those whose name a person gave to another node."""
    others: defaultdict[NodeKey, dict[str, None]] = defaultdict(dict)
    given = {plain_name(alias): entity for alias, entity in names_by_hand(graph)}
    symbols: defaultdict[NodeKey, list[str]] = defaultdict(list)
    events: Counter[NodeKey] = Counter()
    for alias, entity in known_aliases(graph):
        others[entity][alias.name] = None
    for edge in graph.edges(kind="issued_by"):
        symbols[edge.target].append(edge.source.name)
    for edge in graph.edges(kind="affects"):
        events[edge.target] += edge.source.type == "MarketEvent"
    facts = Counter(
        name for fact in stored_facts(graph) for name in {plain_name(fact.subject), plain_name(fact.object)}
    )
    found = []
    for node in graph.nodes("Company"):
        plain = plain_name(node.key.name)
        if given.get(plain, node.key) != node.key:
            continue
        ticker = str(node.properties.get("ticker", "")) or next(iter(symbols[node.key]), "")
        aliases = dict.fromkeys((*others[node.key], *symbols[node.key]))
        aliases.pop(ticker, None)
        found.append(KnownCompany(node.key.name, ticker, tuple(aliases), facts[plain], events[node.key]))
    return found
