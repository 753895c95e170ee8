"""Beam search over any space, and the merging of equal answers."""

from kg.search.beam import BeamConfig, SearchResult, SearchStatistics, beam_search
from kg.search.merging import merge, merge_key
from kg.search.space import Action, Expansion, Frontier, Space

__all__ = [
    "Action",
    "BeamConfig",
    "Expansion",
    "Frontier",
    "SearchResult",
    "SearchStatistics",
    "Space",
    "beam_search",
    "merge",
    "merge_key",
]
